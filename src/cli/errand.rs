//! A log that a command works on, and where its result goes.

use crate::batch::{FoundLog, Task};
use std::path::{Path, PathBuf};

/// A log, and where its result goes if not to its own place.
#[derive(Debug)]
pub(super) struct Errand {
    pub(super) log: FoundLog,
    pub(super) target: Option<PathBuf>,
}

impl Errand {
    /// Each log with its target.
    pub(super) fn all(logs: Vec<FoundLog>, targets: Vec<Option<PathBuf>>) -> Vec<Self> {
        logs.into_iter().zip(targets).map(|(log, target)| Self { log, target }).collect()
    }

    /// The target, if something is there already.
    pub(super) fn taken_target(&self) -> Option<&Path> {
        self.target.as_deref().filter(|target| target.symlink_metadata().is_ok())
    }
}

impl Task for Errand {
    fn path(&self) -> &Path {
        &self.log.path
    }
}
