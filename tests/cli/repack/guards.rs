//! Logs that are left alone, each named with its reason.

use super::DEMO;
use crate::sandbox::{HEADER, Sandbox, fixture, text};
use serde_json::{Value, json};
use std::fs::{self, File};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// Repacks in place a log that must stay; the reason.
fn refused(sandbox: &Sandbox, log: &Path, options: &[&str]) -> Value {
    let old = fs::read(log).unwrap();
    let names = || fs::read_dir(log.parent().unwrap()).unwrap().count();
    let before = names();
    let (report, code) = sandbox.json(&[&["repack", text(log), "--in-place"], options].concat());
    let file = &report["files"][0];
    assert_eq!((code, &file["status"]), (4, &json!("refused")), "{report}");
    assert!(!file["reason"]["help"].as_str().unwrap().is_empty(), "{report}");
    assert_eq!((fs::read(log).unwrap(), names()), (old, before), "{report}");
    file["reason"].clone()
}

fn compressed(lines: &[String]) -> Vec<u8> {
    let text = lines.join("\n") + "\n";
    [format!("{HEADER}\n"), text]
        .iter()
        .flat_map(|text| zstd::bulk::compress(text.as_bytes(), 3).unwrap())
        .collect()
}

fn now() -> u128 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis()
}

#[test]
fn torn_damaged_and_locked_logs_stay_wherever_the_result_goes() {
    let sandbox = Sandbox::new();
    let whole = fs::read(fixture(DEMO)).unwrap();
    let mut flipped = whole.clone();
    let middle = flipped.len() / 2;
    flipped[middle] ^= 1;
    let raw = zstd::decode_all(whole.as_slice()).unwrap();
    let held = fs::read(fixture("cases/R16-orphan-lock-owner-turn-already-ended/session.jsonl")).unwrap();
    let end = held.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    let held = [&held[..end], &held[end..]].map(|text| zstd::bulk::compress(text, 3).unwrap()).concat();
    for (name, bytes, code, told) in [
        ("torn", whole[..whole.len() - 1].to_owned(), "damaged", "no whole frame"),
        ("flipped", flipped, "damaged", "missing"),
        ("one-frame", zstd::bulk::compress(&raw, 3).unwrap(), "damaged", "the header line and nothing else"),
        ("garbage", [&whole[..], b"garbage"].concat(), "damaged", "must start with 28 b5 2f fd"),
        ("held", held, "busy", "a compaction is under way since seq"),
    ] {
        let log = sandbox.write(&format!("{name}/{name}.jsonl.zstd"), &bytes);
        let reason = refused(&sandbox, &log, &["--assume-idle"]);
        let message = reason["message"].as_str().unwrap();
        assert_eq!(reason["code"], json!(code), "{name}: {message}");
        assert!(message.contains(told), "{name}: {message}");
        for options in [&["-n"][..], &["-o", "new.jsonl.zstd"]] {
            let (report, exit) = sandbox.json(&[&["repack", text(&log)], options].concat());
            assert_eq!((exit, &report["files"][0]["reason"]), (4, &reason), "{name}");
            assert!(!sandbox.path("new.jsonl.zstd").exists(), "{name}");
        }
    }
}

#[test]
fn a_log_that_was_written_to_a_moment_ago_stays() {
    let sandbox = Sandbox::new();
    let event = |seq: u64, kind: &str, data: &str, time: u128| {
        format!(r#"{{"type":"{kind}","seq":{seq},"time":{time},"data":{data}}}"#)
    };
    let start = event(0, "turn/start", r#"{"turn":1}"#, 1);
    let end = |time| event(1, "turn/end", r#"{"turn":1,"reason":{"kind":"completed"}}"#, time);
    let todos = |time| {
        let words = "text to compress ".repeat(20);
        event(1, "todo/write", &format!(r#"{{"todos":[{{"content":"{words}","status":"pending"}}]}}"#), time)
    };
    let hour = 3_600_000;
    for (lines, told) in [
        ([start.clone(), end(now())], Some("less than 10 seconds old")),
        // Between turns nothing is under way.
        ([start.clone(), end(now() - hour)], None),
        ([start.clone(), todos(now() - hour)], Some("turn 1 is open")),
        ([start.clone(), todos(now() - 25 * hour)], None),
    ] {
        let log = sandbox.path("session.jsonl.zstd");
        fs::write(&log, compressed(&lines)).unwrap();
        if let Some(told) = told {
            let reason = refused(&sandbox, &log, &[]);
            assert_eq!(reason["code"], json!("in_use"));
            assert!(reason["message"].as_str().unwrap().contains(told), "{reason}");
            assert!(reason["help"].as_str().unwrap().contains("--assume-idle"), "{reason}");
        }
        // Another place is nobody's.
        let run = sandbox.run(&["repack", text(&log), "-o", "new.jsonl.zstd"]);
        assert_eq!(run.code, 0, "{run:?}");
        let _ = fs::remove_file(sandbox.path("new.jsonl.zstd"));
        let options: &[&str] = if told.is_some() { &["--assume-idle"] } else { &[] };
        let run = sandbox.run(&[&["repack", text(&log), "--in-place"], options].concat());
        assert_eq!(run.code, 0, "{run:?}");
    }
}

#[test]
fn a_log_that_another_process_has_stays() {
    let sandbox = Sandbox::new();
    let log = sandbox.copy(fixture(DEMO));
    let holder = File::open(&log).unwrap();
    holder.lock().unwrap();
    assert_eq!(refused(&sandbox, &log, &[])["code"], json!("busy"));
    drop(holder);
    // From format 3 on dsh has a lock of its own.
    let raw = fs::read(fixture("formats/demo.v3.jsonl")).unwrap();
    let frames = raw.split_inclusive(|byte| *byte == b'\n');
    let frames: Vec<u8> = frames.flat_map(|line| zstd::bulk::compress(line, 3).unwrap()).collect();
    let log = sandbox.write("later/session.v3.jsonl.zstd", &frames);
    let lock = File::create(sandbox.path("later/session.lock")).unwrap();
    lock.lock().unwrap();
    let reason = refused(&sandbox, &log, &[]);
    assert_eq!(reason["code"], json!("in_use"), "{reason}");
    drop(lock);
    assert_eq!(sandbox.run(&["repack", text(&log), "--in-place"]).code, 0);
}

#[cfg(unix)]
#[test]
fn a_link_stays_a_link_and_hard_links_are_told() {
    let sandbox = Sandbox::new();
    let log = sandbox.write("own/session.jsonl.zstd", &fs::read(fixture(DEMO)).unwrap());
    fs::create_dir(sandbox.path("links")).unwrap();
    let hard = sandbox.path("links/hard.jsonl.zstd");
    fs::hard_link(&log, &hard).unwrap();
    let reason = refused(&sandbox, &log, &[]);
    assert_eq!(reason["code"], json!("hard_links"));
    assert!(reason["message"].as_str().unwrap().contains("2 names"), "{reason}");
    fs::remove_file(hard).unwrap();
    let soft = sandbox.path("links/session.jsonl.zstd");
    std::os::unix::fs::symlink(&log, &soft).unwrap();
    let run = sandbox.run(&["repack", text(&soft), "--in-place"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(fs::symlink_metadata(&soft).unwrap().is_symlink());
    assert!(fs::metadata(&log).unwrap().len() < fs::metadata(fixture(DEMO)).unwrap().len());
    for folder in ["own", "links"] {
        assert_eq!(fs::read_dir(sandbox.path(folder)).unwrap().count(), 1, "{folder}");
    }
}

#[test]
fn a_session_in_two_encodings_stays() {
    let sandbox = Sandbox::new();
    let folder = "root/--p--/session-1";
    let bytes = fs::read(fixture(DEMO)).unwrap();
    let log = sandbox.write(&format!("{folder}/session.jsonl.zstd"), &bytes);
    sandbox.write(&format!("{folder}/session.jsonl"), &fs::read(fixture("demo/session.jsonl")).unwrap());
    let (report, code) = sandbox.json(&["repack", "root", "--in-place"]);
    assert_eq!((code, &report["files"][0]["reason"]["code"]), (4, &json!("two_encodings")), "{report}");
    assert_eq!(fs::read(&log).unwrap(), bytes);
    // Who names the file means it.
    assert_eq!(sandbox.run(&["repack", text(&log), "--in-place"]).code, 0);
    assert!(fs::read(&log).unwrap().len() < bytes.len());
}

#[cfg(unix)]
#[test]
fn what_is_no_file_cannot_be_read() {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.path("session.jsonl.zstd")).unwrap();
    for path in ["/dev/null", "nowhere.jsonl.zstd", "session.jsonl.zstd"] {
        let (report, code) = sandbox.json(&["repack", path, "--in-place"]);
        assert_eq!((code, &report["files"][0]["status"]), (3, &json!("unreadable")), "{path}: {report}");
    }
}
