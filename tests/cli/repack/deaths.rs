//! Repackings whose process is killed, or whose disk is full, at any byte of what they write.

#![cfg(unix)]

use super::{DEMO, assert_same_log};
use crate::sandbox::{Sandbox, fixture, text};
use crate::schemas::{faults, validator};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// What the shell counts a file's size in: half kilobytes, as POSIX has it.
const UNIT: usize = 512;

/// Repacks a log where no file can grow beyond so many units: the system kills who tries to, or just refuses the bytes.
fn with_limit(sandbox: &Sandbox, log: &Path, units: usize, is_deadly: bool) -> Output {
    let trap = if is_deadly { "" } else { "trap '' XFSZ; " };
    let program = env!("CARGO_BIN_EXE_dshc");
    let script = format!("{trap}ulimit -c 0; ulimit -f {units}; exec \"$0\" \"$@\"");
    let arguments = ["repack", text(log), "--in-place", "--format", "json"];
    let mut command = Command::new("sh");
    command.args(["-c", &script, program]).args(arguments).current_dir(sandbox.path(""));
    command.stdin(Stdio::null()).output().unwrap()
}

/// The length of the demo when it is repacked, in whole units.
fn units(sandbox: &Sandbox) -> usize {
    let (report, _) = sandbox.json(&["repack", "-n", text(&fixture(DEMO))]);
    usize::try_from(report["files"][0]["bytes"]["after"].as_u64().unwrap()).unwrap() / UNIT
}

#[test]
fn a_full_disk_is_told_and_leaves_the_log() {
    let sandbox = Sandbox::new();
    let old = fs::read(fixture(DEMO)).unwrap();
    for units in 0..=units(&sandbox) {
        let log = sandbox.copy(fixture(DEMO));
        let output = with_limit(&sandbox, &log, units, false);
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let file = &report["files"][0];
        let case = format!("{units} units: {file}");
        assert_eq!((output.status.code(), &file["status"]), (Some(5), &json!("failed")), "{case}");
        assert_eq!(file["reason"]["code"], json!("persistence"), "{case}");
        assert!(file["reason"]["message"].as_str().unwrap().contains("File too large"), "{case}");
        assert_eq!(fs::read(&log).unwrap(), old, "{case}");
        assert_eq!(fs::read_dir(sandbox.path("")).unwrap().count(), 1, "{case}: something is left");
    }
}

#[test]
fn a_kill_at_any_byte_leaves_the_log() {
    let sandbox = Sandbox::new();
    let old = fs::read(fixture(DEMO)).unwrap();
    for units in (0..=units(&sandbox)).step_by(4) {
        let log = sandbox.write(&format!("{units}/session.jsonl.zstd"), &old);
        let output = with_limit(&sandbox, &log, units, true);
        assert!(output.status.signal().is_some() && output.stdout.is_empty(), "{units}: {output:?}");
        assert_eq!(fs::read(&log).unwrap(), old, "{units}");
        // What a dead process leaves beside it is no log to anyone, and is in nobody's way.
        let (report, code) = sandbox.json(&["verify", &units.to_string()]);
        assert_eq!((code, report["files"].as_array().unwrap().len()), (0, 1), "{report}");
        let run = sandbox.run(&["repack", text(&log), "--in-place"]);
        assert_eq!(run.code, 0, "{run:?}");
        assert_same_log(&sandbox, &fixture(DEMO), &log);
        assert_eq!(fs::read_dir(log.parent().unwrap()).unwrap().count(), 1, "it is gone with the next run");
    }
}

/// However far it has come: the file at the log's place is the old one or the new one.
#[test]
fn a_process_that_is_killed_from_outside_leaves_one_of_two_files() {
    let sandbox = Sandbox::new();
    let old = fs::read(fixture(DEMO)).unwrap();
    for round in 0..24 {
        let log = sandbox.write(&format!("{round}/session.jsonl.zstd"), &old);
        let folder = log.parent().unwrap();
        let mut child = sandbox
            .command(&["repack", text(&log), "--in-place", "-q"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // As soon as the new file is there, and so many looks later.
        let mut looks = 0;
        while child.try_wait().unwrap().is_none() {
            looks += usize::from(fs::read_dir(folder).unwrap().count() > 1);
            if looks > round * round {
                child.kill().unwrap();
                break;
            }
        }
        child.wait().unwrap();
        if fs::read(&log).unwrap() != old {
            assert_same_log(&sandbox, &fixture(DEMO), &log);
        }
    }
}

#[test]
fn a_signal_ends_the_run_and_leaves_nothing_half_done() {
    let sandbox = Sandbox::new();
    let old = fs::read(fixture(DEMO)).unwrap();
    let logs = (0..400).map(|index| sandbox.write(&format!("{index:03}/session.jsonl.zstd"), &old));
    let logs: Vec<_> = logs.collect();
    let mut command = sandbox.command(&["repack", "--in-place", "--format", "json"]);
    let child = command
        .args(&logs)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // One is done, and so the run is under way.
    while fs::metadata(&logs[0]).unwrap().len() == old.len() as u64 {
        std::thread::yield_now();
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{output:?}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(faults(&validator("docs/repack.schema.json"), &report), [""; 0]);
    let files = report["files"].as_array().unwrap();
    let not_begun = report["summary"]["notBegun"].as_u64().unwrap();
    assert!(not_begun > 0, "it came too late");
    assert_eq!(files.len() as u64 + not_begun, logs.len() as u64);
    for log in &logs {
        assert_eq!(fs::read_dir(log.parent().unwrap()).unwrap().count(), 1);
        let is_new = fs::read(log).unwrap() != old;
        let file = files.iter().find(|file| file["path"] == json!(text(log)));
        let status = file.map(|file| file["status"].as_str().unwrap());
        assert_eq!(is_new, status == Some("repacked"), "{}: {status:?}", log.display());
        assert!(is_new || status.is_none_or(|status| status == "failed"), "{report}");
    }
}
