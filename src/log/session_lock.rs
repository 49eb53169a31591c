//! `session.lock`: how dsh keeps two writers out of one session, from format 3 on (FORMAT §1.6).

use super::append::{AppendError, Identity, identity};
use super::layout::folder_of;
use super::place::LogName;
use std::collections::BTreeSet;
use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

const NAME: &str = "session.lock";

/// How often another file may take the lock file's place before that is an error.
const TRIES: u32 = 3;

/// The lock of a session, held until it is dropped. The file is empty and stays where it is: that it exists means
/// nothing, only that a process holds it does.
///
/// dsh locks beside the name under which it opens a log. So the lock is taken beside every name of a log that is known:
/// the one given and, behind links, the file's own. Hard links and links on the way have names that are not known.
#[derive(Debug)]
pub(super) struct SessionLock {
    _files: Vec<File>,
}

impl SessionLock {
    /// Takes the lock of the session whose log is at `log`; none where no name of it is one that dsh opens.
    pub(super) fn take(log: &Path) -> Result<Self, AppendError> {
        let stage = |error| AppendError::Io { stage: "cannot lock session.lock", error };
        let mut files: Vec<File> = Vec::new();
        let mut identities = Vec::new();
        for path in places(log).map_err(stage)? {
            let (file, identity) = hold(&path, &identities)?;
            identities.push(identity);
            files.extend(file);
        }
        Ok(Self { _files: files })
    }
}

/// The lock files of a log, each once.
fn places(log: &Path) -> io::Result<BTreeSet<PathBuf>> {
    let own = log.canonicalize()?;
    let mut places = BTreeSet::new();
    for name in [log, &own] {
        if LogName::of(name).is_some() {
            places.insert(folder_of(name).canonicalize()?.join(NAME));
        }
    }
    Ok(places)
}

/// Locks the file at `path`, unless it is one of those that are `held`; its identity.
fn hold(path: &Path, held: &[Identity]) -> Result<(Option<File>, Identity), AppendError> {
    let stage = |error| AppendError::Io { stage: "cannot lock session.lock", error };
    for _ in 0..TRIES {
        let file = open(path).map_err(stage)?;
        let found = identity(&file.metadata().map_err(stage)?);
        if found.is_some() && held.contains(&found) {
            return Ok((None, found));
        }
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(AppendError::SessionLocked),
            Err(TryLockError::Error(error)) => return Err(stage(error)),
        }
        // Only the file that has the name now keeps others out.
        if std::fs::metadata(path).is_ok_and(|named| identity(&named) == found) {
            return Ok((Some(file), found));
        }
    }
    Err(stage(io::Error::other("another process puts new lock files in its place")))
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
        assert!(SessionLock::take(&log).is_ok());
        assert!(!folder.path().join(NAME).exists());
    }

    #[cfg(unix)]
    #[test]
    fn every_known_name_of_a_log_is_locked() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("session.v3.jsonl");
        std::fs::write(&log, "").unwrap();
        let links = folder.path().join("links");
        std::fs::create_dir(&links).unwrap();
        for name in ["odd.jsonl", "session.v3.jsonl"] {
            let link = links.join(name);
            std::os::unix::fs::symlink(&log, &link).unwrap();
            let lock = SessionLock::take(&link).unwrap();
            assert!(matches!(SessionLock::take(&log), Err(AppendError::SessionLocked)), "{name}");
            assert_eq!(links.join(NAME).exists(), name != "odd.jsonl", "dsh opens no log of an odd name");
            drop(lock);
        }
        // A log under an odd name, which a link gives a name that dsh opens.
        let odd = folder.path().join("odd.jsonl");
        std::fs::write(&odd, "").unwrap();
        let link = links.join("session.jsonl");
        std::os::unix::fs::symlink(&odd, &link).unwrap();
        let held = File::open(links.join(NAME)).unwrap();
        held.lock().unwrap();
        assert!(matches!(SessionLock::take(&link), Err(AppendError::SessionLocked)));
        drop(held);
        // Two names of one lock file are locked once.
        std::fs::remove_file(links.join(NAME)).unwrap();
        std::os::unix::fs::symlink(folder.path().join(NAME), links.join(NAME)).unwrap();
        assert!(SessionLock::take(&links.join("session.v3.jsonl")).is_ok());
    }
}
