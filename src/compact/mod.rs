//! Compaction: when, which region, what takes its place, and the transaction that says so in the log.
//!
//! [`compact`] takes one log from its path to its [`Outcome`]. Only `cli/` calls it. A `job` opens the log and makes
//! passes over it until the `occasion` is met; each `plan` is judged before a `transaction` writes it into the
//! `open_log`.

mod attempt;
mod checkpoint;
mod exact;
mod gates;
mod job;
mod judge;
mod meter;
mod objection;
mod occasion;
mod open_log;
mod outcome;
mod output;
mod placement;
mod plan;
mod prune;
mod records;
mod region;
mod transaction;
mod transcript;

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

pub use crate::guard::Reason;
pub use exact::ExactTokens;
pub use gates::{GateOptions, Recall};
pub use meter::{Counting, UnknownCounting};
pub use occasion::{Limit, Occasion};
pub use outcome::{Appended, Cache, HostTokens, Outcome, Pass, Region, Status, SummarizedBy};
pub use prune::Pruned;
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
    /// Whether oversized tool results before the tail are made shorter first.
    pub prune: bool,
    /// What budgets are counted in.
    pub counting: Counting,
    /// What is asked of a summary.
    pub gates: GateOptions,
    /// Plan only.
    pub is_dry_run: bool,
    /// What the caller knows of other writers.
    pub vouched: Vouched,
}

/// What the caller vouches for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Vouched {
    /// Nothing: a log that was written to a moment ago may be one that a process has open.
    Nothing,
    /// Nobody is writing to the log.
    Idle,
    /// No process has the session: a torn tail and a held lock are left over, and are mended first.
    NoProcess,
}

impl Options {
    /// One compaction now, with everything else as it is without flags.
    #[must_use]
    pub const fn new(choice: Retention) -> Self {
        Self {
            occasion: Occasion::Now,
            choice,
            keep_task: true,
            prune: false,
            counting: Counting::Host,
            gates: GateOptions { min_recall: None, complete_identifiers: false },
            is_dry_run: false,
            vouched: Vouched::Nothing,
        }
    }
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
        Err(Stopped::Refused(reason)) => {
            // Nothing was written.
            outcome.mended.clear();
            outcome.stop(Status::Refused, reason);
        }
        Err(Stopped::Failed(reason)) => outcome.stop(Status::Failed, reason),
        Err(Stopped::Unreadable(error)) => outcome.stop(Status::Unreadable, Reason::unreadable(&error)),
    }
    let mended = std::mem::take(&mut outcome.mended);
    outcome.notes.splice(..0, mended);
    outcome.say_everything_once();
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
