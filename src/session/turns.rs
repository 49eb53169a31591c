//! Turns and steps (FORMAT §6.2, §10.2).

use super::ShapeError;
use crate::json::{Object, Text};
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
        if data.is_none() && &*event.event_type != "turn/end" && &*event.event_type != "step/end" {
            return Err(ShapeError::new(&event.event_type, "has no payload object"));
        }
        let number = |key| data.as_ref().and_then(|data| data.count(key));
        match &*event.event_type {
            "turn/start" => {
                let turn = number("turn").unwrap_or(self.last_started + 1);
                (self.open, self.open_step, self.last_started) = (Some(turn), None, turn);
            }
            "turn/end" => {
                if !data.as_ref().is_none_or(is_turn_end) {
                    return Err(ShapeError::new(
                        "turn/end",
                        "must have exactly a turn and a reason of a known shape",
                    ));
                }
                (self.open, self.open_step) = (None, None);
            }
            "step/start" => self.open_step = number("step"),
            _ => self.open_step = None,
        }
        Ok(())
    }
}

/// Whether a `turn/end` has a shape that readers of format 0 take, those of development builds among them
/// (FORMAT §6.2, §8.1).
fn is_turn_end(data: &Object) -> bool {
    let Some(reason) = data.object("reason") else { return false };
    let is_bare = reason.has_exactly(&["kind"], &[]);
    let has = |member| reason.get(member).is_some();
    let is_known = match reason.text("kind").as_ref().map(Text::to_str).as_deref() {
        Some("completed" | "blocked" | "max-tokens" | "interrupted" | "disposed") => is_bare,
        Some("aborted") => is_bare || has("reason"),
        Some("error") => {
            has("error") || (reason.count("step").is_some() && (has("message") || has("failure")))
        }
        Some(_) => true,
        None => false,
    };
    is_known && data.count("turn").is_some_and(|turn| turn > 0) && data.has_exactly(&["turn", "reason"], &[])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    #[test]
    fn turn_ends_have_the_shapes_that_readers_take() {
        let is_taken = |data: &str| is_turn_end(&Object::of(json::parse(data).unwrap()).unwrap());
        for reason in [
            r#"{"kind":"completed"}"#,
            r#"{"kind":"aborted","reason":{"kind":"user"}}"#,
            r#"{"kind":"aborted"}"#,
            r#"{"kind":"error","error":{"message":"m","code":"c"}}"#,
            r#"{"kind":"error","step":1,"message":"m"}"#,
            r#"{"kind":"of-a-plugin","more":1}"#,
        ] {
            assert!(is_taken(&format!(r#"{{"turn":1,"reason":{reason}}}"#)), "{reason}");
            assert!(!is_taken(&format!(r#"{{"turn":0,"reason":{reason}}}"#)), "{reason}");
            assert!(!is_taken(&format!(r#"{{"turn":1,"step":1,"reason":{reason}}}"#)), "{reason}");
        }
        for reason in
            [r#"{"kind":"completed","more":1}"#, r#"{"kind":"error"}"#, r#"{"kind":1}"#, "{}", "null"]
        {
            assert!(!is_taken(&format!(r#"{{"turn":1,"reason":{reason}}}"#)), "{reason}");
        }
    }
}
