//! `dshc merge-reports`: what it joins, what it refuses, and its exit codes. That it gives what one run gives is tested
//! where runs are shared out.

use crate::sandbox::{Run, Sandbox, demo, fixture};
use crate::schemas::{faults, validator};
use std::fs;

/// A folder with the three shards of an archive of a clean, a torn and an empty log, `1.json` to `3.json`, and the
/// report of all of it, `all.json`.
fn reports() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("archive/p/a/session.jsonl", &demo());
    sandbox.write("archive/p/b/session.jsonl", &fs::read(fixture("bytes/torn-raw.jsonl")).unwrap());
    sandbox.write("archive/p/c/session.jsonl", b"");
    let words = ["verify", "archive", "--format", "json"];
    for index in 1..=3 {
        let run = sandbox.run(&[&words[..], &["--shard", &format!("{index}/3")]].concat());
        fs::write(sandbox.path(&format!("{index}.json")), run.out).unwrap();
    }
    fs::write(sandbox.path("all.json"), sandbox.run(&words).out).unwrap();
    sandbox
}

fn merge(sandbox: &Sandbox, words: &[&str]) -> Run {
    sandbox.run(&[&["merge-reports"], words].concat())
}

#[test]
fn totals_for_people() {
    let sandbox = reports();
    let run = merge(&sandbox, &["1.json", "2.json", "3.json", "--format", "human"]);
    assert_eq!(
        run.out,
        "3 logs of dshc.verify/1, from 3 reports\n  files: 3\n  clean: 1\n  withFindings: 1\n  unreadable: 1\n  \
         byCode:\n    empty-file: 1\n    torn-tail: 1\n"
    );
    assert_eq!((run.code, run.err.as_str()), (3, ""));
}

#[test]
fn missing_shards_are_told() {
    let sandbox = reports();
    let run = merge(&sandbox, &["2.json", "1.json"]);
    assert_eq!((run.code, run.out.as_str()), (2, ""));
    assert!(
        run.err.contains("of 3 shards these have no report: 3") && run.err.contains("--partial"),
        "{run:?}"
    );
    let run = merge(&sandbox, &["2.json", "1.json", "--partial"]);
    assert!(run.out.ends_with(",\"shards\":{\"of\":3,\"missing\":[3]}}\n"), "{run:?}");
    assert_eq!(run.err, "note: of 3 shards these are missing: 3\n");
    let schema = validator("docs/verify.schema.json");
    for text in [run.out, fs::read_to_string(sandbox.path("1.json")).unwrap()] {
        assert_eq!(faults(&schema, &serde_json::from_str(&text).unwrap()), [""; 0]);
    }
}

#[test]
fn what_is_not_of_one_run_is_named() {
    let sandbox = reports();
    let compact = sandbox.run(&["compact", "-n", "archive", "--format", "json", "--shard", "2/3"]);
    fs::write(sandbox.path("compact.json"), compact.out).unwrap();
    for (words, told) in [
        (&["1.json", "compact.json"][..], "compact.json is a report of the schema dshc.compact/1"),
        (&["1.json", "1.json"], "1.json is of shard 1/3, and so is 1.json"),
        (&["all.json", "1.json"], "1.json is of shard 1 of 3, all.json of a whole run"),
        (&["all.json", "all.json"], "and so does all.json"),
    ] {
        let run = merge(&sandbox, words);
        assert_eq!((run.code, run.out.as_str()), (2, ""), "{words:?}");
        assert!(run.err.contains(told) && run.err.contains("help: "), "{run:?}");
    }
}

#[test]
fn a_file_that_is_no_report_is_named() {
    let sandbox = reports();
    let whole = fs::read(sandbox.path("1.json")).unwrap();
    fs::write(sandbox.path("torn.json"), &whole[..whole.len() / 2]).unwrap();
    fs::write(sandbox.path("bytes.json"), b"\xff").unwrap();
    sandbox.write("log.jsonl", &demo());
    let replay = sandbox.run(&["replay", "log.jsonl", "--format", "json"]);
    fs::write(sandbox.path("replay.json"), replay.out).unwrap();
    for (file, told) in [
        ("torn.json", "torn.json: it is no JSON report: EOF"),
        ("bytes.json", "cannot read bytes.json: stream did not contain valid UTF-8"),
        ("log.jsonl", "log.jsonl: it is no JSON report: trailing characters"),
        ("replay.json", "replay.json: it is no report of many logs: it has no \"files\""),
        ("nowhere.json", "cannot read nowhere.json"),
    ] {
        let run = merge(&sandbox, &["1.json", file]);
        assert_eq!((run.code, run.out.as_str()), (3, ""), "{file}");
        assert!(run.err.contains(told), "{run:?}");
    }
}
