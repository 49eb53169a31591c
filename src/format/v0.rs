//! Format 0: the first that was released.

use super::vocabulary::{CODE_DISPATCH, COMMON, SOURCES};
use super::{
    CheckedAt, Format, HeaderShape, MessageKind, Relations, RepairIds, Seeded, Stream, SurfaceType,
    SystemPrompt, ToolResult,
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
    packed_rows_need_id: false,
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
    unpriced_members: &[],
    has_session_lock: false,
    relations: Relations {
        checked: CheckedAt::Upgrade,
        dispatch_types: ["tool/code-dispatch-start", "tool/code-dispatch"],
        repair_ids: RepairIds::OwnSeq,
        title_source: &[("kind", "plugin"), ("plugin", "dsh-session-title-llm")],
        catalog: false,
    },
};
