//! `--journal FILE`: a run that was stopped goes on where it was.

use crate::places::log;
use crate::sandbox::{Run, Sandbox, demo, fixture, text};
use crate::schemas::{faults, validator};
use serde_json::{Value, json};
use std::fs;
use std::process::Command;

/// An archive of a clean log, one with a warning, one with an error and one that cannot be read.
fn archive() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("archive/p/clean/session.jsonl", &demo());
    let errors = fixture("cases/R04-damaged-line-then-work-without-turn-end/session.jsonl");
    sandbox.write("archive/p/errors/session.jsonl", &fs::read(errors).unwrap());
    sandbox.write("archive/p/torn/session.jsonl", &fs::read(fixture("bytes/torn-raw.jsonl")).unwrap());
    sandbox.write("archive/p/unreadable/session.jsonl", b"");
    sandbox
}

fn statuses(report: &Value) -> Vec<&str> {
    report["files"].as_array().unwrap().iter().map(|file| file["status"].as_str().unwrap()).collect()
}

fn verify(sandbox: &Sandbox, words: &[&str]) -> (Value, i32) {
    sandbox.json(&[&["verify", "archive", "--journal", "run.journal"], words].concat())
}

/// The lines of the journal.
fn lines(sandbox: &Sandbox) -> Vec<Value> {
    let text = fs::read_to_string(sandbox.path("run.journal")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn what_is_done_is_skipped_and_counts_all_the_same() {
    let sandbox = archive();
    let (first, code) = verify(&sandbox, &[]);
    assert_eq!((statuses(&first), code), (vec!["clean", "findings", "findings", "unreadable"], 3));
    assert_eq!(first["summary"]["skipped"], json!(0));
    sandbox.write("archive/p/unreadable/session.jsonl", &log("unreadable", None));
    let (second, code) = verify(&sandbox, &[]);
    assert_eq!((statuses(&second), code), (vec!["skipped", "skipped", "skipped", "clean"], 1));
    assert_eq!(
        second["files"][1],
        json!({ "path": "archive/p/errors/session.jsonl", "status": "skipped", "outcome": "findings", "worst": "error" })
    );
    let summary = &second["summary"];
    assert_eq!(
        [&summary["files"], &summary["skipped"], &summary["clean"], &summary["byCode"]],
        [&json!(4), &json!(3), &json!(1), &json!({})]
    );
    let schema = validator("docs/verify.schema.json");
    for report in [first, second] {
        assert_eq!(faults(&schema, &report), [""; 0]);
    }
    // For people, and with another threshold: that changes nothing in what was found.
    fs::remove_file(sandbox.path("archive/p/errors/session.jsonl")).unwrap();
    for (severity, expected) in [("error", 0), ("warning", 1)] {
        let run = sandbox.run(&["verify", "archive", "--journal", "run.journal", "--fail-on", severity]);
        assert_eq!(run.code, expected, "{run:?}");
        assert!(
            run.out.ends_with(
                "3 logs: 2 skipped as clean by the journal, 1 skipped with findings by the journal\n"
            ),
            "{run:?}"
        );
    }
}

#[test]
fn lines_are_as_their_schema_says() {
    let sandbox = archive();
    verify(&sandbox, &[]);
    sandbox.json(&["compact", "-n", "archive", "--keep-turns", "2", "--journal", "run.journal"]);
    let schema = validator("docs/journal.schema.json");
    let lines = lines(&sandbox);
    assert_eq!(lines.len(), 8);
    for line in &lines {
        assert_eq!(faults(&schema, line), [""; 0], "{line}");
    }
    let text = serde_json::to_string(&lines).unwrap();
    for member in ["worst", "reason", "hostTokens", "bytes", "revision"] {
        assert!(text.contains(&format!("\"{member}\":")), "no line has {member}");
    }
    assert!(!schema.is_valid(&json!({ "schema": "dshc.journal/1" })));
}

#[test]
fn other_options_and_other_files_are_done_again() {
    let sandbox = archive();
    verify(&sandbox, &[]);
    let checked = |words: &[&str]| {
        let (report, _) = verify(&sandbox, words);
        statuses(&report).iter().filter(|status| **status != "skipped").count()
    };
    assert_eq!(checked(&[]), 1);
    assert_eq!(checked(&["--target-format", "3"]), 4);
    assert_eq!(checked(&["--rule", "torn-tail=off"]), 4);
    assert_eq!(checked(&["--rule", "torn-tail=off"]), 1);
    assert_eq!(checked(&["--rule", "torn-tail=note"]), 4);
    sandbox.write("archive/p/clean/session.jsonl", &fs::read(fixture("bytes/header-only.jsonl")).unwrap());
    assert_eq!(checked(&[]), 2);
    sandbox.write("archive/q/new/session.jsonl", &log("new", None));
    assert_eq!(checked(&[]), 2);
}

#[test]
fn what_shows_only_beside_other_logs_is_found_in_skipped_ones_too() {
    let sandbox = Sandbox::new();
    sandbox.write("archive/p/s/session.jsonl", &log("s", None));
    let (_, code) = verify(&sandbox, &[]);
    assert_eq!(code, 0);
    sandbox.write("archive/q/s/session.jsonl", &log("s", None));
    let (report, code) = verify(&sandbox, &["--fail-on", "warning"]);
    assert_eq!((statuses(&report), code), (vec!["skipped", "findings"], 1));
    let old = &report["files"][0];
    assert_eq!((&old["outcome"], &old["worst"]), (&json!("clean"), &json!("error")));
    assert_eq!(old["findings"][0]["code"], json!("duplicate-session-id"));
    assert_eq!(faults(&validator("docs/verify.schema.json"), &report), [""; 0]);
    // Skipped both: the duplicate still fails the run.
    let (report, code) = verify(&sandbox, &[]);
    assert_eq!((statuses(&report), code), (vec!["skipped", "skipped"], 1));
}

#[test]
fn a_session_in_two_encodings_is_never_skipped() {
    let sandbox = Sandbox::new();
    for name in ["session.jsonl", "session.jsonl.zstd"] {
        let bytes = fs::read(fixture(&format!("cases/R38-both-encodings-in-one-directory/{name}"))).unwrap();
        sandbox.write(&format!("archive/_no-cwd/r38/{name}"), &bytes);
    }
    for _ in 0..2 {
        let (report, code) = verify(&sandbox, &[]);
        assert_eq!((statuses(&report), code), (vec!["findings"], 1));
    }
}

#[test]
fn a_run_that_was_killed_goes_on_behind_its_last_whole_line() {
    let sandbox = archive();
    // One after the other, the largest first, which is the clean one.
    verify(&sandbox, &["-j1"]);
    let whole = fs::read(sandbox.path("run.journal")).unwrap();
    let second = whole.iter().enumerate().filter(|(_, byte)| **byte == b'\n').nth(1).unwrap().0;
    fs::write(sandbox.path("run.journal"), &whole[..second - 20]).unwrap();
    let run = sandbox.run(&["verify", "archive", "--journal", "run.journal", "--format", "json"]);
    assert!(run.err.starts_with("note: run.journal ended inside a line, which was cut off"), "{run:?}");
    let report: Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!(statuses(&report), ["skipped", "findings", "findings", "unreadable"]);
    let lines = lines(&sandbox);
    assert_eq!((lines.len(), run.code), (4, 3));
    assert_eq!(sandbox.run(&["verify", "archive", "--journal", "run.journal"]).err, "");
}

#[test]
fn a_journal_is_one_runs_and_no_other_file() {
    let sandbox = archive();
    let refused = |told: &str| {
        let run = sandbox.run(&["verify", "archive", "--journal", "run.journal"]);
        assert_eq!((run.code, run.out.as_str()), (2, ""), "{run:?}");
        assert!(run.err.contains(told) && run.err.contains("help: "), "{run:?}");
    };
    let file = fs::File::create(sandbox.path("run.journal")).unwrap();
    file.lock().unwrap();
    refused("another run writes to the journal run.journal");
    drop(file);
    sandbox.write("run.journal", &demo());
    refused("run.journal is no journal of dshc");
    assert_eq!(fs::read(sandbox.path("run.journal")).unwrap(), demo());
    fs::remove_file(sandbox.path("run.journal")).unwrap();
    fs::create_dir(sandbox.path("run.journal")).unwrap();
    refused("cannot use the journal run.journal");
}

#[cfg(target_os = "linux")]
#[test]
fn a_journal_that_cannot_be_written_fails_the_run() {
    let sandbox = Sandbox::new();
    sandbox.write("archive/p/a/session.jsonl", &demo());
    sandbox.write("archive/p/b/session.jsonl", &demo());
    // No file may grow; the write then fails, as the signal that would end the program is ignored.
    let line = format!(
        "trap '' XFSZ; ulimit -f 0; exec '{}' verify archive --journal run.journal",
        env!("CARGO_BIN_EXE_dshc")
    );
    let mut shell = Command::new("sh");
    shell.args(["-c", &line]).current_dir(sandbox.path(""));
    let run = Run::of(shell.output().unwrap());
    assert!(run.err.contains("cannot write the journal run.journal: "), "{run:?}");
    assert_eq!(run.code, 5, "{run:?}");
    assert!(run.out.contains("2 logs: 2 clean"), "{run:?}");
}

fn compact(sandbox: &Sandbox, words: &[&str]) -> (Value, i32) {
    sandbox.json(&[&["compact", "archive", "--keep-turns", "2", "--journal", "run.journal"], words].concat())
}

#[test]
fn a_log_that_was_compacted_in_place_is_not_compacted_again() {
    let sandbox = archive();
    let path = sandbox.path("archive/p/clean/session.jsonl");
    let (first, code) = compact(&sandbox, &["--assume-idle"]);
    assert_eq!((statuses(&first), code), (vec!["compacted", "refused", "refused", "unreadable"], 3));
    let compacted = fs::read(&path).unwrap();
    assert!(compacted.len() > demo().len());
    let (second, code) = compact(&sandbox, &["--assume-idle"]);
    assert_eq!((statuses(&second), code), (vec!["skipped", "refused", "refused", "unreadable"], 3));
    assert_eq!(
        second["files"][0],
        json!({ "path": "archive/p/clean/session.jsonl", "status": "skipped", "outcome": "compacted" })
    );
    assert_eq!(second["summary"]["skipped"], json!(1));
    assert_eq!(fs::read(&path).unwrap(), compacted);
    let schema = validator("docs/compact.schema.json");
    for report in [first, second] {
        assert_eq!(faults(&schema, &report), [""; 0]);
    }
    // Once it has changed it is compacted again; so it is with other options.
    let grown = fs::OpenOptions::new().append(true).open(&path).unwrap();
    grown.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
    let first_status = |words: &[&str]| statuses(&compact(&sandbox, words).0)[0].to_owned();
    assert_ne!(first_status(&["--assume-idle"]), "skipped");
    assert_eq!(first_status(&["--assume-idle"]), "skipped");
    assert_ne!(first_status(&["--assume-idle", "--no-keep-task"]), "skipped");
}

#[test]
fn results_elsewhere_are_not_in_the_way_of_a_run_that_goes_on() {
    let sandbox = archive();
    sandbox.write("archive/p/other/session.jsonl", &demo());
    let (first, _) = compact(&sandbox, &["-o", "new"]);
    assert_eq!(first["summary"]["compacted"], json!(2));
    // The run was stopped between the second result and its line.
    let journal = fs::read_to_string(sandbox.path("run.journal")).unwrap();
    let kept: Vec<&str> = journal.lines().filter(|line| !line.contains("p/other/")).collect();
    fs::write(sandbox.path("run.journal"), kept.join("\n")).unwrap();
    let (second, code) = compact(&sandbox, &["-o", "new"]);
    assert_eq!(statuses(&second), ["skipped", "refused", "refused", "refused", "unreadable"]);
    let reason = &second["files"][2]["reason"];
    assert_eq!(
        (&reason["code"], &reason["message"]),
        (&json!("output"), &json!("new/p/other/session.jsonl exists"))
    );
    assert_eq!(code, 3);
    // Without a journal nothing is known of a result that is there.
    let run = sandbox.run(&["compact", "archive", "--keep-turns", "2", "-o", "new"]);
    assert!(run.code == 2 && run.err.contains("exists"), "{run:?}");
}

#[test]
fn a_log_that_was_repacked_in_place_is_not_repacked_again() {
    let sandbox = Sandbox::new();
    let packed = fs::read(fixture("demo-zstd/session.jsonl.zstd")).unwrap();
    sandbox.write("archive/p/a/session.jsonl.zstd", &packed);
    sandbox.write("archive/p/empty/session.jsonl.zstd", b"");
    let repack =
        || sandbox.json(&["repack", "archive", "--in-place", "--level", "3", "--journal", "run.journal"]);
    let (first, code) = repack();
    assert_eq!((statuses(&first), code), (vec!["repacked", "unreadable"], 3));
    let (second, code) = repack();
    assert_eq!((statuses(&second), code), (vec!["skipped", "unreadable"], 3));
    let schema = validator("docs/repack.schema.json");
    for report in [first, second] {
        assert_eq!(faults(&schema, &report), [""; 0]);
    }
}

#[test]
fn people_are_told_how_much_was_done_before() {
    let sandbox = archive();
    let words = ["compact", "-n", "archive/p/clean", "--keep-turns", "2", "--journal", "run.journal"];
    assert!(sandbox.run(&words).out.starts_with("planned  "));
    let Run { code, out, err } = sandbox.run(&words);
    assert_eq!(
        (code, out.as_str(), err.as_str()),
        (0, "", "note: 1 log was done before, as the journal tells\n")
    );
}

#[test]
fn shards_with_journals_of_their_own_are_merged() {
    let sandbox = archive();
    let run = |index: u32| {
        let (shard, journal) = (format!("{index}/2"), format!("{index}.journal"));
        let words = ["verify", "archive", "--shard", &shard, "--journal", &journal, "--format", "json"];
        let file = sandbox.write(&format!("{index}.json"), sandbox.run(&words).out.as_bytes());
        text(&file).to_owned()
    };
    let _ = [run(1), run(2)];
    let files = [run(1), run(2)];
    let merged = sandbox.run(&["merge-reports", &files[0], &files[1]]);
    let report: Value = serde_json::from_str(&merged.out).unwrap();
    assert_eq!(statuses(&report), ["skipped", "skipped", "skipped", "unreadable"]);
    assert_eq!((&report["summary"]["skipped"], merged.code), (&json!(3), 3));
    // What an earlier run found fails this one, too.
    fs::remove_file(sandbox.path("archive/p/unreadable/session.jsonl")).unwrap();
    let files = [run(1), run(2)];
    assert_eq!(sandbox.run(&["merge-reports", &files[0], &files[1]]).code, 1);
}
