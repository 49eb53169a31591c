//! Format 3: the system prompt as a node of the surface.

use super::vocabulary::{ATTEMPT, COMMON, SINCE_3};
use super::{
    CheckedBy, Format, MessageKind, NeedsObject, Relations, RepairIds, ScanCheck, SurfaceType, SystemPrompt,
    Upgrade, payload, v2,
};

pub(super) const FORMAT: Format = Format {
    version: 3,
    releases: "0.1.5 and 0.1.6",
    replace_members: ["startSeq", "endSeq"],
    surface_types: &[
        SurfaceType { name: "user/message", kind: MessageKind::User, role: "user" },
        SurfaceType { name: "assistant/message", kind: MessageKind::Assistant, role: "assistant" },
        SurfaceType { name: "tool/result", kind: MessageKind::ToolResult, role: "user" },
        SurfaceType { name: "system/message", kind: MessageKind::System, role: "system" },
    ],
    system_prompt: SystemPrompt::HeadNode,
    system_source: Some("plugin"),
    vocabulary: &[COMMON, ATTEMPT, SINCE_3],
    scan_checks: &[ScanCheck::Envelope, ScanCheck::Sources, ScanCheck::Markers, ScanCheck::Payload],
    never_dropped: &["tool/code-dispatch", "tool/code-dispatch-start"],
    canonical_payloads: true,
    has_session_lock: true,
    asked_on_reading: payload::READ_IN_3,
    relations: RELATIONS,
    upgrade: Some(Upgrade {
        to: 4,
        refuses_unknown: false,
        also_takes: &[],
        gathers_chunks: false,
        looks_into_chunks: false,
        marks_seed: false,
        ends_interrupted_turns: true,
        promotes_prompt: false,
        flattens_results: true,
        bars_claims: true,
        asked: payload::NOTHING,
        asked_of_earlier: payload::NOTHING,
        relations: Some(Relations { checked: CheckedBy::Upgrade, ..RELATIONS }),
    }),
    ..v2::FORMAT
};

const RELATIONS: Relations = Relations {
    late_marks: CheckedBy::Nobody,
    foreign_marks: CheckedBy::Nobody,
    in_turn: &["request/context", "request/header", "tool/ptc-dispatch", "tool/ptc-dispatch-start"],
    // What came with the format, or under its number, is not looked into.
    needs_object: NeedsObject::AllBut(&[
        "deliverables/presented",
        "feedback/message-delete",
        "feedback/message-put",
        "image/offload",
        "subagent/catalog",
        "workspace/changes",
    ]),
    dispatch_types: ["tool/ptc-dispatch-start", "tool/ptc-dispatch"],
    repair_ids: RepairIds::AnyNumber,
    ..v2::FORMAT.relations
};
