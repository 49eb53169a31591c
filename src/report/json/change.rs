//! Figures before and after.

use serde::Serialize;

/// A figure of one log; `after` where it is, or would be, another.
#[derive(Serialize)]
pub(super) struct ChangeJson {
    before: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<u64>,
}

impl ChangeJson {
    pub(super) fn of((before, after): (u64, Option<u64>)) -> Self {
        Self { before, after }
    }
}

/// Sums over all files; a file that did not change counts the same before and after.
#[derive(Serialize)]
pub(super) struct Totals {
    before: u64,
    after: u64,
}

impl Totals {
    pub(super) fn of(changes: impl Iterator<Item = (u64, u64)>) -> Self {
        changes.fold(Self { before: 0, after: 0 }, |sum, (before, after)| Self {
            before: sum.before.saturating_add(before),
            after: sum.after.saturating_add(after),
        })
    }
}
