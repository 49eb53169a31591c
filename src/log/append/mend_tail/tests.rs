use super::*;
use crate::log::append::{RealDisk, zstd_frame};
use crate::log::failing_disk::FailingDisk;
use crate::log::{Item, LogReader};
use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};

const HEADER: &str = r#"{"type":"session","version":0,"id":"s","createdAt":1,"delegationDepth":0}"#;

fn event(seq: u64) -> String {
    format!("{{\"type\":\"todo/write\",\"seq\":{seq},\"time\":1,\"data\":{{\"todos\":[]}}}}\n")
}

fn frame(text: &str) -> Vec<u8> {
    zstd_frame(text.as_bytes()).unwrap()
}

/// A log of one frame of events and one of three more, of which `cut` bytes are missing.
fn torn(cut: usize) -> (tempfile::TempDir, PathBuf, Vec<u8>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("session.jsonl.zstd");
    let whole = [frame(&format!("{HEADER}\n")), frame(&event(0))].concat();
    let tail = frame(&(1..4).map(event).collect::<String>());
    fs::write(&path, [&whole[..], &tail[..tail.len() - cut]].concat()).unwrap();
    (folder, path, whole)
}

fn events(path: &Path) -> (u64, bool) {
    let mut reader = LogReader::open(&Source::open(path).unwrap()).unwrap();
    let mut is_sound = true;
    while reader.next(|item| is_sound &= matches!(item, Item::Record(_))).unwrap().is_some() {}
    (reader.events(), is_sound)
}

fn names(folder: &Path) -> usize {
    fs::read_dir(folder).unwrap().count()
}

#[test]
fn a_torn_line_is_cut_off() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("session.jsonl");
    let whole = format!("{HEADER}\n{}", event(0));
    fs::write(&path, format!("{whole}{}", event(1).trim_end())).unwrap();
    let mut appender = Appender::open(&path, &RealDisk).unwrap();
    let mended = appender.mend_tail().unwrap().unwrap();
    assert_eq!(mended, MendedTail { bytes: event(1).len() as u64 - 1, recovered: 0 });
    assert_eq!(fs::read_to_string(&path).unwrap(), whole);
    assert_eq!(appender.mend_tail().unwrap(), None);
    appender.append(&[event(1).trim_end().to_owned()]).unwrap();
    assert_eq!(events(&path), (2, true));
}

#[test]
fn a_torn_frame_that_gives_nothing_is_cut_off() {
    let (_folder, path, whole) = torn(0);
    fs::write(&path, [&whole[..], &[0x28, 0xb5]].concat()).unwrap();
    let mut appender = Appender::open(&path, &RealDisk).unwrap();
    assert_eq!(appender.mend_tail().unwrap(), Some(MendedTail { bytes: 2, recovered: 0 }));
    assert_eq!(fs::read(&path).unwrap(), whole);
    assert_eq!(appender.length(), whole.len() as u64);
}

#[test]
fn records_of_a_torn_frame_stand_in_a_whole_one() {
    let (folder, path, whole) = torn(2);
    let before = fs::read(&path).unwrap();
    let mut appender = Appender::open(&path, &RealDisk).unwrap();
    let bytes = (before.len() - whole.len()) as u64;
    assert_eq!(appender.mend_tail().unwrap(), Some(MendedTail { bytes, recovered: 3 }));
    let after = fs::read(&path).unwrap();
    assert!(after.starts_with(&whole));
    assert_eq!(events(&path), (4, true));
    assert_eq!(names(folder.path()), 1, "nothing is left beside it");
    // The new file is the one that is locked and appended to.
    assert!(matches!(Appender::open(&path, &RealDisk), Err(AppendError::Locked)));
    appender.append(&[event(4).trim_end().to_owned()]).unwrap();
    assert!(fs::read(&path).unwrap().starts_with(&after));
    assert_eq!(events(&path), (5, true));
    assert_eq!(appender.mend_tail().unwrap(), None);
}

#[cfg(unix)]
#[test]
fn the_mode_and_a_link_stay() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let (folder, path, _) = torn(2);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    let links = folder.path().join("links");
    fs::create_dir(&links).unwrap();
    let link = links.join("session.jsonl.zstd");
    symlink(&path, &link).unwrap();
    let mut appender = Appender::open(&link, &RealDisk).unwrap();
    assert!(appender.mend_tail().unwrap().is_some());
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
    assert_eq!(events(&path), (4, true));
    appender.append(&[event(4).trim_end().to_owned()]).unwrap();
    assert_eq!(names(&links), 1);
}

#[test]
fn a_failure_leaves_the_old_log_or_the_mended_one() {
    for cut in [2, 40] {
        let mut failures = 0;
        for (at, is_dead_after) in (0..8).flat_map(|at| [(at, false), (at, true)]) {
            let (folder, path, whole) = torn(cut);
            let (before, old) = (events(&path).0, fs::read(&path).unwrap());
            let disk = FailingDisk::at(at, is_dead_after);
            let mut appender = Appender::open(&path, &disk).unwrap();
            let done = appender.mend_tail();
            let now = fs::read(&path).unwrap();
            assert!(now.starts_with(&whole) && events(&path).0 == before, "call {at}");
            assert_eq!(names(folder.path()), 1, "call {at}");
            if let Err(error) = done {
                failures += 1;
                assert!(matches!(error, AppendError::Io { .. }), "{error}");
                assert!(appender.append(&[event(before)]).is_err(), "the tail may be torn still");
                assert_eq!(fs::read(&path).unwrap(), now);
                assert!(now == old || events(&path).1);
            }
            drop(appender);
            let mut again = Appender::open(&path, &RealDisk).unwrap();
            again.mend_tail().unwrap();
            assert_eq!(events(&path), (before, true), "call {at}");
        }
        // One cut; or write, sync, replace and the folder's sync.
        assert_eq!(failures, if cut == 40 { 2 } else { 8 });
    }
}

#[test]
fn a_file_that_has_changed_is_not_mended() {
    let (_folder, path, _) = torn(2);
    let mut appender = Appender::open(&path, &RealDisk).unwrap();
    let mut other = OpenOptions::new().append(true).open(&path).unwrap();
    other.write_all(b"xx").unwrap();
    let now = fs::read(&path).unwrap();
    assert!(matches!(appender.mend_tail(), Err(AppendError::Changed(_))));
    assert_eq!(fs::read(&path).unwrap(), now);
}

#[test]
fn other_damage_is_not_touched() {
    let (_folder, path, whole) = torn(0);
    let blank = frame(&format!("{}\n{}", event(1), event(2)));
    fs::write(&path, [&whole[..], &blank[..blank.len() - 2]].concat()).unwrap();
    let now = fs::read(&path).unwrap();
    let mut appender = Appender::open(&path, &RealDisk).unwrap();
    assert!(matches!(appender.mend_tail(), Err(AppendError::Io { .. })));
    assert_eq!(fs::read(&path).unwrap(), now);
}
