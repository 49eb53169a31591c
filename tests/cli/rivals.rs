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

/// A pipe with a name.
#[cfg(unix)]
fn pipe(sandbox: &Sandbox, name: &str) -> std::path::PathBuf {
    let pipe = sandbox.path(name);
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    pipe
}

#[test]
#[cfg(unix)]
fn while_one_waits_for_its_summary_every_other_is_turned_away() {
    let sandbox = Sandbox::new();
    let log = sandbox.copy(fixture("demo/session.jsonl"));
    fs::write(sandbox.path("answer.md"), crate::command::ANSWER).unwrap();
    let (begun, go) = (pipe(&sandbox, "begun"), pipe(&sandbox, "go"));
    let line = "echo begun >begun; cat go; cat answer.md";
    let arguments = ["compact", text(&log), "--keep-turns", "2", "--format", "json"];
    let program = ["--summarizer", "command", "--command", line];
    let mut command = sandbox.command(&[&arguments[..], &program].concat());
    let first = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    assert_eq!(fs::read_to_string(begun).unwrap(), "begun\n");

    let locked = fs::read(&log).unwrap();
    for more in [&[][..], &["--break-lock"], &["--assume-idle"], &["-n"], &["-o", "new.jsonl"]] {
        let (report, code) = sandbox.json(&[&["compact", text(&log), "--keep-turns", "1"], more].concat());
        let reason = &report["files"][0]["reason"];
        assert_eq!((code, &reason["code"]), (4, &json!("busy")), "{more:?}: {report}");
        assert!(fs::read(&log).unwrap() == locked && !sandbox.path("new.jsonl").exists(), "{more:?}");
    }
    fs::write(go, "").unwrap();
    let (file, code) = told(&first.wait_with_output().unwrap());
    assert_eq!((code, &file["status"]), (0, &json!("compacted")), "{file}");
    assert!(fs::read(&log).unwrap().starts_with(&locked));
    assert_eq!(sandbox.run(&["verify", text(&log), "--fail-on", "warning"]).code, 0);
}

#[test]
fn of_two_compactions_at_once_one_wins_raw() {
    compete("demo/session.jsonl");
}

#[test]
fn of_two_compactions_at_once_one_wins_zstd() {
    compete("demo-zstd/session.jsonl.zstd");
}
