//! What readers ask of a message's payload, by its kind and the log's format (FORMAT §6.1, §6.2).

use super::MessageView;
use super::message::names_model;
use crate::format::{CheckedBy, Format, MessageKind, Seeded, SurfaceType, ToolResult};
use crate::json::{self, Kind, Object, Raw};
use crate::log::Event;

/// A payload that is not what its event type requires.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{event_type} {problem}")]
pub struct ShapeError {
    /// The event's type.
    pub event_type: String,
    /// What is wrong: `has no message`.
    pub problem: String,
    pub(super) kind: ShapeKind,
}

/// When readers look at what is wrong with a payload (FORMAT §9.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ShapeKind {
    /// When they load the events.
    Load,
    /// With the line, if the format's readers do so with payloads.
    Canonical,
    /// With the line, and wherever it stands, if the format's readers do so with payloads.
    Structure,
}

impl ShapeError {
    pub(super) fn new(event_type: &str, problem: impl Into<String>) -> Self {
        Self { event_type: event_type.to_owned(), problem: problem.into(), kind: ShapeKind::Load }
    }

    pub(super) fn of_kind(self, kind: ShapeKind) -> Self {
        Self { kind, ..self }
    }
}

/// How grave it is if a message of this kind is not of its shape at all: those that came with a format, and the answers
/// that it flattened, are structure.
pub(super) fn gravity(surface: &SurfaceType, format: &Format) -> ShapeKind {
    match surface.kind {
        MessageKind::System | MessageKind::Developer => ShapeKind::Structure,
        MessageKind::ToolResult if format.tool_result == ToolResult::Flat => ShapeKind::Structure,
        MessageKind::User | MessageKind::Assistant | MessageKind::ToolResult => ShapeKind::Load,
    }
}

/// Checks the message of a surface event.
pub(super) fn check(view: &MessageView, surface: &SurfaceType, format: &Format) -> Result<(), ShapeError> {
    let wrong = |problem: &str| ShapeError::new(surface.name, problem);
    let kind = view.source_kind();
    if let Some(problem) = refused_source(&view.source, format) {
        return Err(wrong(&problem).of_kind(ShapeKind::Structure));
    }
    let problem = match surface.kind {
        MessageKind::User => None,
        MessageKind::Assistant if kind != *"model" || !names_model(&view.source) => {
            Some("must have a model source with provider and model")
        }
        // JavaScript stumbles over the type of nothing.
        MessageKind::Assistant => view
            .content
            .iter()
            .any(|block| json::is_null(*block))
            .then_some("has a content block that is null"),
        MessageKind::ToolResult => tool_result(view, format),
        MessageKind::System => system(view, format),
        MessageKind::Developer => developer(view),
    };
    if let Some(problem) = problem {
        return Err(wrong(problem).of_kind(gravity(surface, format)));
    }
    let problem = Some(view).filter(|_| surface.kind == MessageKind::ToolResult);
    match problem.and_then(|view| error_details(view, format)) {
        Some(problem) => Err(wrong(problem).of_kind(ShapeKind::Canonical)),
        None => Ok(()),
    }
}

fn tool_result(view: &MessageView, format: &Format) -> Option<&'static str> {
    let Some(call) = view.source.name("callId").filter(|_| view.source_kind() == *"tool") else {
        return Some("must have a tool source with a call id");
    };
    let (holder, found) = match format.tool_result {
        ToolResult::Wrapped => {
            let block = view.content.first().filter(|_| view.content.len() == 1);
            let block = block.and_then(|block| Object::of(*block)).filter(is_result);
            let is_list =
                |block: &Object| block.get("content").is_some_and(|raw| json::kind(raw) == Kind::Array);
            let Some(block) = block.filter(is_list) else {
                return Some("must hold exactly one tool-result block");
            };
            ("has a block and a source with different call ids", block.text("toolCallId"))
        }
        ToolResult::Flat => {
            if view.members.get("isError").is_some_and(|flag| json::boolean(flag).is_none()) {
                return Some("has an isError that is neither true nor false");
            }
            if view.content.iter().filter_map(|block| Object::of(*block)).any(|block| is_result(&block)) {
                return Some("wraps its content in a tool-result block, as earlier formats do");
            }
            ("has a toolCallId that is not its source's call id", view.members.text("toolCallId"))
        }
    };
    (found != Some(call)).then_some(holder)
}

/// Details of an error belong to a result that is one (FORMAT §6.2).
fn error_details(view: &MessageView, format: &Format) -> Option<&'static str> {
    if !format.canonical_payloads {
        return None;
    }
    view.payload.as_ref()?.get("error")?;
    let is_error = view.tool_result(format.tool_result).is_some_and(|result| result.is_error);
    (!is_error).then_some("has error details, but its result is no error")
}

fn system(view: &MessageView, format: &Format) -> Option<&'static str> {
    let data = view.payload.as_ref()?;
    let is_step = |key| data.count(key).is_some_and(|number| number > 0);
    if !data.has_exactly(&["turn", "step", "message"], &[]) || !is_step("turn") || !is_step("step") {
        return Some("must have exactly a turn, a step and a message");
    }
    if !view.members.has_exactly(&["id", "role", "source", "content"], &[]) {
        return Some("must have a message of exactly id, role, source and content");
    }
    let wanted = format.system_source?;
    if view.source_kind() != *wanted || view.source.name("plugin").is_none() {
        return Some("must have a source of the kind plugin that names its plugin");
    }
    if !view.source.has_exactly(&["kind", "plugin"], &["form", "sections", "summary"]) {
        return Some("has a source with members that no plugin source has");
    }
    // A prompt is text; of other blocks readers ask more than is worth knowing here.
    let is_sound = |block: Raw| {
        Object::of(block).is_some_and(|block| match block.text("type") {
            Some(kind) if kind == *"text" => {
                block.has_exactly(&["type", "text"], &[]) && block.text("text").is_some()
            }
            kind => kind.is_some(),
        })
    };
    (!view.content.iter().all(|block| is_sound(*block))).then_some("has a content block that is not whole")
}

fn developer(view: &MessageView) -> Option<&'static str> {
    let data = view.payload.as_ref()?;
    if !data.has_exactly(&["turn", "step", "message"], &["headerSeq"]) {
        return Some("must have a turn, a step, a message and at most a headerSeq");
    }
    let adds_tools = view.added_tools().next().is_some();
    match data.get("headerSeq").map(json::count) {
        None if adds_tools => Some("adds tools without a headerSeq to say where they stand"),
        Some(_) if !adds_tools => Some("has a headerSeq, but adds no tool"),
        Some(None) => Some("must have a headerSeq that is a seq"),
        None | Some(Some(_)) => None,
    }
}

/// The block's `type` is `tool-result`.
pub(super) fn is_result(block: &Object) -> bool {
    block.has_text("type", "tool-result")
}

/// Checks what readers ask of an event that puts nothing on the surface, beside what its own rules ask.
pub(super) fn check_log_only(event: &Event, format: &Format) -> Result<(), ShapeError> {
    let event_type = &*event.event_type;
    let wrong = |problem: &str| ShapeError::new(event_type, problem);
    let needs_payload = match event_type {
        "tool/call" => true,
        "session/end-seed" => format.header.seeded == Seeded::Flag,
        // The rules between events look into every payload.
        _ => format.relations.checked == CheckedBy::Load,
    };
    if needs_payload && json::kind(event.data) != Kind::Object {
        return Err(wrong("has no payload object"));
    }
    if event_type == "agent/inbox/spliced" && !format.refused_source_kinds.is_empty() {
        let inserted = event.payload().and_then(|data| data.array("inserted")).unwrap_or_default();
        let mut sources = inserted.into_iter().filter_map(|raw| Object::of(raw)?.object("source"));
        if let Some(problem) = sources.find_map(|source| refused_source(&source, format)) {
            return Err(wrong(&format!("inserts a message that {problem}")).of_kind(ShapeKind::Structure));
        }
    }
    Ok(())
}

/// What is wrong with a source of a kind that no durable message may have.
fn refused_source(source: &Object, format: &Format) -> Option<String> {
    let kind = source.text("kind")?;
    let refused = format.refused_source_kinds.iter().find(|refused| kind == ***refused)?;
    Some(format!("has a source of kind \"{refused}\", which format {} does not have", format.version))
}

/// The header of a `request/header`, if it is what every reader asks.
pub(super) fn request_header<'a>(
    data: Option<&Object<'a>>,
    format: &Format,
) -> Result<Object<'a>, ShapeError> {
    let wrong = |problem: &str| ShapeError::new("request/header", problem);
    let structure = |problem: &str| wrong(problem).of_kind(ShapeKind::Structure);
    let data = data.ok_or_else(|| structure("has no payload object"))?;
    let header = data.object("header").ok_or_else(|| structure("has no header object"))?;
    if format.canonical_payloads && header.get("system").is_some() {
        return Err(structure("holds a system prompt, which this format keeps in a system/message"));
    }
    if data.has_text("reason", "fallback") {
        return Err(wrong("has the retired reason \"fallback\""));
    }
    let config = header.object("config").filter(names_model);
    let config = config.ok_or_else(|| wrong("lacks config.provider and config.model"))?;
    if config.get("reasoningEffort").is_some() && config.name("reasoningEffort").is_none() {
        return Err(wrong("has a config.reasoningEffort that is no text"));
    }
    let defaults = header.get("adapterDefaults");
    if !defaults.is_none_or(|raw| are_adapter_defaults(raw, &config)) {
        return Err(wrong("has adapterDefaults that do not match its config"));
    }
    let has_no_tools = header.array("tools").is_some_and(|tools| tools.is_empty());
    let has_no_defaults =
        defaults.and_then(Object::of).is_some_and(|defaults| defaults.names().next().is_none());
    if format.canonical_payloads && (has_no_tools || has_no_defaults) {
        return Err(wrong("has empty tools or adapterDefaults").of_kind(ShapeKind::Canonical));
    }
    Ok(header)
}

/// Each default is `true` and names a setting that the config holds.
fn are_adapter_defaults(raw: Raw, config: &Object) -> bool {
    const SETTINGS: [&str; 2] = ["reasoningEffort", "maxTokens"];
    Object::of(raw).is_some_and(|defaults| {
        defaults.has_exactly(&[], &SETTINGS)
            && SETTINGS.iter().all(|setting| {
                defaults.get(setting).is_none_or(|raw| json::is_true(raw) && config.get(setting).is_some())
            })
    })
}
