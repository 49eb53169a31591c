//! Format 1: format 0 without what only development builds wrote. No release writes it; upgrades pass through it.

use super::{
    CallRule, CheckedBy, Family, Format, HeaderShape, Relations, RepairIds, ScanCheck, Upgrade, payload, v0,
};

pub(super) const FORMAT: Format = Format {
    version: 1,
    releases: "none (a step of upgrades)",
    header: HeaderShape { is_closed: true, retired: &[], ..v0::FORMAT.header },
    packed_rows_are_strict: true,
    scan_checks: &[ScanCheck::Sources],
    ranged_sources_since: None,
    converts_old_payloads: false,
    has_opaque_markers: true,
    refuses_negative_zero: true,
    is_metered: false,
    relations: RELATIONS,
    upgrade: Some(Upgrade {
        to: 2,
        refuses_unknown: true,
        also_takes: &[],
        gathers_chunks: true,
        looks_into_chunks: false,
        marks_seed: true,
        ends_interrupted_turns: true,
        promotes_prompt: false,
        flattens_results: false,
        bars_claims: false,
        asked: payload::LEAVING_1,
        asked_of_earlier: payload::NOTHING,
        // The numbers are those of the result, so repairs are held to them there.
        relations: Some(Relations { repair_ids: RepairIds::AnyNumber, ..RELATIONS }),
    }),
    ..v0::FORMAT
};

const RELATIONS: Relations = Relations {
    checked: CheckedBy::Upgrade,
    late_marks: CheckedBy::Upgrade,
    foreign_marks: CheckedBy::Upgrade,
    calls: CallRule::Advertised,
    in_turn: &["request/context", "request/header", "tool/code-dispatch", "tool/code-dispatch-start"],
    families: &[Family::Nested, Family::Retries, Family::Titles, Family::Commands, Family::Deliveries],
    ..v0::FORMAT.relations
};
