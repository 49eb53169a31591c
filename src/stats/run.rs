//! The logs of a run.

use super::{LogStats, SortBy, Total};
use crate::exit::Exit;
use std::path::PathBuf;

/// The logs of a run in the order that was asked for, and their sums.
#[derive(Debug)]
pub struct Stats {
    /// The logs that are told.
    pub logs: Vec<LogStats>,
    /// In which order.
    pub sorted_by: SortBy,
    /// How many at most, if that was said.
    pub top: Option<usize>,
    /// Files that look like logs and are not counted.
    pub ignored: Vec<PathBuf>,
    /// The sums over all logs, those that are not told too.
    pub total: Total,
    /// Of a run that was interrupted: how many logs were not looked at.
    pub not_begun: Option<usize>,
    /// How the run ends, by all logs.
    pub exit: Exit,
}

impl Stats {
    /// Sorts and sums up the logs; all but the `top` first are left out.
    #[must_use]
    pub fn of(
        mut logs: Vec<LogStats>,
        mut ignored: Vec<PathBuf>,
        sorted_by: SortBy,
        top: Option<usize>,
    ) -> Self {
        let total = Total::of(&logs);
        let exit = logs.iter().fold(Exit::Done, |exit, log| exit.merge(log.status().exit()));
        ignored.extend(logs.iter().filter_map(|log| log.left_out.clone()));
        ignored.sort();
        logs.sort_by(|left, right| sorted_by.compare(left, right));
        if let Some(top) = top {
            logs.truncate(top);
        }
        Self { logs, sorted_by, top, ignored, total, not_begun: None, exit }
    }

    /// How many logs are not told.
    #[must_use]
    pub fn untold(&self) -> u64 {
        self.total.logs().saturating_sub(self.logs.len() as u64)
    }
}
