//! Which logs a command works on.

use super::UsageError;
use crate::batch;
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
    let root = place::default_root().filter(|root| root.is_dir());
    let root = root.ok_or_else(|| {
        UsageError::new(
            "no PATH is given, and there are no sessions in $DSH_HOME/sessions or ~/.dsh/sessions",
            "name a log or a folder",
        )
    })?;
    Ok(vec![root])
}

/// The one log that `paths` stand for.
pub(super) fn only(paths: &[PathBuf]) -> Result<PathBuf> {
    let mut logs = batch::find(paths).logs;
    match logs.len() {
        1 => Ok(logs.swap_remove(0).path),
        0 => Err(UsageError::new(
            format!("no log is in {}", paths[0].display()),
            "name a session.jsonl or session.jsonl.zstd of dsh",
        )
        .into()),
        many => {
            let listed: Vec<String> =
                logs.iter().take(20).map(|log| format!("  {}", log.path.display())).collect();
            let more = if many > 20 { format!("\n  and {} more", many - 20) } else { String::new() };
            let message = format!("{many} logs are there, and one is wanted:\n{}{more}", listed.join("\n"));
            Err(UsageError::new(message, "name one of them").into())
        }
    }
}

/// Opens a log, `-` being standard input.
pub(super) fn open(path: &Path) -> io::Result<Source> {
    if path == Path::new("-") { Source::stdin() } else { Source::open(path) }
}
