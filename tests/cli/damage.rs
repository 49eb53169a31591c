//! Whatever bytes a log holds: no command panics, and what one refuses the other names.

use crate::sandbox::fixture;
use dshc::check::{self, Checked, Severity};
use dshc::compact::{Options, Retention, Services, Status, Vouched, compact};
use dshc::log::append::{RealDisk, zstd_frame};
use dshc::log::{LogReader, Source};
use dshc::session::{self, Folded, Keep, Stop};
use dshc::summarize::{Drop, Stub, Unwatched};
use proptest::prelude::*;
use std::fs;
use std::path::Path;

const SERVICES: Services = Services { summarizer: &Stub, disk: &RealDisk, watch: &Unwatched };

const LOGS: [&str; 13] = [
    "cases/R15-nested-replace-start-greater-than-end/session.jsonl",
    "cases/R18-stale-lock-before-end-seed-then-success/session.jsonl",
    "cases/R20-call-ids-reused-each-round/session.jsonl",
    "cases/R35-v0-range-encoded-provenance/variant-packed-row.jsonl",
    "cases/R07-zstd-torn-tail/variant-complete.jsonl.zstd",
    "locks/orphan-open-turn.jsonl",
    "cases/R33-fork-with-copied-end-seed-markers/session.jsonl",
    "formats/development-builds.v0.jsonl",
    "formats/demo.v2.jsonl",
    "formats/demo.v3.jsonl",
    "formats/demo.v4.jsonl",
    "formats/native.v4.jsonl",
    "cases/R36-v3-system-head-and-generation-files/session.v3.jsonl",
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
    /// Drops a line, or puts one line in another's place too.
    Line(usize, Option<usize>),
    /// Spells something as another format, or nobody, does.
    Spell(&'static str, &'static str, usize),
}

/// What formats spell differently, and values at the edge of what is legal.
const SPELLINGS: [(&str, &str); 20] = [
    ("\"start\"", "\"startSeq\""),
    ("\"endSeq\"", "\"end\""),
    ("\"role\":\"user\"", "\"role\":\"tool\""),
    ("\"role\":\"tool\"", "\"role\":\"user\""),
    ("\"kind\":\"user\"", "\"kind\":\"plugin\""),
    ("\"kind\":\"plugin\"", "\"kind\":\"user\""),
    ("\"append\"", "null"),
    ("\"toolCallId\"", "\"callId\""),
    ("\"imageIndexes\":[0]", "\"imageIndexes\":[0,1]"),
    ("\"headerSeq\":4", "\"headerSeq\":9"),
    ("user/message", "system/message"),
    ("tool/result", "assistant/message"),
    ("\"version\":0", "\"version\":3,\"isSeeded\":true"),
    ("\"version\":3", "\"version\":4"),
    ("\"version\":4", "\"version\":2"),
    ("\"isSeeded\":false", "\"isSeeded\":true"),
    ("\"seq\":1", "\"seq\":1e0"),
    ("\"turn\":1", "\"turn\":null"),
    ("\"content\":[", "\"content\":[[],{},"),
    ("\"data\":{", "\"ignorable\":true,\"data\":{\"id\":\"\","),
];

fn changes() -> impl Strategy<Value = Vec<Change>> {
    let text = prop::sample::select(vec![
        "\n", "{}", "null", "\"", "-0", "1e999", "[[1,0]]", "\\ud800", "\u{feff}", "\0\0\0", "\r", "\n\n",
    ]);
    let change = prop_oneof![
        1 => any::<usize>().prop_map(Change::Cut),
        3 => (any::<usize>(), any::<u8>()).prop_map(|(at, byte)| Change::Flip(at, byte)),
        2 => (any::<usize>(), 1usize..400, any::<usize>()).prop_map(|(from, length, to)| Change::Copy(from, length, to)),
        2 => (any::<usize>(), 1usize..400).prop_map(|(at, length)| Change::Remove(at, length)),
        2 => (any::<usize>(), any::<Option<usize>>()).prop_map(|(at, to)| Change::Line(at, to)),
        3 => (prop::sample::select(SPELLINGS.to_vec()), any::<usize>()).prop_map(|((from, to), nth)| Change::Spell(from, to, nth)),
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
        Change::Line(at, to) => {
            let mut lines: Vec<Vec<u8>> =
                bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
            let count = lines.len().max(1);
            if let Some(line) = lines.get(at % count).cloned() {
                match to {
                    Some(to) => lines.insert(to % count, line),
                    None => drop(lines.remove(at % count)),
                }
            }
            *bytes = lines.concat();
        }
        Change::Spell(from, to, nth) => {
            let places: Vec<usize> = memchr::memmem::find_iter(bytes, from).collect();
            if let Some(at) = places.get(nth % places.len().max(1)) {
                bytes.splice(at..&(at + from.len()), to.bytes());
            }
        }
    }
}

/// The same text in frames: the header alone in the first, then so many lines a frame.
fn compressed(text: &[u8], lines_a_frame: usize) -> Vec<u8> {
    let lines: Vec<&[u8]> = text.split_inclusive(|byte| *byte == b'\n').collect();
    let (header, rest) = lines.split_first().map_or((&b""[..], &[][..]), |(header, rest)| (*header, rest));
    let frames = std::iter::once(header.to_vec()).chain(rest.chunks(lines_a_frame).map(<[_]>::concat));
    frames.flat_map(|text| zstd_frame(&text).unwrap()).collect()
}

fn options(choice: Retention) -> Options {
    Options { vouched: Vouched::Idle, ..Options::new(choice) }
}

fn open(path: &Path) -> LogReader {
    LogReader::open(&Source::open(path).unwrap()).unwrap()
}

/// Runs all that dshc does over the log; what it refuses to fold it must find, and what it writes must be sound.
fn try_all(path: &Path) {
    let Ok(mut reader) = LogReader::open(&Source::open(path).unwrap()) else {
        let outcome = compact(path, None, &options(Retention::Tokens(0)), &SERVICES);
        assert!(outcome.reason.is_some());
        return;
    };
    let folded = session::fold(&mut reader, Keep::Messages, Stop::default()).unwrap();
    let checked = check::check(&mut open(path), check::Options::default()).unwrap();
    let worst = checked.findings.iter().map(|finding| finding.severity).max();
    assert!(folded.damage.is_none() || worst == Some(Severity::Error), "{:?}", folded.damage);
    assert!(folded.torn.is_none() || worst >= Some(Severity::Warning));
    if !folded.is_cut {
        assert_eq!(checked.ending.events, folded.session.events);
        assert_eq!(checked.ending.lock, Some(folded.session.lock()));
    }
    let figures = session::fold(&mut open(path), Keep::Figures, Stop::default()).unwrap();
    let priced = |folded: &Folded| {
        let nodes = folded.session.surface.nodes().iter();
        nodes.map(|node| (node.seq, node.host_tokens)).collect::<Vec<_>>()
    };
    assert_eq!(priced(&folded), priced(&figures), "figures are the same, messages kept or not");
    mend_and_drop(path, &folded, &checked);
    let old = fs::read(path).unwrap();
    let is_damaged = folded.damage.is_some() || folded.torn.is_some();
    let outcome = compact(path, None, &options(Retention::Tokens(0)), &SERVICES);
    let new = fs::read(path).unwrap();
    assert!(new.starts_with(&old));
    if is_damaged || outcome.appended.is_none() {
        assert_eq!(new, old);
    }
    if outcome.appended.is_some() {
        let after = session::fold(&mut open(path), Keep::Messages, Stop::default()).unwrap();
        assert!(after.damage.is_none() && after.torn.is_none());
        let after = check::check(&mut open(path), check::Options::default()).unwrap();
        assert!(errors(&after) <= errors(&checked), "{:#?}", after.findings);
    }
}

fn errors(checked: &Checked) -> usize {
    checked.findings.iter().filter(|finding| finding.severity == Severity::Error).count()
}

/// Mends a copy of the log, makes its results shorter and leaves a span out: no event is lost, and nothing is worse.
fn mend_and_drop(path: &Path, before: &Folded, checked: &Checked) {
    let copy = path.with_file_name("copy");
    fs::copy(path, &copy).unwrap();
    let options = Options { prune: true, vouched: Vouched::NoProcess, ..Options::new(Retention::Tokens(0)) };
    let outcome = compact(&copy, None, &options, &Services { summarizer: &Drop, ..SERVICES });
    assert_ne!(outcome.status, Status::Failed, "{:?}", outcome.reason);
    let (old, new) = (fs::read(path).unwrap(), fs::read(&copy).unwrap());
    if before.damage.is_some() || outcome.status == Status::Refused {
        assert_eq!(new, old);
        return;
    }
    assert!(before.torn.is_some() || new.starts_with(&old));
    let after = session::fold(&mut open(&copy), Keep::Figures, Stop::default()).unwrap();
    assert!(after.damage.is_none() && after.torn.is_none(), "{:?} {:?}", after.damage, after.torn);
    assert!(after.session.events >= before.session.events);
    let after = check::check(&mut open(&copy), check::Options::default()).unwrap();
    assert!(errors(&after) <= errors(checked), "{:#?}", after.findings);
}

/// How many logs are tried; by hand, `PROPTEST_CASES=100000 cargo test --release --test cli -- changed_logs` tries more.
fn cases() -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(1500)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), ..ProptestConfig::default() })]

    #[test]
    fn changed_logs_are_named_and_never_made_worse(
        index in 0..LOGS.len(), changes in changes(), frames in any::<Option<(u8, Vec<(usize, u8)>)>>(),
    ) {
        let mut bytes = fs::read(fixture(LOGS[index])).unwrap();
        for step in &changes {
            change(&mut bytes, step);
        }
        if let Some((lines, flips)) = frames.filter(|_| Path::new(LOGS[index]).extension().unwrap() == "jsonl") {
            bytes = compressed(&bytes, usize::from(lines % 7) + 1);
            for (at, byte) in flips.into_iter().take(2) {
                change(&mut bytes, &Change::Flip(at, byte % 2));
            }
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
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
