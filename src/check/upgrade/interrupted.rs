//! Turns that were left open, and that an upgrade ends (FORMAT §8.2).

use super::chain::Chain;
use crate::check::payload::Payload;
use crate::json::{self, Object};
use crate::log::Event;

/// What was open by the last boundary, and what stood last: where a turn starts behind queued prompts while the one
/// before it is open without a step, the upgrade ends that one.
#[derive(Debug, Default)]
pub(super) struct Interrupted {
    turn: Option<u64>,
    is_in_step: bool,
    /// The event before queued prompts for the next turn.
    is_behind_queue: bool,
}

impl Interrupted {
    pub(super) fn new(chain: &Chain) -> Option<Self> {
        chain.first(|step| step.ends_interrupted_turns).map(|_| Self::default())
    }

    pub(super) fn doubt(&mut self) {
        *self = Self::default();
    }

    /// Streamed deltas stand between.
    pub(super) fn row(&mut self) {
        self.is_behind_queue = false;
    }

    /// Whether the upgrade ends the open turn before this event.
    pub(super) fn event(&mut self, event: &Event, payload: &Payload) -> bool {
        let was_behind_queue = std::mem::take(&mut self.is_behind_queue);
        match &*event.event_type {
            "turn/start" => {
                let turn = payload.get().and_then(|data| data.count("turn"));
                let is_next = self.turn.is_some_and(|open| turn == Some(open + 1));
                let is_interrupted = is_next && !self.is_in_step && was_behind_queue;
                (self.turn, self.is_in_step) = (turn, false);
                return is_interrupted;
            }
            "turn/end" => (self.turn, self.is_in_step) = (None, false),
            "step/start" => self.is_in_step = true,
            "step/end" => self.is_in_step = false,
            "agent/inbox/spliced" => self.is_behind_queue = payload.get().is_some_and(queues_prompts),
            _ => {}
        }
        false
    }
}

/// Whether an `agent/inbox/spliced` adds prompts for the next turn.
fn queues_prompts(data: &Object) -> bool {
    data.has_text("target", "next-turn")
        && data.get("inserted").and_then(json::array).is_some_and(|inserted| !inserted.is_empty())
}
