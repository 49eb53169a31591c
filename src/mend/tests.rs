//! Logs with torn tails and locks, mended under a disk that works and under one that fails.

use super::*;
use crate::check::{self, Severity};
use crate::format::{self, Seeded, ToolResult};
use crate::log::append::{Disk, RealDisk, zstd_frame};
use crate::log::failing_disk::FailingDisk;
use crate::log::{LogReader, Source};
use crate::session::{self, Keep, Stop};
use proptest::prelude::*;
use std::fs;
use std::path::{Path, PathBuf};

fn fixture(name: &str) -> Vec<u8> {
    fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(name)).unwrap()
}

fn file(bytes: &[u8]) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let is_zstd = bytes.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]);
    let path = folder.path().join(if is_zstd { "session.jsonl.zstd" } else { "session.jsonl" });
    fs::write(&path, bytes).unwrap();
    (folder, path)
}

fn fold(source: &Source) -> Folded {
    session::fold(&mut LogReader::open(source).unwrap(), Keep::Messages, Stop::default()).unwrap()
}

fn refold(path: &Path) -> Folded {
    fold(&Source::open(path).unwrap())
}

/// What `--break-lock` does before it compacts.
fn break_lock(path: &Path, disk: &dyn Disk) -> Result<Mended, MendError> {
    let mut appender = Appender::open(path, disk)?;
    let mut folded = fold(&appender.source().unwrap());
    let mended = open_for_work(&mut appender, &mut folded)?;
    assert!(folded.torn.is_none());
    if let Some(unlock) = &mended.unlock {
        appender.append(&unlock.records)?;
    }
    Ok(mended)
}

fn event(seq: u64, event_type: &str, data: &str) -> String {
    format!(r#"{{"type":"{event_type}","seq":{seq},"time":{},"data":{data}}}"#, 100 + seq)
}

fn start(seq: u64, data: &str) -> String {
    event(seq, "compaction/start", data)
}

fn turn_start(seq: u64, turn: u64) -> String {
    event(seq, "turn/start", &format!(r#"{{"turn":{turn}}}"#))
}

fn turn_end(seq: u64, turn: u64) -> String {
    event(seq, "turn/end", &format!(r#"{{"turn":{turn},"reason":{{"kind":"completed"}}}}"#))
}

fn log(version: u64, lines: &[String]) -> Vec<u8> {
    let seeded = match format::of(version).unwrap().header.seeded {
        Seeded::Length => "",
        Seeded::Flag => r#""isSeeded":false,"#,
    };
    let header = format!(
        r#"{{"type":"session","version":{version},"id":"s","createdAt":1,{seeded}"delegationDepth":0}}"#
    );
    format!("{header}\n{}\n", lines.join("\n")).into_bytes()
}

fn unlocked(bytes: &[u8]) -> Vec<String> {
    let source = Source::of_bytes(bytes);
    let folded = fold(&source);
    assert!(folded.damage.is_none(), "{:?}", folded.damage);
    unlock(&folded.session, &source).unwrap().map_or_else(Vec::new, |unlock| unlock.records)
}

/// The records in a few words: the types, and what tells one end from another.
fn told(records: &[String]) -> Vec<&str> {
    let types = records.iter().map(|record| record.split('"').nth(3).unwrap());
    let told = types.zip(records).map(|(kind, record)| match kind {
        "compaction/end" if record.contains("\"error\"") => "failed",
        "compaction/end" => "done",
        other => other,
    });
    told.collect()
}

fn errors(bytes: &[u8]) -> Vec<String> {
    let mut reader = LogReader::open(&Source::of_bytes(bytes)).unwrap();
    let findings = check::check(&mut reader, check::Options::default()).unwrap().findings;
    let errors = findings.into_iter().filter(|finding| finding.severity == Severity::Error);
    errors.map(|finding| format!("{}: {}", finding.code, finding.message)).collect()
}

fn with(bytes: &[u8], records: &[String]) -> Vec<u8> {
    [bytes, records.join("\n").as_bytes(), b"\n"].concat()
}

#[test]
fn r16_an_owner_that_has_ended_is_voided_by_a_seed_boundary() {
    let (_folder, path) = file(&fixture("cases/R16-orphan-lock-owner-turn-already-ended/session.jsonl"));
    let before = refold(&path);
    let mended = break_lock(&path, &RealDisk).unwrap();
    let records = mended.unlock.unwrap().records;
    let time = before.session.last_time.unwrap();
    assert_eq!(records, [format!(r#"{{"type":"session/end-seed","seq":17,"time":{time},"data":{{}}}}"#)]);
    let after = refold(&path);
    assert!(matches!(after.session.lock(), LockState::Stale(lock) if lock.start_seq == 6));
    assert_eq!(after.session.surface.seqs(), before.session.surface.seqs());
    assert_eq!(
        break_lock(&path, &RealDisk).unwrap(),
        Mended::default(),
        "the second time there is nothing to do"
    );
}

#[test]
fn r18_a_lock_that_a_seed_boundary_has_voided_is_left_alone() {
    let bytes = fixture("cases/R18-stale-lock-before-end-seed-then-success/session.jsonl");
    let (_folder, path) = file(&bytes);
    assert_eq!(break_lock(&path, &RealDisk).unwrap(), Mended::default());
    assert_eq!(fs::read(&path).unwrap(), bytes);
    assert!(unlocked(&fixture("locks/stale-before-end-seed.jsonl")).is_empty());
}

#[test]
fn r07_a_torn_frame_is_cut_and_other_damage_refused() {
    let case = |name: &str| fixture(&format!("cases/R07-zstd-torn-tail/{name}.jsonl.zstd"));
    for name in ["session", "variant-3-stray-bytes", "variant-last-frame-only-magic"] {
        let (_folder, path) = file(&case(name));
        let mended = break_lock(&path, &RealDisk).unwrap();
        assert!(mended.unlock.is_none() && mended.tail.unwrap().recovered == 0, "{name}");
        assert_eq!(fs::read(&path).unwrap(), case(name)[..592], "{name}");
    }
    for name in [
        "variant-bitflip-in-committed-frame",
        "variant-nul-padding-at-end",
        "variant-skippable-frame-in-middle",
    ] {
        let (_folder, path) = file(&case(name));
        assert!(matches!(break_lock(&path, &RealDisk), Err(MendError::Damaged(_))), "{name}");
        assert_eq!(fs::read(&path).unwrap(), case(name), "{name}");
    }
}

#[test]
fn a_session_that_dsh_has_open_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let held = fs::File::create(folder.path().join("session.lock")).unwrap();
    held.lock().unwrap();
    let path = folder.path().join("session.v4.jsonl");
    let locked = interrupted(4);
    for bytes in [&locked[..], &fixture("formats/native.v4.jsonl")[..2000]] {
        fs::write(&path, bytes).unwrap();
        let done = break_lock(&path, &RealDisk);
        assert!(matches!(done, Err(MendError::Append(AppendError::SessionLocked))), "{done:?}");
        assert_eq!(fs::read(&path).unwrap(), bytes);
    }
    held.unlock().unwrap();
    assert!(break_lock(&path, &RealDisk).unwrap().tail.is_some());
}

#[test]
fn what_was_mended_is_told_in_words() {
    let raw = interrupted(0);
    let (_folder, path) = file(&zstd_torn(&raw, 2));
    let mended = break_lock(&path, &RealDisk).unwrap();
    let tail = tail_note(&mended.tail.unwrap());
    assert!(tail.ends_with("15 records in it are whole and stand in a frame of their own"), "{tail}");
    let note = mended.unlock.unwrap().note;
    assert_eq!(
        note,
        "turn 2 ends as interrupted, with results for 2 calls that have none, and session/end-seed 19 voids the lock \
         of the compaction that starts at seq 5, which no compaction/end may close any more"
    );
    let tail = tail_note(&MendedTail { bytes: 1, recovered: 0 });
    assert_eq!(tail, "a torn tail of 1 byte is cut off");
    let source = Source::of_bytes(&fixture("locks/held-no-turn.jsonl"));
    let unlock = unlock(&fold(&source).session, &source).unwrap().unwrap();
    assert_eq!(unlock.note, "compaction/end 29 closes, with an error, the compaction that starts at seq 28");
}

#[test]
fn r09_fused_records_are_no_torn_tail() {
    let bytes = fixture("cases/R09-torn-stub-fused-with-next-record/session.jsonl");
    let (_folder, path) = file(&bytes);
    assert!(matches!(break_lock(&path, &RealDisk), Err(MendError::Damaged(_))));
    assert_eq!(fs::read(&path).unwrap(), bytes);
}

#[test]
fn an_end_is_written_only_where_one_is_legal() {
    let own = r#"{"compactionId":"x","turn":1}"#;
    let free = r#"{"compactionId":"x","turn":null}"#;
    let voided = "session/end-seed";
    for (lines, expected) in [
        (vec![turn_start(0, 1), start(1, own)], vec!["failed"]),
        (vec![start(0, free)], vec!["failed"]),
        (vec![turn_start(0, 1), start(1, own), turn_end(2, 1)], vec![voided]),
        (vec![turn_start(0, 1), start(1, own), turn_end(2, 1), turn_start(3, 2)], vec!["turn/end", voided]),
        (vec![start(0, free), turn_start(1, 1)], vec!["turn/end", voided]),
        (vec![start(0, free), turn_start(1, 1), turn_end(2, 1)], vec![voided]),
        (vec![turn_start(0, 1), start(1, free)], vec!["turn/end", voided]),
        (vec![start(0, r#"{"compactionId":"x","turn":7}"#)], vec![voided]),
        (vec![start(0, r#"{"compactionId":"x","turn":"1"}"#)], vec![voided]),
        (vec![start(0, free), start(1, free)], vec![voided]),
        (vec![start(0, r#"{"turn":null}"#)], vec![voided]),
        (vec![start(0, r#"{"compactionId":"","turn":null}"#)], vec![voided]),
        (vec![start(0, r#"{"compactionId":"\ud83d","turn":null}"#)], vec![voided]),
        (vec![start(0, r#"{"compactionId":"x","turn":null,"sourceCommandId":""}"#)], vec![voided]),
        (vec![start(0, free), event(1, "session/end-seed", "{}"), start(2, free)], vec!["failed"]),
        (vec![turn_start(0, 1)], vec![]),
    ] {
        let bytes = log(0, &lines);
        let records = unlocked(&bytes);
        assert_eq!(told(&records), expected, "{lines:#?}");
        let after = fold(&Source::of_bytes(&with(&bytes, &records)));
        assert!(records.is_empty() || !matches!(after.session.lock(), LockState::Held(_)));
    }
}

#[test]
fn an_end_repeats_the_starts_ids_and_turn() {
    let data = r#"{"compactionId":"x\"1","turn":1,"sourceCommandId":"k"}"#;
    let records = unlocked(&log(0, &[turn_start(0, 1), start(1, data)]));
    let error = "the process that compacted is gone; its lock was broken by dshc";
    let expected = format!(
        r#"{{"type":"compaction/end","seq":2,"time":101,"data":{{"compactionId":"x\"1","turn":1,"sourceCommandId":"k","error":"{error}"}}}}"#
    );
    assert_eq!(records, [expected]);
}

#[test]
fn a_replacement_that_stands_is_closed_without_an_error() {
    let text =
        String::from_utf8(fixture("corpus/compacted-raw/--home-dev-project-0--/gen-13-0/session.jsonl"))
            .unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let end = lines.iter().position(|line| line.starts_with(r#"{"type":"compaction/end""#)).unwrap();
    for (cut, expected) in [(end, "done"), (end - 1, "failed"), (end - 2, "failed")] {
        let bytes = format!("{}\n", lines[..cut].join("\n")).into_bytes();
        let records = unlocked(&bytes);
        assert_eq!(told(&records), [expected]);
        let after = with(&bytes, &records);
        let problems = errors(&after);
        assert!(problems.is_empty(), "{problems:?}");
        assert_eq!(fold(&Source::of_bytes(&after)).session.lock(), LockState::Free);
    }
}

/// A log of format `version` whose turn stands open behind a lock of the turn before.
fn interrupted(version: u64) -> Vec<u8> {
    fixture(&format!("interrupted/calls.v{version}.jsonl"))
}

#[test]
fn an_interrupted_turn_is_closed_as_dsh_does_in_every_format() {
    for version in 0..=4 {
        let bytes = interrupted(version);
        let last = fold(&Source::of_bytes(&bytes)).session;
        let records = unlocked(&bytes);
        let expected = ["tool/result", "tool/result", "step/end", "turn/end", "session/end-seed"];
        assert_eq!(told(&records), expected, "format {version}");
        let time = format!("\"time\":{},", last.last_time.unwrap());
        assert!(records.iter().all(|record| record.contains(&time)), "{records:#?}");
        let [not_started, unknown, ..] = &records[..] else { unreachable!() };
        assert!(not_started.contains(r#""id":"interrupted-tool-result-call_run-15""#), "{not_started}");
        assert!(not_started.contains("TOOL_NOT_STARTED") && !not_started.contains("sourceEventSeqs"));
        assert!(unknown.contains(r#""id":"interrupted-tool-result-call \"lint\"-16""#), "{unknown}");
        assert!(unknown.contains("TOOL_OUTCOME_UNKNOWN") && unknown.contains(r#""sourceEventSeqs":[11]"#));
        let is_flat = last.format.tool_result == ToolResult::Flat;
        assert_eq!(unknown.contains(r#""role":"tool""#), is_flat, "{unknown}");
        let after = with(&bytes, &records);
        let problems = errors(&after);
        assert!(problems.is_empty(), "format {version}: {problems:#?}");
        let folded = fold(&Source::of_bytes(&after));
        assert!(folded.damage.is_none() && folded.session.turns.open().is_none());
        assert!(folded.session.pairing().unanswered.is_empty());
    }
}

#[test]
fn closers_have_the_time_of_the_last_streamed_delta() {
    let records = unlocked(&fixture("interrupted/rows.v0.jsonl"));
    assert_eq!(records.len(), 5);
    // The first delta's time and what the row adds to it.
    let time = 1_791_270_900_000_u64 + 750 * 15 + 40 - 15;
    assert!(records.iter().all(|record| record.contains(&format!(r#","time":{time},"#))), "{records:#?}");
    assert!(records[0].contains(r#""seq":17,"#));
}

/// As one frame for the header and one for all events, the last of which is torn.
fn zstd_torn(raw: &[u8], cut: usize) -> Vec<u8> {
    let header = raw.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    let mut bytes = zstd_frame(&raw[..header]).unwrap();
    let events = zstd_frame(&raw[header..]).unwrap();
    bytes.extend_from_slice(&events[..events.len() - cut]);
    bytes
}

#[test]
fn a_failure_at_any_call_costs_no_event_and_the_second_try_succeeds() {
    let raw = interrupted(0);
    let torn = [&raw[..], b"{\"type\":\"todo"].concat();
    for bytes in [raw.clone(), torn, zstd_torn(&raw, 0), zstd_torn(&raw, 2)] {
        let (mut calls, mut at) = (0, 0);
        while at <= calls {
            for is_dead_after in [false, true] {
                let (_folder, path) = file(&bytes);
                let before = refold(&path);
                let done = break_lock(&path, &FailingDisk::at(at, is_dead_after));
                let after = refold(&path);
                let case = format!("call {at}, dead after: {is_dead_after}: {done:?}");
                assert!(after.damage.is_none(), "{case}");
                assert!(after.session.events >= before.session.events, "{case}");
                assert!(after.session.surface.seqs().starts_with(before.session.surface.seqs()), "{case}");
                if done.is_err() {
                    calls = at + 1;
                }
                break_lock(&path, &RealDisk).unwrap();
                let mended = refold(&path);
                assert!(mended.damage.is_none() && mended.torn.is_none(), "{case}");
                assert!(matches!(mended.session.lock(), LockState::Stale(_)), "{case}");
                assert_eq!(mended.session.events, before.session.events + 5, "{case}");
            }
            at += 1;
        }
        assert!(calls >= 2, "a write and a sync at least");
    }
}

const LOGS: [&str; 8] = [
    "demo/session.jsonl",
    "demo-zstd/session.jsonl.zstd",
    "corpus/crashed-raw/--home-dev-project-0--/gen-14-0/session.jsonl",
    "corpus/crashed-zstd/--home-dev-project-0--/gen-15-0/session.jsonl.zstd",
    "corpus/compacted-raw/--home-dev-project-0--/gen-13-0/session.jsonl",
    "corpus/compacted-zstd/--home-dev-project-1--/gen-12-1/session.jsonl.zstd",
    "corpus/upgraded/v3/--home-dev-project-0--/gen-12-0/session.v3.jsonl",
    "formats/native.v4.jsonl",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn any_cut_of_any_log_is_mended(index in 0..LOGS.len() * 2, cut in 0.0..1.0_f64, from_end in 0usize..400, is_near in any::<bool>()) {
        let mut whole = fixture(LOGS[index / 2]);
        // Frames of many records give some of them back.
        if index % 2 == 1 && whole.starts_with(b"{") {
            whole = zstd_torn(&whole, 0);
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "any cut will do")]
        let cut = if is_near { whole.len().saturating_sub(from_end) } else { (whole.len() as f64 * cut) as usize };
        let bytes = &whole[..cut];
        let (_folder, path) = file(bytes);
        let source = Source::open(&path).unwrap();
        if LogReader::open(&source).is_err() {
            return Ok(());
        }
        let before = fold(&source);
        prop_assert!(before.damage.is_none());
        // No call of the disk fails.
        let disk = FailingDisk::at(usize::MAX, false);
        let mended = break_lock(&path, &disk).unwrap();
        let after = refold(&path);
        prop_assert!(after.damage.is_none() && after.torn.is_none());
        prop_assert!(!matches!(after.session.lock(), LockState::Held(_)));
        let added = mended.unlock.map_or(0, |unlock| unlock.records.len() as u64);
        prop_assert_eq!(after.session.events, before.session.events + added);
        prop_assert!(after.session.surface.seqs().starts_with(before.session.surface.seqs()));
        let new = fs::read(&path).unwrap();
        let kept = bytes.len() - mended.tail.map_or(0, |tail| usize::try_from(tail.bytes).unwrap());
        prop_assert!(new.starts_with(&bytes[..kept]));
        prop_assert_eq!(break_lock(&path, &disk).unwrap(), Mended::default());
        prop_assert_eq!(fs::read(&path).unwrap(), new);
    }
}
