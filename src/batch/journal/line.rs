//! One line of a journal.

use super::{Kind, Revision};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt::Write;
use std::io;
use std::path::Path;

/// The schema that each line names.
pub(super) const SCHEMA: &str = "dshc.journal/1";

/// What came of a log.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Past {
    /// Its status, as in the command's JSON report.
    pub status: Cow<'static, str>,
    /// The exit code that a run over this log alone would have had.
    pub exit: u8,
    /// The gravest severity that was found in it, where that is what the command looks for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worst: Option<Cow<'static, str>>,
    /// The code of the reason why nothing was done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Cow<'static, str>>,
    /// Host tokens of its surface.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host_tokens: Option<Pair>,
    /// Length of its file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<Pair>,
}

/// A figure before and after the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pair {
    /// Before it.
    pub before: u64,
    /// After it; the same where nothing was changed.
    pub after: u64,
}

impl Past {
    /// Whether nothing is left to do: it did what was asked, or told what it found.
    pub(super) fn is_done(&self) -> bool {
        self.exit <= 1
    }
}

/// A log's path in a journal.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct LogKey {
    /// As it is shown.
    path: String,
    /// Its bytes in hexadecimal, where it is not what is shown.
    bytes: Option<String>,
}

impl LogKey {
    pub(super) fn of(path: &Path) -> Self {
        let bytes = path.to_str().is_none().then(|| {
            let bytes = path.as_os_str().as_encoded_bytes();
            bytes.iter().fold(String::new(), |mut hex, byte| {
                // A string takes every write.
                let _ = write!(hex, "{byte:02x}");
                hex
            })
        });
        Self { path: path.display().to_string(), bytes }
    }
}

/// A line as it is written and read.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Line {
    schema: Cow<'static, str>,
    command: Cow<'static, str>,
    options: String,
    path: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    path_bytes: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    revision: Option<Revision>,
    outcome: Past,
}

impl Line {
    pub(super) fn of(kind: &Kind, path: &Path, revision: Option<Revision>, past: &Past) -> Self {
        let LogKey { path, bytes } = LogKey::of(path);
        Self {
            schema: SCHEMA.into(),
            command: kind.command.into(),
            options: kind.options(),
            path,
            path_bytes: bytes,
            revision,
            outcome: past.clone(),
        }
    }

    /// Reads a line; `None` if it is none of a journal.
    pub(super) fn parse(line: &[u8]) -> Option<Self> {
        serde_json::from_slice::<Self>(line).ok().filter(|line| line.schema == SCHEMA)
    }

    pub(super) fn is_of(&self, kind: &Kind) -> bool {
        self.command == kind.command && self.options == kind.options()
    }

    /// The log, and what came of it at which revision of its file.
    pub(super) fn told(self) -> (LogKey, Option<Revision>, Past) {
        (LogKey { path: self.path, bytes: self.path_bytes }, self.revision, self.outcome)
    }

    /// Its text, with the line feed.
    pub(super) fn text(&self) -> io::Result<String> {
        Ok(serde_json::to_string(self)? + "\n")
    }
}
