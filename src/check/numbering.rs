//! The numbering: seqs are dense from 0 (FORMAT §4), and where they come twice no one history can be followed.

use super::Finding;
use super::branches::Branches;
use super::finding::Findings;
use super::registry::rule_family;
use super::trail::Trail;
use super::wording::{amount, span};
use crate::log::{Fault, FaultKind, Place, Record};

#[cfg(test)]
mod tests;

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
    /// Records stand in the log a second time, equal in all they say.
    ///
    /// **What it means.** From the record that is named on the numbers fall back, but each record says what
    /// the one with its number said before. So there is one history, and the checks pass over the second copy
    /// of it. Where anything differs it is told as `seq-fork`.
    ///
    /// **Why it matters.** dsh does not compare: the first repeated number ends its reading. It refuses a
    /// compressed log, and a raw one if a turn ends in or behind the record. Else it deletes the copy and
    /// with it all the new events that stand behind it.
    ///
    /// **How it comes about.** An append was tried again after an error, though its bytes had reached the
    /// file. Parts of a log that overlap were joined, or lines were pasted twice.
    ///
    /// **What to do.** Copy the file before dsh opens the session, and take the second of the two out in the
    /// copy. The numbers go on then, and nothing is lost.
    SEQ_REPEAT = error("seq-repeat");
    /// A packed row stands for seqs of which earlier records have some or all.
    ///
    /// **What it means.** A row of packed deltas takes as many numbers as it has members, and counts as a
    /// whole: none of it can be taken alone. The record behind this one goes on with the number that was next
    /// before it, so that the row is the only intruder. The checks go on without it.
    ///
    /// **Why it matters.** dsh refuses the log if a turn ends behind the row, and a compressed one in any
    /// case; else it deletes the row and all behind it. No message is missing without the row, for the text
    /// stands in the `assistant/message` too.
    ///
    /// **How it comes about.** Two writers shared a session, and one of them flushed streamed deltas after
    /// the other had ended the turn and resumed it. Deltas are the last thing to come in from a process that
    /// is being stopped.
    ///
    /// **What to do.** Remove exactly this line in a copy, and check that again. Where the numbers do not go
    /// on without the row, the log holds two histories, and `seq-fork` is told instead.
    SEQ_OVERLAP = error("seq-overlap");
    /// Two histories go on from one seq: the same numbers stand in the log again, with other events.
    ///
    /// **What it means.** From the seq that is named on, the log holds more than one version of what happened. Each is
    /// a branch, with its lines, its seqs and its records. A branch is entirely synthetic where dsh wrote all of it by
    /// itself to close an open turn: results for calls that had none, `step/end`, an interrupted `turn/end`,
    /// `session/end-seed`. Every other branch holds real work. Which one is true no program can tell; the surface,
    /// pairing, brackets and locks are not checked behind the fork.
    ///
    /// **Why it matters.** dsh refuses the whole log at the first repeated number, or, if no turn ends behind it, opens
    /// it and deletes the later branch. Readers that go on regardless show a mixture, or lose one branch silently.
    ///
    /// **How it comes about.** Two programs had the session open at once. Most often the first was still at work when
    /// dsh was started again: the second took the turn for interrupted and closed it, while the first wrote its result
    /// under the same numbers. Format 0 has no lock against this.
    ///
    /// **What to do.** Copy the file, and end all programs that have the session. Keep one branch and take out the
    /// lines of the others. Where one alone holds real work, keeping it loses nothing. Where several do, keep the one
    /// that you want to go on with and save the text of the others first.
    SEQ_FORK = error("seq-fork");
}

const STOPS: &str = "the surface, pairing, brackets and locks are not checked from here on";

/// Whether the records still tell one history.
#[derive(Debug, Default)]
pub(super) struct Numbering {
    state: State,
    trail: Trail,
}

#[derive(Debug, Default)]
enum State {
    /// They do.
    #[default]
    Sound,
    /// A packed row took seqs that were taken. What stands behind it tells whether it is the only intruder.
    Overlap(Overlap),
    /// Seqs come twice, so far with the very events that stood there.
    Again(Again),
    /// Seqs came twice: from there on histories are mixed.
    Forked { repeat: Repeat, branches: Branches },
}

/// The first line whose seq was taken.
#[derive(Debug, Clone, Copy)]
struct Repeat {
    place: Place,
    found: u64,
    expected: u64,
}

/// A packed row whose seqs are taken.
#[derive(Debug)]
struct Overlap {
    repeat: Repeat,
    members: u64,
    /// Whether the reader has given the row itself, which comes behind its fault.
    row_is_past: bool,
    branches: Branches,
}

/// Records that were there already.
#[derive(Debug)]
struct Again {
    repeat: Repeat,
    records: u64,
    branches: Branches,
}

impl Numbering {
    pub(super) fn is_forked(&self) -> bool {
        matches!(self.state, State::Forked { .. })
    }

    /// Takes a fault. Gives the seq from which events are missing, if they are by their numbers.
    pub(super) fn fault(&mut self, fault: &Fault, findings: &mut Findings) -> Option<u64> {
        match fault.kind {
            FaultKind::SeqGap { found, expected } => self.gap(found, expected, fault.place, findings),
            FaultKind::SeqRepeat { found, expected, members } => {
                let repeat = Repeat { place: fault.place, found, expected };
                self.repeat(repeat, members, findings);
                None
            }
            FaultKind::TornTail { .. } => None,
            ref kind if kind.loses_nothing() => None,
            _ => {
                // Whether the numbers would have gone on is no longer known.
                self.settle_overlap(u64::MAX, findings);
                None
            }
        }
    }

    fn gap(&mut self, found: u64, reader_expects: u64, place: Place, findings: &mut Findings) -> Option<u64> {
        // The reader counts on from a record that was out of place; where the numbers go on all the same, there is no gap.
        let expected = match &mut self.state {
            State::Sound => reader_expects,
            State::Overlap(_) => {
                if self.settle_overlap(found, findings) {
                    return None;
                }
                reader_expects
            }
            State::Again(again) if found <= again.repeat.expected => return None,
            State::Again(again) => again.repeat.expected,
            State::Forked { branches, .. } => {
                if branches.turn_to(found) {
                    return None;
                }
                reader_expects
            }
        };
        let missing = amount(found.saturating_sub(expected), "event");
        let message = format!(
            "seq {found} where {expected} was expected: {missing} missing ({})",
            span("seq", expected, found.saturating_sub(1))
        );
        let help = FaultKind::SeqGap { expected, found }.help();
        findings.push(Finding::new(&SEQ_GAP, place, message).at_seq(found).with_help(help));
        Some(expected)
    }

    fn repeat(&mut self, repeat: Repeat, members: u64, findings: &mut Findings) {
        if matches!(self.state, State::Overlap(_)) && self.settle_overlap(repeat.found, findings) {
            return;
        }
        match &mut self.state {
            State::Sound => {
                let mut branches = Branches::new(&self.trail, repeat.found, repeat.expected);
                branches.begin(repeat.found, repeat.place, &self.trail);
                self.state = if members > 1 {
                    State::Overlap(Overlap { repeat, members, row_is_past: false, branches })
                } else {
                    State::Again(Again { repeat, records: 0, branches })
                };
            }
            State::Forked { branches, .. } => {
                if !branches.turn_to(repeat.found) {
                    branches.begin(repeat.found, repeat.place, &self.trail);
                }
            }
            State::Overlap(_) | State::Again(_) => {}
        }
    }

    /// Takes a record. Tells whether it continues the one history.
    pub(super) fn record(&mut self, record: &Record, findings: &mut Findings) -> bool {
        let first_seq = record.body.first_seq();
        if let State::Overlap(overlap) = &mut self.state {
            if !std::mem::replace(&mut overlap.row_is_past, true) {
                overlap.branches.add(record);
                return false;
            }
            self.settle_overlap(first_seq, findings);
        }
        match &mut self.state {
            State::Again(again) if first_seq >= again.repeat.expected => {
                findings.push(again.finding());
                self.state = State::Sound;
            }
            State::Again(again) => {
                again.branches.add(record);
                again.records += 1;
                if !self.trail.is_again(record)
                    && let State::Again(Again { repeat, branches, .. }) = std::mem::take(&mut self.state)
                {
                    self.state = State::Forked { repeat, branches };
                }
                return false;
            }
            State::Forked { branches, .. } => branches.add(record),
            State::Sound | State::Overlap(_) => {}
        }
        if self.is_forked() {
            return false;
        }
        self.trail.push(record);
        true
    }

    /// At the end of the log: what nothing follows is the only intruder, and what the branches of a fork have come to.
    pub(super) fn end(&mut self, findings: &mut Findings) {
        if let State::Overlap(Overlap { repeat, .. }) = self.state {
            self.settle_overlap(repeat.expected, findings);
        }
        match &self.state {
            State::Again(again) => findings.push(again.finding()),
            State::Forked { repeat, branches } => findings.push(fork(*repeat, branches)),
            State::Sound | State::Overlap(_) => {}
        }
    }

    /// Settles a pending row by the seq that follows it. Tells whether the history goes on without the row.
    fn settle_overlap(&mut self, next_seq: u64, findings: &mut Findings) -> bool {
        match std::mem::take(&mut self.state) {
            State::Overlap(overlap) if next_seq == overlap.repeat.expected => {
                findings.push(overlap.finding());
                true
            }
            State::Overlap(Overlap { repeat, branches, .. }) => {
                self.state = State::Forked { repeat, branches };
                false
            }
            settled => {
                self.state = settled;
                false
            }
        }
    }
}

impl Overlap {
    fn finding(&self) -> Finding {
        let (Repeat { place, found, expected }, members) = (self.repeat, self.members);
        let last = found.saturating_add(members.saturating_sub(1));
        let last_taken = last.min(expected.saturating_sub(1));
        let taken = span("seq", found, last_taken);
        let are = if last_taken == found { "is" } else { "are" };
        let message = format!(
            "a packed row of {members} events (seqs {found} to {last}) where seq {expected} was expected: {taken} {are} taken \
             already, and a row counts as one unit; without the row the numbers go on"
        );
        Finding::new(&SEQ_OVERLAP, place, message)
            .at_seq(found)
            .with_help("the row holds streamed deltas only: without it no message is lost")
    }
}

impl Again {
    fn finding(&self) -> Finding {
        let Repeat { place, found, expected } = self.repeat;
        let what = match self.records {
            0 | 1 => "the record stands in the log a second time, equal in all it says".to_owned(),
            more => format!("{more} records stand in the log a second time, equal in all they say"),
        };
        let message = format!(
            "seq {found} where {expected} was expected: {what}; no event is missing, and the checks pass over it"
        );
        Finding::new(&SEQ_REPEAT, place, message)
            .at_seq(found)
            .relating(expected.saturating_sub(1), "the last seq before this line")
            .with_help("lines were copied, or an append was tried twice: take the second copy out, nothing is lost with it")
    }
}

fn fork(Repeat { place, found, expected }: Repeat, branches: &Branches) -> Finding {
    let line = place.line.map_or_else(String::new, |line| format!("line {line} carries "));
    let (count, from) = (branches.count_told(), branches.first_seq());
    let told: Vec<String> = branches.told().map(|(_, told)| told).collect();
    let message = format!(
        "{line}seq {found} where {expected} was expected: the log holds {count} from seq {from}; {}; {}; {STOPS}",
        told.join("; "),
        branches.advice()
    );
    let help = "two programs had the session at once: copy the file, keep one branch, and take out the lines of the others";
    let finding = Finding::new(&SEQ_FORK, place, message).at_seq(found).with_help(help);
    branches.told().fold(finding, |finding, (seq, told)| finding.relating(seq, told))
}
