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
    /// The first line is a header, and not one that dsh takes.
    #[error("line 1: {0}")]
    Header(String),
    /// The header names a version that dshc does not read.
    #[error("log format {version} (session \"{id}\"); what can be read is {}", readable())]
    Version {
        /// The session's id as far as the header tells.
        id: String,
        /// The version as the header spells it.
        version: String,
        /// Some of the header members that no known version has: a trace of who wrote the log.
        foreign_members: Vec<String>,
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
            Self::Header(_) => "invalid-header",
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
            Self::Header(_) => {
                "dsh refuses the whole log for its header; restore the first line from a copy, or from how dsh wrote it".into()
            }
            Self::NotALog(_) => "a log of dsh starts with its header line; if this is one, remove in a copy what stands before \
                                 that line, or restore the line. Else name a session.jsonl or session.jsonl.zstd of dsh"
                .into(),
            Self::Version { foreign_members, .. } => {
                let trace = match foreign_members.as_slice() {
                    [] => String::new(),
                    names => format!(" (its header has members of its own: {})", names.join(", ")),
                };
                let format::Format { version, releases, .. } = format::NEWEST;
                format!(
                    "a newer dsh or a private fork wrote it{trace}: dsh {releases} writes format {version}. Nothing is \
                     wrong with the log. Look for a newer dshc, or look at it as far as possible with \
                     `dshc replay --allow-unknown`"
                )
            }
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
            HeaderError::Version { id, version, foreign_members } => {
                Self::Version { id, version, foreign_members }
            }
            error @ (HeaderError::Member { .. } | HeaderError::Unexpected(..)) => {
                Self::Header(error.to_string())
            }
            error @ (HeaderError::Blank | HeaderError::NotJson(_) | HeaderError::NotAHeader(_)) => {
                Self::NotALog(error.to_string())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::log::{LogReader, Source};

    #[test]
    fn a_blank_line_before_the_header_is_named() {
        for text in ["\n{}\n", " \r\n{}\n"] {
            let error = LogReader::open(&Source::of_bytes(text.as_bytes())).err().unwrap();
            assert_eq!(
                error.to_string(),
                "no dsh session log: the first line is blank, where the header must stand"
            );
            assert!(error.help().contains("remove in a copy what stands before that line"));
        }
    }
}
