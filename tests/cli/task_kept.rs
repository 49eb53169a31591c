//! After any number of compactions, in any order, the task is visible word for word.

use crate::official;
use crate::sandbox::{Sandbox, demo, fixture};
use dshc::check::{self, Severity};
use dshc::compact::{Options, Retention, Services, Status, Vouched, compact};
use dshc::log::append::RealDisk;
use dshc::log::{LogReader, Source};
use dshc::session::{self, Folded, Keep, Session, Stop};
use dshc::summarize::{Drop, Stub, Summarizer, Unwatched};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Logs with and without checkpoints, open turns, parallel calls and inherited events.
const LOGS: [&str; 14] = [
    "demo/session.jsonl",
    "demo-zstd/session.jsonl.zstd",
    "formats/demo.v0.jsonl",
    "formats/development-builds.v0.jsonl",
    "upgrade/v0.jsonl",
    "upgrade/v0-forked.jsonl",
    "upgrade/v2.jsonl",
    "formats/demo.v2.jsonl",
    "formats/demo.v3.jsonl",
    "corpus/crashed-raw/--home-dev-project-0--/gen-14-0/session.jsonl",
    "corpus/compacted-zstd/--home-dev-project-0--/gen-12-0/session.jsonl.zstd",
    "corpus/upgraded/v2/--home-dev-project-0--/gen-12-0/session.v2.jsonl",
    "corpus/upgraded/v3/--home-dev-project-0--/gen-14-0/session.v3.jsonl",
    "corpus/upgraded/v4/--home-dev-project-0--/gen-12-0/session.v4.jsonl",
];

/// How many compactions are tried in a row, and how many such rows of a log.
const ROUNDS: usize = 8;
const ROWS: usize = 3;

/// Numbers that are the same each time (xorshift).
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap() % limit
    }

    /// What stays. Of the spans some are between balanced cuts, some are legal only by luck.
    fn retention(&mut self, session: &Session) -> Retention {
        let seqs = session.surface.seqs();
        match self.below(5) {
            0 => return Retention::Turns(1 + self.below(4) as u64),
            1 => return Retention::Tokens(self.below(3_000) as u64),
            _ => {}
        }
        let balanced = session.pairing().balanced_before;
        let is_lucky = self.below(4) == 0;
        let cuts: Vec<usize> = (0..balanced.len()).filter(|cut| is_lucky || balanced[*cut]).collect();
        let (a, b) = (cuts[self.below(cuts.len())], cuts[self.below(cuts.len())]);
        let (first, last) = (a.min(b).min(seqs.len() - 1), a.max(b).max(1) - 1);
        Retention::Span { start: seqs[first], end: seqs[last.max(first)] }
    }

    fn summarizer(&mut self) -> &'static dyn Summarizer {
        if self.below(3) == 0 { &Drop } else { &Stub }
    }
}

fn fold(log: &Path) -> Folded {
    let source = Source::open(log).unwrap();
    session::fold(&mut LogReader::open(&source).unwrap(), Keep::Messages, Stop::default()).unwrap()
}

/// Errors and warnings, how many of each.
fn alarms(log: &Path) -> BTreeMap<&'static str, u64> {
    let source = Source::open(log).unwrap();
    let checked = check::check(&mut LogReader::open(&source).unwrap(), check::Options::default()).unwrap();
    let mut alarms = BTreeMap::new();
    for finding in checked.findings.iter().filter(|finding| finding.severity != Severity::Note) {
        *alarms.entry(finding.code).or_default() += finding.count;
    }
    alarms
}

/// Whether the blocks of a message stand in one that the model is shown, in their order and side by side.
fn shows(session: &Session, task: &[String]) -> bool {
    session.surface.nodes().iter().filter_map(session::Node::view).any(|message| {
        let blocks: Vec<&str> = message.content.iter().map(|block| block.get()).collect();
        blocks.windows(task.len()).any(|run| run == task)
    })
}

/// The blocks of the first human prompt.
fn task_of(session: &Session) -> Vec<String> {
    let task = session.task.as_ref().unwrap();
    task.content.iter().map(|block| block.get().to_owned()).collect()
}

/// One row of compactions of a copy; tells how many there were.
fn row(log: &Path, dice: &mut Dice) -> usize {
    let (mut old, known) = (fs::read(log).unwrap(), alarms(log));
    let mut session = fold(log).session;
    let task = task_of(&session);
    let mut is_shown = shows(&session, &task);
    let mut done = 0;
    for round in 0..ROUNDS {
        let options = Options {
            prune: dice.below(2) == 0,
            vouched: Vouched::Idle,
            ..Options::new(dice.retention(&session))
        };
        let summarizer = dice.summarizer();
        let services = Services { summarizer, disk: &RealDisk, watch: &Unwatched };
        let outcome = compact(log, None, &options, &services);
        let case = format!("{}, round {round}: {:?}, {}", log.display(), options.choice, summarizer.kind());
        let new = fs::read(log).unwrap();
        assert!(new.starts_with(&old), "{case}");
        assert_eq!(
            new.len() > old.len(),
            outcome.status == Status::Compacted,
            "{case}: {:?}",
            outcome.reason
        );
        assert_ne!(outcome.status, Status::Failed, "{case}: {:?}", outcome.reason);
        let folded = fold(log);
        assert!(folded.damage.is_none() && folded.torn.is_none(), "{case}: {:?}", folded.damage);
        for (code, count) in alarms(log) {
            assert!(known.get(code).is_some_and(|known| count <= *known), "{case}: {count} {code}");
        }
        session = folded.session;
        // A task that dsh's own compactions have hidden comes back with the first that hides what hides it.
        let was_shown = std::mem::replace(&mut is_shown, shows(&session, &task));
        assert!(is_shown || !was_shown, "{case}: the task is gone");
        done += usize::from(outcome.status == Status::Compacted);
        old = new;
    }
    done
}

#[test]
fn no_row_of_compactions_loses_the_task() {
    let sandbox = Sandbox::new();
    // Format 1 differs from format 0 in nothing that stands in this log.
    let as_1 = String::from_utf8(demo()).unwrap().replacen("\"version\":0", "\"version\":1", 1);
    let as_1 = sandbox.write("as-1/session.v1.jsonl", as_1.as_bytes());
    let logs: Vec<PathBuf> = LOGS.iter().map(|name| fixture(name)).chain([as_1]).collect();
    let (mut results, mut by_version) = (Vec::new(), BTreeMap::new());
    for (index, log) in logs.iter().enumerate() {
        let file = log.file_name().unwrap().to_str().unwrap();
        for seed in 0..ROWS {
            let copy = sandbox.write(&format!("{index}-{seed}/{file}"), &fs::read(log).unwrap());
            let mut dice = Dice(0x9e37_79b9_7f4a_7c15 + (index * ROWS + seed) as u64);
            let done = row(&copy, &mut dice);
            let version = fold(&copy).session.format.version;
            *by_version.entry(version).or_insert(0) += done;
            results.push(Row { log: log.clone(), copy, version });
        }
    }
    assert!((0..=4).all(|version| by_version.get(&version).is_some_and(|done| *done > 5)), "{by_version:?}");
    are_opened_officially(&results);
}

/// A log and what a row of compactions has made of it.
struct Row {
    log: PathBuf,
    copy: PathBuf,
    version: u64,
}

/// The judges say of the copies what they say of the logs.
fn are_opened_officially(rows: &[Row]) {
    let paths = |is_asked: fn(u64) -> bool| -> (Vec<PathBuf>, Vec<PathBuf>) {
        let asked = rows.iter().filter(|row| is_asked(row.version));
        asked.map(|row| (row.log.clone(), row.copy.clone())).unzip()
    };
    let (logs, copies) = paths(|version| version == 0);
    let Some(old) = official::judge(&logs, &[]) else { return };
    for (old, new) in old.iter().zip(official::judge(&copies, &[]).unwrap()) {
        let said = |verdict: &Value| {
            let error = |name| verdict["stored"].get(name).is_some();
            let errors = ["estimateError", "meterError", "pairingError"].map(error);
            (verdict["loads"].clone(), verdict["invariants"].clone(), errors)
        };
        assert_eq!(said(&new), said(old), "{new}");
    }
    let (logs, copies) = paths(|version| version < 4);
    let old = official::judge_strictly(&logs).unwrap();
    for (old, new) in old.iter().zip(official::judge_strictly(&copies).unwrap()) {
        assert_eq!((&new["ok"], &new["upgrades"]), (&old["ok"], &old["upgrades"]), "{new}");
    }
}
