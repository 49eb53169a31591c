//! `--min-recall`, `--complete-identifiers` and an exact `--tokenizer`: what is asked of a summary beyond its form.

#![cfg(unix)]

use crate::command::ANSWER;
use crate::sandbox::{Sandbox, demo, fixture, lines, text};
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;

/// A sandbox with the demo log and a program's answer, and the words that have it taken.
fn desk(answer: &str) -> (Sandbox, PathBuf) {
    let sandbox = Sandbox::new();
    let log = sandbox.copy(fixture("demo/session.jsonl"));
    fs::write(sandbox.path("answer.md"), answer).unwrap();
    (sandbox, log)
}

const PROGRAM: [&str; 6] = ["--keep-turns", "2", "--summarizer", "command", "--command", "cat answer.md"];

fn compact((sandbox, log): &(Sandbox, PathBuf), more: &[&str]) -> (Value, i32) {
    let (mut report, code) = sandbox.json(&[&["compact", text(log)], &PROGRAM[..], more].concat());
    (report["files"][0].take(), code)
}

fn summary_of(desk: &(Sandbox, PathBuf)) -> String {
    let summary = lines(&desk.1).into_iter().rfind(|record| record["type"] == "compaction/summary").unwrap();
    summary["data"]["summary"][0]["text"].as_str().unwrap().to_owned()
}

#[test]
fn the_share_that_is_named_is_told_and_is_no_gate_by_itself() {
    let desk = desk(ANSWER);
    let (file, code) = compact(&desk, &[]);
    assert_eq!(code, 0, "{file}");
    let recall = &file["summarizer"]["recall"];
    let (found, of) = (recall["found"].as_u64().unwrap(), recall["of"].as_u64().unwrap());
    assert!(0 < found && found < of, "{recall}");
    assert_eq!(recall["missing"].as_array().unwrap().len() as u64, of - found, "{recall}");
    assert_eq!(summary_of(&desk), ANSWER.trim());
}

#[test]
fn a_summary_that_names_too_little_is_refused_with_what_is_missing() {
    let before = desk(ANSWER);
    let (known, _) = compact(&before, &[]);
    let recall = &known["summarizer"]["recall"];
    let share = recall["found"].as_f64().unwrap() / recall["of"].as_f64().unwrap();

    let passing = desk(ANSWER);
    let (file, code) = compact(&passing, &["--min-recall", &(share - 0.01).to_string()]);
    assert_eq!(code, 0, "{file}");

    let failing = desk(ANSWER);
    let old = fs::read(&failing.1).unwrap();
    let (file, code) = compact(&failing, &["--min-recall", &(share + 0.01).to_string()]);
    assert_eq!((code, &file["reason"]["code"]), (5, &json!("recall")), "{file}");
    assert_eq!(file["summarizer"]["calls"], json!(2), "it is asked for once more: {file}");
    let message = file["reason"]["message"].as_str().unwrap();
    assert!(message.contains(&format!("names {} of {} ", recall["found"], recall["of"])), "{message}");
    let missing = recall["missing"][0].as_str().unwrap();
    assert!(message.contains("missing, the most frequent first: `"), "{message}");
    assert!(recall["missing"].as_array().unwrap().len() > 30 || message.contains(missing), "{message}");
    let new = fs::read(&failing.1).unwrap();
    assert!(new.starts_with(&old) && new.len() > old.len());
    let end = lines(&failing.1).pop().unwrap();
    assert_eq!(end["data"]["error"], format!("recall: {message}"));
}

#[test]
fn what_is_missing_is_added_under_the_last_section() {
    let desk = desk(ANSWER);
    let (file, code) = compact(&desk, &["--complete-identifiers", "--min-recall", "1"]);
    assert_eq!((code, &file["status"]), (0, &json!("compacted")), "{file}");
    let recall = &file["summarizer"]["recall"];
    assert_eq!((&recall["found"], &recall["missing"]), (&recall["of"], &json!([])));
    let text = summary_of(&desk);
    let (asked, added) = text.split_at(ANSWER.trim().len());
    assert_eq!(asked, ANSWER.trim(), "what the program wrote stands as it is");
    assert!(added.starts_with("\n- ") && !added.contains("\n## "), "{added}");
    assert!(asked.rsplit_once("\n## ").unwrap().1.starts_with("Critical Context\n"));
    let messages = desk.0.run(&["replay", text_of(&desk), "--format", "messages"]).out;
    let shown: Vec<Value> = messages.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let is_shown = |message: &Value| {
        message["content"].as_array().unwrap().iter().any(|block| block["text"] == json!(text))
    };
    assert!(shown.iter().any(is_shown), "the model is shown the completed text");
    assert_eq!(desk.0.run(&["verify", text_of(&desk), "--fail-on", "warning"]).code, 0);
}

fn text_of(desk: &(Sandbox, PathBuf)) -> &str {
    text(&desk.1)
}

#[test]
fn the_summary_without_a_model_is_held_to_the_same() {
    let sandbox = Sandbox::new();
    let log = sandbox.copy(fixture("demo/session.jsonl"));
    let old = fs::read(&log).unwrap();
    let arguments = ["compact", text(&log), "--keep-turns", "2", "--min-recall", "1"];
    let (report, code) = sandbox.json(&arguments);
    // It costs nothing to make, so it is judged before a byte is written.
    assert_eq!((code, &report["files"][0]["reason"]["code"]), (4, &json!("recall")), "{report}");
    assert_eq!(fs::read(&log).unwrap(), old);
    let (report, code) = sandbox.json(&[&arguments[..], &["--complete-identifiers"]].concat());
    assert_eq!((code, &report["files"][0]["status"]), (0, &json!("compacted")), "{report}");
    for share in ["-0.1", "1.1", "x"] {
        let run = sandbox.run(&["compact", text(&log), &format!("--min-recall={share}")]);
        assert_eq!((run.code, run.out.as_str()), (2, ""), "{share}: {run:?}");
    }
}

#[test]
fn exact_figures_are_told_beside_the_host_tokens() {
    for tokenizer in ["o200k_base", "cl100k_base"] {
        let desk = desk(ANSWER);
        let replayed = |desk: &(Sandbox, PathBuf)| {
            desk.0.json(&["replay", text_of(desk), "--tokenizer", tokenizer]).0["tokens"].clone()
        };
        let before = replayed(&desk);
        let (file, code) = compact(&desk, &["--tokenizer", tokenizer]);
        assert_eq!(code, 0, "{file}");
        let tokens = &file["tokens"];
        assert_eq!(tokens["tokenizer"], tokenizer);
        assert_eq!((&tokens["before"], &tokens["after"]), (&before, &replayed(&desk)), "{file}");
        let figure = |member: &str| tokens[member].as_u64().unwrap();
        assert_eq!(figure("after"), figure("before") - figure("shadowed") + figure("checkpoint"));
        // What stands in the log is host tokens all the same.
        let records = lines(&desk.1);
        let written = records.iter().rfind(|record| record["type"] == "compaction/summary").unwrap();
        assert_eq!(written["data"]["shadowedTokenCount"], file["hostTokens"]["shadowed"]);
    }
}

/// A summary of rare characters, each of which is a quarter of a host token and several exact ones.
fn dear() -> String {
    let rare: String = ('\u{3400}'..).step_by(3).take(2_000).collect();
    let bullets: Vec<String> = rare
        .chars()
        .collect::<Vec<_>>()
        .chunks(80)
        .map(|line| format!("- {}\n", line.iter().collect::<String>()))
        .collect();
    format!("{ANSWER}{}", bullets.concat())
}

#[test]
fn a_summary_that_is_smaller_in_host_tokens_alone_is_refused_where_tokens_are_exact() {
    let region = ["--region", "2..134"];
    let base = ["--summarizer", "command", "--command", "cat answer.md"];
    let compact = |tokenizer: &str| {
        let sandbox = Sandbox::new();
        let log = sandbox.write("session.jsonl", &demo());
        fs::write(sandbox.path("answer.md"), dear()).unwrap();
        let more = ["--tokenizer", tokenizer];
        let (report, code) = sandbox.json(&[&["compact", text(&log)], &region[..], &base, &more].concat());
        (report["files"][0].clone(), code)
    };
    let (file, code) = compact("host");
    assert_eq!((code, &file["status"]), (0, &json!("compacted")), "{file}");
    let (file, code) = compact("o200k_base");
    assert_eq!((code, &file["reason"]["code"]), (5, &json!("not_smaller")), "{file}");
    let message = file["reason"]["message"].as_str().unwrap();
    let shadowed = file["tokens"]["shadowed"].to_string();
    assert!(
        message.contains("tokens of o200k_base, the region costs ") && message.ends_with(&shadowed),
        "{message}"
    );
}
