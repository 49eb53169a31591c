//! Reported faults, one test each, named after the case in `fixtures/cases`. What `verify` says of each is tested
//! beside its rules; here is what the other commands do.

use crate::sandbox::{Sandbox, column, finding, fixture, lines, text};
use serde_json::{Value, json};
use std::fs;

fn suggestions(sandbox: &Sandbox, case: &str, region: &str) -> (Value, Value) {
    let log = sandbox.copy(fixture(case));
    let old = fs::read(&log).unwrap();
    let (report, code) = sandbox.json(&["compact", text(&log), "--region", region]);
    assert_eq!(code, 4, "{report}");
    assert_eq!(fs::read(&log).unwrap(), old);
    let reason = &report["files"][0]["reason"];
    (reason["code"].clone(), reason["suggest"].clone())
}

#[test]
fn r10_lone_surrogate_is_emitted_as_it_stands() {
    let sandbox = Sandbox::new();
    let log = fixture("cases/R10-lone-surrogate-in-tool-result/session.jsonl");
    let run = sandbox.run(&["replay", text(&log), "--format", "messages"]);
    assert_eq!(run.code, 0);
    let line = fs::read_to_string(&log).unwrap().lines().nth(17).unwrap().to_owned();
    let message = run.out.lines().find(|message| line.contains(message)).unwrap();
    assert!(message.to_lowercase().contains("\\ud8"), "{message}");
    // A task with half a pair is carried as it stands, too.
    let demo = fs::read_to_string(fixture("demo/session.jsonl")).unwrap();
    let odd = sandbox.write("odd.jsonl", demo.replacen("`cargo test`", r"\ud83d `cargo test`", 1).as_bytes());
    let (report, code) = sandbox.json(&["compact", text(&odd), "--region", "2..134"]);
    assert_eq!((code, &report["files"][0]["task"]), (0, &json!("carried")), "{report}");
    let messages = sandbox.run(&["replay", text(&odd), "--format", "messages"]).out;
    assert!(messages.lines().next().unwrap().contains(r"\ud83d `cargo test`"));
}

#[test]
fn r15_nested_replace_start_greater_than_end() {
    let sandbox = Sandbox::new();
    let log = fixture("cases/R15-nested-replace-start-greater-than-end/session.jsonl");
    let (view, code) = sandbox.json(&["replay", text(&log)]);
    assert_eq!((code, column(&view["surface"], "seq")), (0, vec![json!(19), json!(9), json!(16)]));
}

#[test]
fn r16_orphan_lock_owner_turn_already_ended() {
    let sandbox = Sandbox::new();
    let case = "cases/R16-orphan-lock-owner-turn-already-ended";
    let (code, _) = suggestions(&sandbox, &format!("{case}/session.jsonl"), "1..3");
    assert_eq!(code, json!("busy"));
    let (view, _) = sandbox.json(&["replay", text(&fixture(&format!("{case}/session.jsonl")))]);
    assert_eq!(
        view["lock"],
        json!({ "state": "held", "startSeq": 6, "compactionId": "cmp-lost", "turn": 1, "owner": "ended" })
    );
    // What the caller vouches for ends like the legal way to mend it.
    let log = sandbox.copy(fixture(&format!("{case}/session.jsonl")));
    let run = sandbox.run(&["compact", text(&log), "--break-lock", "--region", "1..3", "--no-keep-task"]);
    assert_eq!(run.code, 0, "{run:?}");
    let good = fixture(&format!("{case}/variant-good-fix-end-seed-then-standalone-bracket.jsonl"));
    let (ours, good) = (lines(&log), lines(&good));
    assert_eq!(column(&json!(ours), "type"), column(&json!(good), "type"));
    let turns = |lines: &[Value]| {
        column(&json!(lines[18..]), "data").iter().map(|data| data["turn"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(turns(&ours), turns(&good));
    let (report, code) = sandbox.json(&["verify", text(&log), "--fail-on", "warning"]);
    assert_eq!(code, 0, "{report}");
}

#[test]
fn r18_stale_lock_before_end_seed_then_success() {
    let sandbox = Sandbox::new();
    let (view, _) = sandbox
        .json(&["replay", text(&fixture("cases/R18-stale-lock-before-end-seed-then-success/session.jsonl"))]);
    assert_eq!(view["lock"], json!({ "state": "free" }));
    // The next bracket is one more, and the voided start stays without an end.
    let log = sandbox.copy(fixture("cases/R18-stale-lock-before-end-seed-then-success/session.jsonl"));
    let (old, known) = (fs::read(&log).unwrap(), lines(&log).len());
    let (report, code) = sandbox.json(&["compact", text(&log), "--retain-tokens", "0", "--break-lock"]);
    let file = &report["files"][0];
    assert_eq!((code, &file["status"], &file["startSeq"]), (0, &json!("compacted"), &json!(34)), "{report}");
    assert!(fs::read(&log).unwrap().starts_with(&old));
    let types = column(&json!(lines(&log)[known..]), "type");
    assert_eq!(types, ["compaction/start", "compaction/summary", "user/message", "compaction/end"]);
    let (report, code) = sandbox.json(&["verify", text(&log), "--fail-on", "warning"]);
    assert_eq!((code, &finding(&report["files"][0], "expired-lock")["seq"]), (0, &json!(17)), "{report}");
}

#[test]
fn r19_parallel_batch_split_by_replace() {
    let sandbox = Sandbox::new();
    let case = "cases/R19-parallel-batch-split-by-replace/variant-before-compaction.jsonl";
    assert_eq!(suggestions(&sandbox, case, "1..6"), (json!("region"), json!(["1..1", "1..7"])));
    let (code, suggest) = suggestions(&sandbox, case, "6..7");
    assert_eq!((code, suggest), (json!("region"), json!(["3..7"])));
    // Nor does a region that dshc chooses part the batch.
    let log = fixture(case);
    for (tail, seqs) in [("0", json!([3, 6, 7])), ("13", Value::Null), ("100", Value::Null)] {
        let (report, code) = sandbox.json(&["compact", "-n", text(&log), "--retain-tokens", tail]);
        assert_eq!((code, &report["files"][0]["region"]["seqs"]), (0, &seqs), "{tail}: {report}");
    }
}

#[test]
fn r22_balanced_by_count_wrong_id() {
    let sandbox = Sandbox::new();
    let (code, _) = suggestions(&sandbox, "cases/R22-balanced-by-count-wrong-id/session.jsonl", "1..6");
    assert_eq!(code, json!("region"));
}

#[test]
fn r23_user_message_between_call_and_result() {
    let sandbox = Sandbox::new();
    let case = "cases/R23-user-message-between-call-and-result/session.jsonl";
    assert_eq!(suggestions(&sandbox, case, "1..5"), (json!("region"), json!(["1..1", "1..6"])));
    let (view, _) = sandbox.json(&["replay", text(&fixture(case))]);
    assert_eq!(json!(column(&view["surface"], "balancedBefore")), json!([true, true, false, false, true]));
}

#[test]
fn r25_repeated_failed_compactions() {
    let sandbox = Sandbox::new();
    let log = sandbox.copy(fixture("cases/R25-repeated-failed-compactions/session.jsonl"));
    let old = fs::read(&log).unwrap();
    let (report, code) = sandbox.json(&["compact", text(&log), "--region", "1..3"]);
    let file = &report["files"][0];
    assert_eq!((code, &file["reason"]["code"]), (4, &json!("not_smaller")));
    let message = file["reason"]["message"].as_str().unwrap();
    assert!(message.contains(&file["hostTokens"]["shadowed"].to_string()), "{message}");
    assert_eq!(fs::read(&log).unwrap(), old);
    // Nor does a log under pressure get a sixth bracket, however many passes are allowed.
    for more in [
        &["--region", "1..3", "--strategy", "drop"][..],
        &["--over", "1", "--retain-tokens", "0", "--passes", "9"],
    ] {
        let (report, code) = sandbox.json(&[&["compact", text(&log)], more].concat());
        let status = report["files"][0]["status"].as_str().unwrap();
        assert!((code, status) == (4, "refused") || (code, status) == (0, "nothing_to_do"), "{report}");
        assert_eq!(fs::read(&log).unwrap(), old);
    }
}

#[test]
fn r27_original_task_lost_on_second_fold() {
    let sandbox = Sandbox::new();
    let log = sandbox.copy(fixture("cases/R27-original-task-lost-on-second-fold/session.jsonl"));
    let (view, _) = sandbox.json(&["replay", text(&log)]);
    assert_eq!(view["task"], json!({ "seq": 1, "visible": "lost" }));
    // The case is too small for a checkpoint to be a gain. In a larger log the task comes back.
    let (report, code) = sandbox.json(&["compact", text(&log), "--region", "16..13"]);
    assert_eq!((code, &report["files"][0]["reason"]["code"]), (4, &json!("not_smaller")), "{report}");
    let demo = sandbox.copy(fixture("demo/session.jsonl"));
    let task = |visible| json!({ "seq": 2, "visible": visible });
    for (arguments, visible) in [
        (&["--keep-turns", "4", "--no-keep-task"][..], "lost"),
        (&["--keep-turns", "3", "--no-keep-task"], "lost"),
        (&["--keep-turns", "2"], "carried"),
        (&["--keep-turns", "1"], "carried"),
    ] {
        let (report, code) = sandbox.json(&[&["compact", text(&demo)], arguments].concat());
        assert_eq!((code, &report["files"][0]["status"]), (0, &json!("compacted")), "{report}");
        let (view, _) = sandbox.json(&["replay", text(&demo)]);
        assert_eq!(view["task"], task(visible), "{arguments:?}");
    }
}

#[test]
fn r30_special_tokens_and_cjk() {
    let sandbox = Sandbox::new();
    for tokenizer in ["host", "o200k_base", "cl100k_base"] {
        let log = sandbox.copy(fixture("cases/R30-special-tokens-and-cjk/session.jsonl"));
        let arguments = ["compact", text(&log), "--retain-tokens", "0", "--tokenizer", tokenizer];
        let (report, code) = sandbox.json(&arguments);
        let file = &report["files"][0];
        assert_eq!((code, &file["status"]), (0, &json!("compacted")), "{tokenizer}: {report}");
        let (host, exact) = (file["hostTokens"]["before"].as_u64().unwrap(), &file["tokens"]);
        assert_eq!(exact.is_null(), tokenizer == "host", "{file}");
        // dsh's estimate takes four of these characters for one token.
        assert!(exact.is_null() || exact["before"].as_u64().unwrap() > 2 * host, "{file}");
        let summary = lines(&log).into_iter().rfind(|line| line["type"] == "compaction/summary").unwrap();
        assert_eq!(summary["data"]["shadowedTokenCount"], file["hostTokens"]["shadowed"]);
        let messages = sandbox.run(&["replay", text(&log), "--format", "messages"]).out;
        assert!(messages.contains("<|endoftext|>, <|im_start|>system"), "the task is kept: {messages}");
        assert_eq!(sandbox.run(&["verify", text(&log), "--fail-on", "warning"]).code, 0);
    }
}

#[test]
fn r31_unknown_required_event() {
    let sandbox = Sandbox::new();
    let run = sandbox.run(&["replay", text(&fixture("cases/R31-unknown-required-event/session.jsonl"))]);
    assert_eq!(run.code, 3);
    assert!(run.err.contains("acme-fallbacks/switch") && !run.err.contains("damage"), "{}", run.err);
    assert_eq!(
        sandbox
            .run(&["replay", text(&fixture("cases/R31-unknown-required-event/variant-ignorable.jsonl"))])
            .code,
        0
    );
}

#[test]
fn r33_fork_with_copied_end_seed_markers() {
    let sandbox = Sandbox::new();
    let log = fixture("cases/R33-fork-with-copied-end-seed-markers/session.jsonl");
    let (view, code) = sandbox.json(&["replay", text(&log)]);
    assert_eq!((code, &view["session"]["inheritedEvents"]), (0, &json!(18)));
    assert_eq!(
        view["session"]["seedMarkers"],
        json!([
            { "seq": 11, "is": "copied" }, { "seq": 18, "is": "boundary" }, { "seq": 25, "is": "reopened" }
        ])
    );
    let run = sandbox.run(&["replay", text(&log)]);
    assert!(run.out.contains("seqs 0..17 are inherited"), "{}", run.out);
    assert_eq!(sandbox.run(&["verify", text(&log), "--fail-on", "warning"]).code, 0);
}

#[test]
fn r35_v0_range_encoded_provenance() {
    let sandbox = Sandbox::new();
    let messages = ["session.jsonl", "variant-packed-row.jsonl", "variant-plain-list.jsonl"].map(|name| {
        let log = fixture(&format!("cases/R35-v0-range-encoded-provenance/{name}"));
        let (view, code) = sandbox.json(&["replay", text(&log)]);
        assert_eq!((code, &view["events"]), (0, &json!(12)), "{name}");
        view["digest"].clone()
    });
    assert!(messages.iter().all(|digest| *digest == messages[0]));
}
