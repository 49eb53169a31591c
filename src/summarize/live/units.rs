//! A transcript as runs of entries that no cut may part: a node, and a call with its result.

use super::super::{Entry, Transcript};
use super::rendering::{self, Tie};
use super::window::estimate;
use std::collections::HashMap;
use std::fmt;

/// Entries that stay together, as the text that a model is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unit {
    first_seq: u64,
    last_seq: u64,
    text: String,
    tokens: u64,
}

impl Unit {
    /// About how many tokens its text is.
    pub(super) fn tokens(&self) -> u64 {
        self.tokens
    }
}

/// By its seqs: `seq 7`, or `seqs 5..9`, first and last node as a region is named.
impl fmt::Display for Unit {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        if self.first_seq == self.last_seq {
            write!(out, "seq {}", self.first_seq)
        } else {
            write!(out, "seqs {}..{}", self.first_seq, self.last_seq)
        }
    }
}

/// The units of a transcript in its order. `carried` is the seq of the prompt that stands beside the summary.
pub(super) fn of(transcript: &Transcript, carried: Option<u64>) -> Vec<Unit> {
    let entries = &transcript.entries;
    let ties = ties(entries);
    let mut units = Vec::new();
    let mut start = 0;
    let mut farthest = 0;
    for (index, tie) in ties.iter().enumerate() {
        if let Tie::Answered(result) = tie {
            farthest = farthest.max(*result);
        }
        let next = index + 1;
        let is_cut = farthest <= index && !is_one_node(entries.get(index), entries.get(next));
        if is_cut && let (Some(run), Some(run_ties)) = (entries.get(start..next), ties.get(start..next)) {
            units.extend(unit(run, run_ties, entries, carried));
            start = next;
        }
    }
    units
}

/// The texts of units, one behind the other.
pub(super) fn joined(units: impl AsRef<[Unit]>) -> String {
    units.as_ref().iter().map(|unit| unit.text.as_str()).collect()
}

fn unit(run: &[Entry], ties: &[Tie], all: &[Entry], carried: Option<u64>) -> Option<Unit> {
    let entries = run.iter().zip(ties);
    let text: String = entries.map(|(entry, tie)| rendering::entry(entry, *tie, all, carried)).collect();
    let (first_seq, last_seq) = (run.first()?.seq(), run.last()?.seq());
    Some(Unit { first_seq, last_seq, tokens: estimate(&text), text })
}

/// Whether two neighbours are, or may be, of one node. A prompt before a checkpoint may be the task that the
/// checkpoint carries.
fn is_one_node(one: Option<&Entry>, next: Option<&Entry>) -> bool {
    let (Some(one), Some(next)) = (one, next) else { return false };
    one.seq() == next.seq() || matches!((one, next), (Entry::Human { .. }, Entry::Checkpoint { .. }))
}

/// For each entry, the one at the other end of its call. A result answers the latest open call with its id, as on
/// the surface (`session::Pairing`).
fn ties(entries: &[Entry]) -> Vec<Tie> {
    let mut open: HashMap<&str, Vec<usize>> = HashMap::new();
    let mut ties = vec![Tie::None; entries.len()];
    for (index, entry) in entries.iter().enumerate() {
        match entry {
            Entry::Call { id, .. } => open.entry(id).or_default().push(index),
            Entry::Result { id, .. } => {
                let Some(call) = open.get_mut(id.as_str()).and_then(Vec::pop) else { continue };
                if let Some(tie) = ties.get_mut(call) {
                    *tie = Tie::Answered(index);
                }
                if let Some(tie) = ties.get_mut(index) {
                    *tie = Tie::Answers(call);
                }
            }
            _ => {}
        }
    }
    ties
}
