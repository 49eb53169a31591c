//! The result that dsh itself writes for a call that never started (FORMAT §9.4).

use super::here::Here;
use crate::check::registry::rule_family;
use crate::format::{NOT_STARTED, RepairIds};
use crate::json::{self, Object, Text};

rule_family! {
    "relations";
    /// A result for a call that a fork cut off does not have the shape that dsh gives it.
    ///
    /// **What it means.** Where a fork is made in the middle of a step, dsh answers each call that had not
    /// started with a result whose id begins with `forked-tool-result-`. This result has such an id and the
    /// error code `TOOL_NOT_STARTED`; but its call id, number, sources, role, error or its single text block
    /// are not as in such results. The text itself is free.
    ///
    /// **Why it matters.** Format 4, which alone has these results, refuses the log for it. Other results
    /// without a start are judged by `result-not-started`.
    ///
    /// **How it comes about.** A tool made a fork by itself and imitated the results. The number at the end
    /// of the id must be the result's own seq, which goes wrong when events before it are moved; or the
    /// result was shortened, and its replacement does not cite it alone.
    ///
    /// **What to do.** Let dsh make the fork, or write interrupted results in place of forked ones. A prune
    /// leaves such results alone: they are short.
    FORK_RESULT = error("fork-result");
}

/// Whether an appended result with this message is exactly what dsh writes for the call `id`.
pub(super) fn is_exact(here: &Here, message: &Object, id: &Text) -> bool {
    if !has_error(here, true) || here.event.source_event_seqs.is_some() {
        return false;
    }
    // Older formats wrap the content, and what marks it as an error, in one block.
    let wrapper =
        message.array("content").and_then(|content| content.first().and_then(|block| Object::of(*block)));
    let wrapper = wrapper.filter(|block| block.has_text("type", "tool-result"));
    let body = wrapper.as_ref().unwrap_or(message);
    let is_original = || one_text(body).is_some_and(|text| text == *NOT_STARTED.text);
    let number = number(message, id);
    is_error(body)
        && match here.facts.repair_ids {
            RepairIds::OwnSeq => number == Some(here.event.seq) && is_original(),
            RepairIds::AnyNumber => number.is_some() && is_original(),
            // The shape of a fork's result has a rule of its own.
            RepairIds::AnyNumberOrFork => starts_as_fork(message) || (number.is_some() && is_original()),
        }
}

/// The number at the end of the id that dsh gives the result of a call `id` that never started.
pub(super) fn number(message: &Object, id: &Text) -> Option<u64> {
    suffix(message, "interrupted", id)
}

/// A result that goes by the name of a fork's must be one in all its parts, appended or rewritten.
pub(super) fn check_fork(here: &mut Here) {
    if here.facts.repair_ids != RepairIds::AnyNumberOrFork || !has_error(here, false) {
        return;
    }
    let Some(message) = here.data.object("message").filter(starts_as_fork) else { return };
    if !is_fork(here, &message) {
        let problem = "the result is named as one that dsh writes in a fork for a call that never started, but its id, \
                       sources, error or content are not such";
        here.tell(&FORK_RESULT, problem.to_owned());
    }
}

fn is_fork(here: &Here, message: &Object) -> bool {
    let seq = here.event.seq;
    let Some(id) = message.object("source").and_then(|source| source.text("callId")) else { return false };
    let Some(number) = suffix(message, "forked", &id) else { return false };
    let sources = here.event.source_event_seqs;
    let is_placed = if here.event.is_replacement() {
        let sources = sources.and_then(json::array);
        number < seq && matches!(sources.as_deref(), Some([one]) if json::count(*one) == Some(number))
    } else {
        number == seq && sources.is_none()
    };
    let is_tool = message.object("source").is_some_and(|source| source.has_text("kind", "tool"));
    is_placed
        && is_tool
        && has_error(here, true)
        && message.has_text("role", "tool")
        && message.text("toolCallId") == Some(id)
        && is_error(message)
        && one_text(message).is_some()
}

/// Whether the error is that of a call that never started; `fully` with its name.
fn has_error(here: &Here, fully: bool) -> bool {
    let Some(error) = here.data.object("error") else { return false };
    error.has_text("code", NOT_STARTED.code) && (!fully || error.has_text("name", NOT_STARTED.error_name))
}

fn is_error(body: &Object) -> bool {
    body.get("isError").is_some_and(json::is_true)
}

/// The text of a content that is one text block.
fn one_text<'a>(body: &Object<'a>) -> Option<Text<'a>> {
    match body.array("content")?[..] {
        [block] => Object::of(block)
            .filter(|block| block.has_text("type", "text"))
            .and_then(|block| block.text("text")),
        _ => None,
    }
}

fn starts_as_fork(message: &Object) -> bool {
    message.text("id").is_some_and(|id| id.as_bytes().starts_with(b"forked-tool-result-"))
}

/// The number at the end of the id `<kind>-tool-result-<call>-<number>`, written as JavaScript writes it.
pub(in crate::check) fn suffix(message: &Object, kind: &str, call: &Text) -> Option<u64> {
    let id = message.text("id")?;
    let rest = id.as_bytes().strip_prefix(kind.as_bytes())?.strip_prefix(b"-tool-result-")?;
    let digits = rest.strip_prefix(call.as_bytes())?.strip_prefix(b"-")?;
    let digits = std::str::from_utf8(digits).ok()?;
    let number: u64 = digits.parse().ok().filter(|number| *number <= json::MAX_SAFE_INTEGER)?;
    (number.to_string() == digits).then_some(number)
}
