use super::super::{Answer, Entry, SECTIONS, Transcript, Unwatched};
use super::*;
use std::sync::Mutex;

mod rendering;
mod splitting;

/// A model that gives its answers in turn, and keeps what it was asked.
struct Scripted {
    answers: Mutex<Vec<Answer>>,
    asked: &'static Mutex<Vec<Prompt>>,
    max_tokens: Option<u64>,
}

impl Model for Scripted {
    fn kind(&self) -> &'static str {
        "openai"
    }

    fn provider(&self) -> &'static str {
        "acme"
    }

    fn name(&self) -> &'static str {
        "small"
    }

    fn max_tokens(&self) -> Option<u64> {
        self.max_tokens
    }

    fn ask(&self, prompt: &Prompt, watch: &dyn Watch) -> Result<Answer, SummarizeError> {
        watch.stage("asking small");
        self.asked.lock().unwrap().push(prompt.clone());
        let mut answers = self.answers.lock().unwrap();
        if answers.is_empty() {
            return Err(SummarizeError::Failed { message: "no answer is left".into(), help: String::new() });
        }
        Ok(answers.remove(0))
    }
}

/// A summarizer over a scripted model, and what the model is asked.
fn scripted(answers: &[&str], max_tokens: Option<u64>) -> (Live, &'static Mutex<Vec<Prompt>>) {
    let usage = Some(Usage { input_tokens: 100, output_tokens: 7 });
    let answers = answers.iter().map(|text| Answer { text: (*text).to_owned(), usage }).collect();
    let asked: &'static Mutex<Vec<Prompt>> = Box::leak(Box::default());
    (Live::new(Box::new(Scripted { answers: Mutex::new(answers), asked, max_tokens })), asked)
}

fn human(seq: u64, text: &str) -> Entry {
    Entry::Human { seq, text: text.into() }
}

fn said(seq: u64, text: &str) -> Entry {
    Entry::Assistant { seq, text: text.into() }
}

fn call(seq: u64, id: &str) -> Entry {
    Entry::Call { seq, id: id.into(), tool: "sh".into(), arguments: "{\"run\":\"make\"}".into() }
}

fn result(seq: u64, id: &str, text: &str) -> Entry {
    Entry::Result { seq, id: id.into(), is_error: false, text: text.into() }
}

const NO_OBJECTION: &dyn Fn(&str) -> Option<String> = &|_| None;

fn request<'a>(
    transcript: &'a Transcript,
    objection: &'a dyn Fn(&str) -> Option<String>,
    watch: &'a dyn Watch,
) -> Request<'a> {
    Request { transcript, carried: None, hidden: &[], budget: 1_000, objection, watch }
}

/// Ten prompts of about a thousand tokens each.
fn long() -> Transcript {
    let text = "word ".repeat(800);
    Transcript { entries: (1..=10).map(|seq| human(seq, &format!("{text}end{seq}"))).collect() }
}

#[test]
fn without_a_window_there_is_one_call() {
    let (live, asked) = scripted(&[" ## A\n\n"], Some(50));
    let transcript = long();
    let request = request(&transcript, NO_OBJECTION, &Unwatched);
    live.admits(&request).unwrap();
    let summary = live.summarize(&request).unwrap();
    let expected = Summary {
        text: "## A".into(),
        provider: "acme".into(),
        model: "small".into(),
        calls: 1,
        usage: Some(Usage { input_tokens: 100, output_tokens: 7 }),
        max_tokens: Some(50),
    };
    assert_eq!(summary, expected);
    let asked = asked.lock().unwrap();
    assert_eq!(asked.len(), 1);
    assert!(asked[0].text.contains("end1\n") && asked[0].text.contains("end10\n"));
}

#[test]
fn a_long_transcript_is_folded_part_by_part() {
    let (live, asked) = scripted(&["first", "second", "third"], Some(500));
    let live = live.within(Some(6_500));
    let transcript = long();
    let watch = Stages::default();
    let summary = live.summarize(&request(&transcript, NO_OBJECTION, &watch)).unwrap();
    assert_eq!((summary.text.as_str(), summary.calls), ("third", 3));
    assert_eq!(summary.usage, Some(Usage { input_tokens: 300, output_tokens: 21 }));
    let asked = asked.lock().unwrap();
    for (index, prompt) in asked.iter().enumerate() {
        assert!(prompt.text.starts_with(&format!("The transcript, part {} of 3:\n", index + 1)));
        assert!(estimate(&prompt.instructions) + estimate(&prompt.text) + 500 <= 6_500);
        assert_eq!(prompt.instructions, asked[0].instructions);
    }
    assert!(!asked[0].text.contains("summary so far"));
    for (index, answer) in [(1, "first"), (2, "second")] {
        assert!(asked[index].text.contains(&format!("=== summary so far, to be merged ===\n  {answer}\n")));
    }
    let stages: Vec<String> = (1..=3).map(|part| format!("part {part} of 3, asking small")).collect();
    assert_eq!(*watch.stages.lock().unwrap(), stages);
}

#[test]
fn only_the_last_answer_has_to_please() {
    let (live, asked) = scripted(&["bad", "bad", "bad", "good"], Some(500));
    let transcript = long();
    let objection = |text: &str| (text != "good").then(|| "\"Current Work\" is missing".to_owned());
    let watch = Stages::default();
    let summary = live.within(Some(6_500)).summarize(&request(&transcript, &objection, &watch)).unwrap();
    assert_eq!((summary.text.as_str(), summary.calls), ("good", 4));
    let asked = asked.lock().unwrap();
    let (last, mending) = (&asked[2], &asked[3]);
    assert!(mending.text.starts_with(&last.text));
    let expected =
        "=== your summary ===\n  bad\n\n=== what is wrong with it ===\n  \"Current Work\" is missing\n";
    assert!(mending.text.contains(expected), "{}", mending.text);
    assert_eq!(watch.stages.lock().unwrap()[3], "mending the summary, asking small");
}

#[test]
fn a_summary_is_mended_without_the_transcript_where_both_do_not_fit() {
    let bad = "bad ".repeat(400);
    let (live, asked) = scripted(&[&bad, "still bad"], Some(500));
    let entries = vec![human(1, &"word ".repeat(800))];
    let transcript = Transcript { entries };
    let objection = |_: &str| Some("too long".to_owned());
    let live = live.within(Some(2_700));
    // The second answer is the caller's to judge.
    let summary = live.summarize(&request(&transcript, &objection, &Unwatched)).unwrap();
    assert_eq!((summary.text.as_str(), summary.calls), ("still bad", 2));
    let mending = &asked.lock().unwrap()[1].text;
    assert!(mending.contains("bad bad") && !mending.contains("word"), "{mending}");
}

#[test]
fn a_failure_to_mend_tells_both() {
    let (live, _) = scripted(&["bad"], None);
    let transcript = Transcript { entries: vec![human(1, "go")] };
    let objection = |_: &str| Some("too long".to_owned());
    let error = live.summarize(&request(&transcript, &objection, &Unwatched)).unwrap_err();
    assert_eq!(error.to_string(), "too long; when asked once more: no answer is left");
}

#[test]
fn an_answer_without_text_is_a_failure() {
    for answers in [&[" \n"][..], &["first", ""]] {
        let (live, _) = scripted(answers, Some(500));
        let live = live.within(Some(if answers.len() == 1 { 50_000 } else { 6_500 }));
        let error = live.summarize(&request(&long(), NO_OBJECTION, &Unwatched)).unwrap_err();
        assert_eq!(error.to_string(), "small answered without a text");
    }
}

#[test]
fn a_usage_that_one_call_does_not_tell_is_not_told() {
    let (live, _) = scripted(&["a"], None);
    let transcript = Transcript { entries: vec![human(1, "go")] };
    let request = request(&transcript, NO_OBJECTION, &Unwatched);
    let plan = live.plan(&request).unwrap();
    let untold =
        Talk { live: &live, request: &request, instructions: &plan.instructions, calls: 1, usage: None };
    let mut talk = untold;
    assert_eq!(talk.fold(&plan.parts), Ok("a".into()));
    assert_eq!((talk.calls, talk.usage), (2, None));
}

#[test]
fn what_fits_into_no_call_is_refused_by_seq_before_anything_is_asked() {
    let (live, asked) = scripted(&[], Some(500));
    let live = live.within(Some(6_500));
    let much = "word ".repeat(5_000);
    let entries = vec![human(1, "go"), call(2, "a"), result(3, "a", &much), said(4, "done"), human(5, &much)];
    let transcript = Transcript { entries };
    let request = request(&transcript, NO_OBJECTION, &Unwatched);
    let Err(SummarizeError::Unfit { message, help }) = live.admits(&request) else {
        panic!("it is admitted")
    };
    let expected = "what may not be parted does not fit into the summarizer's window: seqs 2..3 (about 6297 tokens), seq 5 (about 6262 tokens); of its 6500 tokens ";
    assert!(message.starts_with(expected), "{message}");
    for way in ["--summarizer-window", "--prune", "--region", "--strategy drop"] {
        assert!(help.contains(way), "{help}");
    }
    assert!(matches!(live.summarize(&request), Err(SummarizeError::Unfit { .. })));
    assert!(asked.lock().unwrap().is_empty());
}

#[test]
fn a_window_without_room_is_refused_with_the_cap() {
    let (live, _) = scripted(&[], Some(8_192));
    let live = live.within(Some(16_384));
    let transcript = Transcript { entries: vec![human(1, &"word ".repeat(8_000))] };
    let Err(SummarizeError::Unfit { message, help }) =
        live.admits(&request(&transcript, NO_OBJECTION, &Unwatched))
    else {
        panic!("it is admitted")
    };
    assert!(message.contains("16384") && message.contains("8192"), "{message}");
    assert!(help.contains("--max-tokens"), "{help}");
}

#[test]
fn a_program_that_writes_too_much_to_be_merged_is_told_so() {
    let (live, _) = scripted(&["x ".repeat(8_000).as_str(), "never"], None);
    let error = live.within(Some(6_500)).summarize(&request(&long(), NO_OBJECTION, &Unwatched)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the summary that part 2 of 3 is to be merged with takes about 4000 tokens of the window, and 1082 are kept for it"
    );
}

#[derive(Default)]
struct Stages {
    stages: Mutex<Vec<String>>,
    /// Stop once so many stages were told.
    stop_after: Option<usize>,
}

impl Watch for Stages {
    fn stage(&self, stage: &str) {
        self.stages.lock().unwrap().push(stage.to_owned());
    }

    fn received(&self, _tokens: u64) {}

    fn is_cancelled(&self) -> bool {
        self.stop_after.is_some_and(|stages| self.stages.lock().unwrap().len() >= stages)
    }
}

#[test]
fn no_call_is_made_after_the_user_has_said_stop() {
    for stop_after in [0, 1] {
        let (live, asked) = scripted(&["first", "second", "third"], Some(500));
        let watch = Stages { stop_after: Some(stop_after), ..Stages::default() };
        let stopped = live.within(Some(6_500)).summarize(&request(&long(), NO_OBJECTION, &watch));
        assert_eq!(stopped, Err(SummarizeError::Cancelled));
        assert_eq!(asked.lock().unwrap().len(), stop_after);
    }
}

#[test]
fn the_length_asked_for_is_bounded_by_budget_cap_and_window() {
    let transcript = Transcript::default();
    for (budget, cap, window, limit) in [
        (300, None, None, 300),
        (90_000, None, None, 4_000),
        (90_000, Some(8_192), None, 4_000),
        (90_000, Some(1_000), None, 500),
        (90_000, Some(8_192), Some(9_600), 800),
    ] {
        let request = Request { budget, ..request(&transcript, NO_OBJECTION, &Unwatched) };
        assert_eq!(scripted(&[], cap).0.within(window).limit(&request), limit);
    }
    let instructions = prompt::instructions(304, None, false);
    assert!(
        instructions.contains("Stay below 200 words, and below 1200 characters in all."),
        "{instructions}"
    );
}
