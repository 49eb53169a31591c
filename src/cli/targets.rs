//! Where `-o` puts each log's result.

use super::UsageError;
use crate::batch::FoundLog;
use anyhow::Result;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Where each log's result goes, if `output` is named: there, or below it as the log lies below the folder that was named.
/// Checked before any log is read: nothing may be there yet, unless `may_exist`. `others` are the logs that other shards
/// have; what they write, or have written, is in the way of nothing else.
pub(super) fn targets(
    output: Option<&Path>,
    logs: &[FoundLog],
    others: &[FoundLog],
    may_exist: bool,
) -> Result<Vec<Option<PathBuf>>> {
    let Some(output) = output else { return Ok(vec![None; logs.len()]) };
    let has_log_name = output.extension().is_some_and(|ending| ending == "jsonl" || ending == "zstd");
    let is_single = others.is_empty() && matches!(logs, [log] if log.below.is_none() || has_log_name);
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
    let mut seen: BTreeSet<PathBuf> = others.iter().map(target).collect();
    for target in &targets {
        if !may_exist && target.symlink_metadata().is_ok() {
            return Err(UsageError::new(
                format!("{} exists", target.display()),
                "name a new file: dshc writes over none",
            )
            .into());
        }
        if !seen.insert(target.clone()) {
            return Err(UsageError::new(
                format!("two inputs would be written to {}", target.display()),
                "name a folder above both",
            )
            .into());
        }
    }
    Ok(targets.into_iter().map(Some).collect())
}
