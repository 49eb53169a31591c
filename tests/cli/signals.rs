//! Signals that reach `dshc compact` while a program makes the summary, sent by that program.

#![cfg(unix)]

use crate::command::ANSWER;
use crate::official::judge;
use crate::sandbox::{Run, Sandbox, alarms, demo, finding, fixture, lines, text};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Stdio;

/// A log between turns, and one inside a turn.
const LOGS: [&str; 2] =
    ["demo/session.jsonl", "corpus/crashed-raw/--home-dev-project-0--/gen-14-0/session.jsonl"];

fn arguments<'a>(logs: &[&'a str], line: &'a str) -> Vec<&'a str> {
    let options = ["--keep-turns", "2", "--summarizer", "command", "--command", line, "--format", "json"];
    [&["compact"], logs, &options[..]].concat()
}

fn digest(sandbox: &Sandbox, log: &Path) -> Value {
    sandbox.json(&["replay", text(log)]).0["digest"].take()
}

#[test]
fn a_signal_closes_the_bracket_and_replaces_nothing() {
    let sandbox = Sandbox::new();
    for name in LOGS {
        for signal in ["INT", "TERM", "HUP"] {
            let log = sandbox.copy(fixture(name));
            let (old, known, shown) = (fs::read(&log).unwrap(), lines(&log).len(), digest(&sandbox, &log));
            let line = format!("kill -{signal} $PPID; exec sleep 600");
            let run = sandbox.run(&arguments(&[text(&log)], &line));
            let report: Value = serde_json::from_str(&run.out).unwrap();
            let file = &report["files"][0];
            assert_eq!(run.code, 130, "{signal}: {run:?}");
            assert_eq!((&file["status"], &file["reason"]["code"]), (&json!("failed"), &json!("cancelled")));
            assert!(run.err.contains("interrupted") && run.err.contains("help: "), "{run:?}");
            assert!(fs::read(&log).unwrap().starts_with(&old));
            let all = lines(&log);
            let added: Vec<&Value> = all[known..].iter().collect();
            let [start, end] = added.as_slice() else { panic!("{added:?}") };
            assert_eq!(
                (&start["type"], &end["type"]),
                (&json!("compaction/start"), &json!("compaction/end"))
            );
            assert_eq!(end["data"]["turn"], start["data"]["turn"]);
            assert!(end["data"]["error"].as_str().unwrap().starts_with("cancelled: "), "{end}");
            assert_eq!(digest(&sandbox, &log), shown);
            let (report, _) = sandbox.json(&["verify", text(&log)]);
            assert!(alarms(&report).is_empty(), "{report}");
            assert_eq!(report["files"][0]["lock"]["state"], "free");
        }
    }
}

#[test]
fn of_several_logs_the_rest_is_not_begun() {
    let sandbox = Sandbox::new();
    let logs = ["a.jsonl", "b.jsonl", "c.jsonl"].map(|name| sandbox.write(name, &demo()));
    fs::write(sandbox.path("answer.md"), ANSWER).unwrap();
    let line = "if mkdir first 2>/dev/null; then cat answer.md; else kill -INT $PPID; exec sleep 600; fi";
    let run = sandbox.run(&arguments(&logs.each_ref().map(|log| text(log)), line));
    let report: Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!(run.code, 130, "{run:?}");
    let ends: Vec<&Value> = report["files"].as_array().unwrap().iter().map(|file| &file["status"]).collect();
    assert_eq!(ends, ["compacted", "failed"], "{report}");
    assert!(run.err.contains("interrupted: 1 of 3 logs were not begun"), "{run:?}");
    let types = logs.each_ref().map(|log| lines(log).last().unwrap()["type"].clone());
    assert_eq!(types[..2], ["compaction/end", "compaction/end"]);
    assert_eq!(fs::read(&logs[2]).unwrap(), demo());
}

#[test]
fn a_compaction_that_is_killed_says_how_to_go_on() {
    let sandbox = Sandbox::new();
    let mut results = Vec::new();
    for (index, name) in LOGS.into_iter().enumerate() {
        let old = fs::read(fixture(name)).unwrap();
        let log = sandbox.write(&format!("{index}/session.jsonl"), &old);
        let (known, shown) = (lines(&log).len(), digest(&sandbox, &log));
        let mut command = sandbox.command(&arguments(&[text(&log)], "kill -9 $PPID"));
        let output = command.stdin(Stdio::null()).output().unwrap();
        assert_eq!(output.status.signal(), Some(9), "{output:?}");
        let orphan = lines(&log)[known]["seq"].clone();
        let (report, code) = sandbox.json(&["verify", text(&log)]);
        assert_eq!((code, &finding(&report["files"][0], "orphaned-lock")["seq"]), (1, &orphan), "{report}");
        assert_eq!(digest(&sandbox, &log), shown);

        let bytes = fs::read(&log).unwrap();
        let compact = ["compact", text(&log), "--keep-turns", "2"];
        let run = sandbox.run(&compact);
        assert_eq!(run.code, 4, "{run:?}");
        assert!(
            run.err.contains(&format!("since seq {orphan}")) && run.err.contains("--break-lock"),
            "{run:?}"
        );
        assert!(fs::read(&log).unwrap() == bytes);

        let run: Run = sandbox.run(&[&compact[..], &["--break-lock"]].concat());
        assert_eq!(run.code, 0, "{run:?}");
        let new = fs::read(&log).unwrap();
        assert!(new.starts_with(&bytes) && bytes.starts_with(&old));
        let (report, _) = sandbox.json(&["verify", text(&log)]);
        assert!(alarms(&report).is_empty(), "{report}");
        results.push(log);
    }
    for verdict in judge(&results, &[]).unwrap_or_default() {
        assert_eq!((&verdict["loads"], &verdict["invariants"]), (&json!(true), &json!("ok")), "{verdict}");
        assert_eq!(verdict["stored"]["lock"]["held"], json!(false), "{verdict}");
    }
}
