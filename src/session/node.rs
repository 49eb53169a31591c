//! One node of the surface.

use super::images::{self, Image};
use super::message::is_checkpoint_source;
use super::rewrite::RewriteIdentity;
use super::{Keep, MessageView};
use crate::format::{Format, MessageKind, SurfaceType};
use crate::json::{self, Document, Raw};
use crate::log::Event;
use crate::tokens::host;
use std::sync::OnceLock;

/// An event on the surface and what is known of its message.
#[derive(Debug, Clone)]
pub struct Node {
    /// The event's seq, the node's name.
    pub seq: u64,
    /// The event's type.
    pub event_type: &'static str,
    /// What the message is to the conversation.
    pub kind: MessageKind,
    /// The message's role.
    pub role: &'static str,
    /// The message's `source.kind`.
    pub source_kind: String,
    /// dsh's estimate of its price (FORMAT §7.5).
    pub host_tokens: u64,
    /// The turn that it belongs to: the open one when it was appended, else the last one before it (0: none).
    /// A replacement belongs to the turn of the last node that it hides.
    pub turn: u64,
    /// Ids of the tool calls that it makes.
    pub calls: Vec<String>,
    /// Id of the tool call that it answers.
    pub answers: Option<String>,
    /// The nodes that it hides directly, in surface order; empty for an appended node.
    pub replaces: Vec<u64>,
    /// Whether it is the checkpoint of a compaction, told by its source (FORMAT §7.4).
    pub is_checkpoint: bool,
    /// Whether the model sees a message: only those of users and tools do without content (FORMAT §7.3).
    pub is_visible: bool,
    /// The message's id.
    pub(super) message_id: String,
    /// Its images, where the format can offload them.
    pub(super) images: Vec<Image>,
    /// The message's original text, where messages are kept.
    pub(super) stored: Option<Document<'static>>,
    /// Which of its images were offloaded behind it.
    pub(super) offloaded: Vec<u64>,
    /// The message with these images marked, once somebody has asked for it.
    pub(super) marked: OnceLock<Document<'static>>,
    /// What a rewrite of this tool result may not change.
    pub(super) rewrite_identity: Option<RewriteIdentity>,
    /// What stands before and behind the message in the payload of a tool result, where messages are kept.
    pub(super) around: Option<[Box<str>; 2]>,
}

impl Node {
    pub(super) fn new(
        event: &Event,
        surface: &SurfaceType,
        message: &MessageView,
        format: &Format,
        turn: u64,
        keep: Keep,
    ) -> Self {
        let is_empty = message.content.is_empty();
        let (is_visible, host_tokens) = match surface.kind {
            MessageKind::Assistant | MessageKind::System | MessageKind::Developer if is_empty => (false, 0),
            MessageKind::System => (true, host::system(&message.content)),
            _ => (true, host::message(&message.content, format.unpriced_members)),
        };
        let is_result = surface.kind == MessageKind::ToolResult;
        let may_hold_images = matches!(surface.kind, MessageKind::User | MessageKind::ToolResult);
        Self {
            seq: event.seq,
            event_type: surface.name,
            kind: surface.kind,
            role: surface.role,
            source_kind: message.source_kind().into_str().into_owned(),
            host_tokens,
            turn,
            calls: if surface.kind == MessageKind::Assistant { message.calls() } else { Vec::new() },
            answers: if is_result { message.answers() } else { None },
            replaces: Vec::new(),
            is_checkpoint: surface.kind == MessageKind::User && is_checkpoint_source(&message.source, format),
            is_visible,
            message_id: message.id(),
            stored: (keep == Keep::Messages).then(|| message.raw.to_document()),
            offloaded: Vec::new(),
            marked: OnceLock::new(),
            images: if may_hold_images && format.knows(images::OFFLOAD) {
                images::of(message, format)
            } else {
                Vec::new()
            },
            rewrite_identity: if is_result {
                RewriteIdentity::of(event.data, message, format.tool_result)
            } else {
                None
            },
            around: if is_result && keep == Keep::Messages { around(event.data, message.raw) } else { None },
        }
    }

    /// The payload of a tool result with another message in it, where messages are kept. All else in it is its original
    /// text.
    #[must_use]
    pub fn payload_with(&self, message: Raw) -> Option<Document<'static>> {
        let [before, behind] = self.around.as_ref()?;
        Document::new(format!("{before}{}{behind}", message.get())).ok()
    }

    /// The message as the model is shown it, where messages are kept: its original text, with a mark on images that
    /// were offloaded since.
    #[must_use]
    pub fn message(&self) -> Option<Raw<'_>> {
        let stored = self.stored.as_ref().map(Document::raw)?;
        if self.offloaded.is_empty() {
            return Some(stored);
        }
        let mark = || {
            let mut rising = self.offloaded.clone();
            rising.sort_unstable();
            images::marked(stored, &rising).unwrap_or_else(|| stored.to_document())
        };
        Some(self.marked.get_or_init(mark).raw())
    }

    /// The same, opened.
    #[must_use]
    pub fn view(&self) -> Option<MessageView<'_>> {
        self.message().and_then(MessageView::again)
    }

    /// Takes images out of what the model is shown; that they are there was checked.
    pub(super) fn offload(&mut self, indexes: &[u64]) {
        let rise = images::offload(&mut self.images, indexes);
        self.host_tokens = self.host_tokens.saturating_add_signed(rise);
        self.offloaded.extend(indexes);
        self.marked = OnceLock::new();
    }
}

/// The text of a payload before and behind the message that stands in it.
fn around(payload: Raw, message: Raw) -> Option<[Box<str>; 2]> {
    let place = json::place(payload, message)?;
    let text = payload.get();
    Some([text.get(..place.start)?.into(), text.get(place.end..)?.into()])
}
