//! The message of a surface event: its shape, and what can be read off it (FORMAT §6.1).

use super::shape::{self, ShapeError};
use crate::format::{Format, SurfaceType, ToolResult};
use crate::json::{self, Object, Raw, Text};
use crate::log::Event;

/// A message over the text in which it stands in the log.
#[derive(Debug)]
pub struct MessageView<'a> {
    /// The message's original text.
    pub raw: Raw<'a>,
    /// Its members.
    pub members: Object<'a>,
    /// The payload around it, where it is not the payload itself and the event is at hand.
    pub(super) payload: Option<Object<'a>>,
    /// `source`.
    pub source: Object<'a>,
    /// The blocks of `content`.
    pub content: Vec<Raw<'a>>,
}

impl<'a> MessageView<'a> {
    /// Reads the message of a surface event and checks what every reader checks.
    pub(super) fn of(event: &Event<'a>, surface: &SurfaceType, format: &Format) -> Result<Self, ShapeError> {
        let gravity = shape::gravity(surface, format);
        let wrong = |problem: &str| ShapeError::new(surface.name, problem).of_kind(gravity);
        let payload = if surface.kind.is_payload() { None } else { event.payload() };
        let raw = match &payload {
            Some(payload) => payload.get("message"),
            None => Some(event.data).filter(|_| surface.kind.is_payload()),
        };
        let view = raw.and_then(|raw| Some((raw, Object::of(raw)?)));
        let (raw, message) = view.ok_or_else(|| wrong("has no message"))?;
        if message.name("id").is_none() {
            return Err(wrong("has a message without an id"));
        }
        if !message.has_text("role", surface.role) {
            return Err(wrong(&format!("must have a message of role \"{}\"", surface.role)));
        }
        let source = message.object("source").filter(|source| source.name("kind").is_some());
        let source = source.ok_or_else(|| wrong("has a message without a source kind"))?;
        let content =
            message.array("content").ok_or_else(|| wrong("has a message without a content array"))?;
        let view = Self { raw, members: message, payload, source, content };
        shape::check(&view, surface, format)?;
        Ok(view)
    }

    /// Reads a message that was checked before, from its text.
    #[must_use]
    pub fn again(raw: Raw<'a>) -> Option<Self> {
        let members = Object::of(raw)?;
        let (source, content) = (members.object("source")?, members.array("content")?);
        Some(Self { raw, members, payload: None, source, content })
    }

    /// `source.kind`.
    #[must_use]
    pub fn source_kind(&self) -> Text<'a> {
        self.source.text("kind").unwrap_or_default()
    }

    /// `id`.
    #[must_use]
    pub fn id(&self) -> String {
        self.members.text("id").map_or_else(String::new, |id| id.into_str().into_owned())
    }

    /// Whether a human wrote it: no other source does (FORMAT §6.1).
    #[must_use]
    pub fn is_human(&self) -> bool {
        self.source_kind() == *"user"
    }

    /// The ids of the tool calls that it makes, in order.
    #[must_use]
    pub fn calls(&self) -> Vec<String> {
        let blocks = self.content.iter().filter_map(|block| Object::of(*block));
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

    /// The names of the tools that its blocks add, in order (format 4, FORMAT §6.1).
    pub(super) fn added_tools(&self) -> impl Iterator<Item = Text<'a>> {
        let blocks = self.content.iter().filter_map(|block| Object::of(*block));
        let additions = blocks.filter(|block| block.has_text("type", "tool-addition"));
        additions.map(|block| block.text("toolName").unwrap_or_default())
    }

    /// What a tool answered, for the message of a `tool/result`.
    #[must_use]
    pub fn tool_result(&self, shape: ToolResult) -> Option<ToolAnswer<'a>> {
        let wrapper = match shape {
            ToolResult::Wrapped => Some(self.content.first().and_then(|block| Object::of(*block))?),
            ToolResult::Flat => None,
        };
        let holder = wrapper.as_ref().unwrap_or(&self.members);
        let blocks = holder.get("content")?;
        let is_error = holder.get("isError").is_some_and(json::is_true);
        Some(ToolAnswer { blocks, content: json::array(blocks)?, is_error })
    }
}

/// What a tool answered.
#[derive(Debug)]
pub struct ToolAnswer<'a> {
    /// The array of its blocks.
    pub blocks: Raw<'a>,
    /// Its blocks.
    pub content: Vec<Raw<'a>>,
    /// Whether the tool failed.
    pub is_error: bool,
}

/// How the block before a checkpoint's summary ends (FORMAT §7.4).
pub const OPENING_TAG: &str = "<compacted-summary>";
/// The block behind a checkpoint's summary (FORMAT §7.4).
pub const CLOSING_TAG: &str = "</compacted-summary>";

/// Whether a message's `source` is the one that compactions give their checkpoints (FORMAT §7.4).
#[must_use]
pub fn is_checkpoint_source(source: &Object, format: &Format) -> bool {
    let mut members = format.checkpoint_source.iter();
    members.all(|(member, value)| source.has_text(member, value))
}

/// Whether an object names a provider and a model.
pub(super) fn names_model(object: &Object) -> bool {
    ["provider", "model"].iter().all(|key| object.name(key).is_some())
}

fn is_call(block: &Object) -> bool {
    block.has_text("type", "tool-call")
}
