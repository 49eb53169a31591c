//! Exit codes: what a script learns from a run.

/// How a run, or one file of it, ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Done; nothing at or above the asked severity.
    Done,
    /// Findings.
    Findings,
    /// Wrong usage.
    Usage,
    /// An input cannot be read.
    Unreadable,
    /// Refused before the first byte was written.
    Refused,
    /// Failed after it had begun; no history was replaced.
    Failed,
    /// Interrupted.
    Interrupted,
}

impl Exit {
    /// The process's exit code.
    #[must_use]
    pub fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Findings => 1,
            Self::Usage => 2,
            Self::Unreadable => 3,
            Self::Refused => 4,
            Self::Failed => 5,
            Self::Interrupted => 130,
        }
    }

    /// The code of a run whose files ended in different ways: the first of 130, 3, 5, 4, 1, 0 that occurred.
    #[must_use]
    pub fn merge(self, other: Self) -> Self {
        let rank = |exit| match exit {
            Self::Usage => 6,
            Self::Interrupted => 5,
            Self::Unreadable => 4,
            Self::Failed => 3,
            Self::Refused => 2,
            Self::Findings => 1,
            Self::Done => 0,
        };
        if rank(other) > rank(self) { other } else { self }
    }
}

#[cfg(test)]
mod tests {
    use super::Exit::{self, Done, Failed, Findings, Interrupted, Refused, Unreadable};

    #[test]
    fn the_gravest_end_decides() {
        let all = [Done, Findings, Refused, Failed, Unreadable, Interrupted];
        for pair in all.windows(2) {
            assert_eq!(pair[0].merge(pair[1]), pair[1]);
            assert_eq!(pair[1].merge(pair[0]), pair[1]);
        }
        let codes: Vec<u8> = all.into_iter().map(Exit::code).collect();
        assert_eq!(codes, [0, 1, 4, 5, 3, 130]);
    }
}
