//! Format 1: format 0 without what only development builds wrote. No release writes it; upgrades pass through it.

use super::{Format, HeaderShape, ScanCheck, payload, v0};

pub(super) const FORMAT: Format = Format {
    version: 1,
    releases: "none (a step of upgrades)",
    header: HeaderShape { is_closed: true, retired: &[], ..v0::FORMAT.header },
    packed_rows_need_id: true,
    scan_checks: &[ScanCheck::Sources],
    ranged_sources_since: None,
    converts_old_payloads: false,
    has_opaque_markers: true,
    refuses_negative_zero: true,
    payloads: payload::OF_1,
    ..v0::FORMAT
};
