//! Histories that part from one another: the same seqs stand in a log more than once, with other events.
//!
//! The branches are a tree. Where a branch parts, what stands behind that place is a branch as well, so that each is what
//! can be kept or taken out as a whole. Where all branches of a fork end at one seq, what follows goes on behind each.

use super::trail::{Piece, Trail};
use crate::log::Place;

mod told;

/// How many branches are told apart. More are counted only.
const MOST: usize = 32;

/// The branches of a log, in the order in which they begin.
#[derive(Debug)]
pub(super) struct Branches {
    /// The first is what stands before all forks.
    all: Vec<Branch>,
    forks: Vec<Fork>,
    /// The branch that is read.
    current: usize,
    /// What a branch that is not told apart goes on with, while such a one is read.
    uncounted: Option<u64>,
}

#[derive(Debug)]
struct Branch {
    /// What it goes on from.
    parent: Option<usize>,
    /// The fork that it is one side of.
    fork: Option<usize>,
    first_seq: u64,
    next_seq: u64,
    trail: Trail,
    /// Whether other branches go on from its end.
    is_over: bool,
}

/// Where histories part.
#[derive(Debug)]
struct Fork {
    repeat: Repeat,
    /// The seq with which each branch begins.
    seq: u64,
    branches: Vec<usize>,
    /// Branches that are not kept.
    more: u64,
    /// The seq and the line with which the log goes on behind all of them.
    goes_on: Option<(u64, Option<u64>)>,
}

/// A record whose seq was taken.
#[derive(Debug, Clone, Copy)]
pub(super) struct Repeat {
    pub place: Place,
    pub found: u64,
    pub expected: u64,
    /// How many events it holds, if it is a packed row.
    pub row: Option<u64>,
}

impl Branches {
    /// The history so far, which the next record does not continue.
    pub(super) fn of(mut trail: Trail, next_seq: u64) -> Self {
        trail.forget_words();
        let trunk = Branch { parent: None, fork: None, first_seq: 0, next_seq, trail, is_over: false };
        Self { all: vec![trunk], forks: Vec::new(), current: 0, uncounted: None }
    }

    /// The seq that the branch which is read goes on with.
    pub(super) fn next_seq(&self) -> u64 {
        self.all.get(self.current).map_or(0, |branch| branch.next_seq)
    }

    /// Whether a branch ends where this seq goes on.
    pub(super) fn has_end(&self, seq: u64) -> bool {
        self.all.iter().any(|branch| branch.ends_at(seq))
    }

    /// Takes the next record, told in words. Tells whether seqs are missing before it in its branch.
    pub(super) fn take(&mut self, piece: Piece, repeat: Repeat) -> bool {
        let seq = piece.first_seq;
        if self.uncounted == Some(seq) {
            self.uncounted = Some(seq.saturating_add(piece.events));
            return false;
        }
        let is_gap = match self.continued(&piece) {
            Some(branch) => {
                self.current = branch;
                self.join(&piece);
                false
            }
            None if seq > self.next_seq() => true,
            None if self.part(repeat) => false,
            None => {
                self.uncounted = Some(seq.saturating_add(piece.events));
                return false;
            }
        };
        self.uncounted = None;
        if let Some(branch) = self.all.get_mut(self.current) {
            branch.next_seq = seq.saturating_add(piece.events);
            branch.trail.push(piece);
        }
        is_gap
    }

    /// The branch that a record continues: rather the one that is read than another, and rather one whose turn the record
    /// may stand in.
    fn continued(&self, piece: &Piece) -> Option<usize> {
        let (seq, turn) = (piece.first_seq, piece.turn());
        let current = self.all.get(self.current)?;
        let goes_on = |branch: &Branch| branch.ends_at(seq) && branch.trail.may_go_on_with(turn);
        if goes_on(current) {
            return Some(self.current);
        }
        if let Some(other) = self.all.iter().rposition(goes_on) {
            return Some(other);
        }
        if current.ends_at(seq) {
            return Some(self.current);
        }
        // A record is missing in the branch that is read, rather than that another goes on out of place.
        let is_gap = seq > current.next_seq && current.trail.may_go_on_with(turn);
        self.all.iter().rposition(|branch| branch.ends_at(seq)).filter(|_| !is_gap)
    }

    /// Where all branches of the fork that is read end at this record, and no turn is open in any, it follows on each.
    fn join(&mut self, piece: &Piece) {
        let Some(fork) = self.all.get(self.current).and_then(|branch| branch.fork) else { return };
        let Some(fork) = self.forks.get_mut(fork) else { return };
        let ends = |branch: &Branch| branch.ends_at(piece.first_seq) && !branch.trail.is_in_turn();
        let do_end = fork.branches.iter().all(|at| self.all.get(*at).is_some_and(ends));
        if !do_end || fork.more > 0 || self.all.len() == MOST {
            return;
        }
        fork.goes_on = Some((piece.first_seq, piece.line()));
        for at in &fork.branches {
            if let Some(branch) = self.all.get_mut(*at) {
                branch.is_over = true;
            }
        }
        self.begin(Some(self.current), None, piece.first_seq);
    }

    /// A branch begins whose first record is this repeat. Tells whether it is told apart.
    fn part(&mut self, repeat: Repeat) -> bool {
        let mut at = self.current;
        while let Some(branch) = self.all.get(at)
            && repeat.found < branch.first_seq
            && let Some(parent) = branch.parent
        {
            at = parent;
        }
        let Some(branch) = self.all.get(at) else { return false };
        let seq = branch.trail.start_of(repeat.found);
        let fork = match branch.fork {
            Some(fork) if seq == branch.first_seq => fork,
            _ if self.all.len() + 2 <= MOST => self.split(at, seq, repeat),
            fork => {
                if let Some(fork) = fork.or(self.forks.len().checked_sub(1)) {
                    self.count_only(fork);
                }
                return false;
            }
        };
        if self.all.len() == MOST {
            self.count_only(fork);
            return false;
        }
        let parent = self.first_of(fork).and_then(|first| first.parent);
        self.begin(parent, Some(fork), seq);
        true
    }

    fn count_only(&mut self, fork: usize) {
        if let Some(fork) = self.forks.get_mut(fork) {
            fork.more += 1;
        }
    }

    fn first_of(&self, fork: usize) -> Option<&Branch> {
        self.all.get(*self.forks.get(fork)?.branches.first()?)
    }

    /// Makes what stands in a branch from `seq` on the first branch of a new fork.
    fn split(&mut self, at: usize, seq: u64, repeat: Repeat) -> usize {
        let (fork, new) = (self.forks.len(), self.all.len());
        self.forks.push(Fork { repeat, seq, branches: vec![new], more: 0, goes_on: None });
        for child in self.all.iter_mut().filter(|branch| branch.parent == Some(at)) {
            child.parent = Some(new);
        }
        if let Some(branch) = self.all.get_mut(at) {
            let behind = Branch {
                parent: Some(at),
                fork: Some(fork),
                first_seq: seq,
                next_seq: branch.next_seq,
                trail: branch.trail.split_off(seq),
                is_over: std::mem::replace(&mut branch.is_over, true),
            };
            branch.next_seq = seq;
            self.all.push(behind);
        }
        fork
    }

    /// Begins a branch without records, which is read from now on.
    fn begin(&mut self, parent: Option<usize>, fork: Option<usize>, seq: u64) {
        self.current = self.all.len();
        if let Some(fork) = fork.and_then(|fork| self.forks.get_mut(fork)) {
            fork.branches.push(self.current);
        }
        let trail = Trail::default();
        self.all.push(Branch { parent, fork, first_seq: seq, next_seq: seq, trail, is_over: false });
    }
}

impl Branch {
    /// Whether it ends, and `seq` would go on behind it.
    fn ends_at(&self, seq: u64) -> bool {
        !self.is_over && self.next_seq == seq
    }
}
