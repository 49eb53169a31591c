//! Signals that reach `dshc compact` while a program makes the summary, sent by that program.

#![cfg(unix)]

use crate::command::ANSWER;
use crate::official::judge;
use crate::sandbox::{HEADER, Run, Sandbox, alarms, column, demo, finding, fixture, lines, text};
use crate::schemas::{faults, validator};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};

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
    let arguments = arguments(&logs.each_ref().map(|log| text(log)), line);
    let run = sandbox.run(&[&arguments[..], &["-j1", "--concurrency", "1"]].concat());
    let report: Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!(run.code, 130, "{run:?}");
    let mut ends = column(&report["files"], "status");
    ends.sort_by_key(Value::to_string);
    assert_eq!(ends, ["compacted", "failed"], "{report}");
    assert!(run.err.contains("interrupted: 1 of 3 logs were not begun"), "{run:?}");
    assert_eq!((&report["interrupted"], &report["summary"]["notBegun"]), (&json!(true), &json!(1)));
    assert_eq!(faults(&validator("docs/compact.schema.json"), &report), [""; 0]);
    let untouched = logs.iter().filter(|log| fs::read(log).unwrap() == demo());
    assert_eq!(untouched.count(), 1);
    for file in report["files"].as_array().unwrap() {
        let log = sandbox.path(file["path"].as_str().unwrap());
        assert_eq!(lines(&log).last().unwrap()["type"], "compaction/end");
    }
}

#[test]
fn all_that_is_asked_at_once_is_brought_to_its_end() {
    let sandbox = Sandbox::new();
    let names = ["a.jsonl", "b.jsonl", "c.jsonl", "d.jsonl"];
    let logs = names.map(|name| sandbox.write(name, &demo()));
    assert!(Command::new("mkfifo").arg(sandbox.path("meet")).status().unwrap().success());
    // The signal is sent when two programs run at once: a pipe opens when both its ends are.
    let line = "if mkdir first 2>/dev/null; then read x <meet; else echo x >meet; kill -INT $PPID; fi; exec sleep 600";
    let arguments = arguments(&logs.each_ref().map(|log| text(log)), line);
    let run = sandbox.run(&[&arguments[..], &["-j1", "--concurrency", "2"]].concat());
    let report: Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!((run.code, column(&report["files"], "status")), (130, vec![json!("failed"), json!("failed")]));
    assert_eq!(report["summary"]["notBegun"], json!(2), "{report}");
    for log in &logs {
        let (report, _) = sandbox.json(&["verify", text(log)]);
        assert!(alarms(&report).is_empty(), "{report}");
        assert_eq!(report["files"][0]["lock"]["state"], "free");
    }
}

/// A log so long that no machine reads it to its end. Its reader has it open once it listens for signals.
#[cfg(target_os = "linux")]
#[test]
fn a_check_stops_within_a_log() {
    let sandbox = Sandbox::new();
    let long = sandbox.write("long.jsonl", format!("{HEADER}\n").as_bytes());
    fs::File::options().write(true).open(&long).unwrap().set_len(1 << 42).unwrap();
    let short = sandbox.write("short.jsonl", &demo());
    let mut command = sandbox.command(&["verify", text(&long), text(&short), "-j1", "--format", "json"]);
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let files = format!("/proc/{}/fd", child.id());
    let is_open = || {
        let open = fs::read_dir(&files).into_iter().flatten().flatten();
        open.filter_map(|file| fs::read_link(file.path()).ok())
            .any(|file| file == long.canonicalize().unwrap())
    };
    while !is_open() {
        std::thread::yield_now();
    }
    let asked = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(asked.success());
    let run = Run::of(child.wait_with_output().unwrap());
    let report: Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!((run.code, &report["files"], &report["interrupted"]), (130, &json!([]), &json!(true)));
    assert_eq!(report["summary"]["notBegun"], json!(2));
    assert_eq!(faults(&validator("docs/verify.schema.json"), &report), [""; 0]);
    assert!(run.err.contains("interrupted: 2 of 2 logs were not looked at"), "{run:?}");
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
