//! Turns that were left open, and that an upgrade ends (FORMAT §8.2).

use super::chain::Chain;
use super::here::Here;
use crate::check::registry::rule_family;
use crate::json::{self, Object};

rule_family! {
    "upgrade";
    /// A turn starts while another one is open, and not in the way that the upgrade mends.
    ///
    /// **What it means.** The turn before has no `turn/end`. The upgrade adds one where the next turn starts right behind
    /// prompts that were queued for it, with the next number and outside a step. Here that is not so.
    ///
    /// **Why it matters.** Where the turn ended cannot be told, so the upgrade refuses the session. dsh opens the log in
    /// its own format.
    ///
    /// **How it comes about.** The end of a turn was lost, or a turn was started twice.
    ///
    /// **What to do.** Restore the missing line from a copy of the log. Else keep the log for the release that wrote it.
    LEFT_OPEN = error("upgrade-turn-left-open");
}

/// What was open by the last boundary, and what stood last: where a turn starts behind queued prompts while the one
/// before it is open without a step, the upgrade ends that one.
#[derive(Debug)]
pub(super) struct Interrupted {
    to: u64,
    is_open: bool,
    /// The last turn that was started.
    turn: Option<u64>,
    is_in_step: bool,
    /// The event before queued prompts for the next turn.
    is_behind_queue: bool,
}

impl Interrupted {
    pub(super) fn new(chain: &Chain) -> Option<Self> {
        let to = chain.first(|step| step.ends_interrupted_turns)?;
        Some(Self { to, is_open: false, turn: None, is_in_step: false, is_behind_queue: false })
    }

    pub(super) fn doubt(&mut self) {
        (self.is_open, self.is_in_step, self.is_behind_queue) = (false, false, false);
    }

    /// Streamed deltas stand between.
    pub(super) fn row(&mut self) {
        self.is_behind_queue = false;
    }

    /// What the upgrade does about an open turn before this event.
    pub(super) fn event(&mut self, here: &Here) -> Before {
        let was_behind_queue = std::mem::take(&mut self.is_behind_queue);
        match &*here.event.event_type {
            "turn/start" => {
                let turn = here.payload.get().and_then(|data| data.count("turn"));
                let was_in_step = std::mem::take(&mut self.is_in_step);
                let last = std::mem::replace(&mut self.turn, turn);
                let is_next = last.zip(turn).is_some_and(|(last, turn)| last.checked_add(1) == Some(turn));
                return match std::mem::replace(&mut self.is_open, true) {
                    false => Before::Nothing,
                    true if is_next && !was_in_step && was_behind_queue => Before::Ends,
                    true => Before::Refuses,
                };
            }
            "turn/end" => (self.is_open, self.is_in_step) = (false, false),
            "step/start" => self.is_in_step = true,
            "step/end" => self.is_in_step = false,
            "agent/inbox/spliced" => {
                self.is_behind_queue = here.payload.get().is_some_and(queues_prompts);
            }
            _ => {}
        }
        Before::Nothing
    }

    /// Tells that the open turn cannot be ended before this event.
    pub(super) fn refuse(&self, here: &mut Here) {
        let help =
            "the upgrade ends an open turn only where the next one starts right behind prompts queued for it";
        here.refuse(&LEFT_OPEN, self.to, "a turn that starts while another one is open", help);
    }
}

/// What the upgrade does about an open turn before an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Before {
    /// There is none, or the event does not start another one.
    Nothing,
    /// It ends the turn.
    Ends,
    /// It refuses the log.
    Refuses,
}

/// Whether an `agent/inbox/spliced` adds prompts for the next turn.
fn queues_prompts(data: &Object) -> bool {
    data.has_text("target", "next-turn")
        && data.get("inserted").and_then(json::array).is_some_and(|inserted| !inserted.is_empty())
}
