//! `dshc verify`.

use crate::sandbox::{Sandbox, alarms, corpus, demo, finding, fixture, text};
use serde_json::{Value, json};

/// Codes of one severity, file by file.
fn codes<'a>(file: &'a Value, severity: &str) -> Vec<&'a str> {
    let findings =
        file["findings"].as_array().unwrap().iter().filter(|finding| finding["severity"] == json!(severity));
    findings.map(|finding| finding["code"].as_str().unwrap()).collect()
}

#[test]
fn logs_that_dsh_wrote_are_clean() {
    let sandbox = Sandbox::new();
    let mut logs: Vec<String> = corpus().iter().map(|(log, _)| text(log).to_owned()).collect();
    for name in [
        "demo/session.jsonl",
        "demo-zstd/session.jsonl.zstd",
        "locks/stale-before-end-seed.jsonl",
        "bytes/header-only.jsonl",
    ] {
        logs.push(text(&fixture(name)).to_owned());
    }
    let arguments: Vec<&str> = ["verify"].into_iter().chain(logs.iter().map(String::as_str)).collect();
    let (report, code) = sandbox.json(&arguments);
    assert_eq!((code, alarms(&report)), (0, vec![]), "{report}");
}

#[test]
fn what_dshc_writes_is_clean() {
    let sandbox = Sandbox::new();
    for (log, _) in corpus() {
        let copy = sandbox.copy(&log);
        for budget in ["2000", "800"] {
            sandbox.json(&["compact", text(&copy), "--retain-tokens", budget]);
        }
        let (report, code) = sandbox.json(&["verify", "--fail-on", "warning", text(&copy)]);
        assert_eq!(code, 0, "{report}");
    }
}

#[test]
fn an_archive_is_reported_whole_and_in_order() {
    let sandbox = Sandbox::new();
    let archive = fixture("cases/R05-archive-with-one-bad-session/archive");
    let run = sandbox.run(&["verify", text(&archive), "--format", "json"]);
    assert!(run.out.starts_with("{\"schema\":\"dshc.verify/1\","));
    let report: Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!(run.code, 3);
    let files = report["files"].as_array().unwrap();
    let status: Vec<&str> = files.iter().map(|file| file["status"].as_str().unwrap()).collect();
    assert_eq!(status, ["findings", "unreadable", "clean", "clean"]);
    assert_eq!(codes(&files[1], "error"), ["empty-file"]);
    assert_eq!(
        report["summary"],
        json!({ "files": 4, "clean": 2, "withFindings": 1, "unreadable": 1, "byCode": { "empty-file": 1, "seq-fork": 1 } })
    );
    let human = sandbox.run(&["verify", text(&archive)]);
    assert!(human.out.contains("4 logs: 2 clean, 1 with findings, 1 unreadable"), "{}", human.out);
}

#[test]
fn findings_tell_their_place() {
    let sandbox = Sandbox::new();
    let (report, code) = sandbox
        .json(&["verify", text(&fixture("cases/R04-damaged-line-then-work-without-turn-end/session.jsonl"))]);
    let bad_line = finding(&report["files"][0], "unparsable-line");
    assert_eq!((code, &bad_line["line"], &bad_line["seq"]), (1, &json!(18), &json!(16)));
    assert_eq!(bad_line["byte"], bad_line["textByte"]);
    let zstd = fixture("cases/R07-zstd-torn-tail/variant-bitflip-in-committed-frame.jsonl.zstd");
    let (report, _) = sandbox.json(&["verify", text(&zstd)]);
    let finding = &report["files"][0]["findings"][0];
    assert_eq!(
        (&finding["code"], &finding["frame"], &finding["byte"]),
        (&json!("frame-checksum"), &json!(2), &json!(88))
    );
}

#[test]
fn a_torn_tail_is_a_warning_and_fails_only_on_request() {
    let sandbox = Sandbox::new();
    for (name, code) in [
        ("bytes/torn-raw.jsonl", "torn-tail"),
        ("bytes/no-final-newline.jsonl", "no-final-newline"),
        ("cases/R07-zstd-torn-tail/session.jsonl.zstd", "torn-tail"),
    ] {
        let log = fixture(name);
        let (report, exit) = sandbox.json(&["verify", text(&log)]);
        assert_eq!(exit, 0, "{name}");
        assert_eq!(codes(&report["files"][0], "warning"), [code], "{name}");
        assert_eq!(sandbox.run(&["verify", "--fail-on", "warning", text(&log)]).code, 1, "{name}");
    }
}

#[test]
fn a_cut_compaction_is_named() {
    let sandbox = Sandbox::new();
    let log = sandbox.copy(fixture("demo/session.jsonl"));
    let old = std::fs::read(&log).unwrap().len();
    sandbox.run(&["compact", text(&log), "--keep-turns", "2"]);
    let new = std::fs::read(&log).unwrap();
    let start = old + new[old..].iter().position(|byte| *byte == b'\n').unwrap() + 1;
    let orphan = sandbox.write("orphan.jsonl", &new[..start]);
    let (report, code) = sandbox.json(&["verify", text(&orphan)]);
    assert_eq!((code, codes(&report["files"][0], "error")), (1, vec!["orphaned-lock"]));
    assert_eq!(report["files"][0]["lock"]["state"], json!("held"));
    assert_eq!(report["files"][0]["busy"], json!(["compaction-lock"]));
    let human = sandbox.run(&["verify", text(&orphan)]).out;
    assert!(human.contains("\n  lock held by the compaction that starts at seq "), "{human}");
    let (refused, code) = sandbox.json(&["compact", text(&orphan), "--keep-turns", "2"]);
    assert_eq!((code, &refused["files"][0]["reason"]["code"]), (4, &json!("busy")));
    let torn = sandbox.write("torn.jsonl", &new[..start + 100]);
    let (report, _) = sandbox.json(&["verify", text(&torn)]);
    assert_eq!(codes(&report["files"][0], "warning"), ["torn-tail"]);
    assert_eq!(codes(&report["files"][0], "error"), ["orphaned-lock"]);
}

#[test]
fn many_files_are_summed_up_unless_more_is_asked_for() {
    let sandbox = Sandbox::new();
    let log = std::fs::read(fixture("cases/R22-balanced-by-count-wrong-id/session.jsonl")).unwrap();
    for index in 0..21 {
        sandbox.write(&format!("root/p/s{index}/session.jsonl"), &log);
    }
    let short = sandbox.run(&["verify", "root"]);
    assert_eq!((short.code, short.out.contains("root/p/s3")), (1, false), "{}", short.out);
    assert!(short.out.contains("21  call-without-result"), "{}", short.out);
    let verbose = sandbox.run(&["verify", "-v", "root"]);
    assert!(verbose.out.contains("root/p/s3"));
}

#[test]
fn a_path_that_is_not_there_does_not_stop_the_others() {
    let sandbox = Sandbox::new();
    let (report, code) = sandbox.json(&["verify", "nowhere", text(&fixture("demo/session.jsonl"))]);
    assert_eq!(
        (code, &report["summary"]["unreadable"], &report["summary"]["clean"]),
        (3, &json!(1), &json!(1))
    );
}

#[test]
fn stray_names_are_listed_as_ignored() {
    let sandbox = Sandbox::new();
    let log = demo();
    sandbox.write("root/p/s/session.jsonl", &log);
    sandbox.write("root/p/s/copy.jsonl", &log);
    let (report, code) = sandbox.json(&["verify", "root"]);
    assert_eq!(
        (code, &report["summary"]["files"], &report["ignored"]),
        (0, &json!(1), &json!(["root/p/s/copy.jsonl"]))
    );
}

#[test]
fn without_a_path_the_products_own_sessions_are_checked() {
    let sandbox = Sandbox::new();
    let none = sandbox.run(&["verify"]);
    let (looked_at, other) = (sandbox.path(".dsh/sessions"), "DSH_HOME/sessions");
    let is_named = none.err.contains(&format!("{} is no folder", text(&looked_at)));
    assert!(none.code == 2 && is_named && !none.err.contains(other), "{none:?}");
    let log = demo();
    sandbox.write(".dsh/sessions/p/s/session.jsonl", &log);
    let (report, code) = sandbox.json(&["verify"]);
    assert_eq!((code, &report["summary"]["files"]), (0, &json!(1)));
    sandbox.write("other/sessions/p/s/session.jsonl", b"");
    let output = sandbox.command(&["verify"]).env("DSH_HOME", sandbox.path("other")).output().unwrap();
    assert_eq!(output.status.code(), Some(3));
}
