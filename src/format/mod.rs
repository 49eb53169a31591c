//! The facts of each log format version, as data (FORMAT §6.4). The only room that knows version numbers:
//! every other asks the [`Format`] of the log at hand.

mod v0;

/// What one format version calls things and where it keeps them.
#[derive(Debug)]
pub struct Format {
    /// The header's `version`.
    pub version: u64,
    /// Member names of a replacing `surfaceOp` besides `op`: first and last shadowed node (FORMAT §0.2).
    pub replace_members: [&'static str; 2],
    /// The spelling that other versions use, to tell a dialect from rubbish.
    pub foreign_replace_members: [&'static str; 2],
    /// The event types that put a message on the surface (FORMAT §7.1).
    pub surface_types: &'static [SurfaceType],
    /// Whether streamed deltas stand in rows of their own that stand for several events (FORMAT §5.1).
    pub has_packed_rows: bool,
    /// Whether `assistant/message` may cite its chunks, also with an empty list (FORMAT §4).
    pub assistant_cites_chunks: bool,
    /// Whether the request header holds the system prompt (FORMAT §6.2, `request/header`).
    pub system_in_header: bool,
    /// The `source` of a checkpoint but for its ids: members with their values (FORMAT §7.4).
    pub checkpoint_source: &'static [(&'static str, &'static str)],
    /// Every event type that the version's readers know (FORMAT §6.3).
    pub vocabulary: &'static [&'static str],
    /// When readers check envelopes.
    pub envelope_check: EnvelopeCheck,
    /// The first release of dsh that reads ranges in `sourceEventSeqs`, where earlier ones read the version too
    /// (FORMAT §4.1).
    pub ranged_sources_since: Option<&'static str>,
    /// Event types of development builds that every reader refuses by name (FORMAT §6.3).
    pub retired: &'static [&'static str],
}

/// When readers check the envelopes of events, which decides what a wrong one costs (FORMAT §9.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EnvelopeCheck {
    /// As they scan the lines: a wrong one is a line that holds no record.
    WithScan,
    /// Behind the scan, which looks at the seq alone: a wrong one makes them refuse the log.
    BehindScan,
}

/// An event type that puts a message on the surface.
#[derive(Debug)]
pub struct SurfaceType {
    /// The event type.
    pub name: &'static str,
    /// What the message is to the conversation.
    pub kind: MessageKind,
    /// The `role` that the message must have (FORMAT §6.1).
    pub role: &'static str,
}

/// What a message is to the conversation, whatever the version calls it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageKind {
    /// A prompt, injected context or a checkpoint: the payload itself is the message.
    User,
    /// What the model said and which tools it called.
    Assistant,
    /// What a tool answered.
    ToolResult,
}

/// The newest format that dsh is known to write (FORMAT §0.3).
pub const NEWEST: u64 = 4;

/// The table of a version, or `None` if dshc cannot read that version.
#[must_use]
pub fn of(version: u64) -> Option<&'static Format> {
    ALL.iter().copied().find(|format| format.version == version)
}

/// Every version that dshc reads.
pub const ALL: &[&Format] = &[&v0::FORMAT];

impl Format {
    /// The surface type that `event_type` is, if it is one.
    #[must_use]
    pub fn surface_type(&self, event_type: &str) -> Option<&'static SurfaceType> {
        self.surface_types.iter().find(|surface| surface.name == event_type)
    }

    /// Whether readers of this version know `event_type`.
    #[must_use]
    pub fn knows(&self, event_type: &str) -> bool {
        self.vocabulary.binary_search(&event_type).is_ok()
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn vocabularies_are_sorted_for_the_search() {
        for format in super::ALL {
            assert!(format.vocabulary.is_sorted(), "format {}", format.version);
        }
    }
}
