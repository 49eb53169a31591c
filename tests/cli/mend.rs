//! What is cut and appended where a log's writer is gone, held against what dsh does when it opens the log.

use crate::official::{judge, judge_strictly};
use crate::sandbox::{Sandbox, corpus, fixture, lines, text};
use dshc::log::append::{Appender, RealDisk, zstd_frame};
use dshc::log::{LogReader, Source};
use dshc::mend::{self, Mended};
use dshc::session::{self, Folded, Keep, Stop};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

/// Every how many lines of a log its writer is stopped.
const STRIDE: usize = 7;

fn fold(source: &Source) -> Folded {
    session::fold(&mut LogReader::open(source).unwrap(), Keep::Messages, Stop::default()).unwrap()
}

fn break_lock(path: &Path) -> Mended {
    let mut appender = Appender::open(path, &RealDisk).unwrap();
    let mut folded = fold(&appender.source().unwrap());
    let mended = mend::open_for_work(&mut appender, &mut folded).unwrap();
    if let Some(unlock) = &mended.unlock {
        appender.append(&unlock.records).unwrap();
    }
    mended
}

fn is_zstd(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "zstd")
}

/// Appends a bracket that belongs to no turn, so that none may close it inside one.
fn with_lock(sandbox: &Sandbox, log: &Path, name: &str) -> PathBuf {
    let session = fold(&Source::open(log).unwrap()).session;
    let (seq, time) = (session.events, session.last_time.unwrap());
    let start = format!(
        "{{\"type\":\"compaction/start\",\"seq\":{seq},\"time\":{time},\"data\":{{\"compactionId\":\"x\",\"turn\":null}}}}\n"
    );
    let added = if is_zstd(log) { zstd_frame(start.as_bytes()).unwrap() } else { start.into_bytes() };
    sandbox.write(name, &[fs::read(log).unwrap(), added].concat())
}

/// A raw log as dsh compresses it: the header in a frame of its own, then the events, of which `cut` bytes are missing.
fn compressed(sandbox: &Sandbox, log: &Path, cut: usize, name: &str) -> PathBuf {
    let raw = fs::read(log).unwrap();
    let header = raw.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    let events = zstd_frame(&raw[header..]).unwrap();
    let bytes = [zstd_frame(&raw[..header]).unwrap(), events[..events.len() - cut].to_vec()].concat();
    sandbox.write(name, &bytes)
}

/// Logs of format 0 whose lock only a seed boundary voids, most of them with an open turn.
fn locked_logs(sandbox: &Sandbox) -> Vec<PathBuf> {
    let mut logs = Vec::new();
    for (index, (log, _)) in corpus().into_iter().enumerate() {
        let name = log.file_name().unwrap().to_str().unwrap();
        logs.push(with_lock(sandbox, &log, &format!("planted-corpus-{index}/{name}")));
    }
    // A writer that was stopped behind any line.
    let text = fs::read_to_string(fixture("demo/session.jsonl")).unwrap();
    let ends: Vec<usize> = text.match_indices('\n').map(|(at, _)| at + 1).collect();
    for (index, end) in ends.iter().enumerate().skip(1).step_by(STRIDE) {
        let log = sandbox.write(&format!("planted-{index}.jsonl"), &text.as_bytes()[..*end]);
        logs.push(with_lock(sandbox, &log, &format!("planted-{index}/session.jsonl")));
    }
    for name in ["calls.v0.jsonl", "rows.v0.jsonl"] {
        let log = fixture(&format!("interrupted/{name}"));
        logs.push(sandbox.copy(&log));
        for cut in [0, 2, 200] {
            logs.push(compressed(sandbox, &log, cut, &format!("{cut}/{name}.zstd")));
        }
    }
    logs
}

/// The texts of results whose outcome is unknown are free: both sides lose them.
fn without_free_text(mut event: Value) -> Value {
    if event["data"]["error"]["code"] == json!("TOOL_OUTCOME_UNKNOWN") {
        let text = &mut event["data"]["message"]["content"][0]["content"][0]["text"];
        assert!(text.as_str().is_some_and(|text| !text.is_empty()));
        *text = Value::Null;
    }
    event
}

#[test]
fn closers_are_those_that_dsh_writes() {
    let sandbox = Sandbox::new();
    let logs = locked_logs(&sandbox);
    let Some(verdicts) = judge(&logs, &["--closers"]) else { return };
    let mut codes = Vec::new();
    for (log, verdict) in logs.iter().zip(&verdicts) {
        assert_eq!(verdict["loads"], json!(true), "{verdict}");
        let mended = break_lock(log);
        let Some(unlock) = mended.unlock else {
            assert_eq!(verdict["stored"]["lock"]["held"], json!(false), "{verdict}");
            continue;
        };
        let parse = |record: &String| serde_json::from_str::<Value>(record).unwrap();
        let mut records: Vec<Value> = unlock.records.iter().map(parse).collect();
        let last = records.pop().unwrap();
        let is_bracket = last["type"] == json!("compaction/end");
        assert!(is_bracket || last["type"] == json!("session/end-seed"));
        codes.extend(
            records.iter().filter_map(|record| record["data"]["error"]["code"].as_str().map(str::to_owned)),
        );
        let ours: Vec<Value> = records.into_iter().map(without_free_text).collect();
        let theirs = verdict["closers"].as_array().unwrap().iter().cloned().map(without_free_text);
        // Where an end closes the bracket, the turn stays open.
        assert!(is_bracket || ours == theirs.collect::<Vec<_>>(), "{}: {ours:#?}", log.display());
    }
    for code in ["TOOL_NOT_STARTED", "TOOL_OUTCOME_UNKNOWN"] {
        assert!(codes.iter().filter(|found| **found == code).count() > 3, "{codes:?}");
    }
    for verdict in judge(&logs, &[]).unwrap() {
        // A start between turns that stands inside one is wrong whatever follows.
        let is_planted = verdict["path"].as_str().unwrap().contains("/planted-");
        assert!(is_planted || verdict["invariants"] == json!("ok"), "{verdict}");
        assert_eq!(
            (&verdict["loads"], &verdict["resumed"]),
            (&json!(true), &json!("as stored")),
            "{verdict}"
        );
        assert_eq!(verdict["stored"]["lock"]["held"], json!(false), "{verdict}");
        assert_eq!(verdict["opened"]["keepsBytes"], json!(true), "{verdict}");
    }
    for verdict in judge_strictly(&logs).unwrap() {
        assert_eq!(verdict["ok"], json!(true), "{verdict}");
    }
}

#[test]
fn what_dsh_reads_of_a_torn_log_stands_in_the_mended_one() {
    let sandbox = Sandbox::new();
    let largest = fixture("corpus/compacted-raw/--home-dev-project-1--/gen-13-1/session.jsonl");
    let mut logs = Vec::new();
    for (name, whole) in [
        ("one-frame", fs::read(compressed(&sandbox, &largest, 0, "whole.zstd")).unwrap()),
        ("frames", fs::read(fixture("demo-zstd/session.jsonl.zstd")).unwrap()),
    ] {
        let cuts = (1..16).map(|part| whole.len() * part / 16).chain(whole.len() - 4..whole.len());
        logs.extend(
            cuts.map(|cut| sandbox.write(&format!("{name}-{cut}/session.jsonl.zstd"), &whole[..cut])),
        );
    }
    let Some(before) = judge(&logs, &[]) else { return };
    let recovered =
        logs.iter().filter_map(|log| break_lock(log).tail).filter(|tail| tail.recovered > 0).count();
    assert!(recovered > 5, "{recovered} logs of which something was recovered");
    for (before, after) in before.iter().zip(judge(&logs, &[]).unwrap()) {
        assert_eq!((&before["loads"], &after["loads"]), (&json!(true), &json!(true)), "{after}");
        assert_eq!(before["stored"], after["stored"]);
        assert_eq!(after["opened"]["keepsBytes"], json!(true), "no tail is torn: {after}");
    }
}

#[test]
fn a_mended_log_of_every_format_is_clean_and_can_be_upgraded() {
    let sandbox = Sandbox::new();
    let mut logs = Vec::new();
    for version in 0..=4 {
        let log = sandbox.copy(fixture(&format!("interrupted/calls.v{version}.jsonl")));
        assert_eq!(break_lock(&log).unlock.unwrap().records.len(), 5);
        let run = sandbox.run(&["verify", text(&log)]);
        assert_eq!(run.code, 0, "format {version}: {run:?}");
        logs.push(log);
    }
    let ends = ["held-no-turn", "orphan-open-turn"]
        .map(|name| sandbox.copy(fixture(&format!("locks/{name}.jsonl"))));
    for log in &ends {
        break_lock(log);
        let last = lines(log).pop().unwrap();
        assert_eq!(last["type"], json!("compaction/end"));
        assert!(last["data"]["error"].is_string());
        assert_eq!(sandbox.run(&["verify", text(log), "--fail-on", "warning"]).code, 0);
    }
    for verdict in judge(&ends, &[]).unwrap_or_default() {
        assert_eq!((&verdict["loads"], &verdict["invariants"]), (&json!(true), &json!("ok")), "{verdict}");
        assert_eq!(verdict["stored"]["lock"]["held"], json!(false), "{verdict}");
    }
    let judged = [&logs[..4], &ends[..]].concat();
    for verdict in judge_strictly(&judged).unwrap_or_default() {
        assert_eq!(verdict["ok"], json!(true), "{verdict}");
        let upgrades = verdict["upgrades"].as_object().unwrap();
        assert!(upgrades.values().all(|upgrade| *upgrade == json!("ok")), "{verdict}");
    }
}
