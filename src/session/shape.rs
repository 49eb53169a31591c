//! What readers ask of a message's payload, by its kind and the log's format (FORMAT §6.1, §6.2).

use super::MessageView;
use super::message::names_model;
use crate::format::{Format, MessageKind, SurfaceType, ToolResult};
use crate::json::{self, Object, Raw};

/// A payload that is not what its event type requires.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{event_type} {problem}")]
pub struct ShapeError {
    /// The event's type.
    pub event_type: String,
    /// What is wrong: `has no message`.
    pub problem: String,
}

impl ShapeError {
    pub(super) fn new(event_type: &str, problem: impl Into<String>) -> Self {
        Self { event_type: event_type.to_owned(), problem: problem.into() }
    }
}

/// Checks the message of a surface event; the problem, if there is one.
pub(super) fn problem(view: &MessageView, surface: &SurfaceType, format: &Format) -> Option<String> {
    let kind = view.source_kind();
    if let Some(refused) = format.refused_source_kinds.iter().find(|refused| kind == ***refused) {
        return Some(format!(
            "has a source of kind \"{refused}\", which format {} does not have",
            format.version
        ));
    }
    let problem = match surface.kind {
        MessageKind::User => None,
        MessageKind::Assistant if kind == *"model" && names_model(&view.source) => None,
        MessageKind::Assistant => Some("must have a model source with provider and model"),
        MessageKind::ToolResult => tool_result(view, format).or_else(|| error_details(view, format)),
        MessageKind::System => system(view),
        MessageKind::Developer => developer(view),
    };
    problem.map(str::to_owned)
}

fn tool_result(view: &MessageView, format: &Format) -> Option<&'static str> {
    let call = view.source.text("callId").filter(|id| !id.is_empty());
    let Some(call) = call.filter(|_| view.source_kind() == *"tool") else {
        return Some("must have a tool source with a call id");
    };
    let (holder, found) = match format.tool_result {
        ToolResult::Wrapped => {
            let block = view.content.first().filter(|_| view.content.len() == 1);
            let block = block.and_then(|block| Object::of(block)).filter(is_result);
            let Some(block) = block.filter(|block| block.array("content").is_some()) else {
                return Some("must hold exactly one tool-result block");
            };
            ("has a block and a source with different call ids", block.text("toolCallId"))
        }
        ToolResult::Flat => {
            if view.members.get("isError").is_some_and(|flag| json::boolean(flag).is_none()) {
                return Some("has an isError that is neither true nor false");
            }
            if view.content.iter().filter_map(|block| Object::of(block)).any(|block| is_result(&block)) {
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

fn system(view: &MessageView) -> Option<&'static str> {
    let data = view.payload.as_ref()?;
    let is_step = |key| data.count(key).is_some_and(|number| number > 0);
    if !data.has_exactly(&["turn", "step", "message"], &[]) || !is_step("turn") || !is_step("step") {
        return Some("must have exactly a turn, a step and a message");
    }
    if !view.members.has_exactly(&["id", "role", "source", "content"], &[]) {
        return Some("must have a message of exactly id, role, source and content");
    }
    let is_plugin = view.source_kind() == *"plugin";
    let names_plugin = view.source.text("plugin").is_some_and(|name| !name.is_empty());
    (is_plugin && !names_plugin).then_some("must have a source that names its plugin")
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
    block.text("type").is_some_and(|kind| kind == *"tool-result")
}

/// Checks the parts of a `request/header` that every reader looks at; the problem, if there is one.
pub(super) fn request_header_problem(
    data: &Object,
    header: &Object,
    format: &Format,
) -> Option<&'static str> {
    if data.text("reason").is_some_and(|reason| reason == *"fallback") {
        return Some("has the retired reason \"fallback\"");
    }
    let Some(config) = header.object("config").filter(names_model) else {
        return Some("lacks config.provider and config.model");
    };
    if config.get("reasoningEffort").is_some_and(|raw| json::text(raw).is_none_or(|text| text.is_empty())) {
        return Some("has a config.reasoningEffort that is no text");
    }
    let defaults = header.get("adapterDefaults");
    if !defaults.is_none_or(|raw| are_adapter_defaults(raw, &config)) {
        return Some("has adapterDefaults that do not match its config");
    }
    if !format.canonical_payloads {
        return None;
    }
    if header.get("system").is_some() {
        return Some("holds a system prompt, which this format keeps in a system/message");
    }
    let is_empty = |raw: Option<&Raw>| {
        raw.is_some_and(|raw| match json::kind(raw) {
            json::Kind::Array => json::array(raw).is_some_and(|all| all.is_empty()),
            json::Kind::Object => Object::of(raw).is_some_and(|object| object.names().next().is_none()),
            _ => false,
        })
    };
    (is_empty(header.get("tools")) || is_empty(defaults)).then_some("has empty tools or adapterDefaults")
}

/// Each default is `true` and names a setting that the config holds.
fn are_adapter_defaults(raw: &Raw, config: &Object) -> bool {
    Object::of(raw).is_some_and(|defaults| {
        defaults.names().all(|name| {
            let name = name.to_str();
            ["reasoningEffort", "maxTokens"].contains(&&*name)
                && defaults.get(&name).is_some_and(json::is_true)
                && config.get(&name).is_some()
        })
    })
}
