//! Why a log cannot be read at all.

use super::header::HeaderError;
use crate::format;
use std::io;

/// Why a log cannot be read at all.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The file system refused.
    #[error("cannot read: {0}")]
    Io(#[from] io::Error),
    /// There is nothing in the file.
    #[error("empty file: a log starts with a header line")]
    Empty,
    /// The file ends before its first line does.
    #[error("no header: the file ends inside its first {0}")]
    NoHeader(&'static str),
    /// The first line or frame is not what a log starts with.
    #[error("no dsh session log: {0}")]
    NotALog(String),
    /// The header names a version that dshc does not read.
    #[error("log format {version} (session \"{id}\"); what can be read is {}", readable())]
    Version {
        /// The session's id as far as the header tells.
        id: String,
        /// The version as the header spells it.
        version: String,
    },
}

impl OpenError {
    /// A stable code for reports.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Io(_) => "io",
            Self::Empty => "empty-file",
            Self::NoHeader(_) => "no-header",
            Self::NotALog(_) => "not-a-log",
            Self::Version { .. } => "unsupported-format",
        }
    }

    /// What a person can do about it.
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            Self::Io(error) if error.kind() == io::ErrorKind::IsADirectory => {
                "a directory has a log's name, and dsh cannot open it either; give it another name".into()
            }
            Self::Io(_) => "check that the path exists and that you may read it".into(),
            Self::Empty | Self::NoHeader(_) => {
                "nothing of the session was written, or the file was cut; restore it from a copy".into()
            }
            Self::NotALog(_) => "name a session.jsonl or session.jsonl.zstd of dsh".into(),
            Self::Version { version, .. } => match version.parse::<u64>() {
                Ok(known) if known <= format::NEWEST => {
                    "dsh wrote it; this version of dshc does not read that format yet".into()
                }
                _ => "a newer dsh or a private fork wrote it; look for a newer dshc".into(),
            },
        }
    }
}

fn readable() -> String {
    let versions: Vec<String> = format::ALL.iter().map(|format| format.version.to_string()).collect();
    format!("format {}", versions.join(", "))
}

impl From<HeaderError> for OpenError {
    fn from(error: HeaderError) -> Self {
        match error {
            HeaderError::Version { id, version } => Self::Version { id, version },
            other => Self::NotALog(other.to_string()),
        }
    }
}
