//! Why a log was not compacted: each code with its status, its exit code, its words, and what the log says of it.
//!
//! `commit` is tested beside the transaction: no log and no program brings it about.

#![cfg(unix)]

use crate::command::ANSWER;
use crate::sandbox::{Run, Sandbox, alarms, demo, fixture, lines, text};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// A run that ends with a reason.
struct Case {
    code: &'static str,
    exit: i32,
    log: fn(&Sandbox) -> PathBuf,
    arguments: &'static [&'static str],
    /// Of the message, and of the help.
    words: [&'static str; 2],
}

const TURNS: &[&str] = &["--keep-turns", "2"];

const PROGRAM: [&str; 4] = ["--keep-turns", "2", "--summarizer", "command"];

fn copy_of_demo(sandbox: &Sandbox) -> PathBuf {
    sandbox.write("session.jsonl", &demo())
}

/// The demo with an event of this moment at its end.
fn fresh(sandbox: &Sandbox) -> PathBuf {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis();
    let record =
        format!("{{\"type\":\"todo/write\",\"seq\":559,\"time\":{now},\"data\":{{\"todos\":[]}}}}\n");
    let path = sandbox.path("session.jsonl");
    fs::write(&path, [demo(), record.into_bytes()].concat()).unwrap();
    path
}

/// The demo and, in `foreign`, what takes the place of a message that a compaction of it would hide.
fn with_a_rewrite(sandbox: &Sandbox) -> PathBuf {
    let message = json!({
        "id": "foreign", "role": "user", "content": [{ "type": "text", "text": "Left out." }],
        "source": { "kind": "plugin", "plugin": "other" }
    });
    let record = json!({
        "type": "user/message", "seq": 560, "time": 1_900_000_000_000_u64, "data": message,
        "sourceEventSeqs": [134], "surfaceOp": { "op": "replace", "start": 134, "end": 134 }
    });
    fs::write(sandbox.path("foreign"), format!("{record}\n")).unwrap();
    copy_of_demo(sandbox)
}

/// What is refused before a byte is written.
fn refusals() -> Vec<Case> {
    let case = |code, log, arguments, words| Case { code, exit: 4, log, arguments, words };
    let all: &[&str] = &["--retain-tokens", "0"];
    vec![
        case(
            "busy",
            |sandbox| sandbox.copy(fixture("locks/held-no-turn.jsonl")),
            all,
            ["a compaction is under way since seq 28", "--break-lock"],
        ),
        case("in_use", fresh, TURNS, ["seems to be in use", "--assume-idle"]),
        case(
            "region",
            copy_of_demo,
            &["--region", "2..9999"],
            ["seq 9999 is not on the surface", "the nearest that may be taken: "],
        ),
        case(
            "not_smaller",
            |sandbox| sandbox.copy(fixture("cases/R25-repeated-failed-compactions/session.jsonl")),
            &["--region", "1..3"],
            ["host tokens, the region costs", "name a larger region"],
        ),
        case(
            "damaged",
            |sandbox| sandbox.copy(fixture("bytes/torn-raw.jsonl")),
            all,
            ["torn tail: the last 38 bytes", "--break-lock"],
        ),
        case(
            "unsupported",
            |sandbox| sandbox.copy(fixture("cases/R31-unknown-required-event/session.jsonl")),
            all,
            ["acme-fallbacks/switch", "compact the session there"],
        ),
        case(
            "budget",
            copy_of_demo,
            &["--over", "12000", "--retain-ratio", "0.1"],
            ["a tail of 13107 tokens is not below the limit of 12000", "raise the limit"],
        ),
        case(
            "output",
            copy_of_demo,
            &["--keep-turns", "2", "-o", "new.jsonl.zstd"],
            ["promises by its name another container", ".jsonl"],
        ),
        case(
            "persistence",
            copy_of_demo,
            &["--keep-turns", "2", "-o", "answer.md/new.jsonl"],
            ["cannot write answer.md/new.jsonl", "check the folder"],
        ),
        case(
            "summary",
            copy_of_demo,
            &[
                "--keep-turns",
                "2",
                "--summarizer-window",
                "600",
                "--summarizer",
                "command",
                "--command",
                "cat",
            ],
            ["window", "--summarizer-window"],
        ),
    ]
}

/// What fails once the bracket is open, each by what a program does.
fn failures() -> Vec<Case> {
    let case = |code, log, arguments, words| Case { code, exit: 5, log, arguments, words };
    vec![
        case(
            "summary",
            copy_of_demo,
            &["--command", "exit 7"],
            ["ended with exit code 7", "run the command by hand"],
        ),
        case(
            "not_smaller",
            copy_of_demo,
            &["--command", "cat answer.md; seq -f '- fact %g' 9000"],
            ["host tokens, the region costs", "name a larger region"],
        ),
        case(
            "recall",
            copy_of_demo,
            &["--command", "cat answer.md", "--min-recall", "1"],
            ["a share of 0.", "--complete-identifiers"],
        ),
        case(
            "changed",
            with_a_rewrite,
            &["--command", "cat foreign >>session.jsonl; cat answer.md"],
            ["another writer has changed the region", "close the session in dsh"],
        ),
        Case {
            exit: 130,
            ..case(
                "cancelled",
                copy_of_demo,
                &["--command", "kill -INT $PPID; exec sleep 600"],
                ["interrupted", "run it again"],
            )
        },
    ]
}

/// A case that was run.
struct Ended {
    log: PathBuf,
    /// What it held before.
    old: Vec<u8>,
    /// The report on it.
    file: Value,
    said: Run,
}

fn run(sandbox: &Sandbox, case: &Case, more: &[&str]) -> Ended {
    fs::write(sandbox.path("answer.md"), ANSWER).unwrap();
    let log = (case.log)(sandbox);
    let old = fs::read(&log).unwrap();
    let said = sandbox.run(&[&["compact", text(&log), "--format", "json"], case.arguments, more].concat());
    let mut report: Value = serde_json::from_str(&said.out).unwrap();
    let file = report["files"][0].take();
    assert_eq!((said.code, &file["reason"]["code"]), (case.exit, &json!(case.code)), "{said:?}");
    Ended { log, old, file, said }
}

#[test]
fn what_is_refused_is_told_and_no_byte_is_written() {
    for case in refusals() {
        let sandbox = Sandbox::new();
        let Ended { log, old, file, said } = run(&sandbox, &case, &[]);
        assert_eq!(file["status"], "refused", "{file}");
        is_told(&said, &file, case.words);
        assert!(fs::read(&log).unwrap() == old, "{file}");
        assert!(file["bytes"].get("after").is_none() && file.get("compactionId").is_none(), "{file}");
    }
}

#[test]
fn what_fails_is_told_and_stands_in_the_bracket_that_it_closes() {
    for case in failures() {
        let sandbox = Sandbox::new();
        let Ended { log, old, file, said } = run(&sandbox, &case, &PROGRAM);
        assert_eq!(file["status"], "failed", "{file}");
        is_told(&said, &file, case.words);
        assert!(fs::read(&log).unwrap().starts_with(&old), "{file}");
        is_closed(&sandbox, &log, case.code, file["reason"]["message"].as_str().unwrap());
    }
}

/// On standard error stand the message and what to do.
fn is_told(run: &Run, file: &Value, words: [&str; 2]) {
    let message = file["reason"]["message"].as_str().unwrap();
    assert!(message.contains(words[0]), "{run:?}");
    let (said, advice) = run.err.split_once("\n  help: ").unwrap_or_else(|| panic!("{run:?}"));
    assert!(said.starts_with("error: ") && said.contains(message), "{run:?}");
    assert!(advice.contains(words[1]), "{run:?}");
}

/// The bracket has its one end, with the code and the message, and nothing is wrong with the log.
fn is_closed(sandbox: &Sandbox, log: &Path, code: &str, message: &str) {
    let records = lines(log);
    let ends: Vec<&Value> = records.iter().filter(|record| record["type"] == "compaction/end").collect();
    let [end] = ends.as_slice() else { panic!("{code}: {ends:?}") };
    assert_eq!(end["data"]["error"], format!("{code}: {message}"));
    assert!(!records.iter().any(|record| record["type"] == "compaction/summary"), "{code}");
    let (report, _) = sandbox.json(&["verify", text(log)]);
    assert!(alarms(&report).is_empty(), "{code}: {report}");
    assert_eq!(report["files"][0]["lock"]["state"], "free", "{code}");
}
