//! The message of a surface event: its shape, and what can be read off it (FORMAT §6.1).

use crate::format::{Format, MessageKind, SurfaceType};
use crate::json::{self, Digest, Object, Raw, Text};
use crate::log::Event;

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
    pub(super) fn new(event_type: &str, problem: &str) -> Self {
        Self { event_type: event_type.to_owned(), problem: problem.to_owned() }
    }
}

/// A message over the text in which it stands in the log.
#[derive(Debug)]
pub struct MessageView<'a> {
    /// The message's original text.
    pub raw: &'a Raw,
    /// `source`.
    pub source: Object<'a>,
    /// The blocks of `content`.
    pub content: Vec<&'a Raw>,
}

impl<'a> MessageView<'a> {
    /// Reads the message of a surface event and checks what every reader checks.
    pub(super) fn of(event: &Event<'a>, surface: &SurfaceType) -> Result<Self, ShapeError> {
        let wrong = |problem: &str| ShapeError::new(surface.name, problem);
        let raw = if surface.kind.is_payload() {
            Some(event.data)
        } else {
            event.payload().and_then(|data| data.get("message"))
        };
        let view = raw.and_then(|raw| Some((raw, Object::of(raw)?)));
        let (raw, message) = view.ok_or_else(|| wrong("has no message"))?;
        if message.text("id").is_none_or(|id| id.is_empty()) {
            return Err(wrong("has a message without an id"));
        }
        if message.text("role").is_none_or(|role| role != *surface.role) {
            return Err(wrong(&format!("must have a message of role \"{}\"", surface.role)));
        }
        let source = message
            .object("source")
            .filter(|source| source.text("kind").is_some_and(|kind| !kind.is_empty()));
        let source = source.ok_or_else(|| wrong("has a message without a source kind"))?;
        let content =
            message.array("content").ok_or_else(|| wrong("has a message without a content array"))?;
        let view = Self { raw, source, content };
        match surface.kind {
            MessageKind::User => {}
            MessageKind::Assistant if view.source_kind() == *"model" && names_model(&view.source) => {}
            MessageKind::Assistant => return Err(wrong("must have a model source with provider and model")),
            MessageKind::ToolResult => view.check_tool_result().map_err(wrong)?,
        }
        Ok(view)
    }

    /// Reads a message that was checked before, from its text.
    #[must_use]
    pub fn again(raw: &'a Raw) -> Option<Self> {
        let message = Object::of(raw)?;
        Some(Self { raw, source: message.object("source")?, content: message.array("content")? })
    }

    /// `source.kind`.
    #[must_use]
    pub fn source_kind(&self) -> Text<'a> {
        self.source.text("kind").unwrap_or_default()
    }

    /// Whether a human wrote it: no other source does (FORMAT §6.1).
    #[must_use]
    pub fn is_human(&self) -> bool {
        self.source_kind() == *"user"
    }

    /// The ids of the tool calls that it makes, in order.
    #[must_use]
    pub fn calls(&self) -> Vec<String> {
        let blocks = self.content.iter().filter_map(|block| Object::of(block));
        blocks
            .filter(is_call)
            .map(|block| block.text("id").unwrap_or_default().into_str().into_owned())
            .collect()
    }

    /// The id of the tool call that it answers.
    #[must_use]
    pub fn answers(&self) -> Option<String> {
        self.source.text("callId").map(|id| id.into_str().into_owned())
    }

    fn check_tool_result(&self) -> Result<(), &'static str> {
        let call = self.source.text("callId").filter(|id| !id.is_empty());
        let Some(call) = call.filter(|_| self.source_kind() == *"tool") else {
            return Err("must have a tool source with a call id");
        };
        let block =
            self.content.first().filter(|_| self.content.len() == 1).and_then(|block| Object::of(block));
        let Some(block) = block.filter(|block| is_result(block) && block.array("content").is_some()) else {
            return Err("must hold exactly one tool-result block");
        };
        if block.text("toolCallId") != Some(call) {
            return Err("has a block and a source with different call ids");
        }
        Ok(())
    }
}

/// Whether a message's `source` is the one that compactions give their checkpoints (FORMAT §7.4).
#[must_use]
pub fn is_checkpoint_source(source: &Object, format: &Format) -> bool {
    let mut members = format.checkpoint_source.iter();
    members.all(|(member, value)| source.text(member).is_some_and(|text| text == **value))
}

/// A digest of all of a `tool/result` payload that a rewrite may not change: all but the inner content of its
/// block (FORMAT §7.2).
pub(super) fn rewrite_identity(data: &Object) -> Option<Digest> {
    let message = data.object("message")?;
    let content = message.array("content")?;
    let block = content.first().and_then(|block| Object::of(block))?;
    let mut hasher = blake3::Hasher::new();
    for part in [
        json::digest_without(data, "message"),
        json::digest_without(&message, "content"),
        json::digest_without(&block, "content"),
    ] {
        hasher.update(&part);
    }
    Some(*hasher.finalize().as_bytes())
}

/// Whether an object names a provider and a model.
pub(super) fn names_model(object: &Object) -> bool {
    ["provider", "model"].iter().all(|key| object.text(key).is_some_and(|text| !text.is_empty()))
}

fn is_call(block: &Object) -> bool {
    block.text("type").is_some_and(|kind| kind == *"tool-call")
}

fn is_result(block: &Object) -> bool {
    block.text("type").is_some_and(|kind| kind == *"tool-result")
}
