//! `--over`, `--over-ratio` and `--passes`: a log is compacted while it is under pressure, and else left alone.

#![cfg(unix)]

use crate::command::ANSWER;
use crate::sandbox::{Sandbox, fixture, lines, text};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

/// A log of 12,243 host tokens, 300 of them in its request header, with a window of 131,072.
fn desk() -> (Sandbox, PathBuf) {
    let sandbox = Sandbox::new();
    let log = sandbox.copy(fixture("demo/session.jsonl"));
    (sandbox, log)
}

/// A number as it is told.
fn grouped(number: u64) -> String {
    if number < 1_000 { number.to_string() } else { format!("{},{:03}", number / 1_000, number % 1_000) }
}

fn compact(sandbox: &Sandbox, log: &Path, more: &[&str]) -> (Value, i32) {
    let (mut report, code) = sandbox.json(&[&["compact", text(log)], more].concat());
    (report["files"][0].take(), code)
}

fn last_note(file: &Value) -> &str {
    file["notes"].as_array().unwrap().last().unwrap().as_str().unwrap()
}

#[test]
fn below_the_limit_nothing_is_done() {
    let (sandbox, log) = desk();
    let old = fs::read(&log).unwrap();
    for (more, limit) in [
        (&["--over", "12244"][..], "12,244"),
        (&["--over-ratio", "0.8"], "104,857"),
        (&["--over-ratio", "1", "--context-window", "12244"], "12,244"),
        (&["--over-ratio", "0.5", "--context-window", "24488", "--retain-ratio", "0.1"], "12,244"),
    ] {
        for dry in [&[][..], &["-n"]] {
            let (file, code) = compact(&sandbox, &log, &[more, dry].concat());
            assert_eq!((code, &file["status"]), (0, &json!("nothing_to_do")), "{more:?}: {file}");
            let expected = format!("surface and request header hold 12,243 host tokens, below {limit}");
            assert_eq!(last_note(&file), expected, "{more:?}");
        }
    }
    assert_eq!(fs::read(&log).unwrap(), old);
}

#[test]
fn at_the_limit_the_log_is_compacted() {
    for more in [
        &["--over", "12243"][..],
        &["--over-ratio", "0.5", "--context-window", "24486", "--retain-ratio", "0.1"],
        &["--over-ratio", "0.5", "--context-window", "24486", "--retain-tokens", "3000"],
        // The log's own window.
        &["--over-ratio", "0.09", "--retain-ratio", "0.01"],
        &["--over-ratio", "0.09", "--keep-turns", "2"],
    ] {
        let (sandbox, log) = desk();
        let (file, code) = compact(&sandbox, &log, more);
        assert_eq!((code, &file["status"]), (0, &json!("compacted")), "{more:?}: {file}");
        assert!(file["hostTokens"]["after"].as_u64().unwrap() < 8_000, "{more:?}: {file}");
        assert_eq!((file.get("passes"), &file["notes"]), (None, &json!([])), "{more:?}");
    }
}

#[test]
fn what_is_kept_must_be_below_the_limit() {
    let (sandbox, log) = desk();
    let old = fs::read(&log).unwrap();
    for (more, words) in [
        (
            &["--over", "1000", "--retain-tokens", "1000"][..],
            "1000 host tokens is not below the limit of 1000",
        ),
        (
            &["--over-ratio", "0.2", "--retain-ratio", "0.2"],
            "0.2 of the window is not below the limit of 0.2",
        ),
        (&["--over-ratio", "0.1"], "0.16 of the window"),
        (
            &["--over", "1000", "--retain-ratio", "0.5", "--context-window", "2000"],
            "not below the limit of 1000",
        ),
        (&["--over-ratio", "0.5", "--retain-tokens", "1000", "--context-window", "2000"], "limit of 1000"),
        (&["--over", "1000", "--over-ratio", "0.5"], "--over-ratio"),
        (&["--over", "1000", "--region", "2..134"], "--region"),
        (&["--over-ratio", "0.5", "--region", "2..134"], "--region"),
        (&["--over", "0"], "--over"),
        (&["--over-ratio", "0"], "--over-ratio"),
        (&["--over-ratio", "1.1"], "--over-ratio"),
        (&["--over-ratio", "NaN"], "--over-ratio"),
        (&["--over", "1000", "--passes", "0"], "--passes"),
    ] {
        let run = sandbox.run(&[&["compact", text(&log)], more].concat());
        assert_eq!((run.code, run.out.as_str()), (2, ""), "{more:?}: {run:?}");
        assert!(run.err.contains(words), "{more:?}: {run:?}");
    }
    // The log's own window is known only once it is read.
    let (file, code) = compact(&sandbox, &log, &["--over", "12000", "--retain-ratio", "0.1"]);
    assert_eq!((code, &file["reason"]["code"]), (4, &json!("budget")), "{file}");
    assert_eq!(file["reason"]["message"], "a tail of 13107 tokens is not below the limit of 12000");
    assert_eq!(fs::read(&log).unwrap(), old);
}

/// A long summary the first time, and a short one the second.
fn with_two_summaries(sandbox: &Sandbox) -> [&'static str; 4] {
    let facts = (0..60).map(|fact| format!("- Fact {fact}: gauge {} read {} cm.\n", fact * 7, fact * 31));
    fs::write(sandbox.path("long.md"), format!("{ANSWER}{}", facts.collect::<String>())).unwrap();
    fs::write(sandbox.path("answer.md"), ANSWER).unwrap();
    let line = "if mkdir first 2>/dev/null; then cat long.md; else cat answer.md; fi";
    ["--summarizer", "command", "--command", line]
}

/// What the log holds after one such summary, and its checkpoint alone.
fn after_one_pass() -> (u64, u64) {
    let (sandbox, log) = desk();
    let program = with_two_summaries(&sandbox);
    let (file, code) = compact(&sandbox, &log, &[&["--keep-turns", "1"], &program[..]].concat());
    assert_eq!(code, 0, "{file}");
    let figure = |member: &str| file["hostTokens"][member].as_u64().unwrap();
    (figure("after") + 300, figure("checkpoint"))
}

#[test]
fn a_second_pass_follows_while_the_log_is_over() {
    let (load, checkpoint) = after_one_pass();
    let over = load.to_string();
    for (passes, done) in [(&[][..], 2), (&["--passes", "5"], 2), (&["--passes", "1"], 1)] {
        let (sandbox, log) = desk();
        let (old, known) = (fs::read(&log).unwrap(), lines(&log).len());
        let program = with_two_summaries(&sandbox);
        let more = [&["--over", &over, "--keep-turns", "1"], &program[..], passes].concat();
        let (file, code) = compact(&sandbox, &log, &more);
        assert_eq!((code, &file["status"]), (0, &json!("compacted")), "{file}");
        assert!(fs::read(&log).unwrap().starts_with(&old));
        let summaries =
            lines(&log)[known..].iter().filter(|line| line["type"] == "compaction/summary").count();
        assert_eq!(summaries, done, "{file}");
        assert_eq!(sandbox.run(&["verify", text(&log), "--fail-on", "warning"]).code, 0);
        let (view, _) = sandbox.json(&["replay", text(&log)]);
        assert_eq!(view["hostTokens"], file["hostTokens"]["after"]);
        if done == 1 {
            assert!(file.get("passes").is_none(), "{file}");
            assert!(
                last_note(&file)
                    .starts_with(&format!("still_over: surface and request header hold {}", grouped(load)))
            );
            continue;
        }
        let each = file["passes"].as_array().unwrap();
        assert_eq!(each.len(), 2, "{file}");
        assert_eq!(each[0]["hostTokens"]["checkpoint"], json!(checkpoint));
        assert_eq!(each[1]["region"]["seqs"], json!([each[0]["checkpointSeq"]]), "{file}");
        for member in ["compactionId", "startSeq", "summarySeq", "checkpointSeq", "endSeq", "region"] {
            assert_eq!(each[1][member], file[member], "{member} is the last pass's");
        }
        assert!(view["hostTokens"].as_u64().unwrap() + 300 < load && file["notes"] == json!([]), "{file}");
    }
}

#[test]
fn a_log_that_stays_over_is_told_and_no_failure() {
    let (sandbox, log) = desk();
    let (file, code) = compact(&sandbox, &log, &["--over", "100", "--retain-tokens", "99"]);
    assert_eq!((code, &file["status"]), (0, &json!("compacted")), "{file}");
    let after = grouped(file["hostTokens"]["after"].as_u64().unwrap() + 300);
    let note = last_note(&file);
    let expected = format!(
        "still_over: surface and request header hold {after} host tokens, 300 of them the header's; the limit is 100"
    );
    assert!(note.starts_with(&expected), "{note}");
    // Nor is a second run, which finds nothing more to gain.
    let old = fs::read(&log).unwrap();
    let (file, code) = compact(&sandbox, &log, &["--over", "100", "--retain-tokens", "99"]);
    assert_eq!((code, &file["status"]), (0, &json!("nothing_to_do")), "{file}");
    assert_eq!(fs::read(&log).unwrap(), old);
}

#[test]
fn a_failure_behind_a_success_is_a_note() {
    let (load, _) = after_one_pass();
    let (sandbox, log) = desk();
    with_two_summaries(&sandbox);
    let line = "if mkdir first 2>/dev/null; then cat long.md; else exit 3; fi";
    let over = load.to_string();
    let more = ["--over", &over, "--keep-turns", "1", "--summarizer", "command", "--command", line];
    let (file, code) = compact(&sandbox, &log, &more);
    assert_eq!((code, &file["status"]), (0, &json!("compacted")), "{file}");
    let note = last_note(&file);
    assert!(
        note.starts_with("still_over: ") && note.ends_with("summary: command ended with exit code 3"),
        "{note}"
    );
    let records = lines(&log);
    assert!(records.last().unwrap()["data"]["error"].as_str().unwrap().starts_with("summary: "));
    assert_eq!(sandbox.run(&["verify", text(&log), "--fail-on", "warning"]).code, 0);
}
