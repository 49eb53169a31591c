//! Documents of `dshc compact` against `docs/compact.schema.json`.

use crate::sandbox::{Sandbox, fixture, text};
use crate::schemas::{faults, validator};
use serde_json::{Value, json};

/// Runs that between them show every status and every member but a model's usage, which the reports of live models are
/// checked for.
fn reports() -> Vec<Value> {
    let sandbox = Sandbox::new();
    let demo = fixture("demo/session.jsonl");
    let stuck = fixture("cases/R16-orphan-lock-owner-turn-already-ended/session.jsonl");
    let bulky = fixture("corpus/bulky-results");
    let empty = sandbox.write("empty.jsonl", b"");
    let of = |words: &str, path| {
        let words: Vec<&str> = words.split_whitespace().collect();
        sandbox.json(&[&["compact", path], &words[..]].concat()).0
    };
    vec![
        of("--keep-turns 2 --tokenizer o200k_base -o a.jsonl", text(&demo)),
        of("--over 1200 --retain-tokens 100 -n", text(&demo)),
        of("--over 60000", text(&demo)),
        of("--region 3..30 --strategy drop -n", text(&demo)),
        of("--keep-turns 2 --summarizer command --command false -o b.jsonl", text(&demo)),
        of("--keep-turns 2 --summarizer command --command false -n", text(&demo)),
        of("--region 34..62", text(&demo)),
        of("--keep-turns 1", text(&stuck)),
        of("--keep-turns 1 --prune -o pruned", text(&bulky)),
        of("--keep-turns 1", text(&empty)),
        of("--keep-turns 1", "nowhere.jsonl"),
    ]
}

#[test]
fn reports_are_as_their_schema_says() {
    let validator = validator("docs/compact.schema.json");
    let reports = reports();
    for report in &reports {
        assert_eq!(faults(&validator, report), [""; 0], "{report:#}");
    }
    // Every member and status that the schema has occurs somewhere, or nothing was tested of it.
    let seen = serde_json::to_string(&reports).unwrap();
    for member in [
        "output",
        "reason",
        "suggest",
        "pruned",
        "replacementSeq",
        "passes",
        "tokens",
        "tokenizer",
        "recall",
        "cache",
        "compactionId",
        "summarySeq",
        "endSeq",
    ] {
        assert!(seen.contains(&format!("\"{member}\":")), "no report has {member}");
    }
    for status in ["compacted", "planned", "nothing_to_do", "refused", "failed", "unreadable"] {
        assert!(seen.contains(&format!("\"status\":\"{status}\"")), "no log is {status}");
    }
}

#[test]
fn the_schema_refuses_what_compact_does_not_write() {
    let validator = validator("docs/compact.schema.json");
    let log = fixture("demo/session.jsonl");
    let (whole, _) = Sandbox::new().json(&["compact", text(&log), "--keep-turns", "2", "-o", "new.jsonl"]);
    assert_eq!(faults(&validator, &whole), [""; 0]);
    for (pointer, member, value) in [
        ("", "schema", json!("dshc.compact/2")),
        ("", "extra", json!(1)),
        ("/files/0", "extra", json!(1)),
        ("/files/0", "status", json!("done")),
        ("/files/0", "status", json!("failed")),
        ("/files/0", "reason", json!({ "code": "busy", "message": "m", "help": "h" })),
        ("/files/0", "task", json!(null)),
        ("/files/0", "version", json!("0")),
        ("/files/0", "pruned", json!([])),
        ("/files/0", "passes", json!([{ "hostTokens": {} }])),
        ("/files/0", "tokens", json!({ "tokenizer": "o200k_base", "before": 1 })),
        ("/files/0", "endSeq", json!(null)),
        ("/files/0/region", "chosenBy", json!("chance")),
        ("/files/0/region", "seqs", json!([])),
        ("/files/0/summarizer", "calls", json!(0)),
        ("/files/0/summarizer", "usage", json!({ "inputTokens": 1 })),
        ("/files/0/summarizer/recall", "found", json!(0.5)),
        ("/files/0/hostTokens", "before", json!(null)),
        ("/summary/bytes", "after", json!(-1)),
    ] {
        let mut changed = whole.clone();
        changed.pointer_mut(pointer).unwrap()[member] = value;
        assert!(!validator.is_valid(&changed), "{pointer}/{member} may be another: {changed:#}");
    }
    for member in
        ["path", "session", "version", "status", "startSeq", "endSeq", "hostTokens", "bytes", "notes"]
    {
        let mut changed = whole.clone();
        changed["files"][0].as_object_mut().unwrap().remove(member);
        assert!(!validator.is_valid(&changed), "{member} may be missing");
    }
}
