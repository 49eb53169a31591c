//! Format 2: streamed deltas inside the message that they make up.

use super::vocabulary::{ATTEMPT, CODE_DISPATCH, COMMON};
use super::{
    CheckedBy, Format, HeaderShape, Payloads, Relations, ScanCheck, Seeded, Stream, Upgrade, payload, v1,
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
    asked: payload::OF_2,
    relations: Relations {
        checked: CheckedBy::Codec,
        payloads: Payloads::AllBut(&[]),
        ..v1::FORMAT.relations
    },
    upgrade: Some(Upgrade {
        refuses_unknown: true,
        also_takes: &["feedback/message-delete", "feedback/message-put"],
        gathers_chunks: false,
        ends_interrupted_turns: false,
        promotes_prompt: true,
        flattens_results: false,
        unclaimable: Some(3),
        relations: Some(v1::FORMAT.relations),
    }),
    ..v1::FORMAT
};
