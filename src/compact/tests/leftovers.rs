//! Failures before the first bracket: while results are made shorter, and while what a process has left is mended.

use super::{log, refold, services};
use crate::compact::{Limit, Occasion, Options, Retention, Services, Status, Vouched, compact};
use crate::log::append::{RealDisk, zstd_frame};
use crate::log::failing_disk::FailingDisk;
use crate::session::{Folded, LockState};
use crate::summarize::{Stub, Watch};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

const PRUNING: Options = Options { prune: true, vouched: Vouched::Idle, ..Options::new(Retention::Turns(1)) };
const MENDING: Options = Options { vouched: Vouched::NoProcess, ..Options::new(Retention::Tokens(0)) };

/// Sessions with results that are too long, raw and compressed.
const BULKY: [&str; 2] = [
    "corpus/upgraded/v2/--home-dev-project-1--/gen-16-1/session.v2.jsonl",
    "corpus/bulky-results/--home-dev-project-1--/gen-16-1/session.jsonl.zstd",
];

/// Logs that are locked or torn; of the last, records can be read from the torn frame.
fn left() -> Vec<(tempfile::TempDir, PathBuf, Vec<u8>)> {
    let names = ["locks/orphan-open-turn.jsonl", "locks/held-no-turn.jsonl", "bytes/torn-raw.jsonl"];
    let mut logs: Vec<_> = names.map(log).into();
    let (folder, raw, bytes) = log("demo/session.jsonl");
    let header = bytes.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    let (head, events) = (zstd_frame(&bytes[..header]).unwrap(), zstd_frame(&bytes[header..]).unwrap());
    let torn = [head, events[..events.len() - 2].to_vec()].concat();
    let path = raw.with_file_name("torn.jsonl.zstd");
    fs::write(&path, &torn).unwrap();
    logs.push((folder, path, torn));
    logs
}

/// Whether a compaction of the log failed at the disk's nth call; if so, it is sound, and the next one succeeds.
fn fails_and_recovers(path: &Path, options: &Options, at: usize, is_dead_after: bool) -> bool {
    let before = refold(path);
    let outcome = compact(path, None, options, &services(&Stub, &FailingDisk::at(at, is_dead_after)));
    let case = format!("{}, call {at}, dead after: {is_dead_after}: {:?}", path.display(), outcome.reason);
    let after = refold(path);
    assert!(after.damage.is_none() && after.session.events >= before.session.events, "{case}");
    if outcome.status == Status::Compacted {
        return false;
    }
    assert_eq!((outcome.status, outcome.reason.unwrap().code), (Status::Failed, "persistence"), "{case}");
    let options = Options { vouched: Vouched::NoProcess, ..*options };
    let outcome = compact(path, None, &options, &services(&Stub, &RealDisk));
    let now = refold(path);
    // All may stand already, and only its sync have failed.
    assert!(
        [Status::NothingToDo, Status::Compacted].contains(&outcome.status),
        "{case}: {:?}",
        outcome.reason
    );
    let tokens = |folded: &Folded| folded.session.surface.host_tokens();
    assert!(tokens(&now) * 2 < tokens(&before), "{case}");
    assert!(now.torn.is_none() && !matches!(now.session.lock(), LockState::Held(_)), "{case}");
    assert_eq!(now.session.task_visibility(), before.session.task_visibility(), "{case}");
    true
}

#[test]
fn a_failure_at_any_call_of_a_pruning_leaves_a_sound_log() {
    // Enough with that: no summary follows.
    let occasion = Occasion::Pressure { limit: Limit::Tokens(20_000), passes: 1 };
    let options = Options { occasion, ..PRUNING };
    for name in BULKY {
        for is_dead_after in [false, true] {
            for at in 0..3 {
                let (_folder, path, old) = log(name);
                let failed = fails_and_recovers(&path, &options, at, is_dead_after);
                assert!(fs::read(&path).unwrap().starts_with(&old));
                assert_eq!(failed, at < 2, "{name}, call {at}");
            }
        }
    }
}

#[test]
fn a_failure_at_any_call_of_a_mending_costs_no_event() {
    for index in 0..left().len() {
        for is_dead_after in [false, true] {
            for at in 0..10 {
                let (_folder, path, _) = left().swap_remove(index);
                let failed = fails_and_recovers(&path, &MENDING, at, is_dead_after);
                assert!(failed || at >= 4, "{}, call {at}", path.display());
            }
        }
    }
}

/// Appends an event when it is asked for the nth time; each append is preceded by a question.
struct Rival {
    path: PathBuf,
    event: String,
    at: usize,
    asked: AtomicUsize,
}

impl Watch for Rival {
    fn stage(&self, _stage: &str) {}

    fn received(&self, _tokens: u64) {}

    fn is_cancelled(&self) -> bool {
        if self.asked.fetch_add(1, Ordering::Relaxed) == self.at {
            let mut file = OpenOptions::new().append(true).open(&self.path).unwrap();
            file.write_all(self.event.as_bytes()).unwrap();
        }
        false
    }
}

/// A log to which another writer appends at its nth chance: the status and the code of what came of it.
fn beside_a_rival(options: &Options, at: usize) -> (Status, Option<&'static str>) {
    let (_folder, path, old) = log(BULKY[0]);
    let seq = refold(&path).session.events;
    let event = format!("{{\"type\":\"todo/write\",\"seq\":{seq},\"time\":1,\"data\":{{\"todos\":[]}}}}\n");
    let rival = Rival { path: path.clone(), event: event.clone(), at, asked: AtomicUsize::new(0) };
    let outcome = compact(&path, None, options, &Services { watch: &rival, ..services(&Stub, &RealDisk) });
    let new = fs::read(&path).unwrap();
    assert!(new.starts_with(&old));
    let is_untouched = new == [&old, event.as_bytes()].concat();
    assert_eq!(is_untouched, outcome.status == Status::Refused, "chance {at}: {:?}", outcome.reason);
    (outcome.status, outcome.reason.map(|reason| reason.code))
}

#[test]
fn a_log_that_grows_right_before_the_first_byte_is_refused() {
    let changed = (Status::Refused, Some("changed"));
    let plain = Options { prune: false, ..PRUNING };
    assert_eq!(beside_a_rival(&plain, 0), changed);
    // A pruning is rehearsed first, with three questions.
    assert_eq!(beside_a_rival(&PRUNING, 0), (Status::Compacted, None));
    assert_eq!(beside_a_rival(&PRUNING, 3), changed);
}
