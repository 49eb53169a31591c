//! Compactions whose process is killed, or whose disk is full, at any byte of what they write.

#![cfg(unix)]

use crate::official;
use crate::sandbox::{Sandbox, fixture, text};
use dshc::log::{LogReader, Source};
use dshc::session::{self, Folded, Keep, LockState, Stop};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const LOGS: [&str; 2] = ["demo/session.jsonl", "demo-zstd/session.jsonl.zstd"];

/// What the shell counts a file's size in: half kilobytes, as POSIX has it.
const UNIT: usize = 512;

fn fold(log: &Path) -> Folded {
    let source = Source::open(log).unwrap();
    session::fold(&mut LogReader::open(&source).unwrap(), Keep::Figures, Stop::default()).unwrap()
}

/// The length of a log before, and after a compaction that nothing befalls.
fn lengths(sandbox: &Sandbox, name: &str) -> (usize, usize) {
    let log = sandbox.copy(fixture(name));
    let old = fs::metadata(&log).unwrap().len();
    let run = sandbox.run(&["compact", text(&log), "--keep-turns", "2"]);
    assert_eq!(run.code, 0, "{run:?}");
    (usize::try_from(old).unwrap(), usize::try_from(fs::metadata(&log).unwrap().len()).unwrap())
}

/// Compacts a log where no file can grow beyond so many units: the system kills who tries to, or just refuses the bytes.
fn with_limit(sandbox: &Sandbox, log: &Path, units: usize, is_deadly: bool) -> Output {
    let trap = if is_deadly { "" } else { "trap '' XFSZ; " };
    let program = env!("CARGO_BIN_EXE_dshc");
    let script = format!("{trap}ulimit -c 0; ulimit -f {units}; exec \"$0\" \"$@\"");
    let arguments = ["compact", text(log), "--keep-turns", "2", "--format", "json"];
    let mut command = Command::new("sh");
    command.args(["-c", &script, program]).args(arguments).current_dir(sandbox.path(""));
    command.stdin(Stdio::null()).output().unwrap()
}

/// What must hold of a log in whose compaction something went wrong: all that was there still is, and dsh's way of
/// reading it gets at least the old events.
fn assert_sound(log: &Path, old: &[u8], before: &Folded, case: &str) -> Folded {
    let now = fs::read(log).unwrap();
    assert!(now.starts_with(old), "{case}");
    let after = fold(log);
    assert!(after.damage.is_none(), "{case}: {:?}", after.damage);
    assert!(after.session.events >= before.session.events, "{case}");
    after
}

#[test]
fn a_full_disk_is_told_and_costs_nothing() {
    let sandbox = Sandbox::new();
    for name in LOGS {
        let (old_length, new_length) = lengths(&sandbox, name);
        for units in old_length / UNIT..=new_length / UNIT {
            let log = sandbox.copy(fixture(name));
            let (old, before) = (fs::read(&log).unwrap(), fold(&log));
            let output = with_limit(&sandbox, &log, units, false);
            let report: Value = serde_json::from_slice(&output.stdout).unwrap();
            let file = &report["files"][0];
            let case = format!("{name}, {units} units: {file}");
            assert_eq!(output.status.code(), Some(5), "{case}");
            assert_eq!(file["reason"]["code"], json!("persistence"), "{case}");
            assert!(file["reason"]["message"].as_str().unwrap().contains("File too large"), "{case}");
            let after = assert_sound(&log, &old, &before, &case);
            assert_eq!(after.session.surface.seqs(), before.session.surface.seqs(), "{case}");
            assert_eq!(after.torn, None, "{case}");
            // Where not even the end with its error has room, the orphan is named.
            let message = file["reason"]["message"].as_str().unwrap();
            let is_held = after.session.lock() != LockState::Free;
            assert_eq!(message.contains("is left open"), is_held, "{case}");
        }
    }
}

/// The logs that processes killed at the limits leave behind.
fn killed(sandbox: &Sandbox) -> Vec<PathBuf> {
    let mut left = Vec::new();
    for name in LOGS {
        let (old_length, new_length) = lengths(sandbox, name);
        for units in old_length / UNIT..=new_length / UNIT {
            let path = fixture(name);
            let file = path.file_name().unwrap().to_str().unwrap();
            let old = fs::read(&path).unwrap();
            let log = sandbox.write(&format!("{units}/{file}"), &old);
            let output = with_limit(sandbox, &log, units, true);
            let case = format!("{name}, {units} units: {output:?}");
            assert!(output.status.signal().is_some() && output.stdout.is_empty(), "{case}");
            assert_sound(&log, &old, &fold(&path), &case);
            left.push(log);
        }
    }
    left
}

#[test]
fn a_kill_at_any_byte_leaves_a_log_that_says_what_to_do() {
    let sandbox = Sandbox::new();
    let left = killed(&sandbox);
    let (mut torn, mut held) = (0, 0);
    for log in &left {
        let (bytes, after) = (fs::read(log).unwrap(), fold(log));
        let lock = after.session.lock();
        let (is_torn, is_held) = (after.torn.is_some(), lock != LockState::Free);
        (torn, held) = (torn + usize::from(is_torn), held + usize::from(is_held));
        let (report, _) = sandbox.json(&["verify", text(log)]);
        let findings = report["files"][0]["findings"].as_array().unwrap();
        let codes: Vec<&str> = findings.iter().map(|finding| finding["code"].as_str().unwrap()).collect();
        let case = format!("{}: {codes:?}", log.display());
        assert_eq!(codes.contains(&"torn-tail"), is_torn, "{case}");
        if let LockState::Held(lock) = lock {
            let names = |finding: &Value| finding["seq"] == json!(lock.start_seq);
            assert!(findings.iter().any(names), "{case}: the orphan is not named");
        }
        let (report, code) = sandbox.json(&["compact", text(log), "--keep-turns", "2"]);
        if !is_torn && !is_held {
            assert_eq!(code, 0, "{case}: {report}");
            continue;
        }
        let reason = &report["files"][0]["reason"];
        let expected = if is_torn { "damaged" } else { "busy" };
        assert_eq!((code, &reason["code"]), (4, &json!(expected)), "{case}: {reason}");
        assert!(reason["help"].as_str().unwrap().contains("--break-lock"), "{case}: {reason}");
        assert_eq!(fs::read(log).unwrap(), bytes, "{case}");
    }
    assert!(torn > 0 && held > 0, "{torn} torn and {held} held of {}", left.len());
    for verdict in official::judge(&left, &[]).unwrap_or_default() {
        assert_eq!(verdict["loads"], true, "{verdict}");
        assert_eq!(verdict["opened"].get("error"), None, "{verdict}");
    }
}

#[test]
fn whatever_a_kill_leaves_behind_is_mended_and_compacted() {
    let sandbox = Sandbox::new();
    let left = killed(&sandbox);
    for log in &left {
        let case = log.display();
        let is_zstd = log.extension().is_some_and(|ending| ending == "zstd");
        let old = fixture(LOGS[usize::from(is_zstd)]);
        let (report, code) = sandbox.json(&["compact", text(log), "--keep-turns", "2", "--break-lock"]);
        let status = report["files"][0]["status"].as_str().unwrap();
        // Where the checkpoint stands already, there is no more to replace.
        assert!(code == 0 && ["compacted", "nothing_to_do"].contains(&status), "{case}: {report}");
        let after = assert_sound(log, &fs::read(&old).unwrap(), &fold(&old), &case.to_string());
        assert!(after.torn.is_none() && after.session.lock() == LockState::Free, "{case}");
        assert!(after.session.surface.nodes().iter().any(|node| node.is_checkpoint), "{case}");
        assert_eq!(sandbox.run(&["verify", text(log), "--fail-on", "warning"]).code, 0, "{case}");
    }
    for verdict in official::judge(&left, &[]).unwrap_or_default() {
        assert_eq!((&verdict["loads"], &verdict["invariants"]), (&json!(true), &json!("ok")), "{verdict}");
        assert_eq!(verdict["stored"]["lock"]["held"], json!(false), "{verdict}");
    }
}

#[test]
fn a_process_that_is_killed_from_outside_loses_nothing() {
    let sandbox = Sandbox::new();
    for name in LOGS {
        let (old_length, new_length) = lengths(&sandbox, name);
        for round in 0..24 {
            let log = sandbox.copy(fixture(name));
            let (old, before) = (fs::read(&log).unwrap(), fold(&log));
            let limit = old_length + (new_length - old_length) * round / 24;
            let mut child = sandbox
                .command(&["compact", text(&log), "--keep-turns", "2", "-q"])
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            while child.try_wait().unwrap().is_none() {
                if fs::metadata(&log).unwrap().len() > limit as u64 {
                    child.kill().unwrap();
                    break;
                }
            }
            let status = child.wait().unwrap();
            let case = format!("{name}, killed beyond {limit} bytes: {status}");
            let after = assert_sound(&log, &old, &before, &case);
            let is_done = after.session.surface.seqs() != before.session.surface.seqs();
            assert!(is_done || status.signal() == Some(9), "{case}");
        }
    }
}
