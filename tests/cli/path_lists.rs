//! `--files-from FILE` and `-0`: logs that are listed.

use crate::sandbox::{Run, Sandbox, demo, fixture, text};
use std::fs;
use std::path::Path;

fn paths(sandbox: &Sandbox, words: &[&str]) -> Vec<String> {
    let (report, _) = sandbox.json(&[&["verify"], words].concat());
    report["files"].as_array().unwrap().iter().map(|file| file["path"].as_str().unwrap().to_owned()).collect()
}

fn logs() -> Sandbox {
    let sandbox = Sandbox::new();
    for name in ["a.jsonl", "b c.jsonl", "folder/s/session.jsonl"] {
        sandbox.write(name, &demo());
    }
    sandbox
}

#[test]
fn listed_logs_are_worked_on_beside_those_that_are_named() {
    let sandbox = logs();
    sandbox.write("list", b"b c.jsonl\n\nfolder\r\n");
    assert_eq!(paths(&sandbox, &["--files-from", "list"]), ["b c.jsonl", "folder/s/session.jsonl"]);
    let all = ["a.jsonl", "b c.jsonl", "folder/s/session.jsonl"];
    assert_eq!(paths(&sandbox, &["a.jsonl", "--files-from", "list"]), all);
    sandbox.write("list0", b"folder\0b c.jsonl\0");
    assert_eq!(paths(&sandbox, &["a.jsonl", "-0", "--files-from", "list0"]).len(), 3);
    let (plan, code) = sandbox.json(&["compact", "-n", "--files-from", "list", "--keep-turns", "2"]);
    assert_eq!((code, &plan["summary"]["planned"]), (0, &serde_json::json!(2)));
    assert_eq!(sandbox.run(&["compact", "-n"]).code, 2);
}

#[test]
fn a_list_may_come_from_standard_input() {
    let sandbox = logs();
    let list = sandbox.write("list", b"a.jsonl\0");
    let run = sandbox.run_with_input(&["verify", "--files-from", "-", "--null", "--format", "json"], &list);
    assert!(run.code == 0 && run.out.contains("\"path\":\"a.jsonl\""), "{run:?}");
    let run = sandbox.run_with_input(&["verify", "-", "--files-from", "-"], &list);
    assert!(run.code == 2 && run.err.contains("standard input cannot be both"), "{run:?}");
    // A file of that name is a file.
    sandbox.write("-", &fs::read(fixture("bytes/empty.jsonl")).unwrap());
    sandbox.write("dash", b"-\n");
    assert_eq!(paths(&sandbox, &["--files-from", "dash"]), ["./-"]);
}

#[test]
fn a_list_that_names_nothing_is_told() {
    let sandbox = logs();
    sandbox.write("blank", b"\n \n");
    for (words, told) in [
        (&["verify", "--files-from", "blank"][..], "no path stands in blank"),
        (&["verify", "--files-from", "nowhere"], "cannot read nowhere: "),
        (&["verify", "--files-from", "folder"], "cannot read folder: "),
        (&["verify", "a.jsonl", "-0"], "--files-from <FILE>"),
    ] {
        let run = sandbox.run(words);
        assert_eq!((run.code, run.out.as_str()), (2, ""), "{run:?}");
        assert!(run.err.contains(told), "{run:?}");
    }
    // What is listed and not there is a log that cannot be read, as one that is named is.
    sandbox.write("gone", b"gone.jsonl\na.jsonl\n");
    let Run { code, out, .. } = sandbox.run(&["verify", "--files-from", "gone", "--format", "json"]);
    assert!(code == 3 && out.contains("\"unreadable\":1"), "{out}");
}

#[cfg(unix)]
#[test]
fn listed_paths_need_not_be_utf_8() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let sandbox = Sandbox::new();
    let name = Path::new(OsStr::from_bytes(b"a\xff.jsonl")).to_owned();
    let plain = sandbox.write("plain.jsonl", &demo());
    fs::rename(plain, sandbox.path("").join(&name)).unwrap();
    let list = sandbox.write("list", &[name.as_os_str().as_bytes(), b"\n"].concat());
    let run = sandbox.run(&["verify", "--files-from", text(&list), "--format", "json"]);
    assert!(run.code == 0 && run.out.contains("\"clean\":1"), "{run:?}");
}
