//! Everything that a summary may tell of its region.

use crate::summarize::identifiers::tally::Tally;
use std::collections::VecDeque;

/// The most that is kept of a job or of what was said, in UTF-16 code units.
pub(super) const TEXT: usize = 600;

#[derive(Debug, Default)]
pub(super) struct Facts {
    pub prompts: Tally<()>,
    pub tools: Tally<u64>,
    pub programs: Tally<u64>,
    pub files: Tally<FileUse>,
    /// By the error line.
    pub failures: Tally<Failure>,
    /// What is to be done, and whether it is done.
    pub jobs: Tally<bool>,
    /// By the command, or by tool and file.
    pub runs: Tally<Run>,
    pub ids: Tally<u64>,
    pub names: Tally<u64>,
    /// Sources of injected context.
    pub notes: Tally<u64>,
    pub said: Option<String>,
    /// The last different calls.
    pub called: VecDeque<Called>,
    pub next: Option<String>,
    /// The bullets of earlier summaries, by section.
    pub earlier: [Vec<String>; 8],
}

#[derive(Debug, Default)]
pub(super) struct FileUse {
    /// Entries that name it in a call or in talk.
    pub uses: u64,
    /// Results that mention it.
    pub seen: u64,
    pub tools: Vec<String>,
    /// The last entry that counted, from 1.
    pub counted_at: usize,
}

#[derive(Debug, Default)]
pub(super) struct Failure {
    pub count: u64,
    /// The run that failed.
    pub subject: String,
    /// The entry, from 1.
    pub at: usize,
    /// How it was fixed, as ` (later passed…)`.
    pub fixed: Option<String>,
}

#[derive(Debug, Default)]
pub(super) struct Run {
    pub count: u64,
    pub is_command: bool,
    pub only_reads: bool,
    pub last_failed: bool,
    /// The error lines since it passed last.
    pub failing: Vec<String>,
}

#[derive(Debug)]
pub(super) struct Called {
    /// The entry, from 1.
    pub at: usize,
    pub text: String,
    pub failed: bool,
}
