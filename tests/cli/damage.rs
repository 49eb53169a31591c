//! Whatever bytes a log holds: no command panics, and what one refuses the other names.

use crate::sandbox::fixture;
use dshc::check::{self, Severity};
use dshc::compact::{Options, Retention, compact};
use dshc::log::append::RealDisk;
use dshc::log::{LogReader, Source};
use dshc::session::{self, Keep, Stop};
use dshc::summarize::Stub;
use proptest::prelude::*;
use std::fs;
use std::path::Path;

const LOGS: [&str; 6] = [
    "cases/R15-nested-replace-start-greater-than-end/session.jsonl",
    "cases/R18-stale-lock-before-end-seed-then-success/session.jsonl",
    "cases/R20-call-ids-reused-each-round/session.jsonl",
    "cases/R35-v0-range-encoded-provenance/variant-packed-row.jsonl",
    "cases/R07-zstd-torn-tail/variant-complete.jsonl.zstd",
    "locks/orphan-open-turn.jsonl",
];

/// A change to a log's bytes; places are taken modulo its length.
#[derive(Debug, Clone)]
enum Change {
    Cut(usize),
    Flip(usize, u8),
    /// Puts a piece of the log in again elsewhere.
    Copy(usize, usize, usize),
    Remove(usize, usize),
    Insert(usize, Vec<u8>),
}

fn changes() -> impl Strategy<Value = Vec<Change>> {
    let text = prop::sample::select(vec![
        "\n", "{}", "null", "\"", "-0", "1e999", "[[1,0]]", "\\ud800", "\u{feff}", "\0\0\0", "\r", "\n\n",
    ]);
    let change = prop_oneof![
        1 => any::<usize>().prop_map(Change::Cut),
        3 => (any::<usize>(), any::<u8>()).prop_map(|(at, byte)| Change::Flip(at, byte)),
        2 => (any::<usize>(), 1usize..400, any::<usize>()).prop_map(|(from, length, to)| Change::Copy(from, length, to)),
        2 => (any::<usize>(), 1usize..400).prop_map(|(at, length)| Change::Remove(at, length)),
        2 => (any::<usize>(), text).prop_map(|(at, text)| Change::Insert(at, text.as_bytes().to_vec())),
    ];
    prop::collection::vec(change, 1..4)
}

fn change(bytes: &mut Vec<u8>, change: &Change) {
    let length = bytes.len().max(1);
    match change {
        Change::Cut(at) => bytes.truncate(at % length),
        Change::Flip(at, byte) => {
            if let Some(place) = bytes.get_mut(at % length) {
                *place ^= byte;
            }
        }
        Change::Copy(from, count, to) => {
            let from = from % length;
            let piece = bytes[from.min(bytes.len())..(from + count).min(bytes.len())].to_vec();
            let to = (to % length).min(bytes.len());
            bytes.splice(to..to, piece);
        }
        Change::Remove(at, count) => {
            let at = (at % length).min(bytes.len());
            bytes.drain(at..(at + count).min(bytes.len()));
        }
        Change::Insert(at, piece) => {
            let at = (at % length).min(bytes.len());
            bytes.splice(at..at, piece.iter().copied());
        }
    }
}

fn options(choice: Retention) -> Options {
    Options { choice, keep_task: true, is_dry_run: false, assume_idle: true }
}

/// Runs all that dshc does over the log; what it refuses to fold it must find, and what it writes must be sound.
fn try_all(path: &Path) {
    let Ok(mut reader) = LogReader::open(&Source::open(path).unwrap()) else {
        let outcome = compact(path, None, &options(Retention::Tokens(0)), &Stub, &RealDisk);
        assert!(outcome.reason.is_some());
        return;
    };
    let folded = session::fold(&mut reader, Keep::Messages, Stop::default()).unwrap();
    let mut reader = LogReader::open(&Source::open(path).unwrap()).unwrap();
    let checked = check::check(&mut reader).unwrap();
    let worst = checked.findings.iter().map(|finding| finding.severity).max();
    assert!(folded.damage.is_none() || worst == Some(Severity::Error), "{:?}", folded.damage);
    assert!(folded.torn.is_none() || worst >= Some(Severity::Warning));
    if !folded.is_cut {
        assert_eq!(checked.events, folded.session.events);
        assert_eq!(checked.lock, Some(folded.session.lock()));
    }
    let old = fs::read(path).unwrap();
    let is_damaged = folded.damage.is_some() || folded.torn.is_some();
    let outcome = compact(path, None, &options(Retention::Tokens(0)), &Stub, &RealDisk);
    let new = fs::read(path).unwrap();
    assert!(new.starts_with(&old));
    if is_damaged || outcome.appended.is_none() {
        assert_eq!(new, old);
    }
    if outcome.appended.is_some() {
        let mut reader = LogReader::open(&Source::open(path).unwrap()).unwrap();
        let after = session::fold(&mut reader, Keep::Messages, Stop::default()).unwrap();
        assert!(after.damage.is_none() && after.torn.is_none());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]

    #[test]
    fn changed_logs_are_named_and_never_made_worse(index in 0..LOGS.len(), changes in changes()) {
        let mut bytes = fs::read(fixture(LOGS[index])).unwrap();
        for step in &changes {
            change(&mut bytes, step);
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(Path::new(LOGS[index]).file_name().unwrap());
        fs::write(&path, bytes).unwrap();
        try_all(&path);
    }
}

#[test]
fn every_cut_of_a_log_is_torn_or_whole() {
    for name in [LOGS[2], LOGS[4]] {
        let bytes = fs::read(fixture(name)).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(Path::new(name).file_name().unwrap());
        for cut in 0..bytes.len() {
            fs::write(&path, &bytes[..cut]).unwrap();
            if let Ok(mut reader) = LogReader::open(&Source::open(&path).unwrap()) {
                let prefix = session::fold(&mut reader, Keep::Figures, Stop::default()).unwrap();
                assert!(prefix.damage.is_none(), "{name} cut at {cut}: {:?}", prefix.damage);
            }
            try_all(&path);
        }
    }
}

#[test]
fn every_flipped_byte_of_a_compressed_log_is_named() {
    let bytes = fs::read(fixture(LOGS[4])).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(Path::new(LOGS[4]).file_name().unwrap());
    for at in 0..bytes.len() {
        for flip in [0x01, 0xd7, 0xff] {
            let mut damaged = bytes.clone();
            damaged[at] ^= flip;
            fs::write(&path, &damaged).unwrap();
            try_all(&path);
        }
    }
}
