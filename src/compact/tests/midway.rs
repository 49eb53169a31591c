//! What is told of a run that stops, or is met by another writer, when something has been done already.

use super::{LOGS, Live, OPTIONS, SUMMARY, log, refold, seqs, services};
use crate::compact::{Limit, Occasion, Options, Retention, Status, Vouched, compact};
use crate::log::append::{RealDisk, zstd_frame};
use crate::log::failing_disk::{FailingDisk, RacingDisk};
use crate::session::LockState;
use crate::summarize::Stub;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

const BULKY: &str = "corpus/bulky-results/--home-dev-project-0--/gen-16-0/session.jsonl.zstd";

/// The bytes of an event that puts nothing on the surface.
fn todo(path: &Path, seq: u64) -> Vec<u8> {
    let line = format!("{{\"type\":\"todo/write\",\"seq\":{seq},\"time\":1,\"data\":{{\"todos\":[]}}}}\n");
    let is_zstd = path.extension().unwrap() == "zstd";
    if is_zstd { zstd_frame(line.as_bytes()).unwrap() } else { line.into_bytes() }
}

fn add(path: &Path, bytes: &[u8]) {
    fs::OpenOptions::new().append(true).open(path).unwrap().write_all(bytes).unwrap();
}

#[test]
fn a_writer_right_behind_a_write_of_ours_is_met_like_any_other() {
    for name in LOGS {
        // Behind the bracket's start, and behind its end.
        for (at, seq) in [(0, 1), (1, 4)] {
            let (_folder, path, old) = log(name);
            let line = todo(&path, refold(&path).session.events + seq);
            let disk = RacingDisk::new(&path, at, false).writing(line);
            let outcome = compact(&path, None, &OPTIONS, &services(&Stub, &disk));
            let case = format!("{name}, write {at}: {:?}", outcome.reason);
            assert_eq!(outcome.status, Status::Compacted, "{case}");
            let after = refold(&path);
            assert!(after.damage.is_none() && fs::read(&path).unwrap().starts_with(&old), "{case}");
            assert_eq!(after.session.lock(), LockState::Free, "{case}");
            assert_eq!(outcome.host_tokens.after, Some(after.session.surface.host_tokens()), "{case}");
            let end = outcome.passes[0].appended.as_ref().unwrap().end_seq.unwrap();
            assert_eq!(outcome.appended.map(|(_, last)| last), Some(end), "{case}");
        }
    }
}

#[test]
fn a_summary_that_fails_behind_prunings_leaves_their_figures() {
    let (_folder, path, _) = log(BULKY);
    let live = Live(|| Err("no answer".to_owned()));
    let options = Options { prune: true, ..OPTIONS };
    let outcome = compact(&path, None, &options, &services(&live, &RealDisk));
    assert_eq!((outcome.status, outcome.reason.unwrap().code), (Status::Failed, "summary"));
    assert!(!outcome.pruned.is_empty());
    let after = refold(&path).session;
    assert_eq!(outcome.host_tokens.after, Some(after.surface.host_tokens()));
    assert!(after.surface.host_tokens() < outcome.host_tokens.before);
}

/// Too much stays for anything to be taken out.
const ALL: Options = Options { vouched: Vouched::NoProcess, ..Options::new(Retention::Turns(10_000)) };

#[test]
fn what_was_mended_is_told_where_it_stays_mended() {
    let mended = |notes: &[String]| notes.iter().any(|note| note.contains("torn tail of 7 bytes"));
    for name in LOGS {
        let (folder, path, old) = log(name);
        add(&path, if name.ends_with("zstd") { &[0x28, 0xb5, 0x2f, 0xfd, 0, 0, 0] } else { b"{\"type\"" });
        let output = folder.path().join("new").join(path.file_name().unwrap());
        let outcome = compact(&path, Some(&output), &ALL, &services(&Stub, &RealDisk));
        assert_eq!(outcome.status, Status::NothingToDo, "{name}: {:?}", outcome.reason);
        assert!(!mended(&outcome.notes) && !output.exists(), "{name}: {:?}", outcome.notes);
        let outcome = compact(&path, None, &ALL, &services(&Stub, &RealDisk));
        assert_eq!(outcome.status, Status::NothingToDo, "{name}");
        assert!(mended(&outcome.notes) && outcome.bytes.1 == Some(old.len() as u64), "{:?}", outcome.notes);
        assert_eq!(fs::read(&path).unwrap(), old);
    }
}

#[test]
fn a_tail_that_was_cut_off_is_told_though_the_lock_could_not_be_freed() {
    let (_folder, path, _) = log("locks/held-no-turn.jsonl");
    add(&path, b"{\"type\"");
    // The cut is the first call, and the write of the end the second.
    let options = Options { vouched: Vouched::NoProcess, ..OPTIONS };
    let outcome = compact(&path, None, &options, &services(&Stub, &FailingDisk::at(1, false)));
    assert_eq!((outcome.status, outcome.reason.unwrap().code), (Status::Failed, "persistence"));
    assert!(outcome.notes.iter().any(|note| note.contains("torn tail")), "{:?}", outcome.notes);
}

/// A summary after which a session is over the limit of [`two_passes`] still.
fn long() -> String {
    let words: Vec<String> = (0..40).map(|number| format!("word{number}")).collect();
    format!("{SUMMARY}\n- {}", words.join(" "))
}

/// Options under which a log is compacted again right behind a first, [`long`] summary.
fn two_passes() -> Options {
    let (_folder, path, _) = log(LOGS[0]);
    let live = Live(|| Ok(long()));
    assert_eq!(compact(&path, None, &OPTIONS, &services(&live, &RealDisk)).status, Status::Compacted);
    let limit = Limit::Tokens(super::super::occasion::load(&refold(&path).session));
    Options { occasion: Occasion::Pressure { limit, passes: 2 }, ..OPTIONS }
}

#[test]
fn a_later_pass_that_leaves_the_log_locked_is_a_failure() {
    let (options, (_folder, path, _)) = (two_passes(), log(LOGS[0]));
    let asked = AtomicUsize::new(0);
    let live = Live(|| {
        if asked.fetch_add(1, Ordering::Relaxed) == 1 {
            let session = refold(&path).session;
            let (seq, turn) = (session.events, session.turns.current() + 1);
            let line = format!(
                "{{\"type\":\"turn/start\",\"seq\":{seq},\"time\":1,\"data\":{{\"turn\":{turn}}}}}\n"
            );
            add(&path, line.as_bytes());
            return Ok(SUMMARY.to_owned());
        }
        Ok(long())
    });
    let outcome = compact(&path, None, &options, &services(&live, &RealDisk));
    assert_eq!(asked.load(Ordering::Relaxed), 2);
    let (reason, after) = (outcome.reason.unwrap(), refold(&path));
    assert_eq!((outcome.status, reason.code), (Status::Failed, "changed"));
    assert!(reason.message.contains("is left open"), "{}", reason.message);
    assert!(matches!(after.session.lock(), LockState::Held(_)));
    // What the first pass has done stands, and is told.
    assert!(seqs(&after).contains(&outcome.passes[0].appended.as_ref().unwrap().checkpoint_seq.unwrap()));
    assert_eq!(outcome.host_tokens.after, Some(after.session.surface.host_tokens()));
}

#[test]
fn a_later_pass_that_fails_soundly_is_a_note() {
    let (options, (_folder, path, _)) = (two_passes(), log(LOGS[0]));
    let asked = AtomicUsize::new(0);
    let live = Live(|| match asked.fetch_add(1, Ordering::Relaxed) {
        0 => Ok(long()),
        _ => Err("no answer".to_owned()),
    });
    let outcome = compact(&path, None, &options, &services(&live, &RealDisk));
    assert_eq!(outcome.status, Status::Compacted, "{:?}", outcome.reason);
    let told = outcome.notes.iter().find(|note| note.starts_with("still_over")).unwrap();
    assert!(told.ends_with("summary: no answer"), "{told}");
    assert_eq!(refold(&path).session.lock(), LockState::Free);
}

#[test]
fn what_holds_for_every_pass_is_told_once() {
    let (options, (_folder, path, _)) = (two_passes(), log(LOGS[0]));
    let session = refold(&path).session;
    let turn = session.turns.current() + 1;
    let turn_start = format!(
        "{{\"type\":\"turn/start\",\"seq\":{},\"time\":1,\"data\":{{\"turn\":{turn}}}}}\n",
        session.events
    );
    add(&path, turn_start.as_bytes());
    let asked = AtomicUsize::new(0);
    let live = Live(|| match asked.fetch_add(1, Ordering::Relaxed) {
        0 => Ok(long()),
        _ => Ok(SUMMARY.to_owned()),
    });
    let outcome = compact(&path, None, &options, &services(&live, &RealDisk));
    assert!(asked.load(Ordering::Relaxed) == 2, "{:?}", outcome.notes);
    let told = outcome.notes.iter().filter(|note| note.contains("is open: the compaction stands inside it"));
    assert_eq!(told.count(), 1, "{:?}", outcome.notes);
}
