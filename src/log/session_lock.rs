//! `session.lock`: how dsh keeps two writers out of one session, from format 3 on (FORMAT §1.6).

use super::append::{AppendError, identity};
use super::place::LogName;
use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::Path;

const NAME: &str = "session.lock";

/// How often another file may take the lock file's place before that is an error.
const TRIES: u32 = 3;

/// The lock of a session, held until it is dropped. The file is empty and stays where it is: that it exists means
/// nothing, only that a process holds it does.
#[derive(Debug)]
pub(super) struct SessionLock {
    _file: File,
}

impl SessionLock {
    /// Takes the lock of the session whose log is at `log`, by whatever links; `None` where the log's own name is not
    /// one that dsh opens, so that no dsh can have it.
    pub(super) fn take(log: &Path) -> Result<Option<Self>, AppendError> {
        let stage = |error| AppendError::Io { stage: "cannot lock session.lock", error };
        let log = log.canonicalize().map_err(stage)?;
        if LogName::of(&log).is_none() {
            return Ok(None);
        }
        let path = log.with_file_name(NAME);
        for _ in 0..TRIES {
            let file = open(&path).map_err(stage)?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Err(AppendError::SessionLocked),
                Err(TryLockError::Error(error)) => return Err(stage(error)),
            }
            // Only the file that has the name now keeps others out.
            let (held, named) = (file.metadata().map_err(stage)?, std::fs::metadata(&path));
            if named.is_ok_and(|named| identity(&named) == identity(&held)) {
                return Ok(Some(Self { _file: file }));
            }
        }
        Err(stage(io::Error::other("another process puts new lock files in its place")))
    }
}

fn open(path: &Path) -> io::Result<File> {
    // Opening a pipe would wait for its other end.
    if path.metadata().is_ok_and(|meta| !meta.is_file()) {
        return Err(io::Error::other("it is no file"));
    }
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_file_that_nobody_holds_means_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("session.v3.jsonl.zstd");
        std::fs::write(&log, "").unwrap();
        std::fs::write(folder.path().join(NAME), "left behind").unwrap();
        let lock = SessionLock::take(&log).unwrap();
        assert!(lock.is_some());
        assert!(matches!(SessionLock::take(&log), Err(AppendError::SessionLocked)));
        drop(lock);
        assert!(SessionLock::take(&log).is_ok());
        assert_eq!(std::fs::read_to_string(folder.path().join(NAME)).unwrap(), "left behind");
    }

    #[test]
    fn a_log_of_another_name_has_no_lock() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("copy.jsonl");
        std::fs::write(&log, "").unwrap();
        assert!(SessionLock::take(&log).unwrap().is_none());
        assert!(!folder.path().join(NAME).exists());
    }

    #[cfg(unix)]
    #[test]
    fn a_link_leads_to_the_lock_of_the_log_itself() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("session.v3.jsonl");
        std::fs::write(&log, "").unwrap();
        let links = folder.path().join("links");
        std::fs::create_dir(&links).unwrap();
        for name in ["odd.jsonl", "session.v3.jsonl"] {
            let link = links.join(name);
            std::os::unix::fs::symlink(&log, &link).unwrap();
            let lock = SessionLock::take(&link).unwrap();
            assert!(lock.is_some() && matches!(SessionLock::take(&log), Err(AppendError::SessionLocked)));
        }
        assert!(!links.join(NAME).exists());
    }
}
