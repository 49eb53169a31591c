//! Compactions that are asked for under pressure alone.

use super::super::occasion;
use super::{LOGS, Live, OPTIONS, log, refold, services};
use crate::compact::{Limit, Occasion, Options, Outcome, Retention, Status, compact};
use crate::log::append::RealDisk;
use crate::summarize::Stub;
use std::fs;
use std::path::Path;

const BULKY: &str = "corpus/bulky-results/--home-dev-project-0--/gen-16-0/session.jsonl.zstd";

fn over(limit: u64) -> Options {
    Options { occasion: Occasion::Pressure { limit: Limit::Tokens(limit), passes: 3 }, ..OPTIONS }
}

fn load(path: &Path) -> u64 {
    occasion::load(&refold(path).session)
}

fn run(path: &Path, options: &Options) -> Outcome {
    compact(path, None, options, &services(&Stub, &RealDisk))
}

#[test]
fn a_session_is_under_pressure_from_the_limit_on() {
    for name in LOGS {
        let (_folder, path, old) = log(name);
        let limit = load(&path);
        let outcome = run(&path, &over(limit + 1));
        assert_eq!(outcome.status, Status::NothingToDo, "{:?}", outcome.reason);
        assert!(outcome.notes.iter().any(|note| note.contains("below")), "{:?}", outcome.notes);
        assert_eq!(fs::read(&path).unwrap(), old);
        let outcome = run(&path, &over(limit));
        assert_eq!((outcome.status, outcome.passes.len()), (Status::Compacted, 1));
        assert!(load(&path) < limit);
        assert!(!outcome.notes.iter().any(|note| note.starts_with("still_over")), "{:?}", outcome.notes);
    }
}

#[test]
fn a_session_that_stays_over_the_limit_is_told_of() {
    let (_folder, path, _) = log(LOGS[0]);
    let outcome = run(&path, &over(1));
    assert_eq!(outcome.status, Status::Compacted);
    let now = crate::wording::grouped(load(&path));
    let told = format!("still_over: surface and request header hold {now} host tokens, ");
    assert!(outcome.notes.iter().any(|note| note.starts_with(&told)), "{:?}", outcome.notes);
}

#[test]
fn no_summary_is_asked_for_where_prunings_are_enough() {
    let (_folder, path, _) = log(BULKY);
    let before = load(&path);
    let never = Live(|| panic!("a summary is asked for"));
    let options = Options { prune: true, ..over(before) };
    for is_dry_run in [true, false] {
        let options = Options { is_dry_run, ..options };
        let outcome = compact(&path, None, &options, &services(&never, &RealDisk));
        let expected = if is_dry_run { Status::Planned } else { Status::Compacted };
        assert_eq!(outcome.status, expected, "{:?}", outcome.reason);
        assert!(!outcome.pruned.is_empty() && outcome.passes.is_empty());
        assert_eq!(load(&path) < before, !is_dry_run);
    }
}

#[test]
fn a_tail_that_reaches_the_limit_by_itself_is_refused() {
    let (_folder, path, old) = log(LOGS[0]);
    // Together with the log's window alone they can be compared.
    let window = refold(&path).session.context_window;
    let limit = Limit::Ratio { ratio: 0.000_1, window: None };
    let choice = Retention::Tokens(window.unwrap_or(131_072));
    let occasion = Occasion::Pressure { limit, passes: 1 };
    let outcome = run(&path, &Options { occasion, choice, ..OPTIONS });
    assert_eq!((outcome.status, outcome.reason.unwrap().code), (Status::Refused, "budget"));
    assert_eq!(fs::read(&path).unwrap(), old);
}
