//! One session in two encodings, and one root with both.

use crate::places::{codes, log, message};
use crate::sandbox::{Sandbox, demo, finding, fixture, text};
use serde_json::json;
use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 3).unwrap()
}

/// The header in a frame of its own, then the rest.
fn zstd_frames(text: &[u8]) -> Vec<u8> {
    let header = text.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    [zstd(&text[..header]), zstd(&text[header..])].concat()
}

/// Puts the two logs of R38 in a session directory of their own; the shorter one was written later, which says nothing.
fn r38(sandbox: &Sandbox) {
    for name in ["session.jsonl.zstd", "session.jsonl"] {
        let bytes = fs::read(fixture(&format!("cases/R38-both-encodings-in-one-directory/{name}"))).unwrap();
        sandbox.write(&format!("root/_no-cwd/r38/{name}"), &bytes);
    }
    set_age(&sandbox.path("root/_no-cwd/r38/session.jsonl"), 60);
    set_age(&sandbox.path("root/_no-cwd/r38/session.jsonl.zstd"), 90);
}

fn set_age(file: &Path, minutes: u64) {
    let then = SystemTime::now() - Duration::from_mins(minutes);
    fs::File::options().write(true).open(file).unwrap().set_modified(then).unwrap();
}

#[test]
fn r38_both_encodings_in_one_directory() {
    let sandbox = Sandbox::new();
    r38(&sandbox);
    let (raw, zstd) = ("root/_no-cwd/r38/session.jsonl", "root/_no-cwd/r38/session.jsonl.zstd");
    let old = [raw, zstd].map(|file| fs::read(sandbox.path(file)).unwrap());
    for path in ["root", "root/_no-cwd/r38"] {
        let (report, code) = sandbox.json(&["verify", path]);
        assert_eq!((code, codes(&report)), (1, vec![format!("{zstd}: two-encodings")]));
        assert_eq!((&report["summary"]["files"], &report["ignored"]), (&json!(1), &json!([raw])));
        assert_eq!(report["files"][0]["events"], json!(17));
        let told = message(&report["files"][0], "two-encodings");
        for part in [
            "session.jsonl (11 events) and session.jsonl.zstd (17 events)",
            "the first is an exact prefix of the second",
            "session.jsonl.zstd is the newer one, since it goes on",
            "as session.jsonl.zstd, which holds more",
        ] {
            assert!(told.contains(part), "{told}");
        }
        let help = finding(&report["files"][0], "two-encodings")["help"].as_str().unwrap();
        assert!(help.contains("dsh refuses to start with both"), "{help}");

        let view = sandbox.run(&["replay", path]);
        assert_eq!(view.code, 2);
        assert!(
            view.err.contains(&format!("2 logs are there, and one is wanted:\n  {raw}\n  {zstd}\n")),
            "{view:?}"
        );

        let (report, code) = sandbox.json(&["compact", path, "--keep-turns", "1"]);
        let file = &report["files"][0];
        assert_eq!((code, report["summary"]["files"].as_u64()), (4, Some(1)));
        assert_eq!((&file["status"], &file["reason"]["code"]), (&json!("refused"), &json!("two_encodings")));
        assert!(file["reason"]["help"].as_str().unwrap().contains("name the file itself"));
        assert_eq!(old, [raw, zstd].map(|file| fs::read(sandbox.path(file)).unwrap()));
    }
    // Each alone is a sound log.
    for (file, events) in [(raw, 11), (zstd, 17)] {
        let (report, code) = sandbox.json(&["verify", file]);
        assert_eq!((code, codes(&report)), (0, vec![format!("{file}: ")]));
        assert_eq!(report["files"][0]["events"], json!(events));
        assert_eq!(sandbox.run(&["replay", file]).code, 0);
        let (report, _) = sandbox.json(&["compact", "-n", file, "--keep-turns", "1"]);
        assert!(!report.to_string().contains("two_encodings"), "{report}");
    }
}

#[test]
fn twins_are_compared_by_their_text() {
    let sandbox = Sandbox::new();
    let pair = |raw: &[u8], packed: &[u8]| {
        let paths = [
            sandbox.write("root/p/s/session.jsonl", raw),
            sandbox.write("root/p/s/session.jsonl.zstd", packed),
        ];
        set_age(&paths[0], 90);
        set_age(&paths[1], 60);
        let (report, code) = sandbox.json(&["verify", "root"]);
        assert_eq!((code, &report["summary"]["files"]), (1, &json!(1)));
        let file = &report["files"][0];
        (file["path"].as_str().unwrap().to_owned(), message(file, "two-encodings").to_owned())
    };
    let packed = fs::read(fixture("demo-zstd/session.jsonl.zstd")).unwrap();
    let (path, told) = pair(&demo(), &packed);
    assert_eq!(path, "root/p/s/session.jsonl");
    assert!(
        told.contains("both hold the same text") && told.ends_with("as session.jsonl, the first by name"),
        "{told}"
    );
    let other = String::from_utf8(demo()).unwrap().replacen("Halifax", "Hobart!", 1);
    let line = other.lines().position(|line| line.contains("Hobart!")).unwrap() + 1;
    let (_, told) = pair(other.as_bytes(), &packed);
    assert!(told.contains(&format!("their texts differ from line {line} on")), "{told}");
    // What cannot be read does not count.
    let broken = String::from_utf8(demo()).unwrap().replacen("\"seq\":4,", "\"seq\":4,,", 1);
    let (path, told) = pair(broken.as_bytes(), &zstd_frames(&demo()));
    assert_eq!(path, "root/p/s/session.jsonl.zstd");
    assert!(told.contains("as session.jsonl.zstd, which holds more; session.jsonl has faults"), "{told}");
    let (path, told) = pair(&demo(), &packed[..10]);
    assert_eq!(path, "root/p/s/session.jsonl");
    assert!(told.contains("session.jsonl.zstd (cannot be read)"), "{told}");
}

#[test]
fn one_unreadable_twin_does_not_hide_another() {
    let sandbox = Sandbox::new();
    sandbox.write("root/p/s/session.jsonl", b"");
    sandbox.write("root/p/s/session.jsonl.zstd", b"");
    let (report, code) = sandbox.json(&["verify", "root"]);
    assert_eq!((code, codes(&report).len()), (3, 1));
    assert!(report.to_string().contains("could not be compared (one of them cannot be read)"), "{report}");
}

#[test]
fn mixed_encodings_are_named_on_the_fewer() {
    let sandbox = Sandbox::new();
    sandbox.write("root/p/a/session.jsonl.zstd", &zstd(&log("a", None)));
    sandbox.write("root/p/b/session.jsonl.zstd", &zstd(&log("b", None)));
    sandbox.write("root/q/c/session.jsonl", &log("c", None));
    sandbox.write("apart/q/d/session.jsonl", &log("d", None));
    let (report, code) = sandbox.json(&["verify", "apart", "root"]);
    assert_eq!(code, 1);
    let named =
        ["apart/q/d/session.jsonl: ", "root/p/a/session.jsonl.zstd: ", "root/p/b/session.jsonl.zstd: "];
    assert_eq!(codes(&report), [&named[..], &["root/q/c/session.jsonl: mixed-encodings"]].concat());
    let told = message(&report["files"][3], "mixed-encodings");
    assert!(told.contains("1 raw log file and 2 compressed log files"), "{told}");
    assert!(told.contains("root/p/a/session.jsonl.zstd"), "{told}");
    // A log named alone is judged alone.
    assert_eq!(sandbox.run(&["verify", "root/p/a/session.jsonl.zstd", "root/q/c/session.jsonl"]).code, 0);
    // An older generation mixes them too.
    sandbox.write("old/p/a/session.jsonl", &log("a", None));
    sandbox.write("old/p/a/session.v3.jsonl.zstd", &zstd(&log("a", None)));
    let (report, _) = sandbox.json(&["verify", "old"]);
    assert_eq!(
        codes(&report),
        ["old/p/a/session.v3.jsonl.zstd: mixed-encodings, name-version, older-generations"]
    );
    assert!(
        message(&report["files"][0], "mixed-encodings").starts_with("session.jsonl, an older generation")
    );
}

#[test]
fn a_log_and_the_folder_around_it_are_one_log() {
    let sandbox = Sandbox::new();
    r38(&sandbox);
    let raw = "root/_no-cwd/r38/session.jsonl";
    let (report, code) = sandbox.json(&["verify", raw, "root", text(&sandbox.path("root"))]);
    assert_eq!((code, &report["summary"]["byCode"]), (1, &json!({ "two-encodings": 1 })));
    assert_eq!(report["summary"]["files"], json!(1));
}
