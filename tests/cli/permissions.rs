//! Logs and folders that the user may not write to.

#![cfg(unix)]

use crate::sandbox::{Sandbox, fixture, text};
use serde_json::{Value, json};
use std::fs::{self, File, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::Path;

const NOBODY: u32 = 65_534;

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// Runs the binary as one whom permissions bind: root writes everywhere, and so gives up being root. `None` where the
/// binary itself is out of reach then.
fn run(sandbox: &Sandbox, arguments: &[&str]) -> Option<(Value, i32)> {
    let probe = sandbox.write("probe", b"");
    set_mode(&probe, 0o444);
    let mut command = sandbox.command(&[arguments, &["--format", "json"]].concat());
    if File::options().write(true).open(&probe).is_ok() {
        command.uid(NOBODY).gid(NOBODY);
    }
    let Ok(output) = command.output() else {
        eprintln!("skipped: nobody but root may run the binary where it lies");
        return None;
    };
    Some((serde_json::from_slice(&output.stdout).unwrap(), output.status.code().unwrap()))
}

#[test]
fn what_may_not_be_written_to_is_refused_and_stays() {
    let sandbox = Sandbox::new();
    set_mode(&sandbox.path(""), 0o755);
    let log = sandbox.copy(fixture("demo/session.jsonl"));
    let old = fs::read(&log).unwrap();
    set_mode(&log, 0o444);
    fs::create_dir(sandbox.path("closed")).unwrap();
    set_mode(&sandbox.path("closed"), 0o555);
    for output in [&[][..], &["-o", "closed/new.jsonl"], &["-o", "closed/below/new.jsonl"]] {
        let arguments = [&["compact", text(&log), "--keep-turns", "2"], output].concat();
        let Some((report, code)) = run(&sandbox, &arguments) else { return };
        let file = &report["files"][0];
        let case = format!("{output:?}: {file}");
        assert_eq!((code, &file["status"]), (4, &json!("refused")), "{case}");
        assert_eq!(file["reason"]["code"], json!("persistence"), "{case}");
        assert!(file["reason"]["message"].as_str().unwrap().contains("Permission denied"), "{case}");
        assert!(!file["reason"]["help"].as_str().unwrap().is_empty(), "{case}");
        assert_eq!(fs::read(&log).unwrap(), old, "{case}");
        assert_eq!(fs::read_dir(sandbox.path("closed")).unwrap().count(), 0, "{case}");
    }
    // Reading needs no more than that.
    let arguments = ["compact", "-n", text(&log), "--keep-turns", "2"];
    let Some((report, code)) = run(&sandbox, &arguments) else { return };
    assert_eq!((code, &report["files"][0]["status"]), (0, &json!("planned")), "{report}");
}

#[test]
fn a_log_whose_place_may_not_be_written_to_is_not_repacked() {
    let sandbox = Sandbox::new();
    set_mode(&sandbox.path(""), 0o755);
    let old = fs::read(fixture("demo-zstd/session.jsonl.zstd")).unwrap();
    for (folder, log_mode, folder_mode) in [("read-only", 0o444, 0o777), ("closed", 0o666, 0o555)] {
        let log = sandbox.write(&format!("{folder}/session.jsonl.zstd"), &old);
        set_mode(&log, log_mode);
        set_mode(&sandbox.path(folder), folder_mode);
        let Some((report, code)) = run(&sandbox, &["repack", text(&log), "--in-place"]) else { return };
        let file = &report["files"][0];
        assert_eq!((code, &file["status"]), (4, &json!("refused")), "{file}");
        assert_eq!(file["reason"]["code"], json!("persistence"), "{file}");
        assert!(file["reason"]["message"].as_str().unwrap().contains("Permission denied"), "{file}");
        assert_eq!(fs::read(&log).unwrap(), old, "{file}");
        assert_eq!(fs::read_dir(sandbox.path(folder)).unwrap().count(), 1, "{file}");
        let Some((report, code)) = run(&sandbox, &["repack", text(&log), "-n"]) else { return };
        assert_eq!((code, &report["files"][0]["status"]), (0, &json!("planned")), "{report}");
    }
}

/// Only root can give files away, and so only for root the owner can be another's.
#[test]
fn mode_and_owner_stay_when_a_log_is_repacked() {
    let sandbox = Sandbox::new();
    for mode in [0o600, 0o640, 0o666] {
        let log = sandbox.copy(fixture("demo-zstd/session.jsonl.zstd"));
        let _ = chown(&log, Some(NOBODY), Some(NOBODY));
        set_mode(&log, mode);
        let before = fs::metadata(&log).unwrap();
        let run = sandbox.run(&["repack", text(&log), "--in-place"]);
        assert_eq!(run.code, 0, "{run:?}");
        let after = fs::metadata(&log).unwrap();
        assert!(after.len() < before.len());
        assert_eq!((after.uid(), after.gid(), after.mode()), (before.uid(), before.gid(), before.mode()));
        assert!(!run.out.contains("another owner"), "{run:?}");
        let _ = fs::remove_file(log);
    }
}

/// One who may write to another's log gets a file of his own; that is told.
#[test]
fn a_new_owner_is_told() {
    let sandbox = Sandbox::new();
    set_mode(&sandbox.path(""), 0o777);
    let log = sandbox.copy(fixture("demo-zstd/session.jsonl.zstd"));
    set_mode(&log, 0o666);
    let owner = fs::metadata(&log).unwrap().uid();
    let Some((report, code)) = run(&sandbox, &["repack", text(&log), "--in-place"]) else { return };
    assert_eq!(code, 0, "{report}");
    let is_another = fs::metadata(&log).unwrap().uid() != owner;
    let notes = report["files"][0]["notes"].to_string();
    assert_eq!(notes.contains("another owner"), is_another, "{notes}");
    assert_eq!(fs::metadata(&log).unwrap().mode() & 0o777, 0o666);
}
