//! When a compaction is done: now, or under pressure, as dsh does it by itself (FORMAT §7.4).

use super::region::window_of;
use crate::session::Session;

/// When a log is compacted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Occasion {
    /// Now, once.
    Now,
    /// While surface and request header together reach the limit.
    Pressure {
        /// What counts as pressure.
        limit: Limit,
        /// How many compactions are tried at most.
        passes: u32,
    },
}

/// From how many host tokens on a session is under pressure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Limit {
    /// So many.
    Tokens(u64),
    /// This share of the context window.
    Ratio {
        /// Above 0, at most 1.
        ratio: f64,
        /// The window in tokens; else the log's.
        window: Option<u64>,
    },
}

impl Limit {
    /// The limit of a session, in host tokens.
    pub(super) fn tokens(self, session: &Session, remarks: &mut Vec<String>) -> u64 {
        match self {
            Self::Tokens(tokens) => tokens,
            Self::Ratio { ratio, window } => {
                super::region::share_of(window_of(session, window, remarks), ratio)
            }
        }
    }
}

/// What the next request would cost by dsh's estimate: the surface and the request header, in host tokens.
pub(super) fn load(session: &Session) -> u64 {
    session.surface.host_tokens().saturating_add(session.header_tokens)
}
