use super::*;
use crate::format;
use crate::log::failing_disk::{FailingDisk, RacingDisk};

fn log() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("session.jsonl");
    std::fs::write(&path, "old\n").unwrap();
    (folder, path)
}

fn open<'d>(path: &Path, disk: &'d dyn Disk) -> Result<Appender<'d>, AppendError> {
    Appender::open(path, disk)
}

fn content(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn records_are_added_behind_the_old_bytes() {
    let (_folder, path) = log();
    let mut appender = open(&path, &RealDisk).unwrap();
    let start = appender.append(&["a".into(), "b".into()]).unwrap();
    assert_eq!((start, appender.length()), (4, 8));
    assert_eq!(content(&path), "old\na\nb\n");
    appender.take_back(start).unwrap();
    assert_eq!(content(&path), "old\n");
}

#[test]
fn a_failure_leaves_the_old_length() {
    for at in 0..2 {
        let (_folder, path) = log();
        let disk = FailingDisk::at(at, false);
        let mut appender = open(&path, &disk).unwrap();
        assert!(matches!(appender.append(&["added".into()]), Err(AppendError::Io { .. })), "call {at}");
        assert_eq!(content(&path), "old\n", "call {at}");
        appender.append(&["again".into()]).unwrap();
        assert_eq!(content(&path), "old\nagain\n");
    }
}

#[test]
fn a_failure_that_cannot_be_taken_back_says_so() {
    let (_folder, path) = log();
    let disk = FailingDisk::at(0, true);
    let mut appender = open(&path, &disk).unwrap();
    assert!(matches!(appender.append(&["added".into()]), Err(AppendError::NotTakenBack { .. })));
    assert_eq!(content(&path), "old\nadd");
}

#[test]
fn a_log_is_locked_against_a_second_appender() {
    let (_folder, path) = log();
    let first = open(&path, &RealDisk).unwrap();
    assert!(matches!(open(&path, &RealDisk), Err(AppendError::Locked)));
    drop(first);
    assert!(open(&path, &RealDisk).is_ok());
}

#[test]
fn a_session_that_another_process_has_open_is_left_alone() {
    let (folder, path) = log();
    let newest = crate::format::NEWEST;
    let held = std::fs::File::create(folder.path().join("session.lock")).unwrap();
    held.lock().unwrap();
    let mut appender = open(&path, &RealDisk).unwrap();
    assert!(matches!(appender.lock_session(newest), Err(AppendError::SessionLocked)));
    assert!(appender.lock_session(format::ALL[0]).is_ok(), "format 0 has no such lock");
    held.unlock().unwrap();
    assert!(appender.lock_session(newest).is_ok());
    assert!(held.try_lock().is_err(), "the appender keeps it");
}

#[test]
fn nothing_is_appended_to_a_changed_file() {
    let (_folder, path) = log();
    let mut appender = open(&path, &RealDisk).unwrap();
    std::fs::write(&path, "old\nother\n").unwrap();
    assert!(matches!(appender.append(&["a".into()]), Err(AppendError::Changed(_))));
    assert_eq!(content(&path), "old\nother\n");

    let (_folder, path) = log();
    let mut appender = open(&path, &RealDisk).unwrap();
    std::fs::remove_file(&path).unwrap();
    std::fs::write(&path, "old\n").unwrap();
    assert!(matches!(appender.append(&["a".into()]), Err(AppendError::Changed(_))));
    assert_eq!(content(&path), "old\n");
}

#[test]
fn a_writer_at_the_same_moment_is_not_harmed() {
    let (_folder, path) = log();
    let disk = RacingDisk::new(&path, 0, true);
    let mut appender = open(&path, &disk).unwrap();
    assert!(matches!(appender.append(&["ours".into()]), Err(AppendError::Raced)));
    assert_eq!(content(&path), "old\nforeign\n", "ours stood last and is gone");
    assert!(appender.append(&["again".into()]).is_err());

    let (_folder, path) = log();
    let disk = RacingDisk::new(&path, 0, false);
    let mut appender = open(&path, &disk).unwrap();
    let start = appender.append(&["ours".into()]).unwrap();
    assert_eq!((start, appender.length()), (4, 9), "what stands behind has not been looked at");
    assert!(matches!(appender.append(&["again".into()]), Err(AppendError::Changed(_))));
    assert!(matches!(appender.take_back(start), Err(AppendError::Changed(_))));
    assert_eq!(content(&path), "old\nours\nforeign\n", "what stands behind must not be cut off");
    assert_eq!(appender.adopt_growth().unwrap(), Some(9));
    appender.append(&["again".into()]).unwrap();
    assert_eq!(content(&path), "old\nours\nforeign\nagain\n");
}
