//! Compactions that were tried and given up.

use super::Finding;
use super::registry::rule_family;
use super::wording::amount;
use crate::json::{self, Raw};
use crate::log::Place;
use crate::session::Session;

rule_family! {
    "compaction";
    /// Compactions ended with an error.
    ///
    /// **What it means.** A `compaction/end` with an `error` closes a bracket that replaced nothing. One note
    /// counts all of them in the log and gives the first five different errors, at the place of the last.
    ///
    /// **Why it matters.** The surface is as it was before each of them; nothing is lost and dsh opens the
    /// log. But when the same error comes again and again, the session is stuck: dsh tries at each occasion,
    /// each try may cost a call of the summarizer, and the context does not shrink.
    ///
    /// **How it comes about.** The summary was not smaller than what it was to replace, the summarizer's
    /// provider answered with an error, or the user cancelled. A crash leaves no such end: that shows as a
    /// lock.
    ///
    /// **What to do.** Read the error. `dshc compact -n` shows, without writing, which region can be made
    /// smaller; where the model behind dsh's summarizer is at fault, another one may do. Failed brackets need
    /// not be removed.
    FAILED_COMPACTIONS = note("failed-compactions");
}

/// How many different errors are told.
const MOST: usize = 5;

/// The surface at some moment: its last node, and how often it had been replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Surface {
    last_node: Option<u64>,
    replacements: u64,
}

impl Surface {
    pub(super) fn of(session: &Session) -> Self {
        let surface = &session.surface;
        Self { last_node: surface.seqs().last().copied(), replacements: surface.replace_generation }
    }
}

/// The brackets that ended with an error.
#[derive(Debug, Default)]
pub(super) struct Failures {
    count: u64,
    /// The first different errors, shortened.
    errors: Vec<String>,
    has_more: bool,
    last: Option<(u64, Place)>,
    /// The surface when the first of them started.
    first: Option<Surface>,
}

impl Failures {
    /// A bracket ended at `seq` with this error; when it started, the surface was this.
    pub(super) fn add(&mut self, error: Raw, surface: Surface, seq: u64, place: Place) {
        self.first.get_or_insert(surface);
        self.count += 1;
        self.last = Some((seq, place));
        let error = json::sample(error);
        if !self.errors.contains(&error) {
            if self.errors.len() < MOST {
                self.errors.push(error);
            } else {
                self.has_more = true;
            }
        }
    }

    /// What is to be said of them at the end of the log.
    pub(super) fn finding(&self, session: &Session) -> Option<Finding> {
        let (seq, place) = self.last?;
        let which = match self.errors.as_slice() {
            [one] if self.count > 1 && !self.has_more => format!("all with the same error {one}"),
            some => format!("with {}{}", some.join(", "), if self.has_more { " and others" } else { "" }),
        };
        let message = format!("{} ended with an error, {which}", amount(self.count, "compaction"));
        let now = Surface::of(session);
        let message = match self.first.filter(|first| first.replacements == now.replacements) {
            Some(Surface { last_node: Some(seq), .. }) => {
                format!("{message}; surface unchanged since seq {seq}: messages were appended at most")
            }
            Some(_) => format!("{message}; nothing was replaced by them"),
            None => message,
        };
        let help = "the history was not changed by them; `dshc compact -n` shows whether a region can be made smaller";
        Some(Finding::new(&FAILED_COMPACTIONS, place, message).at_seq(seq).with_help(help))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check_events, event, only};
    use super::super::{Finding, Severity};

    fn failed(errors: &[&str]) -> Finding {
        let mut log = Vec::new();
        for (index, error) in errors.iter().enumerate() {
            let seq = 2 * index as u64;
            log.push(event(seq, "compaction/start", r#"{"compactionId":"c","turn":null}"#));
            log.push(event(
                seq + 1,
                "compaction/end",
                &format!(r#"{{"compactionId":"c","turn":null,"error":{error}}}"#),
            ));
        }
        only(check_events(&log))
    }

    #[test]
    fn failures_are_counted_and_told_apart() {
        let same = failed(&["\"no gain\"", "\"no gain\""]);
        assert_eq!((same.code, same.severity, same.seq), ("failed-compactions", Severity::Note, Some(3)));
        assert_eq!(
            same.message,
            "2 compactions ended with an error, all with the same error \"no gain\"; nothing was replaced by them"
        );
        assert_eq!(
            failed(&["\"a\"", "7"]).message,
            "2 compactions ended with an error, with \"a\", 7; nothing was replaced by them"
        );
        let many = failed(&["1", "2", "3", "4", "5", "6", "7"]).message;
        assert!(many.starts_with("7 compactions") && many.contains("4, 5 and others;"), "{many}");
        let object = failed(&[r#"{"message":"no \u001b gain"}"#]).message;
        assert!(object.contains(r#"with {"message":"no \u001b gain"};"#), "{object}");
        let long = failed(&[&format!("{{\"a\":\"{}\"}}", "x".repeat(200))]).message;
        assert!(long.contains("xxx…; "), "{long}");
    }
}
