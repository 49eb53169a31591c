use super::*;
use crate::log::append::RealDisk;
use crate::log::failing_disk::{FailingDisk, LateDisk};
use std::fs;

const OLD: &str = "{\"old\":1}\n{\"old\":2}\n";
const NEW: &str = "{\"new\":1}\n";

fn log() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("session.jsonl");
    fs::write(&path, OLD).unwrap();
    (folder, path)
}

fn names(folder: &Path) -> usize {
    fs::read_dir(folder).unwrap().count()
}

fn successor<'d>(appender: &Appender<'d>) -> Result<Successor<'d>, AppendError> {
    let mut new = appender.successor()?;
    new.write_all(NEW.as_bytes()).map_err(stage("cannot write the new file"))?;
    appender.complete(&mut new)?;
    Ok(new)
}

fn replace(path: &Path, disk: &dyn Disk) -> Result<Succeeded, AppendError> {
    let mut appender = Appender::open(path, disk)?;
    let new = successor(&appender)?;
    appender.succeed(new)
}

#[test]
fn the_new_file_has_the_place_the_lock_and_the_time() {
    let (folder, path) = log();
    let past = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
    File::options().write(true).open(&path).unwrap().set_modified(past).unwrap();
    let mut appender = Appender::open(&path, &RealDisk).unwrap();
    let new = successor(&appender).unwrap();
    assert_eq!(new.source().unwrap().bytes, NEW.len() as u64);
    assert_eq!(fs::read_to_string(&path).unwrap(), OLD, "nothing has happened to the log yet");
    let succeeded = appender.succeed(new).unwrap();
    assert_eq!(succeeded.notes().count(), 0);
    assert_eq!(fs::read_to_string(&path).unwrap(), NEW);
    assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), past);
    assert_eq!(names(folder.path()), 1);
    assert!(matches!(Appender::open(&path, &RealDisk), Err(AppendError::Locked)));
    appender.append(&["{}".to_owned()]).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), format!("{NEW}{{}}\n"));
}

#[test]
fn a_successor_that_is_not_wanted_leaves_nothing() {
    let (folder, path) = log();
    let appender = Appender::open(&path, &RealDisk).unwrap();
    drop(successor(&appender).unwrap());
    assert_eq!((fs::read_to_string(&path).unwrap().as_str(), names(folder.path())), (OLD, 1));
}

#[test]
fn what_a_killed_run_left_behind_is_removed_by_the_next() {
    let (folder, path) = log();
    let other = folder.path().join("other.jsonl");
    fs::write(&other, OLD).unwrap();
    for path in [&path, &other] {
        let appender = Appender::open(path, &RealDisk).unwrap();
        successor(&appender).unwrap().path.keep().unwrap();
    }
    assert_eq!(names(folder.path()), 4);
    let _ = replace(&path, &RealDisk).unwrap();
    assert_eq!(names(folder.path()), 3, "another log's are another's");
    let _ = replace(&other, &RealDisk).unwrap();
    assert_eq!(names(folder.path()), 2);
}

#[cfg(unix)]
#[test]
fn the_mode_and_a_link_stay() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let (folder, path) = log();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    let links = folder.path().join("links");
    fs::create_dir(&links).unwrap();
    let link = links.join("session.jsonl");
    symlink(&path, &link).unwrap();
    let _ = replace(&link, &RealDisk).unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::read_to_string(&path).unwrap(), NEW);
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
    assert_eq!(names(&links), 1);
}

#[test]
fn a_log_that_is_another_by_now_keeps_its_place() {
    let (folder, path) = log();
    let other = path.with_extension("other");
    let changes: [&dyn Fn(); 4] = [
        &|| fs::write(&path, "other").unwrap(),
        &|| File::options().append(true).open(&path).unwrap().write_all(b"{}\n").unwrap(),
        &|| {
            fs::write(&other, OLD).unwrap();
            fs::rename(&other, &path).unwrap();
        },
        &|| fs::remove_file(&path).unwrap(),
    ];
    for (index, change) in changes.into_iter().enumerate() {
        let mut appender = Appender::open(&path, &RealDisk).unwrap();
        let new = successor(&appender).unwrap();
        change();
        let now = fs::read(&path).ok();
        assert!(matches!(appender.succeed(new), Err(AppendError::Changed(_))), "{index}");
        assert_eq!((fs::read(&path).ok(), names(folder.path())), (now.clone(), usize::from(now.is_some())));
    }
}

#[test]
fn a_failure_leaves_the_old_file_or_the_new_one() {
    let mut ends = Vec::new();
    for (at, is_dead_after) in (0..5).flat_map(|at| [(at, false), (at, true)]) {
        let (folder, path) = log();
        let done = replace(&path, &FailingDisk::at(at, is_dead_after));
        let is_new = fs::read_to_string(&path).unwrap() == NEW;
        assert!(is_new || fs::read_to_string(&path).unwrap() == OLD, "call {at}");
        assert_eq!(names(folder.path()), 1, "call {at}");
        assert_eq!(is_new, done.is_ok(), "call {at}");
        // Write, sync, replace, and the folder's sync, which is told.
        assert_eq!(done.is_ok_and(|done| done.notes().count() == 1), at == 3, "call {at}");
        ends.push(is_new);
    }
    assert_eq!(ends, [[false; 6].as_slice(), &[true; 4]].concat());
}

#[test]
fn what_is_written_to_the_old_file_at_that_moment_is_kept() {
    let (late, later) = ("{\"late\":1}\n", "{\"later\":1}\n");
    for also in [None, Some(later)] {
        let (folder, path) = log();
        let disk = LateDisk::new(&path, late.as_bytes(), also.map(str::as_bytes));
        let mut appender = Appender::open(&path, &disk).unwrap();
        let new = successor(&appender).unwrap();
        assert!(matches!(appender.succeed(new), Err(AppendError::Overtaken)));
        let expected = [OLD, late, also.unwrap_or_default()].concat();
        assert_eq!(fs::read_to_string(&path).unwrap(), expected);
        assert_eq!(names(folder.path()), 1);
        assert!(matches!(Appender::open(&path, &RealDisk), Err(AppendError::Locked)));
        appender.append(&["{}".to_owned()]).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), format!("{expected}{{}}\n"));
    }
}
