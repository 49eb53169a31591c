//! Where logs lie, what they are called, and what is said of that: PATHs, generations, roots.

use crate::sandbox::{Run, Sandbox, demo, finding, fixture, text};
use serde_json::{Value, json};
use std::fs;

/// A log without events.
pub fn log(id: &str, cwd: Option<&str>) -> Vec<u8> {
    let mut header = json!({ "type": "session", "version": 0, "id": id, "createdAt": 1_780_000_000_000_u64, "delegationDepth": 0 });
    if let Some(cwd) = cwd {
        header["cwd"] = json!(cwd);
    }
    format!("{header}\n").into_bytes()
}

/// `path: code, code` of each file of a report.
pub fn codes(report: &Value) -> Vec<String> {
    let file = |file: &Value| {
        let findings = file["findings"].as_array().unwrap();
        let codes: Vec<&str> = findings.iter().map(|finding| finding["code"].as_str().unwrap()).collect();
        format!("{}: {}", file["path"].as_str().unwrap(), codes.join(", "))
    };
    report["files"].as_array().unwrap().iter().map(file).collect()
}

/// What that finding says.
pub fn message<'a>(file: &'a Value, code: &str) -> &'a str {
    finding(file, code)["message"].as_str().unwrap()
}

#[test]
fn r36_v3_system_head_and_generation_files() {
    let sandbox = Sandbox::new();
    let folder = "root/_no-cwd/r36";
    for name in ["session.jsonl", "session.v3.jsonl"] {
        let bytes =
            fs::read(fixture(&format!("cases/R36-v3-system-head-and-generation-files/{name}"))).unwrap();
        sandbox.write(&format!("{folder}/{name}"), &bytes);
    }
    let taken = format!("{folder}/session.v3.jsonl");
    for path in [folder, "root"] {
        let (report, _) = sandbox.json(&["verify", path]);
        assert_eq!(report["summary"]["files"], json!(1));
        assert_eq!(report["files"][0]["path"], json!(taken));
        assert_eq!(report["ignored"], json!([format!("{folder}/session.jsonl")]));
        let note = finding(&report["files"][0], "older-generations");
        assert_eq!(note["severity"], json!("note"));
        let told = note["message"].as_str().unwrap();
        assert!(told.starts_with("session.v3.jsonl is taken"), "{told}");
        assert!(told.contains("left alone: session.jsonl; dsh 0.0.1 to 0.1.2"), "{told}");

        // Whether the log can be read or not, and however it is shown.
        let Run { out, err, .. } = sandbox.run(&["replay", path]);
        assert!(err.contains("session.v3.jsonl is taken") && !out.contains("note"), "{err}");
        let (plan, _) = sandbox.json(&["compact", "-n", path]);
        assert_eq!(plan["files"][0]["path"], json!(taken));
        assert!(plan["files"][0]["notes"].to_string().contains("session.v3.jsonl is taken"), "{plan}");
    }
    // A log named alone is judged alone.
    let (report, _) = sandbox.json(&["verify", &taken]);
    assert!(!report.to_string().contains("older-generations"), "{report}");
}

#[test]
fn the_highest_generation_is_taken_even_if_it_cannot_be_read() {
    let sandbox = Sandbox::new();
    sandbox.write("root/p/s/session.jsonl", &demo());
    sandbox.write("root/p/s/session.v9.jsonl", &demo());
    let (view, code) = sandbox.json(&["replay", "root"]);
    assert_eq!((code, &view["path"]), (0, &json!("root/p/s/session.v9.jsonl")));
    assert!(view["notes"][0].as_str().unwrap().starts_with("session.v9.jsonl is taken"), "{view}");
    let (report, code) = sandbox.json(&["compact", "root", "--keep-turns", "2"]);
    assert_eq!((code, &report["files"][0]["status"]), (0, &json!("compacted")));
    assert!(report["files"][0]["notes"].to_string().contains("session.v9.jsonl is taken"), "{report}");
    assert_eq!(fs::read(sandbox.path("root/p/s/session.jsonl")).unwrap(), demo());

    sandbox.write("root/p/s/session.v10.jsonl", b"");
    for command in [&["verify", "root"][..], &["replay", "root"], &["compact", "root"]] {
        let run = sandbox.run(command);
        assert_eq!(run.code, 3, "{run:?}");
        assert!(format!("{run:?}").contains("session.v10.jsonl is taken"), "{run:?}");
    }
    let newer = String::from_utf8(log("s", None)).unwrap().replace("\"version\":0", "\"version\":10");
    sandbox.write("root/p/s/session.v10.jsonl", newer.as_bytes());
    let (report, code) = sandbox.json(&["verify", "root"]);
    assert_eq!(code, 3);
    assert_eq!(codes(&report), ["root/p/s/session.v10.jsonl: older-generations, unsupported-format"]);
}

#[test]
fn one_id_in_two_projects_of_a_root_is_an_error() {
    let sandbox = Sandbox::new();
    for path in ["root/p/s/session.jsonl", "root/q/s/session.jsonl", "third/p/s/session.jsonl"] {
        sandbox.write(path, &log("s", None));
    }
    let (report, code) = sandbox.json(&["verify", "root", "third"]);
    assert_eq!(code, 1);
    let duplicate = "duplicate-session-id";
    assert_eq!(
        codes(&report),
        [
            format!("root/p/s/session.jsonl: {duplicate}"),
            format!("root/q/s/session.jsonl: {duplicate}"),
            "third/p/s/session.jsonl: ".to_owned()
        ]
    );
    assert!(message(&report["files"][0], duplicate).ends_with("root/q/s/session.jsonl"));
    // Found by two names, the root is still one.
    let (again, _) = sandbox.json(&["verify", "root/p", "root/q"]);
    assert_eq!(again["summary"]["byCode"], json!({ duplicate: 2 }));
}

#[test]
fn a_name_that_promises_another_version_is_an_error() {
    let sandbox = Sandbox::new();
    let path = "root/p/s/session.v3.jsonl";
    sandbox.write(path, &log("s", None));
    let (report, code) = sandbox.json(&["verify", "root"]);
    assert_eq!((code, codes(&report)), (1, vec![format!("{path}: name-version")]));
    assert_eq!(sandbox.run(&["verify", path]).code, 0);
    // Also where the header's version cannot be read.
    let other = String::from_utf8(log("s", None)).unwrap().replace("\"version\":0", "\"version\":9");
    sandbox.write(path, other.as_bytes());
    let (report, code) = sandbox.json(&["verify", "root"]);
    assert_eq!((code, codes(&report)), (3, vec![format!("{path}: name-version, unsupported-format")]));
}

#[test]
fn a_header_that_names_another_place_is_noted_among_project_keys() {
    let sandbox = Sandbox::new();
    sandbox.write("root/--home-ada--/s/session.jsonl", &log("s", Some("/home/ada")));
    sandbox.write("root/_no-cwd/a~0020b/session.jsonl", &log("a b", None));
    sandbox.write("root/--G-work-~5BA2~6237~7AEF--/w/session.jsonl", &log("w", Some(r"G:\work\客户端")));
    sandbox.write("root/--host-share--/u/session.jsonl", &log("u", Some(r"\\host\share")));
    let (report, code) = sandbox.json(&["verify", "root", "--fail-on", "warning"]);
    assert_eq!((code, &report["summary"]["byCode"]), (0, &json!({})), "{report}");

    sandbox.write("root/--home-ada--/moved/session.jsonl", &log("from", Some("/home/bea")));
    let (report, code) = sandbox.json(&["verify", "root", "--fail-on", "warning"]);
    assert_eq!((code, &report["summary"]["byCode"]), (0, &json!({ "header-path": 1 })));
    let file = &report["files"][1];
    assert_eq!(
        (&file["path"], &file["status"]),
        (&json!("root/--home-ada--/moved/session.jsonl"), &json!("clean"))
    );
    let told = message(file, "header-path");
    assert!(
        told.contains("name --home-bea--/from below the root; the log lies in --home-ada--/moved"),
        "{told}"
    );
    // However the folder is named.
    let in_folder =
        sandbox.command(&["verify", "."]).current_dir(sandbox.path("root/--home-ada--/moved")).output();
    assert!(String::from_utf8(in_folder.unwrap().stdout).unwrap().contains("header-path"));
    // A link where the header says that the log lies is enough.
    #[cfg(unix)]
    {
        fs::create_dir_all(sandbox.path("root/--home-bea--")).unwrap();
        let link = sandbox.path("root/--home-bea--/from");
        std::os::unix::fs::symlink("../--home-ada--/moved", link).unwrap();
        let (report, _) = sandbox.json(&["verify", "root"]);
        assert_eq!((&report["summary"]["byCode"], &report["summary"]["files"]), (&json!({}), &json!(5)));
        fs::remove_file(sandbox.path("root/--home-bea--/from")).unwrap();
    }
    // One folder of another name, and the root is no product's.
    sandbox.write("root/archive/x/session.jsonl", &log("x", None));
    let (report, _) = sandbox.json(&["verify", "root"]);
    assert_eq!(report["summary"]["byCode"], json!({}));
}

#[test]
fn logs_of_the_other_platform_are_compacted() {
    let sandbox = Sandbox::new();
    let demo = String::from_utf8(demo()).unwrap();
    let (header, rest) = demo.split_once('\n').unwrap();
    let mut header: Value = serde_json::from_str(header).unwrap();
    header["cwd"] = json!(r"G:\work\客户端");
    let id = header["id"].as_str().unwrap().to_owned();
    let path = format!("root/--G-work-~5BA2~6237~7AEF--/{id}/session.jsonl");
    sandbox.write(&path, format!("{header}\n{rest}").as_bytes());
    let (report, code) = sandbox.json(&["compact", "root", "--keep-turns", "2"]);
    assert_eq!((code, &report["files"][0]["status"]), (0, &json!("compacted")), "{report}");
    let (report, code) = sandbox.json(&["verify", "root", "--fail-on", "warning"]);
    assert_eq!((code, codes(&report)), (0, vec![format!("{path}: ")]));
}

#[test]
fn files_in_a_project_directory_are_errors_and_left_out_of_compaction() {
    let sandbox = Sandbox::new();
    sandbox.write("root/p/s/session.jsonl", &demo());
    sandbox.write("root/p/flat.jsonl", &log("flat", None));
    sandbox.write("root/p/s/copy.jsonl", &demo());
    sandbox.write("root/stray.jsonl", &demo());
    let (report, code) = sandbox.json(&["verify", "root"]);
    assert_eq!(code, 1);
    assert_eq!(codes(&report), ["root/p/flat.jsonl: flat-file", "root/p/s/session.jsonl: "]);
    assert_eq!(report["files"][0]["session"], json!("flat"));
    assert_eq!(report["ignored"], json!(["root/p/s/copy.jsonl", "root/stray.jsonl"]));
    sandbox.write("root/p/notes.jsonl.zstd", b"no log");
    let (report, code) = sandbox.json(&["verify", "root"]);
    assert_eq!((code, &codes(&report)[1]), (3, &"root/p/notes.jsonl.zstd: flat-file, not-a-log".to_owned()));

    let run = sandbox.run(&["compact", "root", "--keep-turns", "2"]);
    assert_eq!(
        (run.code, format!("{run:?}").contains("flat"), format!("{run:?}").contains("notes.jsonl")),
        (0, false, false)
    );
    assert_eq!(sandbox.run(&["replay", "root"]).code, 0);
    // Named themselves, they are logs like any other.
    assert_eq!(sandbox.run(&["verify", "root/p/flat.jsonl"]).code, 0);
    assert_eq!(sandbox.json(&["compact", "root/p/flat.jsonl"]).0["summary"]["files"], json!(1));
}

#[test]
fn a_directory_with_a_logs_name_is_said_to_be_one() {
    let sandbox = Sandbox::new();
    sandbox.write("root/p/s/session.jsonl/q/t/session.jsonl", &demo());
    for path in ["root/p/s", "root/p/s/session.jsonl"] {
        let (report, code) = sandbox.json(&["verify", path]);
        assert_eq!(code, 3);
        assert_eq!(
            codes(&report),
            ["root/p/s/session.jsonl: io", "root/p/s/session.jsonl/q/t/session.jsonl: "]
        );
        assert!(message(&report["files"][0], "io").contains("directory"), "{report}");
    }
    fs::remove_dir_all(sandbox.path("root/p/s/session.jsonl/q")).unwrap();
    for command in ["verify", "replay", "compact"] {
        let run = sandbox.run(&[command, "root"]);
        assert_eq!(run.code, 3);
        assert!(format!("{}{}", run.out, run.err).contains("is a directory"), "{run:?}");
    }
}

#[test]
fn an_unreadable_log_is_told_by_its_directorys_name() {
    let sandbox = Sandbox::new();
    sandbox.write("root/p/a~0020b/session.jsonl", b"");
    sandbox.write("root/p/a b/session.jsonl", b"");
    let (report, code) = sandbox.json(&["verify", "root"]);
    assert_eq!(code, 3);
    let help = |file: usize| report["files"][file]["findings"][0]["help"].as_str().unwrap();
    assert!(!help(0).contains("session \""), "{}", help(0));
    assert!(help(1).ends_with("by its directory's name this is session \"a b\""), "{}", help(1));
    let (alone, _) = sandbox.json(&["verify", "root/p/a~0020b/session.jsonl"]);
    assert!(!alone.to_string().contains("by its directory's name"), "{alone}");
}

#[test]
fn a_name_that_promises_another_encoding_is_told() {
    let sandbox = Sandbox::new();
    let raw = demo();
    let framed = fs::read(fixture("demo-zstd/session.jsonl.zstd")).unwrap();
    sandbox.write("a/p/s/session.jsonl", &framed);
    sandbox.write("b/p/s/session.jsonl.zstd", &raw);
    for (root, wanted, code) in [("a", "session.jsonl.zstd", 1), ("b", "session.jsonl", 3)] {
        let (report, exit) = sandbox.json(&["verify", root]);
        let told = finding(&report["files"][0], "name-encoding");
        assert!(told["help"].as_str().unwrap().ends_with(&format!("to be called {wanted}")), "{report}");
        assert_eq!(exit, code, "{report}");
    }
    // Named itself, the log is judged alone.
    assert_eq!(sandbox.run(&["verify", "a/p/s/session.jsonl"]).code, 0);
}

#[cfg(unix)]
#[test]
fn a_pipe_with_the_name_of_a_log_holds_nobody_up() {
    let sandbox = Sandbox::new();
    sandbox.write("r/p/s/session.jsonl", &demo());
    let pipe = sandbox.path("r/p/t");
    fs::create_dir_all(&pipe).unwrap();
    for name in ["session.jsonl", "other.jsonl"] {
        let made = std::process::Command::new("mkfifo").arg(pipe.join(name)).status().unwrap();
        assert!(made.success());
    }
    let (report, code) = sandbox.json(&["verify", "r"]);
    assert_eq!(
        (code, &report["summary"]["files"], &report["summary"]["unreadable"]),
        (3, &json!(2), &json!(1))
    );
    for command in ["replay", "compact"] {
        assert_eq!(sandbox.run(&[command, "r/p/t/session.jsonl"]).code, 3, "{command}");
    }
}

#[test]
fn compact_says_that_dsh_opens_a_later_generation() {
    let sandbox = Sandbox::new();
    let log = sandbox.write("s/session.jsonl", &demo());
    let note = |sandbox: &Sandbox| {
        let (plan, _) = sandbox.json(&["compact", "-n", text(&log), "--keep-turns", "2"]);
        plan["files"][0]["notes"].to_string()
    };
    assert!(!note(&sandbox).contains("lies beside"));
    sandbox.write("s/session.v3.jsonl", b"{}");
    assert!(note(&sandbox).contains("session.v3.jsonl lies beside the log, and dsh opens that one"));
}
