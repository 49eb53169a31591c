//! Format 0: the first that was released.

use super::vocabulary::{CODE_DISPATCH, COMMON, SOURCES};
use super::{
    CallRule, CheckedBy, Format, HeaderShape, MessageKind, NeedsObject, Relations, RepairIds, Seeded, Stream,
    SurfaceType, SystemPrompt, ToolResult, Upgrade, payload,
};

pub(super) const FORMAT: Format = Format {
    version: 0,
    releases: "0.0.1 to 0.1.2",
    header: HeaderShape {
        seeded: Seeded::Length,
        is_closed: false,
        retired: &["sandboxMode", "approvalPolicy"],
    },
    replace_members: ["start", "end"],
    surface_types: &[
        SurfaceType { name: "user/message", kind: MessageKind::User, role: "user" },
        SurfaceType { name: "assistant/message", kind: MessageKind::Assistant, role: "assistant" },
        SurfaceType { name: "tool/result", kind: MessageKind::ToolResult, role: "user" },
    ],
    stream: Stream::Rows,
    packed_rows_are_strict: false,
    assistant_cites_chunks: true,
    ranged_sources_since: Some("0.1.2"),
    system_prompt: SystemPrompt::RequestHeader,
    system_source: None,
    tool_result: ToolResult::Wrapped,
    checkpoint_source: &[("kind", "plugin"), ("plugin", "compact")],
    refused_source_kinds: &[],
    source_kinds: &[SOURCES, &["plugin"]],
    // The last readers of the 0.1.1 line lack three of these 51.
    vocabulary: &[COMMON, CODE_DISPATCH, &["assistant/chunk"]],
    scan_checks: &[],
    never_dropped: &[],
    retired: &["mode/set", "request/header-delta"],
    converts_old_payloads: true,
    canonical_payloads: false,
    has_opaque_markers: false,
    refuses_negative_zero: false,
    is_metered: true,
    unpriced_members: &[],
    has_session_lock: false,
    asked_on_reading: payload::NOTHING,
    relations: Relations {
        checked: CheckedBy::Invariants,
        late_marks: CheckedBy::Nobody,
        foreign_marks: CheckedBy::Nobody,
        calls: CallRule::Started,
        in_turn: &["request/context", "request/header", "todo/write"],
        families: &[],
        needs_object: NeedsObject::WhereLooked,
        dispatch_types: ["tool/code-dispatch-start", "tool/code-dispatch"],
        repair_ids: RepairIds::OwnSeq,
        title_source: &[("kind", "plugin"), ("plugin", "dsh-session-title-llm")],
    },
    // Payloads are normalised; how events relate is looked at when format 2 is reached.
    upgrade: Some(Upgrade {
        to: 1,
        refuses_unknown: true,
        also_takes: &[],
        gathers_chunks: false,
        looks_into_chunks: false,
        marks_seed: false,
        ends_interrupted_turns: false,
        promotes_prompt: false,
        flattens_results: false,
        bars_claims: false,
        asked: payload::LEAVING_0,
        asked_of_earlier: payload::NOTHING,
        relations: None,
    }),
};
