//! The figures of one log.

use super::gauge::{self, Measured};
use super::{Inherited, Tally};
use crate::check::root::{Side, Twins};
use crate::exit::Exit;
use crate::log::{Container, Header, OpenError, Source, likeness};
use std::collections::BTreeSet;
use std::io;
use std::mem;
use std::path::{Path, PathBuf};

/// One log and what stands in it.
#[derive(Debug)]
pub struct LogStats {
    /// The log.
    pub path: PathBuf,
    /// Bytes of the file, if it could be opened.
    pub disk: Option<u64>,
    /// What stands in it, or why it cannot be read.
    pub figures: Result<Figures, Unreadable>,
    /// The same session in the other encoding, which is not counted.
    pub left_out: Option<PathBuf>,
    /// Remarks for people.
    pub notes: Vec<String>,
}

/// Why a log cannot be read at all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Unreadable {
    /// A stable code: that of the rule of `dshc verify` which says the same.
    pub code: &'static str,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub help: String,
}

impl From<OpenError> for Unreadable {
    fn from(error: OpenError) -> Self {
        Self { code: error.code(), message: error.to_string(), help: error.help() }
    }
}

/// What stands in a log that can be read. Of a damaged one, what stands before the damage.
#[derive(Debug)]
pub struct Figures {
    /// Its header.
    pub header: Header,
    /// How its text is stored.
    pub container: Container,
    /// Bytes of the text, the header and damaged lines included.
    pub decoded: u64,
    /// Zstandard frames; `None` for a raw log.
    pub frames: Option<u64>,
    /// Its events.
    pub tally: Tally,
    /// Nodes of the surface at its end.
    pub nodes: u64,
    /// Host tokens of those nodes (FORMAT §7.5).
    pub host_tokens: u64,
    /// Host tokens of the latest request header.
    pub header_tokens: u64,
    /// The model's context window in tokens, if the log tells it.
    pub context_window: Option<u64>,
    /// Time of the last event, Unix epoch in milliseconds.
    pub last_time: Option<i64>,
    /// The part that was inherited from another session, if that is told.
    pub inherited: Option<Inherited>,
    /// Whether damage ended the count.
    pub is_cut: bool,
    /// Sound events behind that damage, which no figure counts.
    pub left_out: u64,
}

/// What came of a log, in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// All events are counted.
    Counted,
    /// Those before some damage are.
    Partial,
    /// It cannot be read at all.
    Unreadable,
}

impl Status {
    /// The word that reports use.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Counted => "counted",
            Self::Partial => "partial",
            Self::Unreadable => "unreadable",
        }
    }

    /// How a run over this log alone ends.
    #[must_use]
    pub fn exit(self) -> Exit {
        match self {
            Self::Counted => Exit::Done,
            Self::Partial => Exit::Findings,
            Self::Unreadable => Exit::Unreadable,
        }
    }
}

impl LogStats {
    /// Measures the log at `path`. Where the same session lies beside it in the other encoding, both are read, and the
    /// one that holds more is counted.
    #[must_use]
    pub fn of(path: PathBuf, twin: Option<&Path>, open: impl Fn(&Path) -> io::Result<Source>) -> Self {
        let (mut stats, source) = Self::alone(path, &open);
        if let Some(twin) = twin {
            let (mut other, other_source) = Self::alone(twin.to_owned(), &open);
            let is_first = stats.path <= other.path;
            let sources = [source.as_ref(), other_source.as_ref()];
            let twins = if is_first {
                twins([&stats, &other], sources)
            } else {
                twins([&other, &stats], [sources[1], sources[0]])
            };
            if twins.takes_first() != is_first {
                mem::swap(&mut stats, &mut other);
            }
            stats.notes.push(twins.finding().message);
            stats.left_out = Some(other.path);
        }
        stats
    }

    /// Of a log on which dshc itself failed.
    #[must_use]
    pub fn panicked(path: PathBuf, why: &str) -> Self {
        let error = OpenError::Io(io::Error::other(format!("dshc failed on it: {why}")));
        let help = "this is a fault of dshc: report it, with the log if you can".to_owned();
        Self::unopened(path, Unreadable { help, ..error.into() })
    }

    fn unopened(path: PathBuf, why: Unreadable) -> Self {
        Self { path, disk: None, figures: Err(why), left_out: None, notes: Vec::new() }
    }

    fn alone(path: PathBuf, open: impl Fn(&Path) -> io::Result<Source>) -> (Self, Option<Source>) {
        let source = match open(&path) {
            Ok(source) => source,
            Err(error) => return (Self::unopened(path, OpenError::Io(error).into()), None),
        };
        let (figures, notes) = match gauge::measure(&source) {
            Ok(Measured { figures, notes }) => (Ok(figures), notes),
            Err(error) => (Err(error.into()), Vec::new()),
        };
        (Self { path, disk: Some(source.bytes), figures, left_out: None, notes }, Some(source))
    }

    /// The log in one word.
    #[must_use]
    pub fn status(&self) -> Status {
        match &self.figures {
            Ok(figures) if figures.is_cut => Status::Partial,
            Ok(_) => Status::Counted,
            Err(_) => Status::Unreadable,
        }
    }

    fn side(&self) -> Side {
        let figures = self.figures.as_ref().ok();
        Side {
            path: self.path.clone(),
            session: figures.map(|figures| figures.header.id.clone()),
            events: figures.map(|figures| figures.tally.events),
            last_time: figures.and_then(|figures| figures.last_time),
            errors: u64::from(self.status() != Status::Counted),
            faults: BTreeSet::new(),
        }
    }
}

/// Compares the two files of a session, the first by name first. `sources` are those that could be opened.
fn twins(logs: [&LogStats; 2], sources: [Option<&Source>; 2]) -> Twins {
    let likeness = match sources {
        [Some(one), Some(two)] if logs.iter().all(|log| log.figures.is_ok()) => likeness::compare(one, two),
        _ => Err(io::Error::other("one of them cannot be read")),
    };
    Twins { first: logs[0].side(), second: logs[1].side(), likeness }
}
