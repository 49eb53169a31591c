//! An answer while it comes in, and whether it will do as one.

use super::fault::Fault;
use crate::json::Text;
use crate::summarize::{Answer, Usage};

/// Why a model stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Stop {
    /// It had said what it had to say.
    Done,
    /// It may write no more.
    Cap,
    /// Its context window is full.
    Window,
    /// It refuses, or its server's filter does.
    Filter,
    /// It calls a tool.
    Tool,
    /// Its server gave up on it: DeepSeek's `insufficient_system_resource`.
    Interrupted,
    /// Something that is not known.
    Other(String),
}

/// What a model has said so far.
#[derive(Debug)]
pub(super) struct Draft {
    /// UTF-16, so that halves of a pair that come in different pieces join.
    text: Vec<u16>,
    /// The most that `text` may hold.
    most: usize,
    thought_units: u64,
    calls: bool,
    refusal: String,
    pub(super) stop: Option<Stop>,
    /// Tokens read and written, as far as they were told.
    pub(super) usage: (Option<u64>, Option<u64>),
}

impl Draft {
    /// The draft of an answer of at most `max_tokens`: a server that heeds no cap is cut off at some 16 UTF-16 units
    /// a token, four times what is usual.
    pub(super) fn new(max_tokens: u64) -> Self {
        let most = usize::try_from(max_tokens.saturating_mul(16)).unwrap_or(usize::MAX).min(64 << 20);
        Self {
            text: Vec::new(),
            most,
            thought_units: 0,
            calls: false,
            refusal: String::new(),
            stop: None,
            usage: (None, None),
        }
    }

    /// More of the text.
    pub(super) fn say(&mut self, text: &Text) -> Result<(), Fault> {
        let units = text.to_utf16();
        if units.len() > self.most.saturating_sub(self.text.len()) {
            return Err(Fault::lasting(
                "the answer goes on far beyond --max-tokens, which the server does not heed",
                "try another model; a small one may repeat itself without end",
            ));
        }
        self.text.extend(units);
        Ok(())
    }

    /// More of the thinking, which is not kept.
    pub(super) fn think(&mut self, text: &Text) {
        self.thought_units = self.thought_units.saturating_add(text.utf16_len());
    }

    /// A tool is called.
    pub(super) fn call(&mut self) {
        self.calls = true;
    }

    /// More of the words in which it refuses.
    pub(super) fn refuse(&mut self, text: &Text) {
        if self.refusal.len() < 1_000 {
            self.refusal.push_str(&text.to_str());
        }
    }

    /// An estimate of the tokens that came in, those of the thinking included.
    pub(super) fn tokens(&self) -> u64 {
        (self.text.len() as u64).saturating_add(self.thought_units) / 4
    }

    /// The answer, where it is a whole one and a text. The stream has come to its end.
    pub(super) fn finish(self) -> Result<Answer, Fault> {
        let stop = match self.stop {
            Some(Stop::Filter) => Stop::Filter,
            _ if !self.refusal.is_empty() => Stop::Filter,
            _ if self.calls => Stop::Tool,
            Some(stop) => stop,
            None => return Err(Fault::broken("the answer ended before its end mark")),
        };
        let whole = Text::from_utf16(&self.text).into_str().into_owned();
        let (text, has_unclosed_thought) = without_thoughts(&whole);
        let has_thought = self.thought_units > 0 || has_unclosed_thought || text.len() < whole.trim().len();
        let is_empty = text.is_empty();
        match stop {
            Stop::Interrupted => Err(Fault::broken("the server broke the answer off for want of resources")),
            Stop::Filter => Err(refusal(&self.refusal)),
            Stop::Tool => Err(Fault::lasting(
                "the model called a tool, though it was offered none",
                "try it again, or another model",
            )),
            Stop::Cap if is_empty && has_thought => Err(Fault::lasting(
                "the model used up --max-tokens for its thinking and said nothing",
                "raise --max-tokens, or take a model that does not think",
            )),
            Stop::Cap => Err(Fault::lasting(
                "the answer was cut off at --max-tokens",
                "raise --max-tokens, or name a smaller region",
            )),
            Stop::Window => Err(Fault::lasting(
                "the model's context window was full before the answer had ended",
                "say --summarizer-window, so that the region is put to it in parts",
            )),
            Stop::Other(reason) => Err(Fault::lasting(
                format!("the model stopped for a reason that dshc does not know: {reason:?}"),
                "try another model",
            )),
            Stop::Done if is_empty && has_thought => Err(Fault::lasting(
                "the model thought and said nothing",
                "try it again, or take a model that does not think",
            )),
            Stop::Done if is_empty => {
                Err(Fault::lasting("the model answered with an empty text", "try it again, or another model"))
            }
            Stop::Done => Ok(Answer {
                text: text.to_owned(),
                usage: self
                    .usage
                    .0
                    .zip(self.usage.1)
                    .map(|(input_tokens, output_tokens)| Usage { input_tokens, output_tokens }),
            }),
        }
    }
}

fn refusal(words: &str) -> Fault {
    let words = super::words::shown(words);
    let words = if words.is_empty() { words } else { format!(": {words}") };
    Fault::lasting(
        format!("the model refused to answer, or its server's filter did{words}"),
        "name another region, or try another model",
    )
}

/// The text without the thinking that some local models put before it, between tags of their own; and whether the
/// thinking has no end.
fn without_thoughts(text: &str) -> (&str, bool) {
    let mut rest = text.trim();
    while let Some(thought) = rest.strip_prefix("<think>") {
        match thought.split_once("</think>") {
            Some((_, behind)) => rest = behind.trim(),
            None => return ("", true),
        }
    }
    (rest, false)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str, stop: Stop) -> Draft {
        let mut draft = Draft::new(100);
        draft.say(&Text::from(text)).unwrap();
        draft.stop = Some(stop);
        draft
    }

    fn complaint(draft: Draft) -> String {
        match draft.finish() {
            Err(Fault::Lasting { message, .. } | Fault::Passing { message, .. }) => message,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_whole_text_is_an_answer() {
        let mut draft = said(" a summary\n", Stop::Done);
        draft.usage = (Some(7), Some(3));
        let answer = draft.finish().unwrap();
        assert_eq!(answer.text, "a summary");
        assert_eq!(answer.usage, Some(Usage { input_tokens: 7, output_tokens: 3 }));
        let mut draft = said("x", Stop::Done);
        draft.usage = (Some(7), None);
        assert_eq!(draft.finish().unwrap().usage, None, "half a figure is none");
    }

    #[test]
    fn nothing_else_is() {
        let mut open = said("half a summ", Stop::Done);
        open.stop = None;
        assert!(complaint(open).contains("before its end mark"));
        for (stop, expected) in [
            (Stop::Cap, "cut off at --max-tokens"),
            (Stop::Window, "context window"),
            (Stop::Filter, "refused"),
            (Stop::Tool, "called a tool"),
            (Stop::Interrupted, "want of resources"),
            (Stop::Other("why".into()), "\"why\""),
        ] {
            assert!(complaint(said("text", stop.clone())).contains(expected), "{stop:?}");
        }
        assert!(complaint(said(" \n", Stop::Done)).contains("empty text"));
        let mut calling = said("I look", Stop::Done);
        calling.call();
        assert!(complaint(calling).contains("called a tool"));
        let mut refusing = said("", Stop::Done);
        refusing.refuse(&Text::from("I will\nnot"));
        assert!(complaint(refusing).ends_with(": I will not"));
    }

    #[test]
    fn thinking_is_no_text() {
        let mut draft = said("", Stop::Done);
        draft.think(&Text::from("hm, hm, hm"));
        assert_eq!(draft.tokens(), 2);
        assert!(complaint(draft).contains("thought and said nothing"));
        let mut draft = said("", Stop::Cap);
        draft.think(&Text::from("hm"));
        assert!(complaint(draft).contains("for its thinking"));
        for (text, expected) in [
            ("<think>hm</think>\n\nan answer", "an answer"),
            ("\n<think>\n\n</think>\n<think>x</think>an answer", "an answer"),
            ("an answer on <think> tags", "an answer on <think> tags"),
        ] {
            assert_eq!(said(text, Stop::Done).finish().unwrap().text, expected);
        }
        for text in ["<think>hm", "<think>hm</think> \n"] {
            assert!(complaint(said(text, Stop::Done)).contains("thought and said nothing"), "{text}");
        }
        assert!(complaint(said("<think>hm", Stop::Cap)).contains("for its thinking"));
    }

    #[test]
    fn a_server_that_heeds_no_cap_is_cut_off() {
        let mut draft = Draft::new(2);
        draft.say(&Text::from("0123456789abcdef0123456789abcdef")).unwrap();
        assert!(matches!(draft.say(&Text::from("x")), Err(Fault::Lasting { .. })));
    }

    #[test]
    fn halves_of_a_pair_that_come_apart_join() {
        let mut draft = Draft::new(100);
        for unit in [0xd83d, 0xde00, 0xd83d] {
            draft.say(&Text::from_utf16(&[unit])).unwrap();
        }
        draft.stop = Some(Stop::Done);
        assert_eq!(draft.finish().unwrap().text, "😀\u{fffd}");
    }
}
