//! What befalls the file, or the disk, while a summary is made.

use super::{LOGS, Live, OPTIONS, log, refold, seqs, services};
use crate::compact::open_log::OpenLog;
use crate::compact::{Status, compact};
use crate::log::append::RealDisk;
use crate::log::failing_disk::FailingDisk;
use crate::session::LockState;
use crate::summarize::SECTIONS;
use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Eight sections, each with a line of its own.
fn summary() -> String {
    SECTIONS.map(|section| format!("## {section}\n- {section}: all of it")).join("\n\n")
}

/// Compacts a copy of each log, to whose file `befalls` something meanwhile. It must fail with `told`, and leave what is
/// at the path as it is then.
fn while_summarizing(befalls: impl Fn(&Path, &[u8]) + Sync, told: &str) {
    for name in LOGS {
        let (_folder, path, old) = log(name);
        let seen = Mutex::new(None);
        let live = Live(|| {
            befalls(&path, &old);
            *seen.lock().unwrap() = Some(fs::read(&path).ok());
            Ok(summary())
        });
        let outcome = compact(&path, None, &OPTIONS, &services(&live, &RealDisk));
        let reason = outcome.reason.unwrap();
        let case = format!("{name}: {}", reason.message);
        assert_eq!((outcome.status, reason.code), (Status::Failed, "changed"), "{case}");
        assert!(reason.message.contains(told) && reason.message.contains("is left open"), "{case}");
        assert!(!reason.help.is_empty(), "{case}");
        assert_eq!(Some(fs::read(&path).ok()), seen.into_inner().unwrap(), "{case}");
    }
}

#[test]
fn a_file_that_was_removed_is_not_made_anew() {
    while_summarizing(|path, _| fs::remove_file(path).unwrap(), "it is gone");
}

#[test]
fn a_file_in_the_logs_place_is_left_alone() {
    let replace = |path: &Path, old: &[u8]| {
        let other = path.with_extension("new");
        fs::write(&other, old).unwrap();
        fs::rename(other, path).unwrap();
    };
    while_summarizing(replace, "another file has taken its place");
}

#[test]
fn a_file_that_was_cut_gets_no_more_bytes() {
    // Nothing is left, a half, or all but the bracket's start.
    for halves in [0, 1, 2] {
        let cut = |path: &Path, old: &[u8]| {
            let file = fs::File::options().write(true).open(path).unwrap();
            file.set_len((old.len() * halves / 2) as u64).unwrap();
        };
        while_summarizing(cut, "its length is another");
    }
}

#[test]
fn a_file_that_was_written_over_gets_no_more_bytes() {
    let change = |path: &Path, _: &[u8]| {
        let mut bytes = fs::read(path).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        fs::write(path, bytes).unwrap();
    };
    while_summarizing(change, "it was written to");
}

#[test]
fn a_disk_that_fills_up_costs_nothing_but_the_summary() {
    for name in LOGS {
        // Writes and syncs of the start, then of the commit.
        for at in 0..4 {
            let (_folder, path, old) = log(name);
            let before = refold(&path);
            let asked = AtomicUsize::new(0);
            let live = Live(|| {
                asked.fetch_add(1, Ordering::Relaxed);
                Ok(summary())
            });
            let disk = FailingDisk::at(at, false);
            let outcome = compact(&path, None, &OPTIONS, &services(&live, &disk));
            let reason = outcome.reason.unwrap();
            let case = format!("{name}, call {at}: {}", reason.message);
            assert_eq!((outcome.status, reason.code), (Status::Failed, "persistence"), "{case}");
            assert!(reason.message.contains("storage") || reason.message.contains("space"), "{case}");
            assert_eq!(asked.load(Ordering::Relaxed), usize::from(at >= 2), "{case}");
            let (now, after) = (fs::read(&path).unwrap(), refold(&path));
            assert!(now.starts_with(&old) && (at >= 2 || now.len() == old.len()), "{case}");
            assert_eq!(seqs(&after), seqs(&before), "{case}");
            assert!(after.damage.is_none() && after.torn.is_none(), "{case}");
            assert_eq!(after.session.lock(), LockState::Free, "{case}");
        }
    }
}

#[test]
fn what_is_read_back_as_something_else_is_cut_off_again() {
    for name in LOGS {
        let (_folder, path, old) = log(name);
        let mut open = OpenLog::in_place(&path, &RealDisk).ok().unwrap();
        let before = open.folded.session.surface.seqs().to_vec();
        // A seq that is not the next one, as no plan of a compaction has it.
        let record = r#"{"type":"todo/write","seq":7,"time":1,"data":{"todos":[]}}"#;
        let trouble = open.append(&[record.to_owned()]).err().unwrap();
        let reason = open.reason(trouble);
        assert_eq!(reason.code, "commit", "{name}: {}", reason.message);
        assert!(reason.message.ends_with("; what was appended has been cut off again"), "{}", reason.message);
        assert!(reason.help.contains("dshc verify"), "{}", reason.help);
        assert_eq!(fs::read(&path).unwrap(), old, "{name}");
        assert_eq!(open.folded.session.surface.seqs(), before, "{name}");
        assert!(open.damage().is_none() && !open.is_spoiled(), "{name}: it may be closed with the reason");
    }
}
