//! When a compaction is done: now, or under pressure, as dsh does it by itself (FORMAT §7.4).

use super::region::{Retention, share_of, window_of};
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
    /// What is wrong where a tail is to be kept that alone reaches the limit, as far as both can be compared without a
    /// log.
    #[must_use]
    pub fn conflict(self, choice: Retention) -> Option<String> {
        match (self, choice) {
            (Self::Tokens(limit), Retention::Tokens(tail)) if tail >= limit => {
                Some(format!("a tail of {tail} host tokens is not below the limit of {limit}"))
            }
            (Self::Ratio { ratio: limit, .. }, Retention::Ratio { ratio, .. }) if ratio >= limit => {
                Some(format!("a tail of {ratio} of the window is not below the limit of {limit}"))
            }
            (Self::Ratio { ratio, window: Some(window) }, Retention::Tokens(tail)) => {
                Self::Tokens(share_of(window, ratio)).conflict(Retention::Tokens(tail))
            }
            (Self::Tokens(limit), Retention::Ratio { ratio, window: Some(window) }) => {
                Self::Tokens(limit).conflict(Retention::Tokens(share_of(window, ratio)))
            }
            _ => None,
        }
    }

    /// The limit of a session, in host tokens.
    pub(super) fn tokens(self, session: &Session, remarks: &mut Vec<String>) -> u64 {
        match self {
            Self::Tokens(tokens) => tokens,
            Self::Ratio { ratio, window } => share_of(window_of(session, window, remarks), ratio),
        }
    }
}

/// What the next request would cost by dsh's estimate: the surface and the request header, in host tokens.
pub(super) fn load(session: &Session) -> u64 {
    session.surface.host_tokens().saturating_add(session.header_tokens)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tail_that_reaches_the_limit_is_a_conflict_as_far_as_both_can_be_compared() {
        let (tokens, turns) = (Retention::Tokens, Retention::Turns(1));
        let ratio = |ratio, window| Retention::Ratio { ratio, window };
        let share = |ratio, window| Limit::Ratio { ratio, window };
        for (limit, choice, is_conflict) in [
            (Limit::Tokens(100), tokens(99), false),
            (Limit::Tokens(100), tokens(100), true),
            (Limit::Tokens(100), turns, false),
            (Limit::Tokens(100), ratio(0.5, None), false),
            (Limit::Tokens(100), ratio(0.5, Some(199)), false),
            (Limit::Tokens(100), ratio(0.5, Some(200)), true),
            (share(0.8, None), ratio(0.79, None), false),
            (share(0.8, None), ratio(0.8, None), true),
            (share(0.8, None), tokens(1_000_000), false),
            (share(0.8, Some(100)), tokens(79), false),
            (share(0.8, Some(100)), tokens(80), true),
        ] {
            assert_eq!(limit.conflict(choice).is_some(), is_conflict, "{limit:?} {choice:?}");
        }
    }
}
