//! `dshc compact --summarizer command`: a program makes the summary.

#![cfg(unix)]

use crate::sandbox::{Sandbox, alarms, corpus, fixture, lines, text};
use crate::schemas::{faults, validator};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A summary with all its sections.
pub const ANSWER: &str = "\
## Primary Request and Intent
- Mend the rounding of negative seconds in `src/day.rs`. Done.

## Key Technical Concepts
- Euclidean division.

## Files and Code
- src/day.rs

## Errors and Fixes
(none)

## Pending Jobs
(none)

## Current Work
- Tests pass.

## Next Step
(none)

## Critical Context
- Days begin at midnight.
";

/// A sandbox with the demo log and `answer.md`.
fn desk() -> (Sandbox, PathBuf) {
    let sandbox = Sandbox::new();
    let log = sandbox.copy(fixture("demo/session.jsonl"));
    fs::write(sandbox.path("answer.md"), ANSWER).unwrap();
    (sandbox, log)
}

fn arguments<'a>(log: &'a Path, line: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let base = ["compact", text(log), "--keep-turns", "2", "--summarizer", "command", "--command", line];
    [&base, more].concat()
}

fn compact(sandbox: &Sandbox, log: &Path, line: &str, more: &[&str]) -> (Value, i32) {
    let (mut report, code) = sandbox.json(&arguments(log, line, more));
    (report["files"][0].take(), code)
}

fn digest(sandbox: &Sandbox, log: &Path) -> Value {
    sandbox.json(&["replay", text(log)]).0["digest"].take()
}

#[test]
fn what_the_program_writes_takes_the_regions_place() {
    let (sandbox, log) = desk();
    let line = "TOKEN=sk-0123456789 /usr/bin/env tee request.json >/dev/null; cat answer.md";
    let (file, code) = compact(&sandbox, &log, line, &[]);
    assert_eq!((code, &file["status"]), (0, &json!("compacted")), "{file}");
    let summarizer = &file["summarizer"];
    for (member, expected) in [("kind", "command"), ("provider", "command"), ("model", "env")] {
        assert_eq!(summarizer[member], expected);
    }
    assert_eq!(summarizer["calls"], 1);

    let records = lines(&log);
    let summary = records.iter().rfind(|record| record["type"] == "compaction/summary").unwrap();
    assert_eq!((&summary["data"]["provider"], &summary["data"]["model"]), (&json!("command"), &json!("env")));
    assert_eq!(summary["data"]["summary"], json!([{ "type": "text", "text": ANSWER.trim() }]));
    assert!(summary["data"].get("usage").is_none() && summary["data"].get("maxTokens").is_none());
    assert!(!fs::read_to_string(&log).unwrap().contains("sk-0123456789"));
    assert!(alarms(&sandbox.json(&["verify", text(&log)]).0).is_empty());

    let request: Value = serde_json::from_slice(&fs::read(sandbox.path("request.json")).unwrap()).unwrap();
    assert_eq!(faults(&validator("docs/summarize.schema.json"), &request), [""; 0]);
    let transcript = request["text"].as_str().unwrap();
    assert!(transcript.contains(": user"), "{transcript}");
    assert!(!transcript.contains("local_day divides with"), "reasoning is left out");
}

/// Nothing is replaced, the old bytes stand, and the bracket is closed with the error.
fn assert_failed(line: &str, more: &[&str], expected: &str) {
    let (sandbox, log) = desk();
    let (old, surface) = (fs::read(&log).unwrap(), digest(&sandbox, &log));
    let (file, code) = compact(&sandbox, &log, line, more);
    assert_eq!(
        (code, &file["status"], &file["reason"]["code"]),
        (5, &json!("failed"), &json!("summary")),
        "{file}"
    );
    let message = file["reason"]["message"].as_str().unwrap();
    assert!(message.contains(expected), "{line}: {message}");
    assert!(!file["reason"]["help"].as_str().unwrap().is_empty());
    assert!(fs::read(&log).unwrap().starts_with(&old));
    assert_eq!(digest(&sandbox, &log), surface);
    let records = lines(&log);
    let ends: Vec<&Value> = records.iter().filter(|record| record["type"] == "compaction/end").collect();
    let [end] = ends.as_slice() else { panic!("{line}: {ends:?}") };
    assert!(end["data"]["error"].as_str().unwrap().contains(expected), "{line}: {end}");
    assert!(alarms(&sandbox.json(&["verify", text(&log)]).0).is_empty(), "{line}");
}

#[test]
fn a_program_that_fails_replaces_nothing() {
    for (line, expected) in [
        ("no-such-program-anywhere", "no-such-program-anywhere was not found"),
        ("cat answer.md; echo out of luck >&2; exit 7", "cat ended with exit code 7: out of luck"),
        ("cat answer.md; kill -9 $$", "cat was ended by signal: 9"),
        ("cat >/dev/null", "cat wrote nothing to its standard output"),
        ("printf '\\n \\n'", "printf wrote nothing to its standard output"),
        ("yes", "yes wrote more than 1048576 bytes"),
    ] {
        assert_failed(line, &[], expected);
    }
}

#[test]
fn a_program_that_takes_too_long_replaces_nothing() {
    assert_failed("cat answer.md; sleep 600", &["--timeout", "0.3"], "cat gave no summary within 0.3 s");
}

#[test]
fn a_program_may_leave_its_input_and_processes_behind() {
    for line in ["exec <&-; cat answer.md", "cat answer.md", "sleep 600 & cat answer.md"] {
        let (sandbox, log) = desk();
        let (file, code) = compact(&sandbox, &log, line, &[]);
        assert_eq!((code, &file["status"]), (0, &json!("compacted")), "{line}: {file}");
    }
}

#[test]
fn an_answer_that_will_not_do_is_asked_for_once_more() {
    let (sandbox, log) = desk();
    let much = ANSWER.repeat(200);
    fs::write(sandbox.path("much.md"), much).unwrap();
    let line = "if grep -q 'what is wrong with it'; then cat answer.md; else cat much.md; fi";
    let (file, code) = compact(&sandbox, &log, line, &[]);
    assert_eq!((code, &file["summarizer"]["calls"]), (0, &json!(2)), "{file}");
}

#[test]
fn a_region_beyond_the_window_is_put_to_the_program_in_parts() {
    let (sandbox, log) = desk();
    let line = "tee -a requests.jsonl >/dev/null; cat answer.md";
    let (file, code) = compact(&sandbox, &log, line, &["--summarizer-window", "8000"]);
    assert_eq!((code, &file["status"]), (0, &json!("compacted")), "{file}");
    let calls = file["summarizer"]["calls"].as_u64().unwrap();
    assert!(calls >= 2, "{file}");
    let requests = fs::read_to_string(sandbox.path("requests.jsonl")).unwrap();
    assert_eq!(requests.lines().count() as u64, calls);
    for (index, request) in requests.lines().enumerate() {
        let request: Value = serde_json::from_str(request).unwrap();
        let transcript = request["text"].as_str().unwrap();
        assert!(transcript.starts_with(&format!("The transcript, part {} of {calls}:", index + 1)));
        assert_eq!(transcript.contains("=== summary so far, to be merged ==="), index > 0);
    }
}

/// A log with tool results of about 18 KB.
fn bulky() -> PathBuf {
    let (log, _) = corpus().into_iter().find(|(log, _)| text(log).contains("bulky-results")).unwrap();
    log
}

#[test]
fn what_fits_into_no_window_is_refused_before_a_byte_is_written() {
    let sandbox = Sandbox::new();
    let log = sandbox.copy(bulky());
    let old = fs::read(&log).unwrap();
    let line = "touch asked; cat answer.md";
    let (file, code) = compact(&sandbox, &log, line, &["--summarizer-window", "4500"]);
    assert_eq!((code, &file["status"]), (4, &json!("refused")), "{file}");
    let message = file["reason"]["message"].as_str().unwrap();
    assert!(message.contains("does not fit into the summarizer's window: seq"), "{message}");
    assert!(file["reason"]["help"].as_str().unwrap().contains("--prune"));
    assert!(fs::read(&log).unwrap() == old && !sandbox.path("asked").exists());
}

#[test]
fn ctrl_c_stops_the_program_and_closes_the_bracket() {
    let (sandbox, log) = desk();
    let pipe = sandbox.path("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let line = "(echo running; sleep 600; echo alive) >pipe";
    let mut command = sandbox.command(&arguments(&log, line, &[]));
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut running = std::io::BufReader::new(fs::File::open(&pipe).unwrap());
    let mut said = String::new();
    std::io::BufRead::read_line(&mut running, &mut said).unwrap();
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{output:?}");
    // The program is gone: nobody holds the pipe.
    std::io::Read::read_to_string(&mut running, &mut said).unwrap();
    assert_eq!(said, "running\n");
    let records = lines(&log);
    let end = records.last().unwrap();
    assert_eq!(end["type"], "compaction/end");
    assert_eq!(end["data"]["error"], "cancelled: interrupted", "{end}");
    assert!(alarms(&sandbox.json(&["verify", text(&log)]).0).is_empty());
}
