//! Why a command left a log as it is.

use crate::log::append::AppendError;
use crate::log::{NewFileError, OpenError};
use std::path::Path;

pub(crate) const HELP_REPORT: &str = "run `dshc verify` on the log, and report this";

const HELP_CHANGED: &str = "close the session in dsh, then run dshc again";

/// Why a log was not worked on, or not to the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    /// A stable code: `busy`, `in_use`, `region`, `budget`, `not_smaller`, `recall`, `damaged`, `unsupported`, `output`,
    /// `changed`, `summary`, `commit`, `persistence`, `cancelled`, `two_encodings`, `hard_links`, `proof`, `internal`,
    /// or the code of what made a log unreadable.
    pub code: &'static str,
    /// What is in the way.
    pub message: String,
    /// What to do about it.
    pub help: String,
    /// Spans that would be taken instead, by first and last seq.
    pub suggest: Vec<(u64, u64)>,
}

impl Reason {
    /// The suggested spans as `--region` takes them.
    #[must_use]
    pub fn spans(&self) -> Vec<String> {
        self.suggest.iter().map(|(start, end)| format!("{start}..{end}")).collect()
    }

    pub(crate) fn new(code: &'static str, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { code, message: message.into(), help: help.into(), suggest: Vec::new() }
    }

    /// Another writer has made of the log what was not reckoned with.
    pub(crate) fn changed(message: impl Into<String>) -> Self {
        Self::new("changed", message, HELP_CHANGED)
    }

    /// A record that cannot be spelt.
    pub(crate) fn unencodable(error: &serde_json::Error) -> Self {
        Self::new("commit", error.to_string(), HELP_REPORT)
    }

    /// A log that cannot be read.
    pub(crate) fn unreadable(error: &OpenError) -> Self {
        Self::new(error.code(), error.to_string(), error.help())
    }

    /// A change to the file that did not happen.
    pub(crate) fn of_append(error: &AppendError) -> Self {
        let (code, help) = match error {
            AppendError::Locked => ("busy", "wait for it to end"),
            AppendError::SessionLocked => ("in_use", HELP_CHANGED),
            AppendError::Changed(_) | AppendError::Raced | AppendError::Overtaken => {
                ("changed", HELP_CHANGED)
            }
            AppendError::Io { .. } => ("persistence", "check the disk and the file's permissions"),
            AppendError::LeftBehind(_) => {
                ("persistence", "resume the session in dsh and look at its last events")
            }
            AppendError::NotTakenBack { .. } => (
                "persistence",
                "`dshc verify` tells how the log ends; dsh mends it when it next opens the session",
            ),
        };
        Self::new(code, error.to_string(), help)
    }

    /// A new file that cannot be made at `output`.
    pub(crate) fn of_new_file(output: &Path, error: &NewFileError) -> Self {
        let output = output.display();
        match error {
            NewFileError::OtherContainer { ending } => Self::new(
                "output",
                format!("{output} promises by its name another container"),
                format!("give it the input's ending, {ending}"),
            ),
            NewFileError::Io(error) => Self::new(
                "persistence",
                format!("cannot write {output}: {error}"),
                "check the folder, its permissions and the disk",
            ),
        }
    }
}

/// The user wants the run to end.
pub(crate) fn cancelled() -> Reason {
    Reason::new("cancelled", "interrupted", "run it again when you like")
}

/// A run that was stopped has written a result and not told its journal so, or the file was there before: `output` is
/// its path for people.
pub(crate) fn written_before(output: &str) -> Reason {
    let help = "if a run that was stopped wrote it, move it away: it is made again";
    Reason::new("output", format!("{output} exists"), help)
}

/// Which of two files dsh would go on with nobody can know, so neither is touched. `twin` is the other one's path for
/// people, `done` what was to be done to the log.
pub(crate) fn two_encodings(twin: &str, done: &str) -> Reason {
    Reason::new(
        "two_encodings",
        format!("{twin} holds the same session in the other encoding"),
        format!("name the file itself that is to be {done}, or move the other away"),
    )
}

/// dshc itself failed on the log.
pub(crate) fn panicked(why: &str) -> Reason {
    let message = format!("dshc failed on it: {why}");
    let help = "this is a fault of dshc: report it; `dshc verify` tells how the log stands";
    Reason::new("internal", message, help)
}
