//! Format 4: messages of role `tool` and `developer`, and no source of kind `plugin`.

use super::vocabulary::{ATTEMPT, COMMON, SINCE_3, SOURCES, SOURCES_SINCE_4};
use super::{
    CheckedBy, Family, Format, MessageKind, NeedsObject, Relations, RepairIds, SurfaceType, ToolResult,
    payload, v3,
};

pub(super) const FORMAT: Format = Format {
    version: 4,
    releases: "0.1.7 to 0.2.1",
    surface_types: &[
        SurfaceType { name: "user/message", kind: MessageKind::User, role: "user" },
        SurfaceType { name: "assistant/message", kind: MessageKind::Assistant, role: "assistant" },
        SurfaceType { name: "tool/result", kind: MessageKind::ToolResult, role: "tool" },
        SurfaceType { name: "system/message", kind: MessageKind::System, role: "system" },
        SurfaceType { name: "developer/message", kind: MessageKind::Developer, role: "developer" },
    ],
    system_source: None,
    tool_result: ToolResult::Flat,
    checkpoint_source: &[("kind", "compact-checkpoint")],
    refused_source_kinds: &["plugin"],
    source_kinds: &[SOURCES, SOURCES_SINCE_4],
    vocabulary: &[COMMON, ATTEMPT, SINCE_3, &["developer/message"]],
    unpriced_members: &["offloaded"],
    upgrade: None,
    asked_on_reading: payload::NOTHING,
    relations: Relations {
        checked: CheckedBy::Load,
        late_marks: CheckedBy::Load,
        foreign_marks: CheckedBy::Load,
        families: &[
            Family::Nested,
            Family::Retries,
            Family::Titles,
            Family::Commands,
            Family::Deliveries,
            Family::Catalog,
        ],
        // Readers look into every payload as they take the events.
        needs_object: NeedsObject::WhereLooked,
        repair_ids: RepairIds::AnyNumberOrFork,
        title_source: &[("kind", "dsh-session-title-llm")],
        ..v3::FORMAT.relations
    },
    ..v3::FORMAT
};
