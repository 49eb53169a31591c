//! Histories that part from one another: the same seqs stand in a log more than once, with other events.

use super::closers;
use super::trail::{Past, Trail};
use super::wording::{amount, span};
use crate::log::{Place, Record};

/// How many branches are told apart. More are counted only.
const MOST: usize = 16;

/// How many records of a branch are named.
const MOST_NAMED: usize = 6;

/// The branches of a log, in the order in which they begin. The first is what stood before the first repeat.
#[derive(Debug)]
pub(super) struct Branches {
    all: Vec<Branch>,
    /// The one that the records go on with.
    current: usize,
    /// Branches that are not kept.
    more: u64,
}

#[derive(Debug)]
struct Branch {
    first_seq: u64,
    next_seq: u64,
    first_line: Option<u64>,
    last_line: Option<u64>,
    is_synthetic: bool,
    /// The first records, in a few words, and how many there are.
    whats: Vec<String>,
    records: u64,
}

impl Branches {
    /// At `seq` a log that had come to `next_seq` goes on with other events. A repeat may begin a few equal records before.
    pub(super) fn new(trail: &Trail, seq: u64, next_seq: u64) -> Self {
        let Past { first_line, last_line, is_synthetic, mut whats } = trail.since(seq);
        let records = whats.len() as u64;
        whats.truncate(MOST_NAMED);
        let past = Branch { first_seq: seq, next_seq, first_line, last_line, is_synthetic, whats, records };
        Self { all: vec![past], current: 0, more: 0 }
    }

    /// The next record has the seq `seq`, and the branch that is read goes on with another one. Tells whether `seq` is
    /// what another branch goes on with.
    pub(super) fn turn_to(&mut self, seq: u64) -> bool {
        let other = self.all.iter().rposition(|branch| branch.next_seq == seq);
        if let Some(other) = other {
            self.current = other;
        }
        other.is_some()
    }

    /// A branch begins at `seq`.
    pub(super) fn begin(&mut self, seq: u64, place: Place, trail: &Trail) {
        if self.all.len() == MOST {
            self.more += 1;
            return;
        }
        if let Some(past) = self.all.first_mut().filter(|past| seq < past.first_seq) {
            // It parts from the first one at an earlier place than the others.
            let Past { first_line, is_synthetic, mut whats, .. } = trail.since(seq);
            past.records = whats.len() as u64;
            whats.truncate(MOST_NAMED);
            *past = Branch { first_seq: seq, first_line, is_synthetic, whats, ..*past };
        }
        self.current = self.all.len();
        self.all.push(Branch {
            first_seq: seq,
            next_seq: seq,
            first_line: place.line,
            last_line: place.line,
            is_synthetic: true,
            whats: Vec::new(),
            records: 0,
        });
    }

    /// The branch that is read goes on with this record.
    pub(super) fn add(&mut self, record: &Record) {
        let Some(branch) = self.all.get_mut(self.current) else { return };
        branch.next_seq = record.body.first_seq() + record.body.events();
        branch.last_line = record.place.line.or(branch.last_line);
        branch.is_synthetic &= closers::is_synthetic(&record.body);
        branch.records += 1;
        if branch.whats.len() < MOST_NAMED {
            branch.whats.push(closers::told(&record.body));
        }
    }

    /// The seq from which there is more than one history.
    pub(super) fn first_seq(&self) -> u64 {
        self.all.iter().map(|branch| branch.first_seq).min().unwrap_or_default()
    }

    /// How many histories there are, for people.
    pub(super) fn count_told(&self) -> String {
        match self.all.len() as u64 + self.more {
            2 => "two histories".to_owned(),
            count => format!("{count} histories"),
        }
    }

    /// Each branch: its first seq, and what is to be said of it.
    pub(super) fn told(&self) -> impl Iterator<Item = (u64, String)> {
        self.all.iter().zip('A'..).map(|(branch, name)| (branch.first_seq, branch.told(name)))
    }

    /// Which branch can be kept without a loss.
    pub(super) fn advice(&self) -> String {
        let names = |is_synthetic: bool| {
            let named = self.all.iter().zip('A'..).filter(|(branch, _)| branch.is_synthetic == is_synthetic);
            named.map(|(_, name)| name.to_string()).collect::<Vec<_>>()
        };
        let (work, synthetic) = (names(false), names(true));
        match (work.as_slice(), synthetic.len(), self.more) {
            ([], _, 0) => "none of them holds real work, so any may be kept".to_owned(),
            ([one], 1.., 0) => {
                format!("keeping branch {one} loses no real work, since the others are entirely synthetic")
            }
            (work, _, 0) => {
                format!(
                    "branches {} each hold real work: keeping one loses that of the others",
                    work.join(" and ")
                )
            }
            (_, _, more) => format!("{more} more branches are not told apart here"),
        }
    }
}

impl Branch {
    fn told(&self, name: char) -> String {
        let lines = match (self.first_line, self.last_line) {
            (Some(first), Some(last)) => format!("{}, ", span("line", first, last)),
            (None, Some(last)) => format!("up to line {last}, "),
            _ => String::new(),
        };
        let seqs = span("seq", self.first_seq, self.next_seq.saturating_sub(1));
        let rest = self.records.saturating_sub(self.whats.len() as u64);
        let more = if rest > 0 { format!(", and {} more", amount(rest, "record")) } else { String::new() };
        let kind = if self.is_synthetic { "entirely synthetic: " } else { "real work: " };
        format!("branch {name}: {lines}{seqs} ({kind}{}{more})", self.whats.join(", "))
    }
}
