//! What `dshc verify` finds in many logs. The reports only lay it out.

use crate::check::{self, Checked, Finding, Severity};
use crate::log::{LogReader, OpenError, Place, Source};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// All logs of a run.
#[derive(Debug, Default)]
pub struct Verification {
    /// The logs, in the order in which they were found.
    pub files: Vec<FileVerdict>,
    /// Files that look like logs and are none that dsh would open.
    pub ignored: Vec<PathBuf>,
}

/// One log.
#[derive(Debug)]
pub struct FileVerdict {
    /// The log.
    pub path: PathBuf,
    /// What it holds, if it could be read at all.
    pub checked: Option<Checked>,
    /// What is wrong with it.
    pub findings: Vec<Finding>,
}

/// What a log is, in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// No errors and no warnings; notes may stand.
    Clean,
    /// Errors or warnings.
    Findings,
    /// It could not be read at all.
    Unreadable,
}

impl Status {
    /// The word that reports use.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Clean => "clean",
            Self::Findings => "findings",
            Self::Unreadable => "unreadable",
        }
    }
}

impl FileVerdict {
    /// Checks the log that `opened` gives.
    #[must_use]
    pub fn of(path: PathBuf, opened: std::io::Result<Source>) -> Self {
        let checked = opened.map_err(OpenError::from).and_then(|source| {
            let mut reader = LogReader::open(&source)?;
            Ok(check::check(&mut reader)?)
        });
        match checked {
            Ok(mut checked) => {
                let findings = std::mem::take(&mut checked.findings);
                Self { path, checked: Some(checked), findings }
            }
            Err(error) => Self { path, checked: None, findings: vec![unreadable(&error)] },
        }
    }

    /// The log in one word.
    #[must_use]
    pub fn status(&self) -> Status {
        match (&self.checked, self.worst()) {
            (None, _) => Status::Unreadable,
            (Some(_), Some(Severity::Warning | Severity::Error)) => Status::Findings,
            (Some(_), _) => Status::Clean,
        }
    }

    /// The gravest severity of its findings.
    #[must_use]
    pub fn worst(&self) -> Option<Severity> {
        self.findings.iter().map(|finding| finding.severity).max()
    }
}

impl Verification {
    /// How many logs have this status.
    #[must_use]
    pub fn count(&self, status: Status) -> usize {
        self.files.iter().filter(|file| file.status() == status).count()
    }

    /// How many findings there are of each code.
    #[must_use]
    pub fn by_code(&self) -> BTreeMap<&'static str, usize> {
        let mut counts = BTreeMap::new();
        for finding in self.files.iter().flat_map(|file| &file.findings) {
            *counts.entry(finding.code).or_default() += 1;
        }
        counts
    }
}

fn unreadable(error: &OpenError) -> Finding {
    Finding {
        code: error.code(),
        severity: Severity::Error,
        message: error.to_string(),
        seq: None,
        place: Place::default(),
        help: error.help(),
        related: Vec::new(),
    }
}
