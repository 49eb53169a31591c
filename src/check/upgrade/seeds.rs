//! Where inherited events end, as upgrades ask it (FORMAT §3, §8.2).

use super::chain::Chain;
use super::here::Here;
use crate::check::Finding;
use crate::check::registry::rule_family;
use crate::format::Seeded;
use crate::log::{Header, PackedRow, Place};

rule_family! {
    "upgrade";
    /// The header says that more events were inherited than the log has.
    ///
    /// **What it means.** The header's `seedLength` is greater than the number of events, so the boundary behind the
    /// inherited ones does not stand in the log.
    ///
    /// **Why it matters.** The upgrade needs the boundary and refuses the session. dsh opens the log in its own format.
    ///
    /// **How it comes about.** The end of the log is missing, or the header was changed.
    ///
    /// **What to do.** Restore the log from a copy, or the missing events from the parent's log, which begins with the
    /// same ones.
    LENGTH = error("upgrade-seed-length");
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
    to: u64,
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
        let to_boundary = length.and_then(|_| chain.first(|step| step.gathers_chunks));
        let to = chain.first(|_| true).unwrap_or_default();
        Self { length, to, to_boundary, compaction: None, is_void: false }
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

    /// What is to be said at the end of a log of `events` events.
    pub(super) fn finding(&self, events: u64) -> Option<Finding> {
        let length = self.length.filter(|length| *length > events)?;
        let place = Place { line: Some(1), ..Place::default() };
        let message = format!(
            "the upgrade to format {} refuses a header that says that {length} events are inherited, where the log has \
             {events}",
            self.to
        );
        Some(Finding::new(&LENGTH, place, message).with_help("the end of the log may be missing"))
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
