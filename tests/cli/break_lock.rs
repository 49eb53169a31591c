//! `dshc compact --break-lock`: what a process that is gone has left behind is mended, then the log is compacted.

#![cfg(unix)]

use crate::official::{judge, judge_strictly};
use crate::sandbox::{Sandbox, alarms, column, demo, fixture, lines, text};
use dshc::log::append::zstd_frame;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// A log that its writer has left locked, torn or both.
struct Left {
    name: &'static str,
    bytes: Vec<u8>,
    /// How many of its bytes stay.
    sound: usize,
    region: &'static [&'static str],
    /// Why it is refused without the flag.
    code: &'static str,
    /// What frees it, before the bracket of its own.
    mending: &'static [&'static str],
    notes: &'static [&'static str],
}

const BRACKET: [&str; 4] = ["compaction/start", "compaction/summary", "user/message", "compaction/end"];

/// The start of a compaction behind the demo's last event.
const START: &str = r#"{"type":"compaction/start","seq":559,"time":1791201700000,"data":{"compactionId":"left","turn":null}}"#;

fn read(name: &str) -> Vec<u8> {
    fs::read(fixture(name)).unwrap()
}

/// The demo as dsh compresses it, without the last bytes of its second frame.
fn torn_frame() -> (Vec<u8>, usize) {
    let raw = demo();
    let header = raw.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    let (head, events) = (zstd_frame(&raw[..header]).unwrap(), zstd_frame(&raw[header..]).unwrap());
    ([&head[..], &events[..events.len() - 2]].concat(), head.len())
}

/// The demo, compacted but for the bracket's end.
fn unended() -> Vec<u8> {
    let sandbox = Sandbox::new();
    let log = sandbox.copy(fixture("demo/session.jsonl"));
    assert_eq!(sandbox.run(&["compact", text(&log), "--keep-turns", "3"]).code, 0);
    let bytes = fs::read(&log).unwrap();
    let end = bytes.trim_ascii_end().iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
    bytes[..end].to_vec()
}

fn left() -> Vec<Left> {
    let all = &["--retain-tokens", "0"][..];
    let turns = &["--keep-turns", "2"][..];
    let whole = |name, bytes: Vec<u8>, region, mending, notes| Left {
        name,
        sound: bytes.len(),
        bytes,
        region,
        code: "busy",
        mending,
        notes,
    };
    let torn_raw = read("bytes/torn-raw.jsonl");
    let locked = [demo(), format!("{START}\n").into_bytes()].concat();
    let (frame, header) = torn_frame();
    vec![
        whole(
            "session.jsonl",
            read("cases/R16-orphan-lock-owner-turn-already-ended/session.jsonl"),
            &["--region", "1..3", "--no-keep-task"],
            &["session/end-seed"],
            &["session/end-seed 17 voids the lock of the compaction that starts at seq 6"],
        ),
        whole(
            "open-turn.jsonl",
            read("locks/orphan-open-turn.jsonl"),
            all,
            &["compaction/end"],
            &["compaction/end 24 closes, with an error, the compaction that starts at seq 23"],
        ),
        whole(
            "no-turn.jsonl",
            read("locks/held-no-turn.jsonl"),
            all,
            &["compaction/end"],
            &["compaction/end 29 closes, with an error, the compaction that starts at seq 28"],
        ),
        whole(
            "replaced.jsonl",
            unended(),
            &["--keep-turns", "1"],
            &["compaction/end"],
            &["closes the compaction that starts at seq 559: its checkpoint stands already"],
        ),
        Left {
            sound: torn_raw.iter().rposition(|byte| *byte == b'\n').unwrap() + 1,
            code: "damaged",
            ..whole("torn.jsonl", torn_raw, all, &[], &["a torn tail of 38 bytes is cut off"])
        },
        Left {
            sound: header,
            code: "damaged",
            ..whole(
                "torn.jsonl.zstd",
                frame,
                turns,
                &[],
                &["records in it are whole and stand in a frame of their own"],
            )
        },
        Left {
            sound: locked.len(),
            code: "damaged",
            ..whole(
                "torn-and-locked.jsonl",
                [&locked[..], b"{\"type\":\"compac"].concat(),
                turns,
                &["compaction/end"],
                &["a torn tail of 15 bytes is cut off", "compaction/end 560 closes, with an error,"],
            )
        },
    ]
}

/// Compacts with the flag; the report on the log and the exit code.
fn break_lock(sandbox: &Sandbox, log: &Path, more: &[&str]) -> (Value, i32) {
    let (mut report, code) = sandbox.json(&[&["compact", text(log), "--break-lock"], more].concat());
    (report["files"][0].take(), code)
}

fn has_notes(file: &Value, expected: &[&str]) {
    let notes = file["notes"].as_array().unwrap();
    for (note, expected) in notes.iter().zip(expected) {
        assert!(note.as_str().unwrap().contains(expected), "{expected}: {file}");
    }
    assert!(notes.len() >= expected.len(), "{file}");
}

#[test]
fn without_the_flag_nothing_is_written_and_the_flag_is_named() {
    let sandbox = Sandbox::new();
    for case in left() {
        let log = sandbox.write(case.name, &case.bytes);
        for more in [&[][..], &["-n"], &["-o", "new/copy"]] {
            let (report, code) = sandbox.json(&[&["compact", text(&log)], case.region, more].concat());
            let reason = &report["files"][0]["reason"];
            assert_eq!((code, &reason["code"]), (4, &json!(case.code)), "{}: {report}", case.name);
            assert!(reason["help"].as_str().unwrap().contains("--break-lock"), "{reason}");
            assert!(!sandbox.path("new").exists());
        }
        assert!(fs::read(&log).unwrap() == case.bytes, "{}", case.name);
    }
}

#[test]
fn what_was_left_behind_is_mended_and_then_compacted() {
    let sandbox = Sandbox::new();
    let mut results = Vec::new();
    for case in left() {
        let log = sandbox.write(case.name, &case.bytes);
        let before = sandbox.json(&["replay", text(&log)]).0;
        let (file, code) = break_lock(&sandbox, &log, case.region);
        assert_eq!((code, &file["status"]), (0, &json!("compacted")), "{}: {file}", case.name);
        has_notes(&file, case.notes);
        assert!(fs::read(&log).unwrap().starts_with(&case.bytes[..case.sound]), "{}", case.name);
        let expected = [case.mending, &BRACKET].concat();
        let all = lines(&log);
        let known = all.len() - expected.len();
        assert_eq!(column(&json!(all[known..]), "type"), expected, "{}", case.name);
        let (view, _) = sandbox.json(&["replay", text(&log)]);
        let count = |view: &Value| view["events"].as_u64().unwrap();
        assert_eq!(count(&view), count(&before) + expected.len() as u64, "{}", case.name);
        assert_eq!((&view["lock"]["state"], &view["openTurn"]), (&json!("free"), &before["openTurn"]));
        let (report, _) = sandbox.json(&["verify", text(&log)]);
        assert!(alarms(&report).is_empty(), "{}: {report}", case.name);
        results.push(log);
    }
    for verdict in judge(&results, &[]).unwrap_or_default() {
        assert_eq!((&verdict["loads"], &verdict["invariants"]), (&json!(true), &json!("ok")), "{verdict}");
        assert_eq!(verdict["stored"]["lock"]["held"], json!(false), "{verdict}");
    }
    for verdict in judge_strictly(&results).unwrap_or_default() {
        assert_eq!(verdict["ok"], json!(true), "{verdict}");
    }
}

#[test]
fn a_new_file_gets_the_same_and_the_input_nothing() {
    let sandbox = Sandbox::new();
    for (index, case) in left().iter().enumerate() {
        let log = sandbox.write(case.name, &case.bytes);
        fs::set_permissions(&log, fs::Permissions::from_mode(0o640)).unwrap();
        let output = sandbox.path(&format!("{index}/{}", case.name));
        let (file, code) = break_lock(&sandbox, &log, &[case.region, &["-o", text(&output)]].concat());
        assert_eq!((code, &file["output"]), (0, &json!(output)), "{}: {file}", case.name);
        has_notes(&file, case.notes);
        assert!(fs::read(&log).unwrap() == case.bytes, "{}", case.name);
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
        assert_eq!(mode(&output), 0o640, "{}", case.name);
        break_lock(&sandbox, &log, case.region);
        assert!(fs::read(&log).unwrap() == fs::read(&output).unwrap(), "{}", case.name);
        assert_eq!(mode(&log), 0o640, "{}", case.name);
        assert_eq!(fs::read_dir(output.parent().unwrap()).unwrap().count(), 1, "{}", case.name);
    }
}

#[test]
fn a_dry_run_tells_the_same_and_writes_nothing() {
    let sandbox = Sandbox::new();
    for case in left() {
        let log = sandbox.write(case.name, &case.bytes);
        let (plan, code) = break_lock(&sandbox, &log, &[case.region, &["-n"]].concat());
        assert_eq!((code, &plan["status"]), (0, &json!("planned")), "{}: {plan}", case.name);
        assert!(fs::read(&log).unwrap() == case.bytes, "{}", case.name);
        let (done, _) = break_lock(&sandbox, &log, case.region);
        for member in ["region", "hostTokens", "summarizer", "cache", "notes", "task"] {
            assert_eq!(plan[member], done[member], "{}: {member}", case.name);
        }
    }
}

#[test]
fn where_the_region_is_refused_nothing_is_mended() {
    let sandbox = Sandbox::new();
    for case in left() {
        let log = sandbox.write(case.name, &case.bytes);
        for more in [&[][..], &["-n"], &["-o", "new/copy"]] {
            let (file, code) = break_lock(&sandbox, &log, &[&["--region", "1..9999"], more].concat());
            assert_eq!((code, &file["status"]), (4, &json!("refused")), "{}, {more:?}: {file}", case.name);
            assert_eq!(file["reason"]["code"], "region", "{file}");
            assert_eq!(file["notes"], json!([]), "nothing was mended: {file}");
            assert!(!sandbox.path("new").exists());
        }
        assert!(fs::read(&log).unwrap() == case.bytes, "{}", case.name);
    }
}

#[test]
fn a_log_with_nothing_to_compact_is_mended_all_the_same() {
    let sandbox = Sandbox::new();
    for case in left() {
        let log = sandbox.write(case.name, &case.bytes);
        let (file, code) = break_lock(&sandbox, &log, &["--keep-turns", "99", "-o", "new/copy"]);
        assert_eq!((code, &file["status"]), (0, &json!("nothing_to_do")), "{}: {file}", case.name);
        assert_eq!(file["notes"].as_array().unwrap().len(), 1, "nothing was mended: {file}");
        assert!(!sandbox.path("new/copy").exists() && fs::read(&log).unwrap() == case.bytes);

        let (file, code) = break_lock(&sandbox, &log, &["--keep-turns", "99"]);
        assert_eq!((code, &file["status"]), (0, &json!("nothing_to_do")), "{}: {file}", case.name);
        has_notes(&file, case.notes);
        assert_eq!(file["bytes"]["after"], json!(fs::metadata(&log).unwrap().len()));
        let (report, _) = sandbox.json(&["verify", text(&log)]);
        assert!(alarms(&report).is_empty(), "{}: {report}", case.name);
        assert_ne!(report["files"][0]["lock"]["state"], "held");

        let mended = fs::read(&log).unwrap();
        let (file, _) = break_lock(&sandbox, &log, &["--keep-turns", "99"]);
        assert_eq!((file["bytes"].get("after"), file["notes"].as_array().unwrap().len()), (None, 1));
        assert!(fs::read(&log).unwrap() == mended, "{}", case.name);
    }
}

/// A log that stopped inside turn 2 with calls open, locked by an owner whose turn is over, with enough to compact.
fn interrupted(sandbox: &Sandbox, version: u64) -> PathBuf {
    let log = String::from_utf8(read(&format!("interrupted/calls.v{version}.jsonl"))).unwrap();
    let rows: Vec<String> = (1..90).map(|row| format!("Row {row} has {} trees.", row * 7 % 13)).collect();
    let bulky = log.replace("Twelve rows, four trees each.", &rows.join(" "));
    assert_ne!(bulky, log);
    let name = if version == 0 { "session.jsonl".into() } else { format!("session.v{version}.jsonl") };
    sandbox.write(&name, bulky.as_bytes())
}

#[test]
fn an_interrupted_turn_is_ended_first_in_every_format() {
    let sandbox = Sandbox::new();
    let mut logs = Vec::new();
    for version in 0..=4 {
        let log = interrupted(&sandbox, version);
        let (old, known) = (fs::read(&log).unwrap(), lines(&log).len());
        let (file, code) = break_lock(&sandbox, &log, &["--keep-turns", "1"]);
        assert_eq!((code, &file["status"]), (0, &json!("compacted")), "format {version}: {file}");
        has_notes(&file, &["turn 2 ends as interrupted, with results for 2 calls that have none"]);
        assert!(fs::read(&log).unwrap().starts_with(&old));
        let closers = ["tool/result", "tool/result", "step/end", "turn/end", "session/end-seed"];
        assert_eq!(column(&json!(lines(&log)[known..]), "type"), [&closers[..], &BRACKET].concat());
        assert_eq!(sandbox.run(&["verify", text(&log), "--fail-on", "warning"]).code, 0, "format {version}");
        logs.push(log);
    }
    for verdict in judge(&logs[..1], &[]).unwrap_or_default() {
        assert_eq!(
            (&verdict["loads"], &verdict["resumed"]),
            (&json!(true), &json!("as stored")),
            "{verdict}"
        );
        assert_eq!(verdict["stored"]["lock"]["held"], json!(false), "{verdict}");
    }
    for verdict in judge_strictly(&logs[..4]).unwrap_or_default() {
        let upgrades = verdict["upgrades"].as_object().unwrap();
        assert!(
            verdict["ok"] == json!(true) && upgrades.values().all(|upgrade| upgrade == "ok"),
            "{verdict}"
        );
    }
}

#[test]
fn a_session_that_a_process_has_open_is_left_alone() {
    let sandbox = Sandbox::new();
    let held = fs::File::create(sandbox.path("session.lock")).unwrap();
    held.lock().unwrap();
    for version in [3, 4] {
        let log = interrupted(&sandbox, version);
        let old = fs::read(&log).unwrap();
        let (file, code) = break_lock(&sandbox, &log, &["--keep-turns", "1"]);
        assert_eq!((code, &file["reason"]["code"]), (4, &json!("in_use")), "{file}");
        assert_eq!(file["notes"], json!([]), "{file}");
        assert!(fs::read(&log).unwrap() == old);
    }
}

#[test]
fn damage_is_mended_by_nothing() {
    let sandbox = Sandbox::new();
    for name in [
        "cases/R04-damaged-line-then-work-without-turn-end/session.jsonl",
        "cases/R09-torn-stub-fused-with-next-record/session.jsonl",
        "cases/R07-zstd-torn-tail/variant-bitflip-in-committed-frame.jsonl.zstd",
    ] {
        let log = sandbox.copy(fixture(name));
        let old = fs::read(&log).unwrap();
        let (file, code) = break_lock(&sandbox, &log, &["--retain-tokens", "0"]);
        assert_eq!((code, &file["reason"]["code"]), (4, &json!("damaged")), "{name}: {file}");
        assert!(fs::read(&log).unwrap() == old, "{name}");
    }
}
