//! Compactions under failures that no command line can bring about.

mod faults;
mod leftovers;
mod midway;
mod pressure;

use super::open_log::fold;
use super::*;
use crate::log::Source;
use crate::log::append::RealDisk;
use crate::log::failing_disk::{FailingDisk, RacingDisk};
use crate::session::{Folded, LockState};
use crate::summarize::{Request, Stub, SummarizeError, Summary, Unwatched};
use std::fs;
use std::path::PathBuf;

/// A summarizer that must be asked inside the bracket, as a model must.
pub(super) struct Live<F: Fn() -> Result<String, String> + Sync>(pub(super) F);

impl<F: Fn() -> Result<String, String> + Sync> Summarizer for Live<F> {
    fn kind(&self) -> &'static str {
        "test"
    }

    fn is_free(&self) -> bool {
        false
    }

    fn summarize(&self, _request: &Request) -> Result<Summary, SummarizeError> {
        let made = (self.0)().map_err(|message| SummarizeError::Failed { message, help: String::new() })?;
        Ok(Summary { provider: "p".into(), ..Summary::own(made, "m") })
    }
}

pub(super) const OPTIONS: Options = Options { vouched: Vouched::Idle, ..Options::new(Retention::Turns(2)) };

pub(super) fn services<'a>(summarizer: &'a dyn Summarizer, disk: &'a dyn Disk) -> Services<'a> {
    Services { summarizer, disk, watch: &Unwatched }
}

#[test]
fn a_log_on_which_dshc_fails_is_told_with_its_size() {
    let (_folder, path, bytes) = log("demo/session.jsonl");
    let outcome = Outcome::panicked(path, "no twos (src/x.rs:7)");
    assert_eq!((outcome.status, outcome.bytes), (Status::Failed, (bytes.len() as u64, None)));
    let reason = outcome.reason.unwrap();
    assert_eq!(
        (reason.code, reason.message.as_str()),
        ("internal", "dshc failed on it: no twos (src/x.rs:7)")
    );
}

/// What the gates let pass.
pub(super) const SUMMARY: &str = "## Primary Request and Intent\n- the totals\n## Key Technical Concepts\n(none)\n\
    ## Files and Code\n(none)\n## Errors and Fixes\n(none)\n## Pending Jobs\n(none)\n## Current Work\n- all of it\n\
    ## Next Step\n(none)\n## Critical Context\n- no more";

pub(super) fn log(name: &str) -> (tempfile::TempDir, PathBuf, Vec<u8>) {
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(name);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(fixture.file_name().unwrap());
    let bytes = fs::read(fixture).unwrap();
    fs::write(&path, &bytes).unwrap();
    (folder, path, bytes)
}

pub(super) fn refold(path: &Path) -> Folded {
    fold(&Source::open(path).unwrap()).unwrap()
}

pub(super) fn seqs(folded: &Folded) -> &[u64] {
    folded.session.surface.seqs()
}

pub(super) const LOGS: [&str; 2] = ["demo/session.jsonl", "demo-zstd/session.jsonl.zstd"];

#[test]
fn a_failure_at_any_write_leaves_a_sound_log() {
    for name in LOGS {
        for is_dead_after in [false, true] {
            for at in 0..8 {
                let (_folder, path, old) = log(name);
                let before = refold(&path);
                let disk = FailingDisk::at(at, is_dead_after);
                let outcome = compact(&path, None, &OPTIONS, &services(&Stub, &disk));
                let case = format!("{name}, call {at}, dead after: {is_dead_after}: {:?}", outcome.reason);
                let now = fs::read(&path).unwrap();
                assert!(now.starts_with(&old), "{case}");
                let after = refold(&path);
                assert!(after.damage.is_none() && after.session.events >= before.session.events, "{case}");
                if outcome.status == Status::Compacted {
                    assert!(at >= 4, "{case}");
                    continue;
                }
                assert_eq!(outcome.status, Status::Failed, "{case}");
                let message = outcome.reason.unwrap().message;
                if message.contains("could not be taken back") {
                    assert!(is_dead_after, "{case}");
                    continue;
                }
                assert_eq!(seqs(&after), seqs(&before), "{case}");
                let is_held = matches!(after.session.lock(), LockState::Held(_));
                assert_eq!(is_held, message.contains("left open"), "{case}");
                assert!(is_dead_after || !is_held && after.torn.is_none(), "{case}");
            }
        }
    }
}

#[test]
fn a_summarizer_that_fails_replaces_nothing() {
    for name in LOGS {
        let words: Vec<String> = (0..10_000).map(|number| format!("word{number}")).collect();
        let long = format!("{SUMMARY}\n- {}", words.join(" "));
        for (answer, code) in
            [(Err("no answer"), "summary"), (Ok("  \n"), "summary"), (Ok(&*long), "not_smaller")]
        {
            let (_folder, path, old) = log(name);
            let before = refold(&path);
            let live = Live(|| answer.map(str::to_owned).map_err(str::to_owned));
            let outcome = compact(&path, None, &OPTIONS, &services(&live, &RealDisk));
            let reason = outcome.reason.unwrap();
            assert_eq!((outcome.status, reason.code), (Status::Failed, code), "{name}");
            let after = refold(&path);
            assert!(fs::read(&path).unwrap().starts_with(&old));
            assert_eq!(seqs(&after), seqs(&before));
            assert_eq!(after.session.lock(), LockState::Free);
            // The start, and an end with the error.
            assert_eq!(after.session.events, before.session.events + 2);
            assert_eq!(after.session.last_type, "compaction/end");
        }
    }
}

#[test]
fn a_live_summary_is_committed_inside_its_bracket() {
    let (_folder, path, _) = log(LOGS[0]);
    let watched = path.clone();
    let live = Live(move || {
        assert!(
            matches!(refold(&watched).session.lock(), LockState::Held(_)),
            "the lock is on disk before the model is asked"
        );
        Ok(SUMMARY.into())
    });
    let outcome = compact(&path, None, &OPTIONS, &services(&live, &RealDisk));
    assert_eq!(outcome.status, Status::Compacted);
    assert_eq!(refold(&path).session.lock(), LockState::Free);
}

#[test]
fn a_log_that_cannot_be_written_to_is_refused() {
    let (_folder, path, old) = log(LOGS[0]);
    let disk = FailingDisk::at(0, false);
    let outcome = compact(&path, None, &OPTIONS, &services(&Stub, &disk));
    assert!(outcome.appended.is_none());
    assert_eq!((outcome.status, outcome.reason.unwrap().code), (Status::Failed, "persistence"));
    assert_eq!(fs::read(&path).unwrap(), old);
}

#[test]
fn a_writer_in_the_same_instant_is_never_answered_with_more_bytes() {
    for name in LOGS {
        let lengths = {
            let (_folder, path, old) = log(name);
            let disk = RacingDisk::new(&path, usize::MAX, true);
            assert_eq!(compact(&path, None, &OPTIONS, &services(&Stub, &disk)).status, Status::Compacted);
            let new = fs::read(&path).unwrap();
            let start = if new.starts_with(b"{") {
                old.len() + new[old.len()..].iter().position(|byte| *byte == b'\n').unwrap() + 1
            } else {
                let magic = &new[..4];
                old.len() + 1 + new[old.len() + 1..].windows(4).position(|four| four == magic).unwrap()
            };
            (start, new)
        };
        let (start, new) = lengths;
        for (at, is_before) in [(0, true), (0, false), (1, true), (1, false)] {
            let (_folder, path, old) = log(name);
            let disk = RacingDisk::new(&path, at, is_before);
            let outcome = compact(&path, None, &OPTIONS, &services(&Stub, &disk));
            let ours = match (at, is_before) {
                (0, true) => &new[..old.len()],
                (0, false) | (1, true) => &new[..start],
                _ => &new[..],
            };
            let case = format!("{name}: write {at}, before: {is_before}: {:?}", outcome.reason);
            assert_eq!(fs::read(&path).unwrap(), [ours, RacingDisk::FOREIGN].concat(), "{case}");
            if (at, is_before) == (1, false) {
                assert_eq!(outcome.status, Status::Compacted, "{case}");
                continue;
            }
            let reason = outcome.reason.unwrap();
            assert_eq!((outcome.status, reason.code), (Status::Failed, "changed"), "{case}");
            assert_eq!(reason.message.contains("left open"), ours.len() > old.len(), "{case}");
        }
    }
}

#[test]
fn a_session_that_cannot_be_relieved_is_left_as_it_is_and_told() {
    let (_folder, path, old) = log(LOGS[0]);
    let occasion = Occasion::Pressure { limit: Limit::Tokens(11_000), passes: 2 };
    let options = Options { occasion, choice: Retention::Turns(100), ..OPTIONS };
    let outcome = compact(&path, None, &options, &services(&Stub, &RealDisk));
    assert_eq!((outcome.status, outcome.reason), (Status::NothingToDo, None));
    assert!(outcome.notes.iter().any(|note| note.starts_with("still_over: ")), "{:?}", outcome.notes);
    assert_eq!(fs::read(&path).unwrap(), old);
}
