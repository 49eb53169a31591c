//! Which logs a command works on.

use super::UsageError;
use crate::batch::{self, FoundLog};
use crate::log::Source;
use crate::log::place;
use anyhow::Result;
use std::io;
use std::path::{Path, PathBuf};

/// The paths given, else the product's own root.
pub(super) fn or_default_root(paths: Vec<PathBuf>) -> Result<Vec<PathBuf>> {
    if !paths.is_empty() {
        return Ok(paths);
    }
    let wrong = |why: String| {
        let message = format!("no PATH is given, and {why}");
        UsageError::new(message, "name a log or a folder, or set DSH_HOME to the home of dsh")
    };
    let root = place::default_root().ok_or_else(|| wrong("no home directory is known".into()))?;
    if !root.is_dir() {
        return Err(wrong(format!("dsh's own sessions are not here: {} is no folder", root.display())).into());
    }
    Ok(vec![root])
}

/// The one log that `paths` stand for. Both files of a session that lies there in two encodings are listed.
pub(super) fn only(paths: &[PathBuf]) -> Result<FoundLog> {
    let mut logs = sessions(batch::find(paths).logs);
    let files = logs.iter().flat_map(|log| [Some(&*log.path), log.twin()]).flatten();
    let files: Vec<String> = files.map(|file| format!("  {}", file.display())).collect();
    match files.len() {
        1 => Ok(logs.swap_remove(0)),
        0 => Err(UsageError::new(
            format!("no log is in {}", paths[0].display()),
            "name a session.jsonl or session.jsonl.zstd of dsh",
        )
        .into()),
        many => {
            let more = if many > 20 { format!("\n  and {} more", many - 20) } else { String::new() };
            let listed = files.into_iter().take(20).collect::<Vec<_>>().join("\n");
            let message = format!("{many} logs are there, and one is wanted:\n{listed}{more}");
            Err(UsageError::new(message, "name one of them").into())
        }
    }
}

/// The logs that belong to a session: all but those that lie where dsh wants none.
pub(super) fn sessions(logs: Vec<FoundLog>) -> Vec<FoundLog> {
    logs.into_iter().filter(|log| !log.is_flat()).collect()
}

/// Opens a log, `-` being standard input.
pub(super) fn open(path: &Path) -> io::Result<Source> {
    if path == Path::new("-") { Source::stdin() } else { Source::open(path) }
}
