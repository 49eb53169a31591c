//! `dshc compact --strategy drop`: a note takes the region's place, without a model.

use crate::official::{judge, judge_strictly};
use crate::sandbox::{Sandbox, alarms, column, fixture, lines, text};
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;

/// Logs of all formats and both containers; the last two end inside a turn.
const LOGS: [(u64, &str); 7] = [
    (0, "demo/session.jsonl"),
    (0, "demo-zstd/session.jsonl.zstd"),
    (2, "corpus/upgraded/v2/--home-dev-project-0--/gen-11-0/session.v2.jsonl"),
    (3, "corpus/upgraded/v3/--home-dev-project-0--/gen-11-0/session.v3.jsonl"),
    (4, "corpus/upgraded/v4/--home-dev-project-0--/gen-12-0/session.v4.jsonl"),
    (0, "corpus/crashed-raw/--home-dev-project-0--/gen-14-0/session.jsonl"),
    (3, "corpus/upgraded/v3/--home-dev-project-0--/gen-14-0/session.v3.jsonl"),
];

/// The region from the first node that may go to before the last prompt, so that the task is in it.
fn whole(view: &Value) -> String {
    let nodes = view["surface"].as_array().unwrap();
    let first = nodes.iter().find(|node| node["role"] != "system").unwrap();
    let last = nodes.iter().rposition(|node| node["source"] == "user").unwrap() - 1;
    format!("{}..{}", first["seq"], nodes[last]["seq"])
}

#[test]
fn a_note_stands_in_a_full_bracket_and_the_task_beside_it() {
    let sandbox = Sandbox::new();
    let mut results = Vec::new();
    for (index, (version, name)) in LOGS.into_iter().enumerate() {
        let path = fixture(name);
        let file_name = path.file_name().unwrap().to_str().unwrap();
        let log = sandbox.write(&format!("{index}/{file_name}"), &fs::read(&path).unwrap());
        let (old, known) = (fs::read(&log).unwrap(), lines(&log).len());
        let (before, _) = sandbox.json(&["replay", text(&log)]);
        let region = whole(&before);
        let (report, code) =
            sandbox.json(&["compact", text(&log), "--strategy", "drop", "--region", &region]);
        let file = &report["files"][0];
        assert_eq!(
            (code, &file["status"], &file["task"]),
            (0, &json!("compacted"), &json!("carried")),
            "{file}"
        );
        for (member, expected) in [("kind", "drop"), ("provider", "dshc"), ("model", "drop")] {
            assert_eq!(file["summarizer"][member], expected, "{name}");
        }
        assert!(fs::read(&log).unwrap().starts_with(&old));

        let all = lines(&log);
        let added = &all[known..];
        assert_eq!(
            column(&json!(added), "type"),
            ["compaction/start", "compaction/summary", "user/message", "compaction/end"]
        );
        let data = |at: usize| &added[at]["data"];
        assert_eq!((&data(1)["provider"], &data(1)["model"]), (&json!("dshc"), &json!("drop")));
        assert_eq!(data(0)["turn"], before["openTurn"], "{name}");
        assert!(data(3).get("error").is_none());
        assert!(added.iter().all(|record| record["time"] == all[known - 1]["time"]), "{name}");
        let note = data(1)["summary"][0]["text"].as_str().unwrap();
        let (first, last) = region.split_once("..").unwrap();
        assert!(note.starts_with(&format!("Left out without a summary, seqs {first} to {last}")), "{note}");
        assert!(note.contains("`dshc replay --expand`") && !note.contains('\n'), "{note}");
        let task = all.iter().find(|record| record["seq"] == before["task"]["seq"]).unwrap();
        let content = data(2)["content"].as_array().unwrap();
        assert!(content.contains(&task["data"]["content"][0]), "{name}");

        let seq = file["checkpointSeq"].to_string();
        let (view, _) = sandbox.json(&["replay", text(&log), "--expand", &seq]);
        assert_eq!(json!(column(&view["expanded"], "seq")), file["region"]["seqs"], "{name}");
        assert!(alarms(&sandbox.json(&["verify", text(&log)]).0).is_empty(), "{name}");
        results.push((version, log));
    }
    are_taken(&results);
}

fn are_taken(results: &[(u64, PathBuf)]) {
    let of = |is_known: fn(u64) -> bool| -> Vec<PathBuf> {
        results.iter().filter(|(version, _)| is_known(*version)).map(|(_, log)| log.clone()).collect()
    };
    for verdict in judge(&of(|version| version == 0), &[]).unwrap_or_default() {
        assert_eq!((&verdict["loads"], &verdict["invariants"]), (&json!(true), &json!("ok")), "{verdict}");
        assert_eq!(verdict["stored"]["lock"]["held"], json!(false), "{verdict}");
    }
    for verdict in judge_strictly(&of(|version| version < 4)).unwrap_or_default() {
        let upgrades = verdict["upgrades"].as_object().unwrap();
        assert!(
            verdict["ok"] == json!(true) && upgrades.values().all(|upgrade| upgrade == "ok"),
            "{verdict}"
        );
    }
}

#[test]
fn what_an_earlier_checkpoint_said_is_told_to_be_left_out() {
    let sandbox = Sandbox::new();
    let log = sandbox.copy(fixture("demo/session.jsonl"));
    let drop = |turns| {
        let (report, code) =
            sandbox.json(&["compact", text(&log), "--strategy", "drop", "--keep-turns", turns]);
        assert_eq!((code, &report["files"][0]["task"]), (0, &json!("node")), "{report}");
        let summary = lines(&log).into_iter().rfind(|record| record["type"] == "compaction/summary").unwrap();
        summary["data"]["summary"][0]["text"].as_str().unwrap().to_owned()
    };
    assert!(!drop("3").contains("checkpoint"));
    let second = drop("1");
    assert!(second.contains("what 1 earlier checkpoint said"), "{second}");
    assert_eq!(sandbox.run(&["verify", text(&log), "--fail-on", "warning"]).code, 0);
}

#[test]
fn the_same_is_planned_as_is_done() {
    let sandbox = Sandbox::new();
    let log = sandbox.copy(fixture("demo/session.jsonl"));
    let arguments = ["compact", text(&log), "--strategy", "drop", "--keep-turns", "2"];
    let (plan, _) = sandbox.json(&[&arguments[..], &["-n"]].concat());
    let (done, _) = sandbox.json(&arguments);
    for member in ["region", "hostTokens", "summarizer", "cache", "notes", "task"] {
        assert_eq!(plan["files"][0][member], done["files"][0][member], "{member}");
    }
}

#[test]
fn what_is_for_summaries_says_nothing_to_a_drop() {
    let sandbox = Sandbox::new();
    let log = sandbox.copy(fixture("demo/session.jsonl"));
    let old = fs::read(&log).unwrap();
    for (more, word) in [
        (&["--summarizer", "command", "--command", "cat"][..], "--summarizer command"),
        (&["--summarizer", "openai", "--base-url", "ollama", "--model", "m"], "--summarizer openai"),
        (&["--summarizer", "anthropic"], "--summarizer anthropic"),
        (&["--min-recall", "0.5"], "--min-recall"),
        (&["--complete-identifiers"], "--complete-identifiers"),
        (&["--timeout", "5"], "--timeout"),
        (&["--model", "m"], "--model"),
    ] {
        let run = sandbox.run(&[&["compact", text(&log), "--strategy", "drop"], more].concat());
        assert_eq!((run.code, run.out.as_str()), (2, ""), "{more:?}: {run:?}");
        assert!(run.err.contains(word) && run.err.contains("help: "), "{more:?}: {run:?}");
    }
    assert_eq!(fs::read(&log).unwrap(), old);
}
