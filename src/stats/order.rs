//! In which order logs are told.

use super::LogStats;
use std::cmp::{Ordering, Reverse};
use std::fmt;
use std::str::FromStr;

/// By what logs are sorted: the greatest first, the latest activity first, paths from a to z.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SortBy {
    /// Bytes of the file.
    Size,
    /// Bytes of its text.
    Decoded,
    /// Events.
    Events,
    /// Host tokens of the surface.
    Tokens,
    /// Bytes that hold streamed deltas.
    Chunks,
    /// Compactions, however they ended.
    Compactions,
    /// Time of the last event.
    Activity,
    /// The path.
    Path,
}

impl SortBy {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Size,
        Self::Decoded,
        Self::Events,
        Self::Tokens,
        Self::Chunks,
        Self::Compactions,
        Self::Activity,
        Self::Path,
    ];

    /// The word as it is typed and printed.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Size => "size",
            Self::Decoded => "decoded",
            Self::Events => "events",
            Self::Tokens => "tokens",
            Self::Chunks => "chunks",
            Self::Compactions => "compactions",
            Self::Activity => "activity",
            Self::Path => "path",
        }
    }

    /// Which of two logs comes first; by path where the figures are alike. A log without the figure comes behind those
    /// that have it.
    #[must_use]
    pub fn compare(self, left: &LogStats, right: &LogStats) -> Ordering {
        Reverse(self.figure(left)).cmp(&Reverse(self.figure(right))).then_with(|| left.path.cmp(&right.path))
    }

    fn figure(self, log: &LogStats) -> Option<i128> {
        if let Self::Size = self {
            return log.disk.map(i128::from);
        }
        let figures = log.figures.as_ref().ok()?;
        let tally = &figures.tally;
        match self {
            Self::Size | Self::Path => None,
            Self::Decoded => Some(figures.decoded.into()),
            Self::Events => Some(tally.events.into()),
            Self::Tokens => Some(figures.host_tokens.into()),
            Self::Chunks => Some(tally.streamed_bytes().into()),
            Self::Compactions => Some(tally.compactions.all().into()),
            Self::Activity => figures.last_time.map(i128::from),
        }
    }
}

impl fmt::Display for SortBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A word that names no order.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("logs cannot be sorted by {0:?}")]
pub struct UnknownOrder(String);

impl FromStr for SortBy {
    type Err = UnknownOrder;
    fn from_str(word: &str) -> Result<Self, UnknownOrder> {
        let found = Self::ALL.into_iter().find(|order| order.as_str() == word);
        found.ok_or_else(|| UnknownOrder(word.to_owned()))
    }
}
