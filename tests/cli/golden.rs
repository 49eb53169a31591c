//! `dshc verify` over one folder of logs, in every format, byte for byte.
//!
//! `DSHC_GOLDEN=write cargo test --test cli -- golden` writes the files anew; look at what git shows then.

use crate::sandbox::{Run, Sandbox, fixture};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// A clean log, one with a warning, one with errors, one that cannot be read, and a compressed one.
const LOGS: [(&str, &str); 5] = [
    ("logs/clean.jsonl", "bytes/header-only.jsonl"),
    ("logs/warning.jsonl", "bytes/torn-raw.jsonl"),
    ("logs/errors.jsonl", "cases/R04-damaged-line-then-work-without-turn-end/session.jsonl"),
    ("logs/unreadable.jsonl", "bytes/empty.jsonl"),
    ("logs/packed.jsonl.zstd", "cases/R07-zstd-torn-tail/variant-bitflip-in-committed-frame.jsonl.zstd"),
];

fn verify(options: &[&str]) -> Run {
    let sandbox = Sandbox::new();
    for (name, log) in LOGS {
        sandbox.write(name, &fs::read(fixture(log)).unwrap());
    }
    let logs: Vec<&str> = LOGS.iter().map(|(name, _)| *name).collect();
    let run = sandbox.run(&[&["verify"], options, &logs].concat());
    assert_eq!(run.code, 3, "{run:?}");
    run
}

/// Whether files that hold what the program says are to be written anew.
pub fn is_rewriting() -> bool {
    std::env::var_os("DSHC_GOLDEN").is_some_and(|mode| mode == "write")
}

/// Compares with a file below `fixtures/golden`, or writes it anew.
pub fn assert_golden(name: &str, found: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/golden").join(name);
    if is_rewriting() {
        fs::write(&path, found).unwrap();
    }
    let expected = fs::read_to_string(&path).unwrap();
    assert!(expected == found, "fixtures/golden/{name} differs; found:\n{found}");
}

fn pretty(document: &Value) -> String {
    format!("{document:#}\n")
}

#[test]
fn human() {
    let run = verify(&[]);
    assert_golden("verify.txt", &run.out);
    assert_eq!(run.err, "");
    let coloured = verify(&["--color", "always"]).out;
    assert!(coloured.contains("\u{1b}["), "{coloured}");
}

#[test]
fn json() {
    let run = verify(&["--format", "json"]);
    assert_golden("verify.json", &pretty(&serde_json::from_str(&run.out).unwrap()));
    assert_eq!(run.err, "");
}

/// The list of all rules, and so where in it a rule stands, is left out: it grows with every rule.
#[test]
fn sarif() {
    let run = verify(&["--format", "sarif"]);
    assert!(run.out.starts_with(r#"{"version":"2.1.0","$schema":"https://"#), "{}", run.out);
    let mut log: Value = serde_json::from_str(&run.out).unwrap();
    let driver = &mut log["runs"][0]["tool"]["driver"];
    let rules = driver["rules"].take();
    for version in ["version", "semanticVersion"] {
        assert_eq!(driver[version].take(), env!("CARGO_PKG_VERSION"));
    }
    for result in log["runs"][0]["results"].as_array_mut().unwrap() {
        let index = usize::try_from(result["ruleIndex"].take().as_u64().unwrap()).unwrap();
        assert_eq!(rules[index]["id"], result["ruleId"]);
    }
    assert_golden("verify.sarif", &pretty(&log));
    assert!(rules.as_array().unwrap().iter().all(|rule| rule["help"]["markdown"].is_string()));
    assert_eq!(
        run.err,
        "note: 5 logs: 1 clean, 3 with findings, 1 unreadable; 4 errors, 1 warning, 2 notes\n"
    );
}

#[test]
fn junit() {
    let run = verify(&["--format", "junit"]);
    assert_golden("verify.junit.xml", &run.out);
    assert!(run.err.starts_with("note: 5 logs: "), "{}", run.err);
    let strict = verify(&["--format", "junit", "--fail-on", "warning"]).out;
    assert!(strict.contains(r#"<failure message="the file ends inside its last line"#), "{strict}");
}

#[test]
fn github() {
    let run = verify(&["--format", "github"]);
    assert_golden("verify.github.txt", &run.out);
    assert!(run.out.lines().all(|line| line.starts_with("::")), "{}", run.out);
    assert!(run.err.starts_with("note: 5 logs: "), "{}", run.err);
    assert_eq!(verify(&["--format", "github", "-q"]).err, "");
}

#[test]
fn a_report_is_the_same_each_time() {
    for format in ["human", "json", "sarif", "junit", "github"] {
        assert_eq!(verify(&["--format", format]).out, verify(&["--format", format]).out, "{format}");
    }
}
