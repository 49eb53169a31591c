//! Fewer bytes, the same text: a compressed log in a few large frames instead of one for each append.
//!
//! [`repack`] takes one log from its path to its [`Outcome`]. Only `cli/` calls it. A `job` reads the log and asks the
//! guards; a `layout` says where the new frames are cut, `pack` compresses them, and `proof` reads the new file back from
//! the disk before it gets a name.

mod job;
mod layout;
mod objection;
mod outcome;
mod pack;
mod proof;

#[cfg(test)]
mod tests;

pub use layout::FRAME_TEXT;
pub use outcome::{Outcome, Run, Status};

use crate::guard::Reason;
use crate::log::append::{AppendError, Disk};
use crate::log::{NewFileError, OpenError};
use crate::summarize::Watch;
use std::io;
use std::path::Path;

/// The level that is taken where none is named.
pub const LEVEL: i32 = 19;

/// The levels that there are.
pub const LEVELS: std::ops::RangeInclusive<i32> = 1..=22;

/// Where the result goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target<'a> {
    /// Nowhere: the log is compressed all the same, so that what would be saved is known to the byte.
    Nowhere,
    /// To the log's own place.
    InPlace,
    /// To a new file, whose folder is made if need be.
    File(&'a Path),
}

/// What is asked of a repacking.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// How hard to try, in [`LEVELS`]; `None`: [`LEVEL`], and a log that has large frames already is left as it is.
    pub level: Option<i32>,
    /// How many bytes of text a frame holds at least, but for the last one.
    pub frame_text: u64,
    /// The caller says that no process has the log open.
    pub is_idle: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { level: None, frame_text: FRAME_TEXT, is_idle: false }
    }
}

/// What a repacking works with.
#[derive(Clone, Copy)]
pub struct Services<'a> {
    /// The calls that change a file.
    pub disk: &'a dyn Disk,
    /// Who is told how far it is, and says whether to go on.
    pub watch: &'a dyn Watch,
}

/// Repacks the log at `path`. At any moment its place holds the old file or the new one, each whole.
#[must_use]
pub fn repack(path: &Path, target: Target, options: &Options, services: &Services) -> Outcome {
    let mut outcome = Outcome::new(path.to_owned());
    match job::run(path, target, options, services, &mut outcome) {
        Ok(status) => outcome.status = status,
        Err(Stopped::Nothing(why)) => outcome.notes.push(why),
        Err(Stopped::Refused(reason)) => outcome.stop(Status::Refused, reason),
        Err(Stopped::Failed(reason)) => outcome.stop(Status::Failed, reason),
        Err(Stopped::Unreadable(error)) => outcome.stop(Status::Unreadable, Reason::unreadable(&error)),
    }
    outcome
}

/// Why a log was not repacked.
enum Stopped {
    /// There is nothing to gain, and why.
    Nothing(String),
    /// Before the first byte was written.
    Refused(Reason),
    /// After that; the log is what it was.
    Failed(Reason),
    Unreadable(OpenError),
}

impl Stopped {
    fn failed(error: &AppendError) -> Self {
        Self::Failed(Reason::of_append(error))
    }

    fn unwritable(output: &Path, error: io::Error) -> Self {
        Self::Failed(Reason::of_new_file(output, &NewFileError::Io(error)))
    }
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
