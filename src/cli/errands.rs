//! Logs that a command writes, and where it puts the result of each.

use super::UsageError;
use crate::batch::{FoundLog, Task};
use anyhow::Result;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A log, and where its result goes.
pub(super) struct Errand {
    pub(super) log: FoundLog,
    /// The place that `-o` gives it.
    pub(super) target: Option<PathBuf>,
}

impl Task for Errand {
    fn path(&self) -> &Path {
        &self.log.path
    }
}

/// The logs with their targets, if `output` is named: there, or below it as the log lies below the folder that was named.
/// Checked before any log is read: nothing may be there yet.
pub(super) fn errands(output: Option<&Path>, logs: Vec<FoundLog>) -> Result<Vec<Errand>> {
    if logs.iter().any(|log| log.path == Path::new("-")) {
        return Err(UsageError::new("standard input cannot be written to", "name a file").into());
    }
    let targets = targets(output, &logs)?;
    Ok(logs.into_iter().zip(targets).map(|(log, target)| Errand { log, target }).collect())
}

fn targets(output: Option<&Path>, logs: &[FoundLog]) -> Result<Vec<Option<PathBuf>>> {
    let Some(output) = output else { return Ok(vec![None; logs.len()]) };
    let has_log_name = output.extension().is_some_and(|ending| ending == "jsonl" || ending == "zstd");
    let is_single = matches!(logs, [log] if log.below.is_none() || has_log_name);
    let is_folder = output.is_dir() || output.as_os_str().to_string_lossy().ends_with('/') || !is_single;
    let target = |log: &FoundLog| {
        if !is_folder {
            return output.to_owned();
        }
        let below = log.below.as_ref().and_then(|below| log.path.strip_prefix(below).ok());
        let name = below.or(log.path.file_name().map(Path::new)).unwrap_or(&log.path);
        output.join(name)
    };
    let targets: Vec<PathBuf> = logs.iter().map(target).collect();
    let mut seen = BTreeSet::new();
    for target in &targets {
        if target.symlink_metadata().is_ok() {
            return Err(UsageError::new(
                format!("{} exists", target.display()),
                "name a new file: dshc writes over none",
            )
            .into());
        }
        if !seen.insert(target) {
            return Err(UsageError::new(
                format!("two inputs would be written to {}", target.display()),
                "name a folder above both",
            )
            .into());
        }
    }
    Ok(targets.into_iter().map(Some).collect())
}
