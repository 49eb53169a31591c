//! Is it a summary, or an earlier checkpoint once more?

use super::Objection;
use super::headings::{heading, says_nothing, without_mark};
use crate::summarize::{Entry, Transcript};
use std::collections::HashSet;

/// A checkpoint of fewer lines may well be worth keeping whole.
const LEAST_LINES: usize = 4;

/// Of so many lines of a checkpoint, one at least must have been put into other words, joined or left out.
const LINES_FOR_ONE_CHANGE: usize = 10;

/// Refuses a text in which (nearly) every line of an earlier checkpoint of the region comes back word for word: it was
/// to be merged with what came since. Headings do not count.
pub(super) fn judge(summary: &str, transcript: &Transcript) -> Result<(), Objection> {
    let lines: HashSet<&str> = telling(summary).collect();
    for entry in &transcript.entries {
        let Entry::Checkpoint { seq, summary: earlier } = entry else { continue };
        let of = telling(earlier).count();
        let back = telling(earlier).filter(|line| lines.contains(line)).count();
        if of >= LEAST_LINES && of - back <= of / LINES_FOR_ONE_CHANGE {
            let message = format!(
                "{back} of {of} lines of the earlier summary (seq {seq}) come back word for word: merge it with what \
                 came since, and do not copy it"
            );
            return Err(Objection::form(message));
        }
    }
    Ok(())
}

fn telling(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| heading(line).is_none() && !says_nothing(line)).map(without_mark)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(lines: std::ops::Range<usize>) -> String {
        let line = |line| format!("## Heading {line}\n- line {line} tells something\n(none)\n");
        lines.map(line).collect::<Vec<_>>().concat()
    }

    fn message(summary: &str, earlier: &str) -> String {
        let earlier = Entry::Checkpoint { seq: 7, summary: earlier.to_owned() };
        let objection = judge(summary, &Transcript { entries: vec![earlier] });
        objection.err().map_or_else(String::new, |objection| objection.message)
    }

    #[test]
    fn a_copy_is_told_whatever_stands_around_it() {
        let expected = "20 of 20 lines of the earlier summary (seq 7) come back word for word";
        assert!(message(&text(0..20), &text(0..20)).starts_with(expected));
        let marked = format!("Before.\n{}\nBehind.", text(0..20).replace("- ", "  * "));
        assert!(message(&marked, &text(0..20)).starts_with(expected));
        assert!(message(&text(1..30), &text(0..20)).starts_with("19 of 20"));
        assert!(message(&text(0..4), &text(0..4)).starts_with("4 of 4"));
    }

    #[test]
    fn a_merged_checkpoint_passes() {
        assert_eq!(message(&text(3..40), &text(0..20)), "");
        assert_eq!(message(&text(0..3), &text(0..3)), "");
        assert_eq!(message(&text(1..9), &text(0..9)), "");
        assert_eq!(message(&text(0..9), ""), "");
    }
}
