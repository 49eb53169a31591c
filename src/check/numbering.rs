//! The numbering: seqs are dense from 0 (FORMAT §4), and where they come twice no one history can be followed.

use super::Finding;
use super::finding::Findings;
use super::registry::rule_family;
use super::wording::amount;
use crate::log::{Fault, FaultKind};

rule_family! {
    "sequence";
    /// Seqs are missing between two records.
    ///
    /// **What it means.** The events of a log are numbered from 0 without a gap. Here a record carries a
    /// higher number than is next; the finding says how many are missing. The rest is checked as it stands,
    /// and findings that the missing events may explain are notes.
    ///
    /// **Why it matters.** dsh refuses a compressed log for a gap, and a raw one if a turn ends in or behind
    /// the record. Else it opens the raw log and deletes this record and all that follow. Either way nothing
    /// in the log can bring the missing events back.
    ///
    /// **How it comes about.** Lines were taken out by hand or by a tool that filters logs, or a damaged line
    /// before the gap held them; then that line is told as well. Parts of a log that were joined without the
    /// middle give it too.
    ///
    /// **What to do.** Look for a copy that has the missing events, and copy the file before dsh opens the
    /// session. Do not renumber: references to events all over the log would then point elsewhere.
    SEQ_GAP = error("seq-gap");
    /// A record carries a seq that an earlier record has.
    ///
    /// **What it means.** The number falls back: from this record on the log tells a second history, or tells
    /// the first one again. Which of the two is the session nobody can say from the numbers alone, so the
    /// surface, pairing, brackets and locks are not checked from here on.
    ///
    /// **Why it matters.** dsh refuses a compressed log, and a raw one if a turn ends in or behind the
    /// record. Else it keeps what stands before the record and deletes the rest, whichever was the real work.
    ///
    /// **How it comes about.** Two processes had the session open: one wrote the ending of an interrupted
    /// turn, the other went on with its own count. In format 0 no lock keeps them apart. Lines that were
    /// copied twice look the same.
    ///
    /// **What to do.** Close every dsh that has the session, and copy the file. Compare the records from the
    /// repeated number on: often one side is only the results and ends that dsh writes for an interrupted
    /// turn, and holds no work. A copy that keeps the common part and the other side, with its numbers as
    /// they are, is one history again.
    SEQ_REPEAT = error("seq-repeat");
    /// A packed row stands for seqs of which earlier records have some or all.
    ///
    /// **What it means.** A row of packed deltas takes as many numbers as it has members, and counts as a
    /// whole: none of it can be taken alone. If the record behind it goes on with the number that was next
    /// before the row, the row is the only intruder, and the checks go on without it.
    ///
    /// **Why it matters.** dsh refuses the log if a turn ends behind the row, and a compressed one in any
    /// case; else it deletes the row and all behind it. Where the row is the only intruder no message is
    /// missing, for the text stands in the `assistant/message` too.
    ///
    /// **How it comes about.** Two writers shared a session, and one of them flushed streamed deltas after
    /// the other had ended the turn and resumed it. Deltas are the last thing to come in from a process that
    /// is being stopped.
    ///
    /// **What to do.** Where the message says that the numbers go on without the row, remove exactly this
    /// line in a copy and check that again. Otherwise treat it as two histories: see `seq-repeat`.
    SEQ_OVERLAP = error("seq-overlap");
}

const STOPS: &str = "the surface, pairing, brackets and locks are not checked from here on";

/// Whether the records still tell one history.
#[derive(Debug)]
pub(super) enum Numbering {
    /// They do.
    Sound,
    /// A packed row took seqs that were taken. What stands behind it tells whether it is the only intruder.
    Overlap(Overlap),
    /// Seqs came twice: from there on two histories are mixed.
    Forked,
}

/// A packed row whose seqs are taken.
#[derive(Debug)]
pub(super) struct Overlap {
    /// The seq that belongs in its place.
    expected: u64,
    finding: Finding,
    /// Whether the reader has given the row itself, which comes behind its fault.
    row_is_past: bool,
}

impl Numbering {
    pub(super) fn is_forked(&self) -> bool {
        matches!(self, Self::Forked)
    }

    /// Takes a fault; tells what is wrong with its number, and with the row before it.
    pub(super) fn fault(&mut self, fault: &Fault, findings: &mut Findings) {
        match fault.kind {
            FaultKind::SeqGap { found, .. } | FaultKind::SeqRepeat { found, .. } => {
                // The reader counts on from a pending row; where that is the only intruder, there is no fault here.
                if !self.resolve(found, findings) {
                    findings.extend(self.sequence(fault));
                }
            }
            FaultKind::TornTail { .. } => {}
            ref kind if kind.loses_nothing() => {}
            _ => {
                self.resolve(u64::MAX, findings);
            }
        }
    }

    /// Takes a record's first seq. Tells whether the record continues the one history.
    pub(super) fn record(&mut self, first_seq: u64, findings: &mut Findings) -> bool {
        if let Self::Overlap(overlap) = self {
            if !std::mem::replace(&mut overlap.row_is_past, true) {
                return false;
            }
            self.resolve(first_seq, findings);
        }
        !self.is_forked()
    }

    /// At the end of the log: a row that nothing follows is the only intruder.
    pub(super) fn end(&mut self, findings: &mut Findings) {
        if let Self::Overlap(Overlap { expected, .. }) = *self {
            self.resolve(expected, findings);
        }
    }

    /// Settles a pending row by the seq that follows it. Tells whether the history goes on without the row.
    fn resolve(&mut self, next_seq: u64, findings: &mut Findings) -> bool {
        match std::mem::replace(self, Self::Forked) {
            Self::Overlap(Overlap { expected, finding, .. }) => {
                let goes_on = next_seq == expected;
                let outcome = if goes_on { "without the row the numbers go on" } else { STOPS };
                findings.push(finding.adding(outcome));
                if goes_on {
                    *self = Self::Sound;
                }
                goes_on
            }
            settled => {
                *self = settled;
                false
            }
        }
    }

    fn sequence(&mut self, fault: &Fault) -> Option<Finding> {
        let finding = |rule, found, message: String| {
            Finding::new(rule, fault.place, message).at_seq(found).with_help(fault.kind.help())
        };
        match fault.kind {
            FaultKind::SeqGap { expected, found } => {
                let missing = amount(found - expected, "event");
                Some(finding(
                    &SEQ_GAP,
                    found,
                    format!("seq {found} where {expected} was expected: {missing} missing"),
                ))
            }
            FaultKind::SeqRepeat { expected, found, members } if members > 1 && !self.is_forked() => {
                let last = found.saturating_add(members - 1);
                let taken = match last.min(expected - 1) {
                    one if one == found => format!("seq {one} is"),
                    to => format!("seqs {found} to {to} are"),
                };
                let message = format!(
                    "a packed row of {members} events (seqs {found} to {last}) where seq {expected} was expected: \
                     {taken} taken already, and a row counts as one unit"
                );
                let finding = finding(&SEQ_OVERLAP, found, message);
                let finding =
                    finding.with_help("the row holds streamed deltas only: without it no message is lost");
                *self = Self::Overlap(Overlap { expected, finding, row_is_past: false });
                None
            }
            FaultKind::SeqRepeat { expected, found, members } => {
                let rule = if members > 1 { &SEQ_OVERLAP } else { &SEQ_REPEAT };
                let finding = finding(rule, found, fault.kind.to_string());
                let finding = finding.relating(expected.saturating_sub(1), "the last seq before this line");
                Some(match std::mem::replace(self, Self::Forked) {
                    Self::Forked => finding,
                    Self::Sound | Self::Overlap(_) => finding.adding(STOPS),
                })
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Checked;
    use super::super::testing::{self, check_events, event};

    /// The codes but for what dsh would delete, which `aftermath` tests.
    fn codes(checked: &Checked) -> Vec<&'static str> {
        let mut codes = testing::codes(checked);
        codes.retain(|code| *code != "valid-events-after-damage");
        codes
    }

    fn todo(seq: u64) -> String {
        event(seq, "todo/write", "{}")
    }

    fn row(seq: u64, members: usize) -> String {
        let texts = vec!["\"x\""; members].join(",");
        let gaps = vec!["1"; members - 1].join(",");
        format!(
            r#"{{"type":"text-chunks","seq0":{seq},"time0":1,"data":{{"turn":1,"step":1,"index":0,"dt":[{gaps}],"texts":[{texts}]}}}}"#
        )
    }

    /// A message that breaks the rules of the surface: found only while the checks go on.
    fn broken(seq: u64) -> String {
        event(seq, "user/message", "{}")
    }

    #[test]
    fn a_gap_ends_nothing() {
        let checked = check_events(&[todo(0), todo(3), broken(4)]);
        assert_eq!(codes(&checked), ["seq-gap", "message-shape"]);
        assert!(checked.findings[0].message.contains("2 events missing"));
    }

    #[test]
    fn a_repeat_ends_the_checks_of_what_the_log_means() {
        let checked = check_events(&[todo(0), todo(1), todo(1), broken(2), "{".to_owned(), todo(7)]);
        assert_eq!(codes(&checked), ["seq-repeat", "unparsable-line"]);
        assert!(checked.findings[0].message.contains("not checked from here on"));
        assert_eq!(checked.lock, None);
    }

    #[test]
    fn a_row_that_overlaps_is_one_finding() {
        let log = [todo(0), todo(1), row(1, 3), todo(2), broken(3)];
        let checked = check_events(&log);
        assert_eq!(codes(&checked), ["seq-overlap", "message-shape"]);
        assert!(
            checked.findings[0].message.contains("3 events (seqs 1 to 3)"),
            "{}",
            checked.findings[0].message
        );
        // The same where the row ends where the numbers go on, and where it is the end of the log.
        assert_eq!(
            codes(&check_events(&[todo(0), todo(1), todo(2), row(1, 2), broken(3)])),
            ["seq-overlap", "message-shape"]
        );
        assert_eq!(codes(&check_events(&[todo(0), todo(1), row(0, 2)])), ["seq-overlap"]);
        assert_eq!(codes(&check_events(&[todo(0), todo(1), row(0, 4)])), ["seq-overlap"]);
    }

    #[test]
    fn a_row_of_another_history_ends_the_checks() {
        let checked = check_events(&[todo(0), todo(1), row(1, 3), todo(4), broken(5)]);
        assert_eq!(codes(&checked), ["seq-overlap"]);
        assert!(checked.findings[0].message.contains("not checked from here on"));
    }
}
