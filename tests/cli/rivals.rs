//! Two compactions of one log at once: one wins, the other says why it did not.

use crate::sandbox::{Sandbox, fixture, lines, text};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::{Child, Output, Stdio};

const ROUNDS: usize = 100;

/// What a run says of its one log, and its exit code.
fn told(output: &Output) -> (Value, i32) {
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    (document["files"][0].clone(), output.status.code().unwrap())
}

fn start(sandbox: &Sandbox, log: &Path, turns: &str) -> Child {
    sandbox
        .command(&["compact", text(log), "--keep-turns", turns, "--format", "json"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

fn of_type(log: &Path, event_type: &str) -> usize {
    lines(log).iter().filter(|line| line["type"] == event_type).count()
}

fn compete(name: &str) {
    let sandbox = Sandbox::new();
    for round in 0..ROUNDS {
        let log = sandbox.copy(fixture(name));
        let (old, summaries) = (fs::read(&log).unwrap(), of_type(&log, "compaction/summary"));
        let both = ["2", "1"].map(|turns| start(&sandbox, &log, turns));
        let both = both.map(|child| told(&child.wait_with_output().unwrap()));
        let winners = both.iter().filter(|(file, _)| file["status"] == "compacted").count();
        let case = format!("{name}, round {round}: {both:?}");
        assert!(winners > 0, "{case}");
        for (file, code) in &both {
            match file["status"].as_str().unwrap() {
                "compacted" | "nothing_to_do" => assert_eq!(*code, 0, "{case}"),
                "refused" | "failed" => {
                    let reason = file["reason"]["code"].as_str().unwrap();
                    assert!(["busy", "changed", "in_use"].contains(&reason), "{case}");
                    assert!([4, 5].contains(code), "{case}");
                }
                _ => panic!("{case}"),
            }
        }
        assert!(fs::read(&log).unwrap().starts_with(&old), "{case}");
        let (report, code) = sandbox.json(&["verify", text(&log)]);
        assert_eq!((code, &report["files"][0]["status"]), (0, &json!("clean")), "{case}");
        assert_eq!(of_type(&log, "compaction/summary") - summaries, winners, "{case}");
        assert_eq!(report["files"][0]["lock"]["state"], json!("free"), "{case}");
    }
}

#[test]
fn of_two_compactions_at_once_one_wins_raw() {
    compete("demo/session.jsonl");
}

#[test]
fn of_two_compactions_at_once_one_wins_zstd() {
    compete("demo-zstd/session.jsonl.zstd");
}
