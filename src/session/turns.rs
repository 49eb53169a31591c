//! Turns and steps (FORMAT §6.2, §10.2).

use super::ShapeError;
use crate::format::Format;
use crate::json::{self, Kind, Object, Text};
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

    pub(super) fn apply(&mut self, event: &Event, format: &Format) -> Result<(), ShapeError> {
        let wrong = |problem: &str| Err(ShapeError::new(&event.event_type, problem));
        let data = event.payload();
        let may_be_bare =
            format.converts_old_payloads && matches!(&*event.event_type, "turn/end" | "step/end");
        if data.is_none() && !may_be_bare {
            return wrong("has no payload object");
        }
        let number = |key| data.as_ref().and_then(|data| data.count(key));
        let is_taken = |is_shape: fn(&Object) -> bool| {
            !format.converts_old_payloads || data.as_ref().is_none_or(is_shape)
        };
        match &*event.event_type {
            "turn/start" => {
                if !is_taken(is_turn_start) {
                    return wrong("has a trigger, and is not what development builds wrote with one");
                }
                let turn = number("turn").unwrap_or(self.last_started + 1);
                (self.open, self.open_step, self.last_started) = (Some(turn), None, turn);
            }
            "turn/end" => {
                if !is_taken(is_turn_end) {
                    return wrong("must have exactly a turn and a reason of a known shape");
                }
                (self.open, self.open_step) = (None, None);
            }
            "step/start" => self.open_step = number("step"),
            _ => self.open_step = None,
        }
        Ok(())
    }
}

/// Whether a `turn/start` has a shape that readers of format 0 take: with an old trigger it must be whole (FORMAT §8.1).
fn is_turn_start(data: &Object) -> bool {
    if data.get("trigger").is_none() {
        return true;
    }
    data.object("trigger").is_some_and(|trigger| trigger.name("kind").is_some())
        && is_turn(data)
        && data.has_exactly(&["turn", "trigger"], &[])
}

/// Whether a `turn/end` has a shape that readers of format 0 take, those of development builds among them
/// (FORMAT §6.2, §8.1).
fn is_turn_end(data: &Object) -> bool {
    let Some(reason) = data.object("reason") else { return false };
    let is_bare = reason.has_exactly(&["kind"], &[]);
    let is_known = match reason.text("kind").as_ref().map(Text::to_str).as_deref() {
        Some("completed" | "blocked" | "max-tokens" | "interrupted" | "disposed") => is_bare,
        Some("aborted") => is_bare || reason.get("reason").is_some(),
        Some("error") => reason.get("error").is_some() || is_old_error(&reason),
        Some(_) => true,
        None => false,
    };
    is_known && is_turn(data) && data.has_exactly(&["turn", "reason"], &[])
}

fn is_turn(data: &Object) -> bool {
    data.count("turn").is_some_and(|turn| turn > 0)
}

/// Whether a reason tells of an error as development builds did: with a failure, or with a message and perhaps a code.
fn is_old_error(reason: &Object) -> bool {
    let is_text = |object: &Object, key| object.text(key).is_some();
    let is_number = |object: &Object, key| object.get(key).is_none_or(|raw| json::kind(raw) == Kind::Number);
    let with_failure = || {
        reason.has_exactly(&["kind", "step", "failure"], &[])
            && reason.object("failure").is_some_and(|failure| {
                failure.has_exactly(&["message", "code"], &["status", "providerRetryAfterMs", "requestId"])
                    && is_text(&failure, "message")
                    && is_text(&failure, "code")
                    && is_number(&failure, "status")
                    && is_number(&failure, "providerRetryAfterMs")
                    && failure.get("requestId").is_none_or(|raw| json::kind(raw) == Kind::String)
            })
    };
    let with_message = || {
        reason.has_exactly(&["kind", "step", "message"], &["code"])
            && is_text(reason, "message")
            && reason.get("code").is_none_or(|raw| json::kind(raw) == Kind::String)
    };
    reason.count("step").is_some() && (with_failure() || with_message())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    #[test]
    fn turn_ends_have_the_shapes_that_readers_take() {
        let is_taken = |data: &str| is_turn_end(&Object::of(json::leaked(data)).unwrap());
        for reason in [
            r#"{"kind":"completed"}"#,
            r#"{"kind":"aborted","reason":{"kind":"user"}}"#,
            r#"{"kind":"aborted"}"#,
            r#"{"kind":"error","error":{"message":"m","code":"c"}}"#,
            r#"{"kind":"error","step":1,"message":"m"}"#,
            r#"{"kind":"error","step":0,"message":"m","code":"c"}"#,
            r#"{"kind":"error","step":1,"failure":{"message":"m","code":"c","status":429}}"#,
            r#"{"kind":"of-a-plugin","more":1}"#,
        ] {
            assert!(is_taken(&format!(r#"{{"turn":1,"reason":{reason}}}"#)), "{reason}");
            assert!(!is_taken(&format!(r#"{{"turn":0,"reason":{reason}}}"#)), "{reason}");
            assert!(!is_taken(&format!(r#"{{"turn":1,"step":1,"reason":{reason}}}"#)), "{reason}");
        }
        for reason in [
            r#"{"kind":"completed","more":1}"#,
            r#"{"kind":"error"}"#,
            r#"{"kind":"error","step":1,"message":7}"#,
            r#"{"kind":"error","step":1,"failure":{"message":"m"}}"#,
            r#"{"kind":1}"#,
            "{}",
            "null",
        ] {
            assert!(!is_taken(&format!(r#"{{"turn":1,"reason":{reason}}}"#)), "{reason}");
        }
    }

    #[test]
    fn old_triggers_must_be_whole() {
        let is_taken = |data: &str| is_turn_start(&Object::of(json::leaked(data)).unwrap());
        assert!(is_taken(r#"{"turn":1,"more":1}"#) && is_taken(r#"{"turn":1,"trigger":{"kind":"user"}}"#));
        for data in [r#"{"turn":0,"trigger":{"kind":"user"}}"#, r#"{"turn":1,"trigger":{}}"#] {
            assert!(!is_taken(data), "{data}");
        }
        assert!(!is_taken(r#"{"turn":1,"trigger":{"kind":"user"},"more":1}"#));
    }
}
