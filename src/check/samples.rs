//! The other logs of `fixtures/`: that sound ones say nothing, and what locks, odd bytes and damage bring up.

use super::Severity;
use super::testing::{check_bytes, check_fixture, check_source, codes, fixture, worst};
use crate::log::Source;
use std::path::{Path, PathBuf};

fn logs_below(folder: &Path, logs: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            logs_below(&path, logs);
        } else if name == "session.jsonl" || name == "session.jsonl.zstd" {
            logs.push(path);
        }
    }
}

#[test]
fn sound_logs_give_no_error_and_no_warning() {
    let mut logs = Vec::new();
    for folder in ["corpus", "demo", "demo-zstd"] {
        logs_below(&fixture(folder), &mut logs);
    }
    assert_eq!(logs.len(), 16);
    for log in logs {
        let checked = check_source(&Source::open(&log).unwrap());
        let gravest = checked.findings.iter().filter(|finding| finding.code != "task-lost");
        let gravest = gravest.map(|finding| finding.severity).max();
        assert!(gravest <= Some(Severity::Note), "{}: {:#?}", log.display(), checked.findings);
        let is_crashed =
            log.components().any(|part| part.as_os_str().to_string_lossy().starts_with("crashed"));
        let expected = |code: &str| code == "task-lost" || is_crashed && code == "call-without-result";
        assert!(
            codes(&checked).iter().all(|code| expected(code)),
            "{}: {:#?}",
            log.display(),
            checked.findings
        );
    }
}

#[test]
fn locks_are_told_by_what_stands_behind_them() {
    let locks = |path| {
        let checked = check_fixture(path);
        (codes(&checked), worst(&checked))
    };
    assert_eq!(locks("locks/held-no-turn.jsonl"), (vec!["orphaned-lock"], Some(Severity::Error)));
    assert_eq!(locks("locks/orphan-open-turn.jsonl"), (vec!["orphaned-lock"], Some(Severity::Error)));
    assert_eq!(locks("locks/stale-before-end-seed.jsonl"), (vec!["expired-lock"], Some(Severity::Note)));
}

#[test]
fn odd_bytes_are_told() {
    assert_eq!(codes(&check_fixture("bytes/header-only.jsonl")), [""; 0]);
    assert_eq!(codes(&check_fixture("bytes/torn-raw.jsonl")), ["torn-tail"]);
    assert_eq!(codes(&check_fixture("bytes/no-final-newline.jsonl")), ["no-final-newline"]);
}

proptest::proptest! {
    #[test]
    fn no_damage_makes_a_check_panic(
        flips in proptest::collection::vec((0usize..20_000, 0u8..=255), 1..8), cuts in proptest::collection::vec(0usize..40, 0..3),
    ) {
        let log = std::fs::read(fixture("cases/R18-stale-lock-before-end-seed-then-success/session.jsonl")).unwrap();
        let mut lines: Vec<Vec<u8>> = log.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
        for cut in cuts {
            let at = 1 + cut % (lines.len() - 1);
            lines.remove(at);
        }
        let header = lines[0].len();
        let mut log = lines.concat();
        for (at, byte) in flips {
            let length = log.len() - header;
            log[header + at % length] = byte;
        }
        check_bytes(&log);
    }
}
