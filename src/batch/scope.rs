//! What of its logs a run works on.

use super::Shard;

/// What of the logs that are there a run works on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Scope {
    /// The share, if it is not all of them.
    pub shard: Option<Shard>,
    /// Whether a journal spares those that an earlier run has done.
    pub has_journal: bool,
}
