//! Many logs in one run: the same report however many are worked on at once, and each log in it.

use crate::sandbox::{Run, Sandbox, demo, fixture, text};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The numbers of jobs that are held against each other.
const JOBS: [&str; 3] = ["-j1", "-j2", "-j8"];

/// All files below a folder whose names end as a log's.
fn logs_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "jsonl" || ending == "zstd") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// A sandbox with all cases and the whole corpus in `all`, the files made in this order.
fn archive(arrange: impl FnOnce(&mut Vec<PathBuf>)) -> Sandbox {
    let sandbox = Sandbox::new();
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let mut logs: Vec<PathBuf> =
        ["cases", "corpus"].iter().flat_map(|folder| logs_below(&fixtures.join(folder))).collect();
    arrange(&mut logs);
    for log in logs {
        let name = Path::new("all").join(log.strip_prefix(&fixtures).unwrap());
        sandbox.write(text(&name), &fs::read(&log).unwrap());
    }
    sandbox
}

fn told(run: &Run) -> (i32, &str, &str) {
    (run.code, &run.out, &run.err)
}

/// The logs of a report and what it ignores.
fn accounted(report: &Value) -> (Vec<String>, Vec<String>) {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let files = report["files"].as_array().unwrap().iter().map(|file| text(&file["path"])).collect();
    (files, report["ignored"].as_array().unwrap().iter().map(text).collect())
}

#[test]
fn a_report_is_the_same_for_every_number_of_jobs_and_every_order_of_the_folders() {
    for format in ["json", "human", "sarif", "junit", "github"] {
        let arguments = ["verify", "all", "--format", format];
        let forth = archive(|_| {});
        let expected = forth.run(&[&arguments[..], &["-j1"]].concat());
        assert_eq!(expected.code, 3, "{expected:?}");
        for (sandbox, jobs) in [(&forth, "-j8"), (&archive(|logs| logs.reverse()), "-j2")] {
            let run = sandbox.run(&[&arguments[..], &[jobs]].concat());
            assert_eq!(told(&run), told(&expected), "{format} {jobs}");
        }
    }
}

#[test]
fn every_file_of_an_archive_is_accounted_for() {
    let sandbox = archive(|_| {});
    let (report, code) = sandbox.json(&["verify", "all"]);
    assert_eq!(code, 3);
    let (files, ignored) = accounted(&report);
    assert!(files.is_sorted() && ignored.is_sorted());
    let told: BTreeSet<PathBuf> = files.iter().chain(&ignored).map(|path| sandbox.path(path)).collect();
    assert_eq!(told.len(), files.len() + ignored.len(), "each once");
    assert_eq!(told.into_iter().collect::<Vec<_>>(), logs_below(&sandbox.path("all")));
    let summary = &report["summary"];
    let parts = ["clean", "withFindings", "unreadable"].map(|part| summary[part].as_u64().unwrap());
    assert_eq!((&summary["files"], parts.iter().sum::<u64>()), (&json!(files.len()), files.len() as u64));
}

#[test]
fn logs_stand_in_the_order_of_their_paths_however_they_are_named() {
    let sandbox = Sandbox::new();
    for name in ["b.jsonl", "a.jsonl", "c/session.jsonl"] {
        sandbox.write(name, &demo());
    }
    for paths in [["c", "b.jsonl", "a.jsonl"], ["a.jsonl", "b.jsonl", "c"]] {
        let (report, _) = sandbox.json(&[&["verify"], &paths[..]].concat());
        assert_eq!(accounted(&report).0, ["a.jsonl", "b.jsonl", "c/session.jsonl"]);
    }
}

#[test]
fn compactions_are_the_same_for_every_number_of_jobs() {
    let compacted = |jobs| {
        let sandbox = archive(|_| {});
        let run = sandbox.run(&["compact", "all", "--retain-tokens", "300", "--format", "json", jobs]);
        let logs = logs_below(&sandbox.path("all"));
        let bytes: Vec<Vec<u8>> = logs.iter().map(|log| fs::read(log).unwrap()).collect();
        (run, bytes)
    };
    let (expected, expected_bytes) = compacted(JOBS[0]);
    assert_eq!((expected.code, expected.out.contains("\"compacted\"")), (3, true), "{expected:?}");
    for jobs in &JOBS[1..] {
        let (run, bytes) = compacted(jobs);
        assert_eq!(told(&run), told(&expected), "{jobs}");
        assert!(bytes == expected_bytes, "{jobs}");
    }
}

#[test]
fn r05_archive_with_one_bad_session() {
    let archive = fixture("cases/R05-archive-with-one-bad-session/archive");
    for arguments in
        [&["verify"][..], &["verify", "--format", "json"], &["compact", "-n", "--retain-tokens", "0"]]
    {
        let sandbox = Sandbox::new();
        let runs = JOBS.map(|jobs| sandbox.run(&[arguments, &[text(&archive), jobs]].concat()));
        assert_eq!(runs[0].code, 3, "{:?}", runs[0]);
        for run in &runs[1..] {
            assert_eq!(told(run), told(&runs[0]), "{arguments:?}");
        }
    }
}

/// 21 sound logs, an empty one and 24 that are none.
fn many() -> Sandbox {
    let sandbox = Sandbox::new();
    for index in 10..31 {
        sandbox.write(&format!("all/{index}/session.jsonl"), &demo());
    }
    sandbox.write("all/31/session.jsonl", b"");
    for index in 40..64 {
        sandbox.write(&format!("all/{index}/session.jsonl"), b"text\n");
    }
    sandbox
}

#[test]
fn of_many_logs_compact_tells_totals() {
    let arguments = ["compact", "all", "--keep-turns", "2", "-n"];
    let run = many().run(&arguments);
    let rows = "      21  planned\n\
               \x20      1  unreadable: empty-file, all/31/session.jsonl\n\
               \x20     24  unreadable: not-a-log, first all/40/session.jsonl\n\
               46 logs: 21 planned, 25 unreadable; host tokens: ";
    assert!(run.out.starts_with(rows), "{}", run.out);
    assert_eq!(run.err.matches("error: all/").count(), 20, "{}", run.err);
    assert!(run.err.contains("error: 5 more logs could not be compacted\n  help: -v "), "{}", run.err);

    let run = many().run(&[&arguments[..], &["-v"]].concat());
    assert_eq!(run.out.matches("planned  all/").count(), 21, "{}", run.out);
    assert_eq!(run.err.matches("error: all/").count(), 25, "{}", run.err);
    assert!(run.out.contains("\n46 logs: 21 planned, 25 unreadable; "), "{}", run.out);
}

#[test]
fn one_job_at_least_is_wanted() {
    let sandbox = Sandbox::new();
    let log = sandbox.write("a.jsonl", &demo());
    for words in [&["-j0"][..], &["--jobs", "many"], &["--jobs=-1"]] {
        let run = sandbox.run(&[&["verify", text(&log)], words].concat());
        assert_eq!(run.code, 2, "{run:?}");
    }
    assert_eq!(sandbox.run(&["replay", text(&log), "--jobs", "3"]).code, 0);
}

#[test]
fn nothing_of_the_progress_reaches_a_pipe() {
    let run = many().run(&["verify", "all", "-v"]);
    assert_eq!(run.err, "");
}
