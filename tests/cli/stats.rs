//! `dshc stats`: the figures against those of `replay` and of the official reader, their order, and the three reports.

use crate::golden::assert_golden;
use crate::sandbox::{HEADER, Run, Sandbox, corpus, decoded, fixture, lines, text};
use crate::schemas::{faults, validator};
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;

/// One log; the exit code is that of a sound one.
fn one(log: &str) -> Value {
    let (mut report, code) = Sandbox::new().json(&["stats", log]);
    assert_eq!(code, 0, "{report}");
    report["files"][0].take()
}

#[test]
fn figures_are_those_of_the_official_reader() {
    for (log, facts) in corpus() {
        let file = one(text(&log));
        let stored = &facts["stored"];
        assert_eq!(file["events"], stored["events"], "{}", log.display());
        assert_eq!(file["surface"]["nodes"], stored["surface"].as_array().unwrap().len());
        assert_eq!(file["surface"]["hostTokens"], stored["surfaceTokens"]);
        let tokens = |member: &str| file[member]["hostTokens"].as_u64().unwrap();
        assert_eq!(tokens("surface") + tokens("header"), stored["totalTokens"]);
    }
}

#[test]
fn figures_are_those_of_the_logs_own_lines() {
    for (log, _) in corpus() {
        let (file, lines, whole) = (one(text(&log)), lines(&log), decoded(&log));
        assert_eq!(file["bytes"]["disk"], fs::metadata(&log).unwrap().len());
        let torn = whole.rsplit(|byte| *byte == b'\n').next().unwrap();
        assert_eq!(torn, b"", "{}", log.display());
        assert_eq!(file["bytes"]["decoded"], whole.len());
        assert_eq!(file["records"], lines.len() - 1);
        let of = |event_type: &str| lines.iter().filter(|line| line["type"] == event_type).count();
        for event_type in ["user/message", "tool/call", "turn/start", "compaction/summary"] {
            let count = file["eventsByType"].get(event_type).map_or(0, |count| count.as_u64().unwrap());
            assert_eq!(count, of(event_type) as u64, "{event_type}");
        }
        let sum: u64 = file["eventsByType"].as_object().unwrap().values().filter_map(Value::as_u64).sum();
        assert_eq!(file["events"], sum);
        assert_eq!(file["lastTime"], last_time(&lines));
    }
}

fn last_time(lines: &[Value]) -> i64 {
    let last = lines.last().unwrap();
    let gaps = |line: &Value| -> i64 {
        line["data"]["dt"].as_array().unwrap().iter().filter_map(Value::as_i64).sum()
    };
    last["time"].as_i64().unwrap_or_else(|| last["time0"].as_i64().unwrap() + gaps(last))
}

#[test]
fn surfaces_are_those_of_replay_in_every_format() {
    for entry in fs::read_dir(fixture("formats")).unwrap() {
        let log = entry.unwrap().path();
        let (replay, _) = Sandbox::new().json(&["replay", text(&log)]);
        let file = one(text(&log));
        assert_eq!(file["surface"]["nodes"], replay["surface"].as_array().unwrap().len());
        for member in ["hostTokens", "header"] {
            let figure = if member == "header" { &file["header"] } else { &file["surface"]["hostTokens"] };
            assert_eq!(*figure, replay[member], "{}", log.display());
        }
        for (member, figure) in [("events", &file["events"]), ("contextWindow", &file["contextWindow"])] {
            assert_eq!(figure, &replay[member], "{}", log.display());
        }
    }
}

#[test]
fn what_a_fork_inherited_is_told_apart() {
    let log = fixture("cases/R33-fork-with-copied-end-seed-markers/session.jsonl");
    let (replay, _) = Sandbox::new().json(&["replay", text(&log)]);
    let cut = replay["session"]["inheritedEvents"].as_u64().unwrap();
    let file = one(text(&log));
    let inherited = &file["inherited"];
    assert_eq!(inherited["events"], cut);
    let nodes = replay["surface"].as_array().unwrap().iter().filter(|node| node["seq"].as_u64() < Some(cut));
    let tokens: Vec<u64> = nodes.map(|node| node["hostTokens"].as_u64().unwrap()).collect();
    assert!(!tokens.is_empty());
    assert_eq!(inherited["nodes"], tokens.len());
    assert_eq!(inherited["hostTokens"], tokens.iter().sum::<u64>());
    let text = fs::read_to_string(&log).unwrap();
    let bytes: usize = text
        .lines()
        .skip(1)
        .take_while(|line| serde_json::from_str::<Value>(line).unwrap()["seq"].as_u64() < Some(cut))
        .map(|line| line.len() + 1)
        .sum();
    assert_eq!(inherited["bytes"], bytes);
}

#[test]
fn a_log_may_come_from_standard_input() {
    let sandbox = Sandbox::new();
    let log = fixture("demo/session.jsonl");
    let run = sandbox.run_with_input(&["stats", "-", "--format", "json"], &log);
    let mut report: Value = serde_json::from_str(&run.out).unwrap();
    let mut file = report["files"][0].take();
    assert_eq!((run.code, file["path"].take()), (0, json!("-")));
    let mut named = one(text(&log));
    named["path"].take();
    assert_eq!(file, named);
}

#[test]
fn without_a_path_the_sessions_of_dsh_are_told() {
    let sandbox = Sandbox::new();
    sandbox.write(".dsh/sessions/_no-cwd/s/session.jsonl", HEADER.as_bytes());
    let log = format!("{HEADER}\n");
    sandbox.write(".dsh/sessions/_no-cwd/t/session.jsonl", log.as_bytes());
    let (report, code) = sandbox.json(&["stats", "--sort", "path"]);
    assert_eq!((code, &report["summary"]["counted"]), (3, &json!(1)));
    assert_eq!(report["files"][0]["reason"]["code"], "no-header");
    let run = Sandbox::new().run(&["stats"]);
    assert_eq!(run.code, 2, "{run:?}");
}

/// A session directory that holds both logs of R38.
fn both_encodings(sandbox: &Sandbox) -> PathBuf {
    for name in ["session.jsonl", "session.jsonl.zstd"] {
        let log = fixture(&format!("cases/R38-both-encodings-in-one-directory/{name}"));
        sandbox.write(&format!("twice/p/s/{name}"), &fs::read(log).unwrap());
    }
    sandbox.path("twice")
}

#[test]
fn a_session_in_two_encodings_is_counted_once() {
    let sandbox = Sandbox::new();
    let root = both_encodings(&sandbox);
    let (report, code) = sandbox.json(&["stats", text(&root)]);
    assert_eq!((code, &report["summary"]["files"], &report["summary"]["events"]), (0, &json!(1), &json!(17)));
    assert!(report["files"][0]["path"].as_str().unwrap().ends_with("session.jsonl.zstd"));
    assert!(report["ignored"][0].as_str().unwrap().ends_with("session.jsonl"));
    let note = report["files"][0]["notes"][0].as_str().unwrap();
    assert!(note.contains("the session is counted once"), "{note}");
}

#[test]
fn sums_are_those_of_all_logs_whatever_is_shown() {
    let corpus = fixture("corpus");
    let sandbox = Sandbox::new();
    let (all, _) = sandbox.json(&["stats", text(&corpus)]);
    let (top, code) = sandbox.json(&["stats", text(&corpus), "--top", "3", "--sort", "tokens"]);
    assert_eq!((code, &top["sortedBy"], &top["top"]), (0, &json!("tokens"), &json!(3)));
    assert_eq!((&all["sortedBy"], all.get("top")), (&json!("size"), None));
    assert_eq!(top["summary"], all["summary"]);
    let tokens = |report: &Value| -> Vec<u64> {
        let files = report["files"].as_array().unwrap().iter();
        files.map(|file| file["surface"]["hostTokens"].as_u64().unwrap()).collect()
    };
    let mut expected = tokens(&all);
    expected.sort_unstable_by(|left, right| right.cmp(left));
    assert_eq!(tokens(&top), expected[..3]);
    let sizes: Vec<u64> =
        all["files"].as_array().unwrap().iter().filter_map(|file| file["bytes"]["disk"].as_u64()).collect();
    assert!(sizes.is_sorted_by(|left, right| left >= right));
    assert_eq!(all["summary"]["bytes"]["disk"], sizes.iter().sum::<u64>());
}

#[test]
fn an_unreadable_log_is_told_though_it_is_not_among_the_first() {
    let sandbox = Sandbox::new();
    sandbox.write("empty.jsonl", b"");
    sandbox.write("log.jsonl", format!("{HEADER}\n").as_bytes());
    let run = sandbox.run(&["stats", "empty.jsonl", "log.jsonl", "nowhere.jsonl", "--top", "1", "-q"]);
    assert_eq!(run.code, 3);
    for name in ["empty.jsonl: empty file", "nowhere.jsonl: cannot read"] {
        assert!(run.err.contains(&format!("error: {name}")), "{run:?}");
    }
    assert!(run.out.contains("2 logs unreadable") && run.out.contains("and 2 more logs"), "{run:?}");
}

#[test]
fn a_report_is_the_same_for_every_number_of_jobs_and_order_of_paths() {
    let sandbox = Sandbox::new();
    let folders = ["corpus", "cases", "formats"].map(fixture);
    let folders: Vec<&str> = folders.iter().map(|folder| text(folder)).collect();
    let turned: Vec<&str> = folders.iter().rev().copied().collect();
    for format in ["human", "json", "csv"] {
        let run = |jobs: &str, folders: &[&str]| {
            sandbox.run(&[&["stats", "--format", format, "--top", "40", "-j", jobs], folders].concat())
        };
        let one = run("1", &folders);
        for other in [run("1", &turned), run("2", &folders), run("7", &turned)] {
            assert_eq!((&one.out, &one.err, one.code), (&other.out, &other.err, other.code), "{format}");
        }
    }
}

#[test]
fn an_unknown_order_is_wrong_usage() {
    let run = Sandbox::new().run(&["stats", "--sort", "weight"]);
    assert_eq!(run.code, 2);
    assert!(
        run.err.contains("size, decoded, events, tokens, chunks, compactions, activity, path"),
        "{run:?}"
    );
}

/// A compacted log, a fork, a damaged one, a torn one, an empty one, one of a newer format and one in two encodings.
fn folder(options: &[&str]) -> Run {
    let sandbox = Sandbox::new();
    for (name, log) in [
        ("compacted.jsonl.zstd", "corpus/compacted-zstd/--home-dev-project-2--/gen-12-2/session.jsonl.zstd"),
        ("fork.jsonl", "cases/R33-fork-with-copied-end-seed-markers/session.jsonl"),
        ("damaged.jsonl", "cases/R04-damaged-line-then-work-without-turn-end/session.jsonl"),
        ("torn.jsonl", "bytes/torn-raw.jsonl"),
        ("failed.jsonl", "cases/R25-repeated-failed-compactions/session.jsonl"),
        ("plugin.jsonl", "cases/R31-unknown-required-event/session.jsonl"),
        ("new.jsonl", "formats/native.v4.jsonl"),
        ("a,\"b.jsonl", "bytes/empty.jsonl"),
    ] {
        sandbox.write(name, &fs::read(fixture(log)).unwrap());
    }
    both_encodings(&sandbox);
    let logs = [
        "compacted.jsonl.zstd",
        "fork.jsonl",
        "damaged.jsonl",
        "torn.jsonl",
        "failed.jsonl",
        "plugin.jsonl",
        "new.jsonl",
        "a,\"b.jsonl",
        "twice",
    ];
    let run = sandbox.run(&[&["stats"], options, &logs].concat());
    assert_eq!(run.code, 3, "{run:?}");
    run
}

#[test]
fn people_read_a_table() {
    let run = folder(&[]);
    assert_golden("stats.txt", &format!("{}---\n{}", run.out, run.err));
    assert!(folder(&["--color", "always"]).out.contains("\u{1b}["));
}

#[test]
fn programs_read_one_document() {
    let report: Value = serde_json::from_str(&folder(&["--format", "json"]).out).unwrap();
    assert_golden("stats.json", &format!("{report:#}\n"));
    assert_eq!(faults(&validator("docs/stats.schema.json"), &report), [""; 0]);
}

#[test]
fn tables_have_a_row_for_each_log() {
    let csv = folder(&["--format", "csv"]).out;
    assert_golden("stats.csv", &csv);
    let columns = csv.lines().next().unwrap().split(',').count();
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    assert_eq!(rows.len(), 9);
    assert!(rows.iter().all(|row| row.len() == columns));
    assert!(rows.iter().any(|row| &row[0] == "a,\"b.jsonl" && &row[4] == "unreadable"));
}

#[test]
fn reports_are_as_their_schema_says() {
    let validator = validator("docs/stats.schema.json");
    let sandbox = Sandbox::new();
    let mut seen = String::new();
    for paths in [vec!["corpus"], vec!["cases", "demo", "demo-zstd"], vec!["formats/native.v4.jsonl"]] {
        let paths: Vec<PathBuf> = paths.into_iter().map(fixture).collect();
        let paths: Vec<&str> = paths.iter().map(|path| text(path)).collect();
        let (report, _) = sandbox.json(&[&["stats", "--top", "50"], &paths[..]].concat());
        assert_eq!(faults(&validator, &report), [""; 0]);
        seen.push_str(&report.to_string());
    }
    for member in ["top", "reason", "frames", "contextWindow", "inherited", "leftOut", "shareOfBytes"] {
        assert!(seen.contains(&format!("\"{member}\":")), "no report has {member}");
    }
}

#[test]
fn the_schema_refuses_what_stats_does_not_write() {
    let validator = validator("docs/stats.schema.json");
    let log = fixture("demo/session.jsonl");
    let (whole, _) = Sandbox::new().json(&["stats", text(&log)]);
    assert_eq!(faults(&validator, &whole), [""; 0]);
    for (pointer, value) in [
        ("/schema", json!("dshc.stats/2")),
        ("/sortedBy", json!("weight")),
        ("/extra", json!(1)),
        ("/files/0/status", json!("broken")),
        ("/files/0/extra", json!(1)),
        ("/files/0/bytes/disk", json!(-1)),
        ("/files/0/eventsByType/x", json!(0.5)),
        ("/files/0/chunks/shareOfEvents", json!(1.5)),
        ("/files/0/compactions/extra", json!(1)),
        ("/files/0/lastTime", json!("2026")),
        ("/summary/files", json!(null)),
        ("/summary/extra", json!(1)),
    ] {
        let mut report = whole.clone();
        let (parent, member) = pointer.rsplit_once('/').unwrap();
        report.pointer_mut(parent).unwrap()[member] = value.clone();
        assert!(!validator.is_valid(&report), "{pointer} may be {value}");
    }
    for member in ["path", "status", "bytes", "notes"] {
        let mut report = whole.clone();
        report["files"][0].as_object_mut().unwrap().remove(member);
        assert!(!validator.is_valid(&report), "{member} may be missing");
    }
}
