//! What is wrong usage, told before any log is read.

use crate::sandbox::{Run, Sandbox};
use std::process::Stdio;

/// The run of a live summarizer on a log that does not exist.
fn run(words: &str, environment: &[(&str, &str)]) -> Run {
    let arguments = format!("compact no-log.jsonl {words}");
    let sandbox = Sandbox::new();
    let mut command = sandbox.command(&arguments.split_whitespace().collect::<Vec<_>>());
    for name in ["DEEPSEEK_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY"] {
        command.env_remove(name);
    }
    command.envs(environment.iter().copied()).stdin(Stdio::null());
    Run::of(command.output().unwrap())
}

#[test]
fn wrong_usage_is_told_before_any_log_is_read() {
    for (words, expected) in [
        ("--summarizer openai", "DEEPSEEK_API_KEY"),
        ("--summarizer anthropic --model m", "ANTHROPIC_API_KEY"),
        ("--summarizer openai --base-url ollama", "--model"),
        ("--summarizer openai --base-url http://u:sk-secret@127.0.0.1/v1 --model m", "base URL"),
        ("--summarizer openai --base-url http://far.example --model m --api-key-env K", "unencrypted"),
        ("--summarizer command", "--command"),
        ("--base-url ollama", "--base-url says nothing to --summarizer stub"),
        ("--summarizer command --command cat --retries 1", "--retries says nothing"),
    ] {
        let run = run(words, &[("K", "sk-secret")]);
        assert_eq!(run.code, 2, "{words}: {run:?}");
        assert!(run.err.contains(expected) && !run.err.contains("sk-secret"), "{words}: {}", run.err);
        assert_eq!(run.out, "");
    }
}

#[test]
fn what_is_complete_goes_on_to_the_log() {
    for (words, environment) in [
        ("--summarizer openai", [("DEEPSEEK_API_KEY", "sk-secret"), ("X", "")]),
        ("--summarizer openai", [("DSHC_BASE_URL", "ollama"), ("DSHC_MODEL", "m")]),
        ("--summarizer stub", [("DSHC_BASE_URL", "ollama"), ("DSHC_MODEL", "m")]),
    ] {
        let run = run(words, &environment);
        assert_eq!(run.code, 3, "{words}: {run:?}");
    }
}
