//! What stands in a log, counted line by line.

use super::Kinds;
use crate::format::{Format, Stream};
use crate::json::Text;
use crate::log::{Body, Event, PackedRow};
use std::borrow::Cow;

/// The events of a log up to some line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally {
    /// Lines that hold events: one event each, or a packed row.
    pub records: u64,
    /// Events, each member of a packed row being one (FORMAT §5.1).
    pub events: u64,
    /// Decoded bytes of those lines with their line feeds.
    pub bytes: u64,
    /// Events by type.
    pub by_type: Kinds,
    /// Streamed deltas that are events of their own.
    pub chunks: Chunks,
    /// Bytes of the streams that stand within messages and attempts (FORMAT §5.2).
    pub stream_bytes: u64,
    /// Compaction brackets.
    pub compactions: Compactions,
}

/// Streamed deltas that are events of their own (FORMAT §5.1).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Chunks {
    /// `assistant/chunk` events, packed or not.
    pub events: u64,
    /// Decoded bytes of the lines that hold them.
    pub bytes: u64,
    /// Those events by the kind of their delta, such as `text-delta`.
    pub by_kind: Kinds,
}

/// Compaction brackets by how they ended (FORMAT §7.4).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Compactions {
    /// Ended without an error.
    pub done: u64,
    /// Ended with one.
    pub failed: u64,
    /// Never ended.
    pub open: u64,
}

impl Compactions {
    /// All brackets.
    #[must_use]
    pub fn all(self) -> u64 {
        self.done.saturating_add(self.failed).saturating_add(self.open)
    }

    fn ended(&mut self, has_error: bool) {
        self.open = self.open.saturating_sub(1);
        let ended = if has_error { &mut self.failed } else { &mut self.done };
        *ended = ended.saturating_add(1);
    }
}

impl Tally {
    /// Bytes that hold streamed deltas, wherever the format has them.
    #[must_use]
    pub fn streamed_bytes(&self) -> u64 {
        self.chunks.bytes.saturating_add(self.stream_bytes)
    }

    /// The share of the events that are streamed deltas, from 0 to 1; `None` without events.
    #[must_use]
    pub fn chunk_share(&self) -> Option<f64> {
        share(self.chunks.events, self.events)
    }

    /// Adds a line; its bytes come with [`Tally::add_bytes`].
    pub(super) fn add(&mut self, line: &Line) {
        self.records = self.records.saturating_add(1);
        self.events = self.events.saturating_add(line.events);
        self.by_type.add(&line.event_type, line.events);
        self.stream_bytes = self.stream_bytes.saturating_add(line.stream_bytes);
        if let Some(kind) = &line.chunk {
            self.chunks.events = self.chunks.events.saturating_add(line.events);
            self.chunks.by_kind.add(kind, line.events);
        }
        match line.bracket {
            Some(Bracket::Start) => self.compactions.open = self.compactions.open.saturating_add(1),
            Some(Bracket::End { has_error }) => self.compactions.ended(has_error),
            None => {}
        }
    }

    /// Adds the bytes of the line that was added last.
    pub(super) fn add_bytes(&mut self, bytes: u64, is_chunk: bool) {
        self.bytes = self.bytes.saturating_add(bytes);
        if is_chunk {
            self.chunks.bytes = self.chunks.bytes.saturating_add(bytes);
        }
    }
}

/// A part of a whole, from 0 to 1; `None` of nothing.
#[expect(clippy::cast_precision_loss, reason = "a share is told to a few digits")]
pub(crate) fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// What one line counts for.
pub(super) struct Line<'a> {
    pub(super) first_seq: u64,
    events: u64,
    event_type: Cow<'a, str>,
    /// What kind of deltas it holds, if it does.
    chunk: Option<Cow<'a, str>>,
    stream_bytes: u64,
    bracket: Option<Bracket>,
}

#[derive(Clone, Copy)]
enum Bracket {
    Start,
    End { has_error: bool },
}

impl<'a> Line<'a> {
    pub(super) fn of(body: &Body<'a>, format: &Format) -> Self {
        match body {
            Body::Row(row) => Self::of_row(row),
            Body::Event(event) => Self::of_event(event, format),
        }
    }

    /// Whether it holds streamed deltas and nothing else.
    pub(super) fn is_chunk(&self) -> bool {
        self.chunk.is_some()
    }

    fn of_row(row: &PackedRow) -> Self {
        Self {
            first_seq: row.first_seq,
            events: row.members,
            event_type: CHUNK.into(),
            chunk: Some(delta_of(row.tag).into()),
            stream_bytes: 0,
            bracket: None,
        }
    }

    fn of_event(event: &Event<'a>, format: &Format) -> Self {
        let mut line = Self {
            first_seq: event.seq,
            events: 1,
            event_type: event.event_type.clone(),
            chunk: None,
            stream_bytes: 0,
            bracket: None,
        };
        let payload = || event.payload();
        match (&*event.event_type, format.stream) {
            (CHUNK, Stream::Rows) => line.chunk = Some(chunk_kind(event)),
            ("assistant/message" | "assistant/attempt", Stream::Embedded) => {
                let stream = payload().and_then(|data| data.get("stream"));
                line.stream_bytes = stream.map_or(0, |stream| stream.get().len() as u64);
            }
            ("compaction/start", _) => line.bracket = Some(Bracket::Start),
            ("compaction/end", _) => {
                let has_error = payload().is_some_and(|data| data.get("error").is_some());
                line.bracket = Some(Bracket::End { has_error });
            }
            _ => {}
        }
        line
    }
}

/// The type of the events that streamed deltas are.
const CHUNK: &str = "assistant/chunk";

/// What the members of a packed row are (FORMAT §5.1).
fn delta_of(tag: &str) -> &'static str {
    match tag {
        "text-chunks" => "text-delta",
        "reasoning-chunks" => "reasoning-delta",
        _ => "tool-call-delta",
    }
}

fn chunk_kind<'a>(event: &Event<'a>) -> Cow<'a, str> {
    let kind = event.payload().and_then(|data| data.object("chunk")?.text("type"));
    kind.map_or(Cow::Borrowed("unknown"), Text::into_str)
}
