//! Which numbers events have behind the step that gathers streamed deltas (FORMAT §8.2).
//!
//! Deltas go, attempts and boundaries come, and events that stand behind the last delta of an attempt wait until it
//! settles. Nothing is kept of those but what depends on the number.

use super::here::refusal;
use crate::check::Finding;
use crate::check::finding::Findings;
use crate::check::registry::rule_family;
use crate::log::{Header, Place};

rule_family! {
    "upgrade";
    /// The result of a call that never started carries an id that does not fit the number that the upgrade gives it.
    ///
    /// **What it means.** For a call that was cut off before it started, dsh writes a result whose message id ends with
    /// the event's own number. The upgrade to format 2 gives later numbers where streamed deltas are gathered, but keeps
    /// ids as they are. The strict reader of format 2 then finds a number in the id that is not the event's.
    ///
    /// **Why it matters.** The reader refuses the result of the upgrade. Format 3 takes any number in such an id; a
    /// release that goes from format 0 to 3 without a strict look at format 2 may take the log.
    ///
    /// **How it comes about.** A session crashed while the model called tools, and went on later. Nothing is wrong with
    /// the log: numbers before the result changed.
    ///
    /// **What to do.** Upgrade with a release that writes format 3 or later, and keep the old generation until that has
    /// worked. A result with another ending of its id is another message, so do not edit the log.
    REPAIR = error("upgrade-repair-number");
}

/// A result for a call that never started.
#[derive(Debug, Clone, Copy)]
pub(super) struct Repair {
    /// The number at the end of its message's id.
    pub number: u64,
    /// The event.
    pub at: (u64, Place),
}

/// The numbers of the result so far.
#[derive(Debug)]
pub(super) struct Renumbering {
    to: u64,
    next: u64,
    /// Where inherited events end in the log, until the result has its boundary there.
    cut: Option<u64>,
    /// How many events wait.
    waiting: u64,
    /// The repairs among them, each with its position there.
    repairs: Vec<(u64, Repair)>,
    /// Events were lost: numbers say nothing any more.
    is_unsure: bool,
}

impl Renumbering {
    pub(super) fn new(to: u64, header: &Header) -> Self {
        let cut = header.seed_length;
        Self { to, next: 0, cut, waiting: 0, repairs: Vec::new(), is_unsure: false }
    }

    pub(super) fn doubt(&mut self) {
        self.is_unsure = true;
    }

    /// An event is carried over at once.
    pub(super) fn pass(
        &mut self,
        seq: u64,
        is_marker: bool,
        repair: Option<Repair>,
        findings: &mut Findings,
    ) {
        self.next += self.boundary(seq, is_marker);
        if let Some(repair) = repair {
            findings.extend(self.judge(repair, self.next));
        }
        self.next += 1;
    }

    /// An event waits until the attempt settles.
    pub(super) fn wait(&mut self, seq: u64, is_marker: bool, repair: Option<Repair>) {
        self.waiting += self.boundary(seq, is_marker);
        self.repairs.extend(repair.map(|repair| (self.waiting, repair)));
        self.waiting += 1;
    }

    /// An event comes in that the log does not have, on account of the event `seq`.
    pub(super) fn insert(&mut self, seq: u64) {
        self.next += self.boundary(seq, false) + 1;
    }

    /// What waited is carried over.
    pub(super) fn release(&mut self, findings: &mut Findings) {
        for (position, repair) in std::mem::take(&mut self.repairs) {
            findings.extend(self.judge(repair, self.next + position));
        }
        self.next += std::mem::take(&mut self.waiting);
    }

    /// How many events the boundary of inherited events adds before the event `seq`.
    fn boundary(&mut self, seq: u64, is_marker: bool) -> u64 {
        match self.cut {
            Some(cut) if seq >= cut => {
                self.cut = None;
                u64::from(!(is_marker && seq == cut))
            }
            _ => 0,
        }
    }

    fn judge(&self, repair: Repair, image: u64) -> Option<Finding> {
        let what = format!(
            "the result of a call that never started, whose id ends with {}, though it becomes event {image}",
            repair.number
        );
        let help = "the strict reader of that format compares the two; format 3 takes any number there";
        (repair.number != image && !self.is_unsure).then(|| refusal(&REPAIR, repair.at, self.to, &what, help))
    }
}
