//! Logs and folders that the user may not write to.

#![cfg(unix)]

use crate::sandbox::{Sandbox, fixture, text};
use serde_json::{Value, json};
use std::fs::{self, File, Permissions};
use std::os::unix::fs::PermissionsExt;
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
