//! Documents of `dshc repack` against `docs/repack.schema.json`.

use super::DEMO;
use crate::sandbox::{Sandbox, fixture, text};
use crate::schemas::{faults, validator};
use serde_json::{Value, json};
use std::fs;

#[test]
fn reports_are_as_their_schema_says() {
    let validator = validator("docs/repack.schema.json");
    let sandbox = Sandbox::new();
    let demo = fixture(DEMO);
    let raw = fixture("demo/session.jsonl");
    let whole = fs::read(&demo).unwrap();
    let torn = sandbox.write("torn.jsonl.zstd", &whole[..whole.len() - 1]);
    let end = zstd::zstd_safe::find_frame_compressed_size(&whole).unwrap();
    let header = sandbox.write("header.jsonl.zstd", &whole[..end]);
    let of = |words: &[&str]| sandbox.json(&[&["repack"], words].concat()).0;
    let reports = [
        of(&["-n", text(&demo), text(&raw), text(&torn), text(&header), "nowhere.jsonl"]),
        of(&["-o", "new.jsonl.zstd", text(&demo)]),
        of(&["--in-place", "new.jsonl.zstd"]),
        of(&["-n", text(&fixture("corpus"))]),
        of(&["-n", text(&fixture("cases"))]),
        of(&["-n", text(&fixture("bytes"))]),
    ];
    for report in &reports {
        assert_eq!(faults(&validator, report), [""; 0], "{report:#}");
    }
    let seen = serde_json::to_string(&reports).unwrap();
    for member in ["output", "reason", "textBytes", "frames", "digest"] {
        assert!(seen.contains(&format!("\"{member}\":")), "no report has {member}");
    }
    for status in ["repacked", "planned", "nothing_to_do", "refused", "unreadable"] {
        assert!(seen.contains(&format!("\"status\":\"{status}\"")), "no log is {status}");
    }
}

#[test]
fn the_schema_refuses_what_repack_does_not_write() {
    let validator = validator("docs/repack.schema.json");
    let sandbox = Sandbox::new();
    let (whole, _) = sandbox.json(&["repack", text(&fixture(DEMO)), "-o", "new.jsonl.zstd"]);
    assert_eq!(faults(&validator, &whole), [""; 0]);
    for (pointer, member, value) in [
        ("", "schema", json!("dshc.repack/2")),
        ("", "extra", json!(1)),
        ("", "ignored", json!([1])),
        ("/files/0", "extra", json!(1)),
        ("/files/0", "status", json!("done")),
        ("/files/0", "status", json!("failed")),
        ("/files/0", "status", json!("planned")),
        ("/files/0", "status", json!("nothing_to_do")),
        ("/files/0", "reason", json!({ "code": "busy", "message": "m", "help": "h" })),
        ("/files/0", "digest", json!("abc")),
        ("/files/0", "textBytes", json!(null)),
        ("/files/0/bytes", "before", json!(-1)),
        ("/files/0/frames", "after", json!(0.5)),
        ("/summary", "frames", json!(2)),
        ("/summary/bytes", "after", json!(null)),
    ] {
        let mut changed = whole.clone();
        changed.pointer_mut(pointer).unwrap()[member] = value;
        assert!(!validator.is_valid(&changed), "{pointer}/{member} may be another: {changed:#}");
    }
    let missing = [(
        "/files/0",
        ["path", "session", "version", "status", "bytes", "notes", "digest", "frames"].as_slice(),
    )];
    let missing =
        missing.into_iter().chain([("/files/0/bytes", ["after"].as_slice()), ("", &["ignored", "summary"])]);
    for (pointer, members) in missing {
        for member in members {
            let mut changed: Value = whole.clone();
            changed.pointer_mut(pointer).unwrap().as_object_mut().unwrap().remove(*member);
            assert!(!validator.is_valid(&changed), "{pointer}/{member} may be missing");
        }
    }
}
