//! The life of a tool call: the model names it, it starts, it is answered, all in one step (FORMAT §6.2, §10.2).

use super::here::{Here, named};
use super::repair;
use super::turns::Boundary;
use crate::check::registry::rule_family;
use crate::check::wording::{quoted, short_list};
use crate::json::{Meaning, Object, Text};
use std::collections::HashMap;

#[cfg(test)]
mod tests;

rule_family! {
    "relations";
    /// A tool call or its result has no id.
    ///
    /// **What it means.** A `tool-call` block needs an `id`, `tool/call` a `callId`, and a result must name
    /// its call, each as a text that is not empty. Here it is missing or empty. The event is left out of what
    /// the other rules of calls look at.
    ///
    /// **Why it matters.** Calls and results are joined by this id and by nothing else. Format 4 refuses the
    /// log, and a model's provider would refuse the history.
    ///
    /// **How it comes about.** A local model's server answers with calls that have no id, and an adapter
    /// passed that on. Numbers in place of texts come of the same.
    ///
    /// **What to do.** The adapter must make an id where the model gives none, and use it in message, call
    /// and result alike. An event with an empty id cannot be mended where it stands.
    ID_INVALID = error("call-id-invalid");
    /// A message makes a call whose id belongs to a call of the same step that has no result yet.
    ///
    /// **What it means.** Within one step an id stands for one open call. Two blocks of one message with the
    /// same id break that, and so does a later message of the step that takes the id of a call which waits
    /// still. An id that comes again after its call was answered, or in a later step, is legal.
    ///
    /// **Why it matters.** Which of the two a result answers cannot be told. Format 4 refuses the log at the
    /// message; dsh for the earlier formats opens it, but does not upgrade it.
    ///
    /// **How it comes about.** A provider numbers parallel calls badly. Or an adapter takes the name of the
    /// tool for the id, so that two calls of one tool collide.
    ///
    /// **What to do.** Give each call an id of its own in the adapter before the message is written. The
    /// message in the log stays as it is; a copy that ends before it is needed for format 4.
    ADVERTISED_TWICE = error("call-advertised-twice");
    /// A tool call starts that no message of the step has made.
    ///
    /// **What it means.** A `tool/call` names an id for which no `assistant/message` of the open step has a
    /// block. Behind a boundary that was wrong itself, the calls from before it still count.
    ///
    /// **Why it matters.** dsh would run a tool which the model did not ask for, and the model would get an
    /// answer without a question. Format 4 refuses the log, and upgrades refuse it.
    ///
    /// **How it comes about.** A plugin runs tools on its own account and writes them as the model's calls.
    /// Or the message was lost or written after the call, for instance by a writer that appends the message
    /// only when it is complete.
    ///
    /// **What to do.** Calls that a tool makes itself are nested events, `tool/ptc-dispatch` from format 3
    /// on. The message comes first, then its calls. For this log, use a copy that ends before the call.
    NOT_ADVERTISED = error("call-not-advertised");
    /// A tool call starts for the second time.
    ///
    /// **What it means.** A second `tool/call` carries the id of a call that has started in this step and has
    /// no result yet. The finding names the first start.
    ///
    /// **Why it matters.** A tool that writes files or sends messages may have run twice, and one result must
    /// do for both. Format 4 does not open the log; an upgrade refuses it.
    ///
    /// **How it comes about.** A worker was restarted and ran the open calls again, or two workers took the
    /// same call. A retry by the tool itself must not be written as a second start.
    ///
    /// **What to do.** After a restart write that the outcome of the first start is unknown, as dsh does, and
    /// let the model decide. Look at what the tool did before you go on with a copy of the log.
    STARTED_TWICE = error("call-started-twice");
    /// A tool call starts with another name or other arguments than it was made with.
    ///
    /// **What it means.** `tool/call` must repeat name and arguments of the message's block. Arguments are
    /// compared as the text that they are, so that other spacing or another order of members counts as
    /// different.
    ///
    /// **Why it matters.** The log would say that something else was run than the model asked for. Format 4
    /// refuses it at the call, and each upgrade does so.
    ///
    /// **How it comes about.** A plugin or a hook corrected the arguments before the tool ran and wrote the
    /// corrected ones. Or it parsed them and wrote them out anew, which changes spaces and escapes.
    ///
    /// **What to do.** Write the arguments as the model gave them, byte by byte, in `tool/call`. What was
    /// really run belongs into the result or its `meta`.
    DIFFERS = error("call-differs");
    /// A result answers a call that no message of the step has made.
    ///
    /// **What it means.** A `tool/result` is appended for an id that no `assistant/message` of the open step
    /// has, or whose call has its result already. Replacements of a result are not meant; they only rewrite.
    ///
    /// **Why it matters.** To the model it is an answer to nothing. Format 4 refuses the log; in the earlier
    /// formats the surface shows it as `result-without-call`, and dsh's compaction stops at it.
    ///
    /// **How it comes about.** Two processes answered one call, such as dsh with its result for an
    /// interrupted call and the tool that was still at work. A result of an earlier step that came late is
    /// the other common case.
    ///
    /// **What to do.** Where the first result is the one that matters, go on from a copy that ends before the
    /// second. To give a better result later, replace the first one: same message id, same everything but the
    /// text.
    RESULT_NOT_ADVERTISED = error("result-not-advertised");
    /// A result answers a call that never started, and is not the one that dsh writes for such calls.
    ///
    /// **What it means.** The call has no `tool/call` in its step. Then only one result is allowed: that
    /// which dsh writes when it ends an interrupted step, with its error `TOOL_NOT_STARTED`, its id, its
    /// exact text and no sources. This one is different in some part. In format 0 the error's code and
    /// `isError` are enough, and a second result of one call counts as one without a start.
    ///
    /// **Why it matters.** Without a start nothing could have run, so a result claims what did not happen.
    /// Format 4 refuses the log for it, and upgrades compare the same parts; in format 0 dsh's invariant
    /// checks refuse it in a session at work.
    ///
    /// **How it comes about.** A tool answers calls without writing their start. Or a tool that closes
    /// interrupted turns wrote a text or an id of its own, or cited the message as its source.
    ///
    /// **What to do.** Write `tool/call` before the tool runs and cite its seq in the result. Whoever closes
    /// an open turn in dsh's stead must copy dsh's result in every part, or leave it to dsh. In this log a
    /// copy that ends before the result is needed.
    RESULT_NOT_STARTED = error("result-not-started");
    /// A step or turn ends with calls that have no result.
    ///
    /// **What it means.** At this `step/end` or `turn/end` calls of the step wait still; the finding lists
    /// their ids. Calls that no message made are not counted. Where events of the step were lost, nothing is
    /// said.
    ///
    /// **Why it matters.** A provider refuses a history in which a call has no answer. Format 4 refuses the
    /// log; in the earlier ones dsh opens it, and every turn from there on fails at the provider: there it is
    /// told as `call-without-result`.
    ///
    /// **How it comes about.** A tool was given up after a timeout or a cancel, and the step was ended
    /// without a word on it. dsh writes a result that says so.
    ///
    /// **What to do.** Append a result for each open call before the end of the step, an error if need be.
    /// Behind the end none is legal any more; take a copy that ends before it and let dsh close the step.
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
type Identity = [Option<Meaning>; 2];

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
        for block in blocks.filter(|block| block.has_text("type", "tool-call")) {
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
                let differ = if call.identity[0] == found[0] { "other arguments" } else { "another name" };
                let message = format!("call {} starts with {differ} than the message gave it", shown(&id));
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
    ["name", "arguments"].map(|key| object.get(key).map(Meaning::of))
}

/// The id of the call that a result's message answers.
pub(super) fn answered<'a>(message: &Object<'a>) -> Option<Text<'a>> {
    let own = message.text("toolCallId");
    own.or_else(|| message.object("source")?.text("callId")).filter(|id| !id.is_empty())
}

pub(super) fn shown(id: &Text) -> String {
    quoted(&id.to_str())
}
