//! Compaction: when, which region, what takes its place, and the transaction that says so in the log.
//!
//! [`compact`] takes one log from its path to its [`Outcome`]. Only `cli/` calls it. A `job` opens the log and makes
//! passes over it until the `occasion` is met; each `plan` is judged before a `transaction` writes it into the
//! `open_log`.

mod checkpoint;
#[cfg_attr(not(test), expect(dead_code, reason = "wired in with the other passes"))]
mod exact;
#[cfg_attr(not(test), expect(dead_code, reason = "wired in with the other passes"))]
mod gates;
mod job;
mod meter;
mod occasion;
mod open_log;
mod outcome;
mod output;
mod plan;
#[cfg_attr(not(test), expect(dead_code, reason = "`--prune` is not wired yet"))]
mod prune;
mod records;
mod region;
mod transaction;
mod transcript;

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

pub use exact::ExactTokens;
pub use gates::{GateOptions, Recall};
pub use meter::{Counting, UnknownCounting};
pub use occasion::{Limit, Occasion};
pub use outcome::{Appended, Cache, HostTokens, Outcome, Pass, Reason, Region, Status, SummarizedBy};
pub use region::Retention;

use crate::log::append::{AppendError, Disk};
use crate::log::{OpenError, layout};
use crate::summarize::{Summarizer, Watch};
use std::io;
use std::path::Path;

/// What is asked of a compaction.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// When it is done at all.
    pub occasion: Occasion,
    /// What of the surface stays.
    pub choice: Retention,
    /// Whether the task must stay visible.
    pub keep_task: bool,
    /// Plan only.
    pub is_dry_run: bool,
    /// Take a log that was written to a moment ago as one that nobody has open.
    pub assume_idle: bool,
}

/// What a compaction works with.
#[derive(Clone, Copy)]
pub struct Services<'a> {
    /// Who makes summaries.
    pub summarizer: &'a dyn Summarizer,
    /// The calls that change a file.
    pub disk: &'a dyn Disk,
    /// Who is told how far it is, and says whether to go on.
    pub watch: &'a dyn Watch,
}

/// Compacts the log at `path`: in place, or into a new file at `output`, whose folder is made if need be.
#[must_use]
pub fn compact(path: &Path, output: Option<&Path>, options: &Options, services: &Services) -> Outcome {
    let mut outcome = Outcome::new(path.to_owned());
    outcome.notes.extend(layout::newer_beside(path).map(|newer| {
        let newer = layout::file_name(&newer);
        format!("{newer} lies beside the log, and dsh opens that one: it will not see what is appended here")
    }));
    match job::run(path, output, options, services, &mut outcome) {
        Ok(()) => {}
        Err(Stopped::Nothing(why)) => outcome.notes.push(why),
        Err(Stopped::Refused(reason)) => outcome.stop(Status::Refused, reason),
        Err(Stopped::Failed(reason)) => outcome.stop(Status::Failed, reason),
        Err(Stopped::Unreadable(error)) => {
            let reason = Reason::new(error.code(), error.to_string(), error.help());
            outcome.stop(Status::Unreadable, reason);
        }
    }
    outcome
}

/// Why a log did not come to its end.
enum Stopped {
    /// Everything on the surface stays, and why.
    Nothing(String),
    /// Before the first byte was written.
    Refused(Reason),
    /// After something was written.
    Failed(Reason),
    Unreadable(OpenError),
}

impl From<OpenError> for Stopped {
    fn from(error: OpenError) -> Self {
        Self::Unreadable(error)
    }
}

impl From<io::Error> for Stopped {
    fn from(error: io::Error) -> Self {
        Self::Unreadable(error.into())
    }
}

impl From<AppendError> for Stopped {
    fn from(error: AppendError) -> Self {
        Self::Refused(Reason::of_append(&error))
    }
}
