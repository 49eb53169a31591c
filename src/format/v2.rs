//! Format 2: streamed deltas inside the message that they make up.

use super::vocabulary::{ATTEMPT, CODE_DISPATCH, COMMON};
use super::{
    CheckedBy, Format, HeaderShape, NeedsObject, Relations, ScanCheck, Seeded, Stream, Upgrade, payload, v1,
};

pub(super) const FORMAT: Format = Format {
    version: 2,
    releases: "0.1.3",
    header: HeaderShape { seeded: Seeded::Flag, ..v1::FORMAT.header },
    stream: Stream::Embedded,
    packed_rows_are_strict: false,
    assistant_cites_chunks: false,
    scan_checks: &[ScanCheck::Envelope, ScanCheck::Sources],
    vocabulary: &[COMMON, CODE_DISPATCH, ATTEMPT],
    relations: Relations {
        checked: CheckedBy::Codec,
        foreign_marks: CheckedBy::Codec,
        needs_object: NeedsObject::AllBut(&[]),
        ..v1::FORMAT.relations
    },
    upgrade: Some(Upgrade {
        to: 3,
        refuses_unknown: true,
        also_takes: &["feedback/message-delete", "feedback/message-put"],
        gathers_chunks: false,
        looks_into_chunks: true,
        marks_seed: false,
        ends_interrupted_turns: false,
        promotes_prompt: true,
        flattens_results: false,
        bars_claims: true,
        asked: payload::LEAVING_2,
        asked_of_earlier: payload::PASSING_2,
        relations: Some(v1::FORMAT.relations),
    }),
    ..v1::FORMAT
};
