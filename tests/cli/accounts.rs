//! What `dshc compact` tells people, byte for byte: both streams of a row of runs.
//!
//! `DSHC_GOLDEN=write cargo test --test cli -- accounts` writes the file anew; look at what git shows then.

#![cfg(unix)]

use crate::command::ANSWER;
use crate::golden::assert_golden;
use crate::sandbox::{Sandbox, fixture};
use std::fmt::Write;
use std::fs;

/// Each log under its name, and the words behind `dshc compact`, one run after the other.
const RUNS: [(&str, &[&[&str]]); 6] = [
    (
        "demo/session.jsonl",
        &[
            &["-n", "session.jsonl", "--keep-turns", "2"],
            &["session.jsonl", "--keep-turns", "2", "-o", "new.jsonl"],
            &["session.jsonl", "--keep-turns", "2", "--summarizer", "command", "--command", "false"],
            &[
                "session.jsonl",
                "--keep-turns",
                "2",
                "--tokenizer",
                "o200k_base",
                "--summarizer",
                "command",
                "--command",
                "cat answer.md",
            ],
            &["session.jsonl", "--over", "100000"],
            &["session.jsonl", "--over", "100", "--keep-turns", "1", "--strategy", "drop"],
            &["session.jsonl", "--region", "2..9999"],
        ],
    ),
    (
        "corpus/upgraded/v2/--home-dev-project-1--/gen-16-1/session.v2.jsonl",
        &[
            &["session.v2.jsonl", "--prune", "--keep-turns", "1", "--over", "20000"],
            &["session.v2.jsonl", "--prune", "--keep-turns", "1", "--over", "20000"],
            &["session.v2.jsonl", "--prune", "--keep-turns", "1"],
        ],
    ),
    (
        "locks/orphan-open-turn.jsonl",
        &[
            &["orphan-open-turn.jsonl", "--retain-tokens", "0"],
            &["-n", "orphan-open-turn.jsonl", "--retain-tokens", "0", "--break-lock"],
            &["orphan-open-turn.jsonl", "--retain-tokens", "0", "--break-lock"],
        ],
    ),
    ("bytes/torn-raw.jsonl", &[&["torn-raw.jsonl", "--retain-tokens", "0", "--break-lock"]]),
    (
        "cases/R16-orphan-lock-owner-turn-already-ended/session.jsonl",
        &[
            &["session.jsonl", "--region", "1..7", "--break-lock"],
            &["session.jsonl", "--keep-turns", "9", "--break-lock"],
            &["session.jsonl", "--region", "1..3", "--break-lock"],
        ],
    ),
    ("bytes/empty.jsonl", &[&["empty.jsonl"]]),
];

#[test]
fn of_a_row_of_compactions() {
    let mut told = String::new();
    for (log, runs) in RUNS {
        let sandbox = Sandbox::new();
        sandbox.copy(fixture(log));
        fs::write(sandbox.path("answer.md"), ANSWER).unwrap();
        for words in runs {
            let run = sandbox.run(&[&["compact"], *words].concat());
            writeln!(told, "$ dshc compact {}", words.join(" ")).unwrap();
            writeln!(told, "{}{}exit code {}\n", run.out, run.err, run.code).unwrap();
        }
    }
    assert_golden("compact.txt", &told);
}
