//! Everything that a summary may tell of its region.

use super::tally::Tally;

/// The most that is kept of other texts, in UTF-16 code units.
pub(super) const TEXT: usize = 600;

/// A region's facts, those of earlier summaries among them.
#[derive(Debug, Default)]
pub(super) struct Facts {
    pub prompts: Tally<()>,
    pub tools: Tally<ToolUse>,
    pub languages: Tally<u64>,
    pub programs: Tally<u64>,
    pub files: Tally<FileUse>,
    pub failures: Tally<Failure>,
    /// What is to be done, and whether it is done.
    pub jobs: Tally<Job>,
    pub runs: Tally<Run>,
    pub ids: Tally<u64>,
    pub names: Tally<u64>,
    pub contexts: Tally<Injected>,
    pub counts: Tally<u64>,
    /// What was said and called last.
    pub said: Option<String>,
    pub called: Vec<Called>,
    pub next: Option<String>,
    /// Bullets of earlier summaries that nothing above has a place for, by section.
    pub earlier: [Tally<()>; 8],
}

#[derive(Debug, Default)]
pub(super) struct ToolUse {
    pub calls: u64,
    pub errors: u64,
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
    /// The command, or tool and file, that failed.
    pub subject: String,
    /// The entry, from 1; 0 for one of an earlier summary.
    pub at: usize,
    /// How it was fixed, as ` (later passed…)`.
    pub fixed: Option<String>,
}

#[derive(Debug, Default)]
pub(super) struct Job {
    pub is_done: bool,
    /// Whether the last word on it was a call that rewrites the whole list.
    pub is_listed: bool,
}

#[derive(Debug, Default)]
pub(super) struct Run {
    pub count: u64,
    /// Whether it is a shell command, or a tool and its file.
    pub is_command: bool,
    pub last_failed: bool,
    /// The last entry, from 1, in which it passed.
    pub passed_at: Option<usize>,
}

/// A call in words.
#[derive(Debug, PartialEq)]
pub(super) struct Called {
    pub text: String,
    pub failed: bool,
}

#[derive(Debug, Default)]
pub(super) struct Injected {
    pub count: u64,
    pub first_line: String,
}
