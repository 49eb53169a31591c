//! `dshc compact --prune`: oversized tool results are made shorter first, without a model.

use crate::official::{judge, judge_strictly};
use crate::sandbox::{Sandbox, column, decoded, fixture, lines, text};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

/// A session with eight long results, none of them in its last turn.
const SESSION: &str = "--home-dev-project-1--/gen-16-1";

const TAIL: [&str; 3] = ["--prune", "--keep-turns", "1"];

/// The text of the session's log in a format.
fn bulky(version: u64) -> Vec<u8> {
    match version {
        0 => decoded(&fixture(&format!("corpus/bulky-results/{SESSION}/session.jsonl.zstd"))),
        // Format 1 differs from format 0 in nothing that stands in this log.
        1 => String::from_utf8(bulky(0)).unwrap().replacen("\"version\":0", "\"version\":1", 1).into_bytes(),
        _ => fs::read(fixture(&format!("corpus/upgraded/v{version}/{SESSION}/session.v{version}.jsonl")))
            .unwrap(),
    }
}

/// The session's log in every format, and in format 0 also compressed.
fn logs(sandbox: &Sandbox) -> Vec<(u64, PathBuf)> {
    let raw = (0..=4).map(|version| {
        let file = if version == 0 { "session.jsonl".into() } else { format!("session.v{version}.jsonl") };
        (version, sandbox.write(&format!("{version}/{file}"), &bulky(version)))
    });
    let zstd = fs::read(fixture(&format!("corpus/bulky-results/{SESSION}/session.jsonl.zstd"))).unwrap();
    raw.chain([(0, sandbox.write("zstd/session.jsonl.zstd", &zstd))]).collect()
}

fn compact(sandbox: &Sandbox, log: &Path, more: &[&str]) -> Value {
    let (report, code) = sandbox.json(&[&["compact", text(log)], &TAIL[..], more].concat());
    assert_eq!(code, 0, "{report}");
    report["files"][0].clone()
}

fn types(records: &[Value]) -> Vec<&str> {
    records.iter().map(|record| record["type"].as_str().unwrap()).collect()
}

fn is_clean(sandbox: &Sandbox, log: &Path) {
    let run = sandbox.run(&["verify", text(log), "--fail-on", "warning"]);
    assert_eq!(run.code, 0, "{run:?}");
}

/// The judges take the logs of the formats that they know, whose surface is the planned one.
fn are_taken(sandbox: &Sandbox, logs: &[(u64, PathBuf)]) {
    let of = |is_known: fn(u64) -> bool| -> Vec<PathBuf> {
        logs.iter().filter(|(version, _)| is_known(*version)).map(|(_, log)| log.clone()).collect()
    };
    let oldest = of(|version| version == 0);
    for (log, verdict) in oldest.iter().zip(judge(&oldest, &[]).unwrap_or_default()) {
        assert_eq!((&verdict["loads"], &verdict["invariants"]), (&json!(true), &json!("ok")), "{verdict}");
        let (view, _) = sandbox.json(&["replay", text(log)]);
        assert_eq!(verdict["stored"]["surface"], json!(column(&view["surface"], "seq")));
        assert_eq!(verdict["stored"]["estimate"], view["hostTokens"], "{verdict}");
    }
    for verdict in judge_strictly(&of(|version| version < 4)).unwrap_or_default() {
        assert_eq!(verdict["ok"], json!(true), "{verdict}");
        let upgrades = verdict["upgrades"].as_object().unwrap();
        assert!(upgrades.values().all(|upgrade| upgrade == "ok"), "{verdict}");
    }
}

#[test]
fn where_pruning_is_enough_no_summary_is_made() {
    let sandbox = Sandbox::new();
    let logs = logs(&sandbox);
    let over = ["--over", "20000", "--summarizer", "command", "--command", "touch asked; exit 1"];
    for (version, log) in &logs {
        let old = fs::read(log).unwrap();
        let known = lines(log).len();
        let (before, _) = sandbox.json(&["replay", text(log)]);
        let file = compact(&sandbox, log, &over);
        assert_eq!(file["status"], "compacted", "{file}");
        assert!(file.get("region").is_none() && file.get("compactionId").is_none(), "{file}");
        assert!(!sandbox.path("asked").exists());
        let pruned = file["pruned"].as_array().unwrap();
        assert_eq!(pruned.len(), 8, "format {version}: {file}");
        assert!(fs::read(log).unwrap().starts_with(&old));

        let added = &lines(log)[known..];
        let pairs = ["compaction/prune", "tool/result"].repeat(8);
        assert_eq!(types(added), [&["turn/start"], &pairs[..], &["turn/end"]].concat(), "format {version}");
        let (after, _) = sandbox.json(&["replay", text(log)]);
        assert_eq!(after["hostTokens"], file["hostTokens"]["after"]);
        assert!(after["hostTokens"].as_u64().unwrap() < 20_000, "{file}");
        assert_eq!((&after["openTurn"], &after["lock"]["state"]), (&Value::Null, &json!("free")));
        is_clean(&sandbox, log);
        for one in pruned {
            let seq = one["replacementSeq"].to_string();
            let (view, _) = sandbox.json(&["replay", text(log), "--expand", &seq]);
            let original =
                before["surface"].as_array().unwrap().iter().find(|node| node["seq"] == one["seq"]);
            assert_eq!(&view["expanded"][0]["hostTokens"], &original.unwrap()["hostTokens"], "{view}");
            assert_eq!(view["expanded"][0]["seq"], one["seq"]);
            assert!(one["after"].as_u64() < one["before"].as_u64());
        }

        let old = fs::read(log).unwrap();
        let again = compact(&sandbox, log, &over);
        assert_eq!((&again["status"], again.get("pruned")), (&json!("nothing_to_do"), None), "{again}");
        assert!(fs::read(log).unwrap() == old, "format {version}");
    }
    are_taken(&sandbox, &logs);
}

#[test]
fn where_pruning_is_not_enough_a_summary_follows() {
    let sandbox = Sandbox::new();
    let logs = logs(&sandbox);
    for (_, log) in &logs {
        let file = compact(&sandbox, log, &["--over", "5000"]);
        assert_eq!((&file["status"], &file["task"]), (&json!("compacted"), &json!("node")), "{file}");
        assert_eq!(file["pruned"].as_array().unwrap().len(), 8);
        assert!(file["hostTokens"]["after"].as_u64().unwrap() < 5_000, "{file}");
        let hidden = file["region"]["seqs"].as_array().unwrap();
        for one in file["pruned"].as_array().unwrap() {
            assert!(hidden.contains(&one["replacementSeq"]) && !hidden.contains(&one["seq"]), "{file}");
        }
        is_clean(&sandbox, log);
    }
    are_taken(&sandbox, &logs);
}

#[test]
fn a_later_compaction_hides_what_was_pruned() {
    let sandbox = Sandbox::new();
    let logs = logs(&sandbox);
    for (_, log) in &logs {
        compact(&sandbox, log, &["--over", "20000"]);
        let file = compact(&sandbox, log, &["--no-keep-task"]);
        assert_eq!((&file["status"], file.get("pruned")), (&json!("compacted"), None), "{file}");
        let run = sandbox.run(&["verify", text(log)]);
        assert_eq!(run.code, 0, "{run:?}");
    }
    are_taken(&sandbox, &logs);
}

#[test]
fn a_dry_run_tells_what_the_real_one_does() {
    let sandbox = Sandbox::new();
    for over in [&[][..], &["--over", "20000"], &["--over", "5000"], &["--over", "100"]] {
        let log = sandbox.write("session.v3.jsonl", &bulky(3));
        let old = fs::read(&log).unwrap();
        let mut plan = compact(&sandbox, &log, &[over, &["-n"]].concat());
        assert_eq!(plan["status"], "planned", "{plan}");
        assert!(fs::read(&log).unwrap() == old);
        let mut done = compact(&sandbox, &log, over);
        for member in ["status", "bytes", "compactionId", "startSeq", "summarySeq", "checkpointSeq", "endSeq"]
        {
            plan.as_object_mut().unwrap().remove(member);
            done.as_object_mut().unwrap().remove(member);
        }
        assert_eq!(plan, done, "{over:?}");
    }
}

#[test]
fn in_an_open_turn_results_are_rewritten_without_one_of_their_own() {
    let sandbox = Sandbox::new();
    let mut logs = Vec::new();
    for version in 0..=4 {
        let whole = String::from_utf8(bulky(version)).unwrap();
        let (open, _) = whole.trim_end().rsplit_once('\n').unwrap();
        let log = sandbox.write(&format!("{version}/copy.v{version}.jsonl"), format!("{open}\n").as_bytes());
        let known = lines(&log).len();
        let file = compact(&sandbox, &log, &["--over", "20000"]);
        assert_eq!(file["status"], "compacted", "{file}");
        let all = lines(&log);
        assert_eq!(types(&all[known..]), ["compaction/prune", "tool/result"].repeat(8), "format {version}");
        assert_eq!(sandbox.json(&["replay", text(&log)]).0["openTurn"], json!(8));
        is_clean(&sandbox, &log);
        logs.push((version, log));
    }
    are_taken(&sandbox, &logs);
}

#[test]
fn what_was_made_shorter_stays_so_where_no_summary_comes() {
    let sandbox = Sandbox::new();
    let log = sandbox.write("session.jsonl", &bulky(0));
    let failing = ["--summarizer", "command", "--command", "exit 7", "--format", "json"];
    let run = sandbox.run(&[&["compact", text(&log)], &TAIL[..], &failing].concat());
    let report: Value = serde_json::from_str(&run.out).unwrap();
    let file = &report["files"][0];
    assert_eq!((run.code, &file["reason"]["code"]), (5, &json!("summary")), "{file}");
    assert_eq!(file["pruned"].as_array().unwrap().len(), 8);
    let (view, _) = sandbox.json(&["replay", text(&log)]);
    assert_eq!(file["hostTokens"]["after"], view["hostTokens"], "{file}");
    assert_eq!(lines(&log).last().unwrap()["type"], "compaction/end");
    assert_eq!(sandbox.run(&["verify", text(&log)]).code, 0);
    let file = compact(&sandbox, &log, &[]);
    assert_eq!((&file["status"], file.get("pruned")), (&json!("compacted"), None), "{file}");
}

#[test]
fn people_are_told_what_was_made_shorter_and_where_it_stands() {
    let sandbox = Sandbox::new();
    let log = sandbox.write("session.v2.jsonl", &bulky(2));
    let known = lines(&log).len() as u64 - 1;
    let run = sandbox.run(&[&["compact", text(&log), "--over", "20000"], &TAIL[..]].concat());
    assert!(run.out.contains("8 tool results made shorter: 36,544 host tokens become"), "{run:?}");
    // The turn of their own, from its start to its end.
    let appended = format!("appended seqs {known}..{}, ", known + 17);
    assert!(run.out.contains(&appended), "{appended}: {run:?}");
}

#[test]
fn a_named_region_is_not_pruned() {
    let sandbox = Sandbox::new();
    let log = sandbox.write("session.v2.jsonl", &bulky(2));
    let run = sandbox.run(&["compact", text(&log), "--prune", "--region", "3..70"]);
    assert_eq!((run.code, run.out.as_str()), (2, ""), "{run:?}");
    assert!(run.err.contains("--prune") && run.err.contains("--region"), "{run:?}");
}
