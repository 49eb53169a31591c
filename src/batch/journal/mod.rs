//! The journal of a run over many logs: what came of each, so that a run that was stopped goes on where it was.
//!
//! A file of JSON lines, `dshc.journal/1`, which one run at a time appends to. One journal may serve runs of several
//! commands: a [`Kind`] tells which lines a run goes by.

mod kind;
mod line;
mod reading;
mod revision;

pub use kind::Kind;
pub use line::{Pair, Past};
pub use revision::Revision;

use line::{Line, LogKey};
use std::collections::HashMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// An open journal, which no other run can open meanwhile.
#[derive(Debug)]
pub struct Journal {
    kind: Kind,
    past: HashMap<LogKey, (Revision, Past)>,
    end: Mutex<End>,
    /// What was wrong with the journal as it was found.
    pub damage: Damage,
}

/// Where the next line goes.
#[derive(Debug)]
struct End {
    file: File,
    /// The bytes of the file, all of whole lines.
    length: u64,
    /// Why nothing is written any more.
    failure: Option<io::Error>,
}

/// What was wrong with a journal. It costs no more than that some logs are done again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Damage {
    /// It ended inside a line, which was cut off: the run that wrote it was killed.
    pub is_torn: bool,
    /// So many lines could not be read.
    pub unread_lines: u64,
}

/// Why a journal cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// It cannot be read or written.
    #[error("cannot use the journal {}: {error}", .path.display())]
    Io {
        /// The journal.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// Another run has it.
    #[error("another run writes to the journal {}", .path.display())]
    Busy {
        /// The journal.
        path: PathBuf,
    },
    /// The file holds something else.
    #[error("{} is no journal of dshc: its first line is none of one", .path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
}

impl JournalError {
    /// What to do about it.
    #[must_use]
    pub fn help(&self) -> &'static str {
        match self {
            Self::Io { .. } => "name a file that can be written, on a file system that has locks",
            Self::Busy { .. } => "wait for that run to end, or name another journal",
            Self::Foreign { .. } => {
                "name a new file, or a journal that dshc has written; nothing was changed"
            }
        }
    }
}

impl Journal {
    /// Opens the journal at `path`, or begins one, for a run of this kind.
    pub fn open(path: &Path, kind: Kind) -> Result<Self, JournalError> {
        let failed = |error| JournalError::Io { path: path.to_owned(), error };
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
        let mut file = file.map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(JournalError::Busy { path: path.to_owned() }),
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
        let found = reading::read(&file, &kind).map_err(failed)?;
        let Some(found) = found else { return Err(JournalError::Foreign { path: path.to_owned() }) };
        let mended = found.mend(&mut file).and_then(|length| {
            file.seek(SeekFrom::Start(length))?;
            Ok(length)
        });
        let length = mended.map_err(failed)?;
        let end = Mutex::new(End { file, length, failure: None });
        Ok(Self { kind, past: found.past, end, damage: found.damage })
    }

    /// What an earlier run of this kind made of the log at `path`, if it ended well and the file has not changed since.
    #[must_use]
    pub fn done(&self, path: &Path) -> Option<&Past> {
        let (revision, past) = self.past.get(&LogKey::of(path))?;
        (past.is_done() && Revision::of(path).is_ok_and(|now| now == *revision)).then_some(past)
    }

    /// Notes what came of the log at `path`, whose file was at `revision` when all of it was known to be taken into
    /// account; without one it is done again. A line that cannot be written is the last that is tried:
    /// [`Journal::close`] tells of it.
    pub fn note(&self, path: &Path, revision: Option<Revision>, past: &Past) {
        let line = Line::of(&self.kind, path, revision, past);
        self.end.lock().unwrap_or_else(PoisonError::into_inner).append(&line, self.kind.changes_logs);
    }

    /// Ends the run: what the journal holds is on the disk, or the error tells why it is not.
    pub fn close(self) -> io::Result<()> {
        let end = self.end.into_inner().unwrap_or_else(PoisonError::into_inner);
        end.failure.map_or_else(|| end.file.sync_all(), Err)
    }
}

impl End {
    /// Appends a line in one write, so that a run that is killed leaves at most this one torn.
    fn append(&mut self, line: &Line, is_synced: bool) {
        if self.failure.is_some() {
            return;
        }
        let written = line.text().and_then(|text| {
            self.file.write_all(text.as_bytes())?;
            // A log that was changed must not be taken for one that was not, even when the power fails.
            if is_synced {
                self.file.sync_data()?;
            }
            Ok(text.len() as u64)
        });
        match written {
            Ok(bytes) => self.length = self.length.saturating_add(bytes),
            Err(error) => {
                // Half a line is taken back; where that fails too, the next run cuts it off.
                let _ = self.file.set_len(self.length);
                self.failure = Some(error);
            }
        }
    }
}

#[cfg(test)]
mod tests;
