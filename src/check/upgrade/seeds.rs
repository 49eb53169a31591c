//! Where inherited events end, as upgrades ask it (FORMAT §3, §8.2).

use super::chain::Chain;
use super::here::Here;
use crate::check::registry::rule_family;
use crate::format::Seeded;
use crate::log::{Header, PackedRow};

rule_family! {
    "upgrade";
    /// A compaction begins among inherited events and goes on behind them.
    ///
    /// **What it means.** The bracket of a compaction is open where the inherited events end, no `session/end-seed`
    /// stands there, and the bracket goes on. The upgrade writes the boundary, which voids the bracket, and what comes of
    /// it then belongs to none.
    ///
    /// **Why it matters.** What the upgrade makes is refused. dsh opens the log in its own format.
    ///
    /// **How it comes about.** dsh forks no session while it compacts, and marks the boundary. The header's `seedLength`
    /// was changed, or the marker was lost.
    ///
    /// **What to do.** Compare with the parent's log, and mend the number in a copy.
    SPLIT = error("upgrade-seed-splits-compaction");
}

/// The boundary, where the header tells it by number.
#[derive(Debug)]
pub(super) struct Seeds {
    /// How many events are inherited.
    length: Option<u64>,
    /// The format into which the step leads that writes the boundary, until it is passed.
    to_boundary: Option<u64>,
    /// A compaction is open, begun by this event.
    compaction: Option<u64>,
    /// The boundary voids it.
    is_void: bool,
}

impl Seeds {
    pub(super) fn new(chain: &Chain, header: &Header) -> Self {
        let is_length = chain.from().header.seeded == Seeded::Length;
        let length = header.seed_length.filter(|_| is_length);
        let to_boundary = length.and_then(|_| chain.first(|step| step.marks_seed));
        Self { length, to_boundary, compaction: None, is_void: false }
    }

    pub(super) fn doubt(&mut self) {
        (self.to_boundary, self.compaction) = (None, None);
    }

    pub(super) fn event(&mut self, here: &mut Here) {
        let Some(to) = self.to_boundary else { return };
        self.pass(here.event.seq, here.is("session/end-seed"));
        match &*here.event.event_type {
            "compaction/start" => (self.compaction, self.is_void) = (Some(here.event.seq), false),
            "session/end-seed" => self.compaction = None,
            "compaction/summary" | "compaction/end" => {
                if let Some(start) = self.compaction.take_if(|_| self.is_void) {
                    let what = format!(
                        "{} of a compaction that began at seq {start}, before the end of inherited events",
                        here.event.event_type
                    );
                    let help =
                        "the upgrade marks where inherited events end, and that voids an open compaction";
                    here.refuse(&SPLIT, to, &what, help);
                } else if here.is("compaction/end") {
                    self.compaction = None;
                }
            }
            _ => {}
        }
    }

    pub(super) fn row(&mut self, row: &PackedRow) {
        self.pass(row.first_seq.saturating_add(row.members.saturating_sub(1)), false);
    }

    fn pass(&mut self, seq: u64, is_marker: bool) {
        if let Some(cut) = self.length
            && seq >= cut
            && self.compaction.is_some_and(|start| start < cut)
        {
            self.is_void = !(is_marker && seq == cut);
        }
    }
}
