//! Many logs: the arguments that every command has that takes them, and the logs that they stand for.

use super::UsageError;
use super::journaling::Journaling;
use crate::batch::journal::Kind;
use crate::batch::path_list::{self, Separator};
use crate::batch::{self, Found, FoundLog, Scope, Shard};
use crate::report::Printer;
use anyhow::Result;
use clap::Args;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The part of the help that these arguments stand in.
// Said of each of them: as the heading of the struct it would reach the arguments that follow it in a command.
pub(super) const MANY_LOGS: &str = "Many logs";

/// Which of many logs, and where their paths stand.
#[derive(Debug, Args)]
pub(super) struct Archive {
    /// Take the paths in this file too, one a line, relative to the working directory; "-" is standard input.
    #[arg(long, value_name = "FILE", help_heading = MANY_LOGS)]
    files_from: Option<PathBuf>,
    /// The paths in that file end with NUL bytes, as those of `find -print0` do.
    #[arg(short = '0', long, requires = "files_from", help_heading = MANY_LOGS)]
    null: bool,
    /// Work on the K-th of N shares of the logs alone. The logs' paths tell which are whose, so that N machines share
    /// them out without a word; `dshc merge-reports` joins their reports.
    #[arg(long, value_name = "K/N", help_heading = MANY_LOGS)]
    shard: Option<Shard>,
}

/// The journal of a run whose work on a log need not be done twice.
#[derive(Debug, Args)]
pub(super) struct JournalOption {
    /// Keep a journal in this file of what came of each log. A later run with the same journal, command and options
    /// skips the logs that were done and have not changed since; what was refused, failed or could not be read is tried
    /// again.
    #[arg(long, value_name = "FILE", help_heading = MANY_LOGS)]
    journal: Option<PathBuf>,
}

impl JournalOption {
    /// Opens the journal, if one is named, for a run of this kind.
    pub(super) fn open(&self, kind: Kind, printer: Printer) -> Result<Journaling> {
        Ok(Journaling::open(self.journal.as_deref(), kind, printer)?)
    }
}

/// The logs of a run.
#[derive(Debug)]
pub(super) struct Lot {
    /// Those to work on.
    pub(super) found: Found,
    /// Those that other shards have.
    pub(super) others: Vec<FoundLog>,
}

impl Archive {
    /// The share that is wanted of the run, if not all of it is.
    pub(super) fn shard(&self) -> Option<Shard> {
        self.shard
    }

    /// What of the logs a run works on that has a journal or not.
    pub(super) fn scope(&self, journal: &JournalOption) -> Scope {
        Scope { shard: self.shard, has_journal: journal.journal.is_some() }
    }

    /// Adds the paths of the list, if there is one, to those that were given.
    pub(super) fn paths(&self, mut given: Vec<PathBuf>) -> Result<Vec<PathBuf>> {
        let Some(list) = &self.files_from else { return Ok(given) };
        let is_stdin = list == Path::new("-");
        if is_stdin && given.iter().any(|path| path == Path::new("-")) {
            let message = "standard input cannot be both a log and the list of paths";
            return Err(UsageError::new(message, "name a file in one of the two places").into());
        }
        let name = if is_stdin { "standard input".to_owned() } else { list.display().to_string() };
        let wrong = |why: String, help: &str| UsageError::new(format!("--files-from: {why}"), help);
        let bytes = if is_stdin { read_stdin() } else { fs::read(list) };
        let bytes =
            bytes.map_err(|error| wrong(format!("cannot read {name}: {error}"), "name a file of paths"))?;
        let separator = if self.null { Separator::Nul } else { Separator::Line };
        let listed = path_list::paths(&bytes, separator)
            .map_err(|error| wrong(format!("{name}: {error}"), "name that file by PATH, or its folder"))?;
        if listed.is_empty() {
            return Err(
                wrong(format!("no path stands in {name}"), "leave --files-from out, or list paths").into()
            );
        }
        given.extend(listed);
        Ok(given)
    }

    /// The logs that `paths` stand for, and which of them are those of the share that is wanted.
    pub(super) fn find(&self, paths: &[PathBuf]) -> Lot {
        let found = batch::find(paths);
        match self.shard {
            None => Lot { found, others: Vec::new() },
            Some(shard) => {
                let (found, others) = found.share(shard, paths);
                Lot { found, others }
            }
        }
    }
}

fn read_stdin() -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    io::stdin().lock().read_to_end(&mut bytes)?;
    Ok(bytes)
}
