//! The facts of each log format version, as data (FORMAT §6.4). The only room that knows version numbers:
//! every other asks the [`Format`] of the log at hand.

mod closers;
mod file_name;
pub mod payload;
mod relations;
mod upgrade;
mod v0;
mod v1;
mod v2;
mod v3;
mod v4;
mod vocabulary;

use crate::json::{self, Raw};
pub use closers::{INTERRUPTED_RESULT_ID, NOT_STARTED, OUTCOME_UNKNOWN, RepairResult};
pub use file_name::{file_stem, version_of_stem};
use payload::Rules;
pub use relations::{CallRule, CheckedBy, Family, NeedsObject, Relations, RepairIds};
pub use upgrade::Upgrade;

/// What one format version calls things and where it keeps them.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own, and none excludes another")]
pub struct Format {
    /// The header's `version`.
    pub version: u64,
    /// The dsh releases that write it (FORMAT §0.3).
    pub releases: &'static str,
    /// What the header line holds.
    pub header: HeaderShape,
    /// Member names of a replacing `surfaceOp` besides `op`: first and last shadowed node (FORMAT §0.2).
    pub replace_members: [&'static str; 2],
    /// The event types that put a message on the surface (FORMAT §7.1).
    pub surface_types: &'static [SurfaceType],
    /// Where streamed deltas stand.
    pub stream: Stream,
    /// Whether readers refuse a packed row whose turn, step or index is no count, or whose call has an empty id
    /// (FORMAT §5.1).
    pub packed_rows_are_strict: bool,
    /// Whether `assistant/message` may cite its chunks, also with an empty list; else it may cite nothing (FORMAT §4).
    pub assistant_cites_chunks: bool,
    /// The first release that writes `sourceEventSeqs` as ranges, where earlier ones of this format cannot read
    /// them (FORMAT §4.1).
    pub ranged_sources_since: Option<&'static str>,
    /// Where the system prompt stands.
    pub system_prompt: SystemPrompt,
    /// The source kind that a `system/message` must have, if only one will do (FORMAT §6.2).
    pub system_source: Option<&'static str>,
    /// How a `tool/result` wraps what the tool answered.
    pub tool_result: ToolResult,
    /// The `source` of a checkpoint but for its ids: members with their values (FORMAT §7.4).
    pub checkpoint_source: &'static [(&'static str, &'static str)],
    /// Source kinds that no durable message may have (FORMAT §6.1).
    pub refused_source_kinds: &'static [&'static str],
    /// Source kinds that dsh's own producers give messages (FORMAT §6.1, §8.4), in parts that versions share.
    pub source_kinds: &'static [&'static [&'static str]],
    /// Every event type that the version's readers know (FORMAT §6.3), in sorted parts that versions share.
    pub vocabulary: &'static [&'static [&'static str]],
    /// What readers check as they scan the lines.
    pub scan_checks: &'static [ScanCheck],
    /// Event types that make readers refuse a log even where they would drop what stands there (FORMAT §9.1).
    pub never_dropped: &'static [&'static str],
    /// Event types of development builds that every reader refuses by name (FORMAT §6.3).
    pub retired: &'static [&'static str],
    /// Whether readers convert the payloads of development builds (FORMAT §8.1).
    pub converts_old_payloads: bool,
    /// Whether readers refuse what an earlier version still took: a system prompt or empty members in a request
    /// header, error details of a result that is no error, a seq spelt `-0` (FORMAT §0.4, §6.2).
    pub canonical_payloads: bool,
    /// Whether an unknown event that readers may ignore may carry the markers of a message (FORMAT §4).
    pub has_opaque_markers: bool,
    /// Whether a time or a reference to an event may not be spelt `-0` (FORMAT §0.4).
    pub refuses_negative_zero: bool,
    /// Whether it is known where dsh's token meter fails; it prices an answer by the chunks that it cites.
    pub is_metered: bool,
    /// Members of a content block that cost nothing (FORMAT §7.5).
    pub unpriced_members: &'static [&'static str],
    /// Whether a writer holds `session.lock` in the session's directory (FORMAT §1.6).
    pub has_session_lock: bool,
    /// What readers ask of payloads as they scan the lines, beside what they ask of messages and request headers;
    /// where it is not so they refuse the log, wherever the event stands (FORMAT §9.1).
    pub asked_on_reading: &'static Rules,
    /// What the rules between events ask, and when dsh checks them.
    pub relations: Relations,
    /// What the upgrade to the next version refuses; `None` where there is no next one.
    pub upgrade: Option<Upgrade>,
}

/// The members of a header line besides `type`, `version`, `id`, `createdAt` and `delegationDepth` (FORMAT §3).
#[derive(Debug)]
pub struct HeaderShape {
    /// How it says that the session began with events of another one.
    pub seeded: Seeded,
    /// Whether members that the format does not have are refused.
    pub is_closed: bool,
    /// Members that are refused all the same.
    pub retired: &'static [&'static str],
}

/// How a header says that the session began with events of another one (FORMAT §3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seeded {
    /// By their number, `seedLength`; its presence is enough.
    Length,
    /// By `isSeeded`; the last inherited `session/end-seed` stands where they end.
    Flag,
}

/// Where streamed deltas stand (FORMAT §5).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// In events of their own, and in rows that stand for several of them.
    Rows,
    /// In the member `stream` of the message or attempt that they make up.
    Embedded,
}

/// Where the system prompt stands (FORMAT §7.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SystemPrompt {
    /// In the request header.
    RequestHeader,
    /// In the surface's first node, which only another system prompt may replace (FORMAT §7.2).
    HeadNode,
}

/// How a `tool/result` holds what the tool answered (FORMAT §6.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolResult {
    /// In the one `tool-result` block of a message.
    Wrapped,
    /// In the message's own blocks.
    Flat,
}

/// What readers may check as they scan the lines. What is wrong then is a line that holds no record, and may be dropped
/// with all behind it; what they check later makes them refuse the log (FORMAT §9.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScanCheck {
    /// The members of an event; else only the seq.
    Envelope,
    /// The list of sources.
    Sources,
    /// The shape of `surfaceOp`, and that what it names is earlier.
    Markers,
    /// What [`Format::canonical_payloads`] is about; what was retired then makes them refuse a log wherever it stands.
    Payload,
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
    /// The system prompt.
    System,
    /// What the harness tells the model about its tools.
    Developer,
}

/// The newest format that dsh is known to write (FORMAT §0.3).
pub const NEWEST: &Format = &v4::FORMAT;

/// Every version that dshc reads.
pub const ALL: &[&Format] = &[&v0::FORMAT, &v1::FORMAT, &v2::FORMAT, &v3::FORMAT, NEWEST];

/// What an upgrade puts before the name of a plugin that it does not know (FORMAT §8.4).
const UPGRADED_SOURCE: &str = "plugin:";

/// The table of a version, or `None` if dshc cannot read that version.
#[must_use]
pub fn of(version: u64) -> Option<&'static Format> {
    ALL.iter().copied().find(|format| format.version == version)
}

/// The versions whose readers know `event_type`.
pub fn knowing(event_type: &str) -> impl Iterator<Item = u64> {
    ALL.iter().filter(move |format| format.knows(event_type)).map(|format| format.version)
}

impl Format {
    /// The surface type that `event_type` is, if it is one.
    #[must_use]
    pub fn surface_type(&self, event_type: &str) -> Option<&'static SurfaceType> {
        self.surface_types.iter().find(|surface| surface.name == event_type)
    }

    /// A count as readers of this version take it: some refuse the spelling `-0` (FORMAT §0.4).
    #[must_use]
    pub fn count(&self, raw: Raw) -> Option<u64> {
        if self.refuses_negative_zero { json::strict_count(raw) } else { json::count(raw) }
    }

    /// Whether readers check this as they scan the lines.
    #[must_use]
    pub fn checks_with_scan(&self, check: ScanCheck) -> bool {
        self.scan_checks.contains(&check)
    }

    /// Whether a part of dsh itself gives messages this source kind, or an upgrade does.
    #[must_use]
    pub fn has_source_kind(&self, kind: &str) -> bool {
        self.source_kinds.iter().any(|part| part.contains(&kind)) || kind.starts_with(UPGRADED_SOURCE)
    }

    /// Whether readers of this version know `event_type`.
    #[must_use]
    pub fn knows(&self, event_type: &str) -> bool {
        self.vocabulary.iter().any(|part| part.binary_search(&event_type).is_ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vocabularies_are_sorted_for_the_search() {
        for format in ALL {
            assert!(format.vocabulary.iter().all(|part| part.is_sorted()), "format {}", format.version);
        }
    }

    #[test]
    fn vocabularies_have_the_known_sizes() {
        let sizes: Vec<usize> =
            ALL.iter().map(|format| format.vocabulary.iter().map(|part| part.len()).sum()).collect();
        assert_eq!(sizes, [51, 51, 51, 58, 59]);
        assert_eq!(knowing("assistant/chunk").collect::<Vec<_>>(), [0, 1]);
        assert_eq!(knowing("developer/message").collect::<Vec<_>>(), [4]);
    }

    #[test]
    fn every_type_of_the_surface_is_known() {
        for format in ALL {
            assert!(format.surface_types.iter().all(|surface| format.knows(surface.name)));
        }
    }
}
