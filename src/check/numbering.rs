//! The numbering: seqs are dense from 0 (FORMAT §4), and where they come twice no one history can be followed.

mod rules;

use super::Finding;
use super::branches::{Branches, Repeat};
use super::finding::Findings;
use super::trail::{Piece, Trail};
use super::wording::{amount, span};
use crate::log::{Body, Fault, FaultKind, Place, Record};
pub(super) use rules::{RULES, SEQ_FORK};
use rules::{SEQ_GAP, SEQ_ORDER, SEQ_OVERLAP, SEQ_REPEAT};

#[cfg(test)]
mod tests;

/// How many rows wait for what follows them, and how many copies.
const MOST_WAITING: usize = 256;

/// What a record is to the one history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// It goes on.
    Next,
    /// It goes on, but events are missing from this seq on.
    Behind(u64),
    /// It is no part of it, or there is no longer one.
    Beside,
}

/// Whether the records still tell one history.
#[derive(Debug, Default)]
pub(super) struct Numbering {
    trail: Trail,
    next_seq: u64,
    /// Whether something could not be read since the last record, which explains a gap.
    is_explained: bool,
    /// The record before, if it left out one seq.
    jump: Option<Jump>,
    /// Packed rows with seqs that were taken. What follows tells whether they are intruders.
    rows: Vec<(Repeat, Piece)>,
    /// Records that came a second time, up to the last record.
    again: Option<Again>,
    /// Whole records of the damaged line right before, which the reader does not give: their seqs were taken.
    beside_damage: Vec<(Repeat, Piece)>,
    /// Once seqs came twice with other events.
    branches: Option<Branches>,
}

/// A record that stands one seq behind what was expected.
#[derive(Debug, Clone, Copy)]
struct Jump {
    place: Place,
    found: u64,
    expected: u64,
}

/// Records that were there already.
#[derive(Debug)]
struct Again {
    repeat: Repeat,
    records: u64,
    /// The last of them that follow one another, and the seq that would be next. None are kept where they are many.
    run: Vec<(Repeat, Piece)>,
    next_seq: u64,
}

impl Numbering {
    pub(super) fn is_forked(&self) -> bool {
        self.branches.is_some()
    }

    /// Whether the last record stood in the log before.
    pub(super) fn is_again(&self) -> bool {
        self.again.is_some()
    }

    /// Takes a fault: what cannot be read may explain that seqs are missing.
    pub(super) fn fault(&mut self, fault: &Fault) {
        if let FaultKind::FusedRecords(debris) = &fault.kind {
            let expected = fault.seq;
            let taken = debris.records.iter().filter(|(_, seq)| *seq < expected);
            let piece = |seq: u64| {
                let repeat = Repeat { place: fault.place, found: seq, expected, row: None };
                (repeat, Piece::beside_damage(seq, fault.place.line))
            };
            self.beside_damage = taken.map(|(_, seq)| piece(*seq)).collect();
        }
        self.is_explained |= match fault.kind {
            FaultKind::SeqGap { .. } | FaultKind::SeqRepeat { .. } | FaultKind::TornTail { .. } => false,
            ref kind => !kind.loses_nothing(),
        };
    }

    /// Takes a record.
    pub(super) fn record(&mut self, record: &Record, findings: &mut Findings) -> Step {
        let is_explained = std::mem::take(&mut self.is_explained);
        let jump = self.jump.take();
        let beside_damage = std::mem::take(&mut self.beside_damage);
        let repeat = self.place_of(record);
        let Repeat { found, expected, row, .. } = repeat;
        let has_end = self.branches.as_ref().is_some_and(|branches| branches.has_end(found));
        if row.is_some() && found < expected && !has_end {
            self.wait(repeat, Piece::in_words(record), findings);
            return Step::Beside;
        }
        if found == expected {
            self.tell_rows(findings);
        }
        if let Some(jump) = jump.filter(|jump| !is_explained && jump.is_filled_by(repeat)) {
            findings.take_back(|finding| finding.code == SEQ_GAP.code && finding.seq == Some(jump.found));
            findings.push(jump.finding(repeat.place));
            self.trail.push_before_last(Piece::of(record));
            return Step::Beside;
        }
        if self.branches.is_none() && self.rows.is_empty() && found < expected && self.trail.is_again(record)
        {
            let again =
                self.again.get_or_insert_with(|| Again { repeat, records: 0, run: Vec::new(), next_seq: 0 });
            again.add(repeat, Piece::in_words(record));
            return Step::Beside;
        }
        if self.branches.is_some() || found < expected || !self.rows.is_empty() {
            self.fork(record, beside_damage, is_explained, findings);
            return Step::Beside;
        }
        findings.extend(self.again.take().and_then(|again| again.finding()));
        self.trail.push(Piece::of(record));
        self.next_seq = found.saturating_add(record.body.events());
        if found == expected || is_explained {
            return Step::Next;
        }
        findings.push(gap(repeat));
        let jump = Jump { place: repeat.place, found, expected };
        self.jump = Some(jump).filter(|_| row.is_none() && found - expected == 1);
        Step::Behind(expected)
    }

    /// Where a record stands, and where it should.
    fn place_of(&self, record: &Record) -> Repeat {
        let row = matches!(record.body, Body::Row(_)).then(|| record.body.events());
        let expected = self.branches.as_ref().map_or(self.next_seq, Branches::next_seq);
        Repeat { place: record.place, found: record.body.first_seq(), expected, row }
    }

    /// Keeps a row until what follows it tells whether it is an intruder.
    fn wait(&mut self, repeat: Repeat, row: Piece, findings: &mut Findings) {
        if self.rows.len() == MOST_WAITING {
            self.tell_rows(findings);
        }
        self.rows.push((repeat, row));
    }

    /// Tells of the rows that wait: without them the numbers go on.
    fn tell_rows(&mut self, findings: &mut Findings) {
        findings.extend(self.rows.drain(..).map(|(row, _)| overlap(row)));
    }

    /// Takes a record where there is no one history.
    fn fork(
        &mut self,
        record: &Record,
        mut waiting: Vec<(Repeat, Piece)>,
        is_explained: bool,
        findings: &mut Findings,
    ) {
        waiting.retain(|(repeat, _)| repeat.found < record.body.first_seq());
        if let Some(mut again) = self.again.take() {
            let next_seq = self.rows.first().map_or(record.body.first_seq(), |(row, _)| row.found);
            waiting = again.part_of_branch(next_seq);
            findings.extend(again.finding());
        }
        waiting.append(&mut self.rows);
        let branches =
            self.branches.get_or_insert_with(|| Branches::of(std::mem::take(&mut self.trail), self.next_seq));
        for (repeat, piece) in waiting {
            branches.take(piece, repeat);
        }
        let repeat = self.place_of(record);
        let is_gap =
            self.branches.as_mut().is_some_and(|branches| branches.take(Piece::in_words(record), repeat));
        findings.extend((is_gap && !is_explained).then(|| gap(repeat)));
    }

    /// At the end of the log: a row that nothing follows is an intruder, and what the branches of forks have come to.
    pub(super) fn end(&mut self, findings: &mut Findings) {
        self.tell_rows(findings);
        findings.extend(self.again.take().and_then(|again| again.finding()));
        findings.extend(self.branches.iter().flat_map(Branches::findings));
    }
}

impl Jump {
    /// Whether a record is the very one that was left out.
    fn is_filled_by(&self, next: Repeat) -> bool {
        next.found == self.expected && next.row.is_none() && next.expected == self.found.saturating_add(1)
    }

    fn finding(&self, next: Place) -> Finding {
        let lines = self.place.line.zip(next.line);
        let lines = lines.map_or_else(String::new, |(first, last)| format!(", in lines {first} and {last}"));
        let message = format!(
            "two records stand in the wrong order{lines}: seq {} comes before seq {}; no event is missing, and the checks \
             pass over the second",
            self.found, self.expected
        );
        Finding::new(&SEQ_ORDER, self.place, message)
            .at_seq(self.found)
            .with_help("nothing is lost: put the second line before the first in a copy, and check that")
    }
}

impl Again {
    fn add(&mut self, repeat: Repeat, piece: Piece) {
        if self.next_seq != repeat.found {
            self.run.clear();
        }
        self.next_seq = repeat.found.saturating_add(piece.events);
        self.records += 1;
        if self.run.len() < MOST_WAITING {
            self.run.push((repeat, piece));
        }
    }

    /// What belongs to a branch that goes on with `next_seq`: the copies right before it.
    fn part_of_branch(&mut self, next_seq: u64) -> Vec<(Repeat, Piece)> {
        let end = self.run.last().map(|(_, piece)| piece.first_seq.saturating_add(piece.events));
        if end != Some(next_seq) {
            return Vec::new();
        }
        self.records = self.records.saturating_sub(self.run.len() as u64);
        std::mem::take(&mut self.run)
    }

    /// What is to be said of the copies, if any are left that are no part of a branch.
    fn finding(&self) -> Option<Finding> {
        let Repeat { place, found, expected, .. } = self.repeat;
        let what = match self.records {
            0 => return None,
            1 => "the record stands in the log a second time, equal in all it says".to_owned(),
            more => format!("{more} records stand in the log a second time, equal in all they say"),
        };
        let message = format!(
            "seq {found} where {expected} was expected: {what}; no event is missing, and the checks pass over it"
        );
        let finding = Finding::new(&SEQ_REPEAT, place, message)
            .at_seq(found)
            .relating(expected.saturating_sub(1), "the last seq before this line")
            .with_help("lines were copied, or an append was tried twice: take the second copy out, nothing is lost with it");
        Some(finding)
    }
}

fn gap(Repeat { place, found, expected, .. }: Repeat) -> Finding {
    let missing = amount(found.saturating_sub(expected), "event");
    let message = format!(
        "seq {found} where {expected} was expected: {missing} missing ({})",
        span("seq", expected, found.saturating_sub(1))
    );
    let help = FaultKind::SeqGap { expected, found }.help();
    Finding::new(&SEQ_GAP, place, message).at_seq(found).with_help(help)
}

fn overlap(Repeat { place, found, expected, row }: Repeat) -> Finding {
    let members = row.unwrap_or(1);
    let last = found.saturating_add(members.saturating_sub(1));
    let taken = last.min(expected.saturating_sub(1));
    let message = format!(
        "a packed row of {} ({}) where seq {expected} was expected: {} {} taken already, and a row counts as one unit; \
         without the row the numbers go on",
        amount(members, "event"),
        span("seq", found, last),
        span("seq", found, taken),
        if taken == found { "is" } else { "are" }
    );
    Finding::new(&SEQ_OVERLAP, place, message)
        .at_seq(found)
        .with_help("the row holds streamed deltas only: without it no message is lost")
}
