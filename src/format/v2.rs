//! Format 2: streamed deltas inside the message that they make up.

use super::vocabulary::{ATTEMPT, CODE_DISPATCH, COMMON};
use super::{EnvelopeCheck, Format, HeaderShape, Seeded, Stream, v1};

pub(super) const FORMAT: Format = Format {
    version: 2,
    releases: "0.1.3",
    file_stem: "session.v2",
    header: HeaderShape { seeded: Seeded::Flag, ..v1::FORMAT.header },
    stream: Stream::Embedded,
    packed_rows_need_id: false,
    assistant_cites_chunks: false,
    envelope_check: EnvelopeCheck::WithScan,
    vocabulary: &[COMMON, CODE_DISPATCH, ATTEMPT],
    ..v1::FORMAT
};
