//! The note that stands where messages are left out without a summary.

use super::{Entry, Request, SummarizeError, Summarizer, Summary};
use crate::wording::{amount, span};

/// Makes no summary: it says what is left out, and nothing of what that said.
#[derive(Debug, Clone, Copy, Default)]
pub struct Drop;

impl Summarizer for Drop {
    fn kind(&self) -> &'static str {
        "drop"
    }

    fn is_free(&self) -> bool {
        true
    }

    /// Always answers, whatever the budget is; whether so little is worth replacing is the caller's to judge.
    fn summarize(&self, request: &Request) -> Result<Summary, SummarizeError> {
        Ok(Summary::own(note(request), "drop"))
    }
}

/// One paragraph. The seqs in it make each one different: what looks for copied summaries finds none here.
fn note(request: &Request) -> String {
    let edges = request.hidden.first().zip(request.hidden.last());
    let seqs = edges.map_or_else(String::new, |(first, last)| span("seq", *first, *last));
    let count = |is_of: fn(&Entry) -> bool| {
        let entries = request.transcript.entries.iter();
        entries.filter(|entry| is_of(entry) && !is_carried(entry, request.carried)).count() as u64
    };
    let kinds = [
        (count(|entry| matches!(entry, Entry::Human { .. })), "prompt"),
        (count(|entry| matches!(entry, Entry::Assistant { .. })), "answer"),
        (count(|entry| matches!(entry, Entry::Call { .. })), "tool call"),
        (count(|entry| matches!(entry, Entry::Result { .. })), "tool result"),
        (count(|entry| matches!(entry, Entry::Context { .. })), "other message"),
    ];
    let of_a_kind = kinds.iter().filter(|(count, _)| *count > 0).map(|(count, kind)| amount(*count, kind));
    let checkpoints = count(|entry| matches!(entry, Entry::Checkpoint { .. }));
    let forgotten =
        (checkpoints > 0).then(|| format!("what {} said", amount(checkpoints, "earlier checkpoint")));
    let told: Vec<String> = of_a_kind.chain(forgotten).collect();
    let list = if told.is_empty() { String::new() } else { format!(": {}", told.join(", ")) };
    format!("Left out without a summary, {seqs}{list}.")
}

/// Whether an entry is the prompt that stands beside the note.
fn is_carried(entry: &Entry, carried: Option<u64>) -> bool {
    matches!(entry, Entry::Human { seq, .. } if Some(*seq) == carried)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summarize::{Transcript, Unwatched};

    fn note(entries: Vec<Entry>, hidden: &[u64], carried: Option<u64>) -> String {
        let transcript = Transcript { entries };
        let request = Request {
            transcript: &transcript,
            hidden,
            carried,
            budget: 0,
            objection: &|_| Some("whatever it is".into()),
            watch: &Unwatched,
        };
        let summary = Drop.summarize(&request).unwrap();
        assert_eq!((&*summary.provider, &*summary.model, summary.calls), ("dshc", "drop", 1));
        summary.text
    }

    fn human(seq: u64) -> Entry {
        Entry::Human { seq, text: "do it".into() }
    }

    fn exchange() -> Vec<Entry> {
        let (id, text) = (String::from("c"), String::from("text"));
        vec![
            Entry::Context { seq: 2, source: "plugin:x".into(), text: text.clone() },
            human(3),
            Entry::Assistant { seq: 4, text: text.clone() },
            Entry::Call { seq: 4, id: id.clone(), tool: "sh".into(), arguments: "{}".into() },
            Entry::Result { seq: 5, id, is_error: true, text },
            human(6),
        ]
    }

    #[test]
    fn what_is_left_out_is_counted_by_kind() {
        assert_eq!(
            note(exchange(), &[2, 3, 4, 5, 6], None),
            "Left out without a summary, seqs 2 to 6: 2 prompts, 1 answer, 1 tool call, 1 tool result, 1 other message."
        );
        assert_eq!(note(vec![human(6)], &[6], None), "Left out without a summary, seq 6: 1 prompt.");
        assert_eq!(note(Vec::new(), &[7, 8], None), "Left out without a summary, seqs 7 to 8.");
    }

    #[test]
    fn what_a_checkpoint_said_is_told_to_be_lost() {
        let checkpoint = |seq| Entry::Checkpoint { seq, summary: "all of it".into() };
        let text = note(vec![checkpoint(90), human(17)], &[90, 17], None);
        assert_eq!(
            text,
            "Left out without a summary, seqs 90 to 17: 1 prompt, what 1 earlier checkpoint said."
        );
        let text = note(vec![checkpoint(90), checkpoint(95)], &[90, 95], None);
        assert!(text.ends_with(": what 2 earlier checkpoints said."), "{text}");
    }

    #[test]
    fn a_prompt_that_is_carried_is_not_left_out() {
        let text = note(exchange(), &[2, 3, 4, 5, 6], Some(3));
        assert!(text.contains(": 1 prompt, "), "{text}");
    }
}
