//! Format 2: streamed deltas inside the message that they make up.

use super::vocabulary::{ATTEMPT, CODE_DISPATCH, COMMON};
use super::{Format, HeaderShape, ScanCheck, Seeded, Stream, payload, v1};

pub(super) const FORMAT: Format = Format {
    version: 2,
    releases: "0.1.3",
    header: HeaderShape { seeded: Seeded::Flag, ..v1::FORMAT.header },
    stream: Stream::Embedded,
    packed_rows_need_id: false,
    assistant_cites_chunks: false,
    scan_checks: &[ScanCheck::Envelope, ScanCheck::Sources],
    vocabulary: &[COMMON, CODE_DISPATCH, ATTEMPT],
    payloads: payload::OF_2,
    ..v1::FORMAT
};
