//! Turns and steps (FORMAT §6.2, §10.2).

use super::ShapeError;
use crate::json;
use crate::log::Event;

/// Which turn and step are open, and which have been.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Turns {
    open: Option<u64>,
    open_step: Option<u64>,
    last_started: u64,
}

impl Turns {
    /// The open turn.
    #[must_use]
    pub fn open(&self) -> Option<u64> {
        self.open
    }

    /// The open step of the open turn.
    #[must_use]
    pub fn open_step(&self) -> Option<u64> {
        self.open_step
    }

    /// The open turn, else the last one (0 before the first).
    #[must_use]
    pub fn current(&self) -> u64 {
        self.open.unwrap_or(self.last_started)
    }

    /// Whether the turn has been opened at some time.
    #[must_use]
    pub fn has_started(&self, turn: u64) -> bool {
        (1..=self.last_started).contains(&turn)
    }

    pub(super) fn apply(&mut self, event: &Event) -> Result<(), ShapeError> {
        let data = event.payload();
        let number = |key| data.as_ref().and_then(|data| data.count(key));
        match &*event.event_type {
            "turn/start" => {
                let turn = number("turn").unwrap_or(self.last_started + 1);
                (self.open, self.open_step, self.last_started) = (Some(turn), None, turn);
            }
            "turn/end" => {
                let kind = data.as_ref().and_then(|data| data.object("reason")?.get("kind").map(json::kind));
                if number("turn").is_none_or(|turn| turn == 0) || kind != Some(json::Kind::String) {
                    return Err(ShapeError::new("turn/end", "must have a turn and a reason with a kind"));
                }
                (self.open, self.open_step) = (None, None);
            }
            "step/start" => self.open_step = number("step"),
            _ => self.open_step = None,
        }
        Ok(())
    }
}
