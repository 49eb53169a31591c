//! They run small shell scripts.

#![cfg(unix)]

use super::super::Unwatched;
use super::*;
use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

const LONG: Duration = Duration::from_mins(2);
const SHORT: Duration = Duration::from_millis(300);

fn prompt(text: &str) -> Prompt {
    Prompt { instructions: "Be \"brief\".".into(), text: text.into() }
}

fn ask(line: &str, timeout: Duration) -> Result<Answer, SummarizeError> {
    Command::new(line, timeout).ask(&prompt("one\ntwo"), &Unwatched)
}

fn complaint(line: &str, timeout: Duration) -> String {
    match ask(line, timeout) {
        Err(SummarizeError::Failed { message, .. }) => message,
        other => panic!("{line}: {other:?}"),
    }
}

#[test]
fn the_request_is_one_document_and_the_answer_is_the_output() {
    let answer = ask("cat", LONG).unwrap();
    let expected = serde_json::json!({
        "schema": "dshc.summarize/1", "instructions": "Be \"brief\".", "text": "one\ntwo", "sections": SECTIONS,
    });
    assert_eq!(serde_json::from_str::<serde_json::Value>(&answer.text).unwrap(), expected);
    assert_eq!(answer.usage, None);
}

#[test]
fn the_shell_reads_the_line() {
    assert_eq!(ask("A='b  c'; printf '%s\\r\\n' \"$A\" | tr b d", LONG).unwrap().text, "d  c");
    assert_eq!(ask(r"printf '\357\273\277a\377'", LONG).unwrap().text, "a\u{fffd}");
}

#[test]
fn a_program_need_not_read() {
    let much = "x".repeat(1 << 20);
    let answer = Command::new("echo done", LONG).ask(&prompt(&much), &Unwatched).unwrap();
    assert_eq!(answer.text, "done");
    let answer = Command::new("exec <&-; echo done", LONG).ask(&prompt(&much), &Unwatched).unwrap();
    assert_eq!(answer.text, "done");
}

#[test]
fn neither_pipe_blocks_the_other() {
    let much = "x".repeat(300_000);
    let answer = Command::new("tee /dev/stderr", LONG).ask(&prompt(&much), &Unwatched).unwrap();
    assert!(answer.text.len() > 300_000);
}

#[test]
fn failures_are_told_with_what_the_program_says() {
    for (line, expected) in [
        ("{ echo no model >&2; exit 3; }", "command ended with exit code 3: no model"),
        ("KEY=sk-1 cat >/dev/null; echo; false", "cat ended with exit code 1"),
        ("kill -9 $$", "kill was ended by signal: 9 (SIGKILL)"),
        ("true", "true wrote nothing to its standard output"),
        ("printf ' \\n'; echo later >&2", "printf wrote nothing to its standard output: later"),
        ("yes", "yes wrote more than 1048576 bytes"),
    ] {
        assert_eq!(complaint(line, LONG), expected, "{line}");
    }
    let missing = complaint("no-such-program-anywhere --key sk-123", LONG);
    assert!(missing.starts_with("no-such-program-anywhere was not found: "), "{missing}");
    assert!(!missing.contains("sk-123"), "{missing}");
    assert!(complaint("/", LONG).starts_with("command cannot be run: "));
}

#[test]
fn a_program_that_takes_too_long_is_killed_with_all_that_it_started() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let reader = {
        let pipe = pipe.clone();
        // Ends when the last writer is gone.
        thread::spawn(move || fs::read_to_string(pipe).unwrap())
    };
    let line = format!("(sleep 60; echo alive) >'{}' & wait", pipe.display());
    assert_eq!(complaint(&line, SHORT), "command gave no summary within 0.3 s");
    assert_eq!(reader.join().unwrap(), "");
}

#[test]
fn a_process_that_is_left_behind_does_not_hold_up_the_answer() {
    assert_eq!(ask("sleep 600 & echo done", LONG).unwrap().text, "done");
    // It has a session of its own, so that it outlives its group, until its time is up.
    assert_eq!(ask("setsid sleep 5 & echo done", LONG).unwrap().text, "done");
}

#[test]
fn a_program_that_only_closes_its_pipes_is_waited_for() {
    let message = complaint("echo text; exec >&- 2>&-; exec sleep 600", SHORT);
    assert_eq!(message, "echo gave no summary within 0.3 s");
}

/// Says stop when it is asked for the third time.
#[derive(Default)]
struct Impatient {
    asked: AtomicUsize,
}

impl Watch for Impatient {
    fn stage(&self, stage: &str) {
        assert_eq!(stage, "asking sleep");
    }

    fn received(&self, _tokens: u64) {}

    fn is_cancelled(&self) -> bool {
        self.asked.fetch_add(1, Ordering::Relaxed) >= 2
    }
}

#[test]
fn it_is_stopped_when_the_user_says_so() {
    let watch = Impatient::default();
    let stopped = Command::new("sleep 600", LONG).ask(&prompt(""), &watch);
    assert_eq!(stopped, Err(SummarizeError::Cancelled));
    assert_eq!(watch.asked.into_inner(), 3);
}
