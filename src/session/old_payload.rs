//! Payloads of development builds, in the shape that readers give them when they load a log (FORMAT §6.3, §8.1).
//!
//! Only what a reader would refuse as it stands is looked at here: logs of releases never are.

use super::ShapeError;
use crate::json::{self, Document, Object, Raw};
use crate::log::Event;

/// An event's type and payload as readers take them.
#[derive(Debug)]
pub struct Converted {
    event_type: &'static str,
    data: Option<Document<'static>>,
}

/// How many events of a log were converted, and the first of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Conversions {
    /// Payloads, which readers of the log's own format convert.
    pub payloads: (u64, Option<u64>),
    /// Names of compaction events, which only an upgrade converts: to readers of the format they are unknown.
    pub names: (u64, Option<u64>),
}

impl Conversions {
    pub(super) fn count(&mut self, converted: &Converted, seq: u64) {
        let (count, first) = if converted.data.is_some() { &mut self.payloads } else { &mut self.names };
        *count += 1;
        first.get_or_insert(seq);
    }
}

impl Converted {
    /// The event as readers take it; `stored` is the event as it stands in the log.
    #[must_use]
    pub fn event<'a>(&'a self, stored: &Event<'a>) -> Event<'a> {
        Event {
            event_type: self.event_type.into(),
            data: self.data.as_ref().map_or(stored.data, Document::raw),
            ..*stored
        }
    }
}

/// The names of compaction events before they were released.
const RENAMED: &[(&str, &str)] = &[
    ("compact/start", "compaction/start"),
    ("compact/summary", "compaction/summary"),
    ("compact/end", "compaction/end"),
    ("compact/prune", "compaction/prune"),
];

/// Whether a type is the old name of another one.
pub(super) fn is_old_name(event_type: &str) -> bool {
    event_type == STEERING || RENAMED.iter().any(|(old, _)| *old == event_type)
}

/// A prompt that was given while a turn ran.
const STEERING: &str = "steering/message";

/// Converts an event of an old shape; `None` if it is of none. `replaced_id` is the id of the message that it
/// replaces, if it replaces one that is there; where it is not, the surface tells.
pub(super) fn convert(
    event: &Event,
    session_id: &str,
    replaced_id: Option<&str>,
) -> Result<Option<Converted>, ShapeError> {
    if let Some((_, event_type)) = RENAMED.iter().find(|(old, _)| *old == event.event_type) {
        return Ok(Some(Converted { event_type, data: None }));
    }
    let Some(data) = event.payload() else { return Ok(None) };
    let minted = format!("legacy-message:{session_id}:{}", event.seq);
    let converted = match &*event.event_type {
        STEERING => return steering(&data, &minted).map(Some),
        "user/message" => user(&data, &minted),
        "assistant/message" => assistant(&data, &minted),
        "tool/result" => tool_result(&data, replaced_id.unwrap_or(&minted)),
        _ => None,
    };
    Ok(converted)
}

fn steering(data: &Object, id: &str) -> Result<Converted, ShapeError> {
    let wrong =
        || ShapeError::new(STEERING, "must have exactly a turn and a message, or a turn, content and source");
    if data.count("turn").is_none() {
        return Err(wrong());
    }
    if data.has_exactly(&["turn", "message"], &[]) {
        let message = data.get("message").map(Raw::to_document);
        return Ok(Converted { event_type: "user/message", data: message });
    }
    if !data.has_exactly(&["turn", "content", "source"], &[]) {
        return Err(wrong());
    }
    let members = members_without(data, &["turn"]);
    Ok(Converted {
        event_type: "user/message",
        data: object(members, &[("id", &json::quote(id)), ("role", "\"user\"")]),
    })
}

fn user(data: &Object, id: &str) -> Option<Converted> {
    let is_old = lacks(data, &["id", "role", "message"]) && has(data, &["content", "source"]);
    let members = is_old.then(|| members_without(data, &[]))?;
    let data = object(members, &[("id", &json::quote(id)), ("role", "\"user\"")]);
    Some(Converted { event_type: "user/message", data })
}

fn assistant(data: &Object, id: &str) -> Option<Converted> {
    let is_old = lacks(data, &["message"]) && has(data, &["content", "provenance"]);
    let (content, provenance) = (data.get("content").filter(|_| is_old)?, data.object("provenance")?);
    let source = object(members_without(&provenance, &["kind"]), &[("kind", "\"model\"")])?;
    let message = object(
        String::new(),
        &[
            ("id", &json::quote(id)),
            ("role", "\"assistant\""),
            ("content", content.get()),
            ("source", source.get()),
        ],
    )?;
    let data = object(members_without(data, &["content", "provenance"]), &[("message", message.get())]);
    Some(Converted { event_type: "assistant/message", data })
}

fn tool_result(data: &Object, id: &str) -> Option<Converted> {
    let is_old = lacks(data, &["message"]) && has(data, &["callId", "content", "isError"]);
    let part = |key| data.get(key).filter(|_| is_old).map(Raw::get);
    let (call, content, is_error) = (part("callId")?, part("content")?, part("isError")?);
    let block = object(
        String::new(),
        &[("type", "\"tool-result\""), ("toolCallId", call), ("content", content), ("isError", is_error)],
    )?;
    let source = object(String::new(), &[("kind", "\"tool\""), ("callId", call)])?;
    let blocks = format!("[{}]", block.get());
    let message = object(
        String::new(),
        &[("id", &json::quote(id)), ("role", "\"user\""), ("content", &blocks), ("source", source.get())],
    )?;
    let data =
        object(members_without(data, &["callId", "content", "isError"]), &[("message", message.get())]);
    Some(Converted { event_type: "tool/result", data })
}

fn has(data: &Object, members: &[&str]) -> bool {
    members.iter().all(|member| data.get(member).is_some())
}

fn lacks(data: &Object, members: &[&str]) -> bool {
    members.iter().all(|member| data.get(member).is_none())
}

/// The members of an object but for some, as JSON text without the braces.
fn members_without(object: &Object, left_out: &[&str]) -> String {
    let kept = object.members().filter(|(name, _)| !left_out.iter().any(|left_out| *name == **left_out));
    let members = kept.map(|(name, value)| format!("{}:{}", json::quote(&name.to_str()), value.get()));
    members.collect::<Vec<_>>().join(",")
}

/// An object of `members` and, behind them, `more`.
fn object(members: String, more: &[(&str, &str)]) -> Option<Document<'static>> {
    let more = more.iter().map(|(name, value)| format!("{}:{value}", json::quote(name)));
    let parts: Vec<String> =
        Some(members).filter(|members| !members.is_empty()).into_iter().chain(more).collect();
    Document::new(format!("{{{}}}", parts.join(","))).ok()
}
