//! The life of a tool call: the model names it, it starts, it is answered, all in one step (FORMAT §6.2, §10.2).

use super::here::{Here, named};
use super::repair;
use super::turns::Boundary;
use crate::check::registry::rule_family;
use crate::check::wording::quoted;
use crate::json::{self, Digest, Object, Text};
use crate::session::short_list;
use std::collections::HashMap;

#[cfg(test)]
mod tests;

rule_family! {
    "relations";
    /// A tool call or its result has no id.
    ID_INVALID = error("call-id-invalid");
    /// A message makes a call whose id belongs to a call of the same step that has no result yet.
    ADVERTISED_TWICE = error("call-advertised-twice");
    /// A tool call starts that no message of the step has made.
    NOT_ADVERTISED = error("call-not-advertised");
    /// A tool call starts for the second time.
    STARTED_TWICE = error("call-started-twice");
    /// A tool call starts with another name or other arguments than it was made with.
    DIFFERS = error("call-differs");
    /// A result answers a call that no message of the step has made.
    RESULT_NOT_ADVERTISED = error("result-not-advertised");
    /// A result answers a call that never started, and is not the one that dsh writes for such calls.
    RESULT_NOT_STARTED = error("result-not-started");
    /// A step or turn ends with calls that have no result.
    UNRESOLVED = error("call-unresolved");
}

/// The calls of the open step that have no result yet.
#[derive(Debug, Default)]
pub(super) struct Tools {
    calls: HashMap<Vec<u8>, Call>,
    /// Those from before a boundary that was wrong: they may be gone, or go on.
    before: HashMap<Vec<u8>, Call>,
    /// Calls so far: their order.
    count: u64,
    /// Events of the step were lost, among them perhaps calls.
    in_doubt: bool,
    /// The number in the id of the last result for a call that never started.
    repaired: Option<u64>,
}

#[derive(Debug)]
struct Call {
    order: u64,
    /// The message that makes it.
    seq: u64,
    identity: Identity,
    /// The event that started it.
    started: Option<u64>,
    /// No message has made it so far: its result is taken, and not missed.
    adopted: bool,
    /// How often the id came again before it was answered.
    again: u32,
}

/// What a start must share with the call: the meaning of its name and arguments.
type Identity = [Option<Digest>; 2];

impl Tools {
    pub(super) fn doubt(&mut self) {
        self.in_doubt = true;
    }

    /// A step or turn begins.
    pub(super) fn open(&mut self, boundary: Boundary) {
        match boundary {
            Boundary::Nothing => return,
            Boundary::Sound => self.before.clear(),
            Boundary::Unsound => self.before.extend(self.calls.drain()),
        }
        self.calls.clear();
        self.in_doubt = false;
    }

    /// Takes the calls that an assistant message makes. Of a message outside its step that has been told.
    pub(super) fn advertise(&mut self, is_in_step: bool, here: &mut Here) {
        let content = here.data.object("message").and_then(|message| message.array("content"));
        let blocks = content.unwrap_or_default().into_iter().filter_map(Object::of);
        for block in blocks.filter(|block| block.text("type").is_some_and(|kind| kind == *"tool-call")) {
            let Some(id) = block.text("id").filter(|id| !id.is_empty()) else {
                here.tell(
                    &ID_INVALID,
                    "a tool-call block must have an id that is a text and not empty".to_owned(),
                );
                continue;
            };
            self.count += 1;
            if let Some(call) = self.calls.get_mut(id.as_bytes()) {
                if call.adopted {
                    (call.seq, call.identity, call.adopted) = (here.event.seq, identity(&block), false);
                    continue;
                }
                call.again = call.again.saturating_add(1);
                if is_in_step && !self.in_doubt {
                    let message =
                        format!("the message makes call {} again, which has no result yet", shown(&id));
                    here.tell_relating(&ADVERTISED_TWICE, message, call.seq, "the first call of that id");
                }
                continue;
            }
            let call = Call {
                order: self.count,
                seq: here.event.seq,
                identity: identity(&block),
                started: None,
                adopted: false,
                again: 0,
            };
            self.calls.insert(id.as_bytes().to_vec(), call);
        }
    }

    /// Takes the start of a call.
    pub(super) fn call(&mut self, is_in_step: bool, here: &mut Here) {
        let Some(id) = here.text("callId") else {
            return here
                .tell(&ID_INVALID, "tool/call must have a callId that is a text and not empty".to_owned());
        };
        let tells = is_in_step && !self.in_doubt;
        let found = identity(here.data);
        let Some(call) = self.calls.get_mut(id.as_bytes()) else {
            if tells && !self.before.contains_key(id.as_bytes()) {
                let message = format!("call {} starts, but no message of the step makes it", shown(&id));
                here.tell(&NOT_ADVERTISED, message);
            }
            self.count += 1;
            let call = Call {
                order: self.count,
                seq: here.event.seq,
                identity: found,
                started: Some(here.event.seq),
                adopted: true,
                again: 0,
            };
            self.calls.insert(id.as_bytes().to_vec(), call);
            return;
        };
        if is_in_step {
            if let Some(first) = call.started {
                let message = format!("call {} starts again", shown(&id));
                here.tell_relating(&STARTED_TWICE, message, first, "the first start");
            } else if call.identity != found {
                let differ = if call.identity[0] == found[0] { "arguments" } else { "name" };
                let message =
                    format!("call {} starts with another {differ} than the message gave it", shown(&id));
                let message = if differ == "name" { message } else { message.replace("another", "other") };
                here.tell_relating(&DIFFERS, message, call.seq, "the message that makes the call");
            }
        }
        call.started.get_or_insert(here.event.seq);
    }

    /// Takes the appended result of a call.
    pub(super) fn result(&mut self, is_in_step: bool, here: &mut Here) {
        let message = here.data.object("message");
        let id = message.as_ref().and_then(answered);
        let (Some(message), Some(id)) = (message, id) else {
            return here.tell(
                &ID_INVALID,
                "tool/result must name its call with a text that is not empty".to_owned(),
            );
        };
        let tells = is_in_step && !self.in_doubt;
        let Some(call) = self.calls.get_mut(id.as_bytes()) else {
            if self.before.remove(id.as_bytes()).is_none() && tells {
                let problem = format!(
                    "the result answers call {}, but no message of the step makes it, or it has its result",
                    shown(&id)
                );
                here.tell(&RESULT_NOT_ADVERTISED, problem);
            }
            return;
        };
        if call.started.is_none() {
            self.repaired = repair::number(&message, &id);
        }
        if tells && call.started.is_none() && !repair::is_exact(here, &message, &id) {
            let problem = format!("the result answers call {}, which never started", shown(&id));
            here.tell_relating(&RESULT_NOT_STARTED, problem, call.seq, "the message that makes the call");
        }
        if call.again > 0 {
            call.again -= 1;
            call.started = None;
        } else {
            self.calls.remove(id.as_bytes());
        }
    }

    /// The number in the id of the last result, if it answered a call that never started.
    pub(super) fn take_repaired(&mut self) -> Option<u64> {
        self.repaired.take()
    }

    /// A step or turn ends.
    pub(super) fn close(&mut self, boundary: Boundary, here: &mut Here) {
        if boundary == Boundary::Sound && !self.in_doubt {
            self.tell_unresolved(here);
        }
        self.open(boundary);
    }

    fn tell_unresolved(&self, here: &mut Here) {
        let mut left: Vec<_> = self.calls.iter().filter(|(_, call)| !call.adopted).collect();
        left.sort_by_key(|(_, call)| call.order);
        if let Some((_, first)) = left.first() {
            let ids = short_list(left.iter().map(|(id, _)| named(id)));
            let calls = if left.len() == 1 { "a call that has" } else { "calls that have" };
            let message = format!("{} comes with {calls} no result: {ids}", here.name());
            here.tell_relating(&UNRESOLVED, message, first.seq, "the message that makes the call");
        }
    }
}

fn identity(object: &Object) -> Identity {
    ["name", "arguments"].map(|key| object.get(key).map(json::digest))
}

/// The id of the call that a result's message answers.
pub(super) fn answered<'a>(message: &Object<'a>) -> Option<Text<'a>> {
    let own = message.text("toolCallId");
    own.or_else(|| message.object("source")?.text("callId")).filter(|id| !id.is_empty())
}

pub(super) fn shown(id: &Text) -> String {
    quoted(&id.to_str())
}
