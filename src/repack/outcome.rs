//! What came of one log.

use crate::batch::journal::{Pair, Past};
use crate::exit::Exit;
use crate::guard::{self, Reason};
use crate::log::Header;
use std::path::PathBuf;

/// What came of one log, in a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// The new file stands where it was wanted.
    Repacked,
    /// A dry run found what would be saved.
    Planned,
    /// There is nothing to gain.
    NothingToDo,
    /// Refused before the first byte was written.
    Refused,
    /// Failed after that; the log is what it was, unless the reason says otherwise.
    Failed,
    /// The log could not be read.
    Unreadable,
    /// An earlier run has done it, and it has not changed since.
    Skipped,
}

impl Status {
    /// All of them, best first.
    pub const ALL: [Self; 7] = [
        Self::Repacked,
        Self::Planned,
        Self::NothingToDo,
        Self::Skipped,
        Self::Refused,
        Self::Failed,
        Self::Unreadable,
    ];

    /// The word that reports use.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Repacked => "repacked",
            Self::Planned => "planned",
            Self::NothingToDo => "nothing_to_do",
            Self::Refused => "refused",
            Self::Failed => "failed",
            Self::Unreadable => "unreadable",
            Self::Skipped => "skipped",
        }
    }
}

/// All that is told about one log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// The log.
    pub path: PathBuf,
    /// Where the result was written, if not to the log's own place.
    pub output: Option<PathBuf>,
    /// The session's id, as far as the header could be read.
    pub session: Option<String>,
    /// The format version, as far as the header could be read.
    pub version: Option<u64>,
    /// What came of it.
    pub status: Status,
    /// Why the log was not repacked.
    pub reason: Option<Reason>,
    /// File length before and, where it is or would be another, after, in bytes.
    pub bytes: (u64, Option<u64>),
    /// Length of the decoded text in bytes, once it is known.
    pub text_bytes: Option<u64>,
    /// Frames before and, where they are or would be others, after; `None` where they are not known.
    pub frames: Option<(u64, Option<u64>)>,
    /// The digest of the surface, as `dshc replay` gives it, of a log that was read to its end.
    pub digest: Option<String>,
    /// Remarks for people.
    pub notes: Vec<String>,
    /// What an earlier run made of it, so that it was spared.
    pub past: Option<Past>,
}

impl Outcome {
    pub(super) fn new(path: PathBuf) -> Self {
        Self {
            path,
            output: None,
            session: None,
            version: None,
            status: Status::NothingToDo,
            reason: None,
            bytes: (0, None),
            text_bytes: None,
            frames: None,
            digest: None,
            notes: Vec::new(),
            past: None,
        }
    }

    /// A log that is refused before it is opened.
    #[must_use]
    pub fn refused(path: PathBuf, reason: Reason) -> Self {
        let mut outcome = Self::new(path);
        outcome.bytes.0 = outcome.path.metadata().map_or(0, |meta| meta.len());
        outcome.stop(Status::Refused, reason);
        outcome
    }

    /// A log on which dshc itself failed.
    #[must_use]
    pub fn panicked(path: PathBuf, why: &str) -> Self {
        let mut outcome = Self::new(path);
        outcome.bytes.0 = outcome.path.metadata().map_or(0, |meta| meta.len());
        outcome.stop(Status::Failed, guard::panicked(why));
        outcome
    }

    /// A log that an earlier run has done: `past` is what came of it.
    #[must_use]
    pub fn spared(path: PathBuf, past: Past) -> Self {
        Self { status: Status::Skipped, past: Some(past), ..Self::new(path) }
    }

    /// What a journal is told of the log.
    #[must_use]
    pub fn told(&self) -> Past {
        let (before, after) = self.bytes_change();
        Past {
            status: self.status.as_str().into(),
            exit: self.exit().code(),
            reason: self.reason.as_ref().map(|reason| reason.code.into()),
            bytes: Some(Pair { before, after }),
            ..Past::default()
        }
    }

    /// Whether the run was interrupted before anything was written.
    #[must_use]
    pub fn was_not_begun(&self) -> bool {
        self.status == Status::Refused
            && self.reason.as_ref().is_some_and(|reason| reason.code == "cancelled")
    }

    /// The file's bytes before and after; the same where nothing is, or would be, another.
    #[must_use]
    pub fn bytes_change(&self) -> (u64, u64) {
        let (before, after) = self.bytes;
        (before, after.unwrap_or(before))
    }

    /// The exit code that the log alone would give.
    #[must_use]
    pub fn exit(&self) -> Exit {
        match self.status {
            Status::Repacked | Status::Planned | Status::NothingToDo | Status::Skipped => Exit::Done,
            _ if self.reason.as_ref().is_some_and(|reason| reason.code == "cancelled") => Exit::Interrupted,
            Status::Refused => Exit::Refused,
            Status::Failed => Exit::Failed,
            Status::Unreadable => Exit::Unreadable,
        }
    }

    /// Takes what the log's header tells.
    pub(super) fn knows(&mut self, header: &Header) {
        self.session = Some(header.id.clone());
        self.version = Some(header.version);
    }

    pub(super) fn stop(&mut self, status: Status, reason: Reason) {
        self.status = status;
        self.reason = Some(reason);
    }
}
