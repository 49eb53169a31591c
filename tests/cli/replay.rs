//! `dshc replay`.

use crate::sandbox::{HEADER, Sandbox, column, corpus, decoded, fixture, text};
use serde_json::{Value, json};
use std::fs;

#[test]
fn the_surface_is_what_the_official_reader_sees() {
    let sandbox = Sandbox::new();
    for (log, facts) in corpus() {
        let stored = &facts["stored"];
        let (view, code) = sandbox.json(&["replay", text(&log)]);
        assert_eq!(code, 0, "{}", log.display());
        let seen = json!({
            "events": view["events"],
            "surface": column(&view["surface"], "seq"),
            "replaceGeneration": view["replaceGeneration"],
            "surfaceTokens": view["hostTokens"],
            "totalTokens": view["hostTokens"].as_u64().unwrap() + view["header"]["hostTokens"].as_u64().unwrap(),
            "nodeTokens": column(&view["surface"], "hostTokens"),
            "balancedBefore": column(&view["surface"], "balancedBefore"),
            "balancedAfterTail": view["balancedAfter"],
        });
        let mut expected = stored.clone();
        expected.as_object_mut().unwrap().remove("range").expect("the region has a test of its own");
        assert_eq!(seen, expected, "{}", log.display());
        let id = view["session"]["id"].as_str().unwrap();
        let messages = sandbox.run(&["replay", text(&log), "--format", "messages"]);
        let expected = fs::read_to_string(fixture(&format!("corpus/messages/{id}.jsonl"))).unwrap();
        assert_eq!(messages.out, expected, "{}", log.display());
        let digest = blake3::hash(messages.out.as_bytes()).to_hex().to_string();
        assert_eq!(view["digest"], json!(digest));
    }
}

#[test]
fn the_document_has_the_promised_members() {
    let sandbox = Sandbox::new();
    let run = sandbox.run(&["replay", text(&fixture("demo/session.jsonl")), "--format", "json"]);
    assert!(run.out.starts_with("{\"schema\":\"dshc.replay/1\","));
    let view: Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!(view["lock"], json!({ "state": "free" }));
    assert_eq!(view["contextWindow"], json!(131_072));
    assert_eq!(view["openTurn"], Value::Null);
    assert_eq!(view["task"], json!({ "seq": 2, "visible": "node" }));
    assert_eq!(view["session"]["seeded"], json!(false));
    assert_eq!(view["notes"], json!([]));
    assert!(view["surface"][0].get("replaces").is_none());
    assert!(view.get("tokens").is_none());
    assert_eq!(run.err, "");
}

#[test]
fn both_containers_show_the_same_session() {
    let sandbox = Sandbox::new();
    let raw = sandbox.run(&["replay", text(&fixture("demo/session.jsonl")), "--format", "messages"]);
    let zstd =
        sandbox.run(&["replay", text(&fixture("demo-zstd/session.jsonl.zstd")), "--format", "messages"]);
    assert_eq!(raw.out, zstd.out);
    let piped = sandbox
        .run_with_input(&["replay", "-", "--format", "messages"], &fixture("demo-zstd/session.jsonl.zstd"));
    assert_eq!(raw.out, piped.out);
}

#[test]
fn at_shows_the_surface_as_a_shorter_log_would() {
    let sandbox = Sandbox::new();
    for name in ["corpus/compacted-raw/--home-dev-project-0--/gen-13-0/session.jsonl", "demo/session.jsonl"] {
        let log = fixture(name);
        let lines: Vec<String> =
            String::from_utf8(decoded(&log)).unwrap().lines().map(str::to_owned).collect();
        for cut in [2, lines.len() / 3, lines.len() / 2, lines.len() - 1] {
            let prefix = sandbox.write("prefix.jsonl", (lines[..cut].join("\n") + "\n").as_bytes());
            let (expected, _) = sandbox.json(&["replay", text(&prefix)]);
            let at = expected["events"].as_u64().unwrap() - 1;
            let (seen, code) = sandbox.json(&["replay", text(&log), "--at", &at.to_string()]);
            assert_eq!(code, 0);
            for member in ["events", "surface", "lock", "openTurn", "task", "digest", "hostTokens"] {
                assert_eq!(seen[member], expected[member], "{name} at {at}: {member}");
            }
        }
    }
}

#[test]
fn at_may_name_a_member_of_a_packed_row() {
    let sandbox = Sandbox::new();
    let log = fixture("cases/R35-v0-range-encoded-provenance/variant-packed-row.jsonl");
    let (view, _) = sandbox.json(&["replay", text(&log), "--at", "5"]);
    assert_eq!(view["events"], json!(6));
    assert_eq!(sandbox.run(&["replay", text(&log), "--at", &u64::MAX.to_string()]).code, 2);
}

#[test]
fn expand_shows_one_level_of_what_a_replacement_hides() {
    let sandbox = Sandbox::new();
    let log = fixture("cases/R15-nested-replace-start-greater-than-end/session.jsonl");
    let (view, _) = sandbox.json(&["replay", text(&log), "--expand", "19"]);
    assert_eq!(column(&view["surface"], "seq"), [19, 9, 16]);
    assert_eq!(column(&view["expanded"], "seq"), [12, 6]);
    assert_eq!(view["surface"][0]["replaces"], json!([12, 6]));
    let human = sandbox.run(&["replay", text(&log), "--expand", "19"]);
    assert!(human.out.contains("\nhidden\n"));
}

#[test]
fn exact_counts_are_added_when_asked_for() {
    let sandbox = Sandbox::new();
    let log = fixture("cases/R30-special-tokens-and-cjk/session.jsonl");
    for name in ["o200k_base", "cl100k_base"] {
        let (view, code) = sandbox.json(&["replay", text(&log), "--tokenizer", name]);
        assert_eq!(code, 0);
        let sum: u64 = column(&view["surface"], "tokens").iter().map(|count| count.as_u64().unwrap()).sum();
        assert_eq!(view["tokens"], json!(sum));
        assert!(sum > 0);
    }
    assert_eq!(sandbox.run(&["replay", text(&log), "--tokenizer", "gpt2"]).code, 2);
}

#[test]
fn damage_is_refused_and_its_sound_part_shown_on_request() {
    let sandbox = Sandbox::new();
    let log = fixture("cases/R04-damaged-line-then-work-without-turn-end/session.jsonl");
    let refused = sandbox.run(&["replay", text(&log)]);
    assert_eq!((refused.code, refused.out.as_str()), (3, ""));
    for word in ["line 18", "not JSON", "--partial"] {
        assert!(refused.err.contains(word), "{word}: {}", refused.err);
    }
    let (view, code) = sandbox.json(&["replay", text(&log), "--partial"]);
    assert_eq!((code, &view["events"]), (1, &json!(16)));
    assert!(
        view["notes"][0].as_str().unwrap().contains("26 sound events behind it are left out"),
        "{}",
        view["notes"]
    );
}

#[test]
fn a_torn_tail_is_left_out_and_said_so() {
    let sandbox = Sandbox::new();
    for (name, events) in [
        ("bytes/torn-raw.jsonl", 13),
        ("bytes/no-final-newline.jsonl", 14),
        ("cases/R07-zstd-torn-tail/session.jsonl.zstd", 7),
        ("cases/R07-zstd-torn-tail/variant-3-stray-bytes.jsonl.zstd", 7),
        ("cases/R07-zstd-torn-tail/variant-last-frame-only-magic.jsonl.zstd", 7),
    ] {
        let (view, code) = sandbox.json(&["replay", text(&fixture(name))]);
        assert_eq!((code, &view["events"]), (0, &json!(events)), "{name}");
        assert!(view["notes"][0].as_str().unwrap().starts_with("torn tail"), "{name}: {}", view["notes"]);
    }
}

#[test]
fn what_is_no_log_is_told_apart() {
    let sandbox = Sandbox::new();
    for (name, word) in [("bytes/empty.jsonl", "empty file"), ("bytes/not-a-log.jsonl", "no dsh session log")]
    {
        let run = sandbox.run(&["replay", text(&fixture(name))]);
        assert_eq!((run.code, run.out.as_str()), (3, ""), "{name}");
        assert!(run.err.contains(word), "{name}: {}", run.err);
        assert!(run.err.contains("help:"), "{name}: {}", run.err);
    }
    let later = r#"{"type":"session","version":5,"id":"s","createdAt":1,"isSeeded":false,"fork":"x","delegationDepth":0}"#;
    let later = sandbox.write("session.v5.jsonl", format!("{later}\n").as_bytes());
    let run = sandbox.run(&["replay", text(&later)]);
    assert_eq!(run.code, 3);
    assert!(run.err.contains("log format 5 (session \"s\")"), "{}", run.err);
    assert!(run.err.contains("members of its own: fork") && !run.err.contains("corrupt"), "{}", run.err);
    let run = sandbox.run(&["replay", "nowhere.jsonl"]);
    assert_eq!(run.code, 3, "{run:?}");
    assert_eq!(sandbox.run(&["replay", text(&fixture("bytes/header-only.jsonl"))]).code, 0);
}

#[test]
fn wrong_usage_is_told_before_anything_is_shown() {
    let sandbox = Sandbox::new();
    let demo = fixture("demo/session.jsonl");
    for arguments in [
        vec!["replay", text(&demo), "--at", "100000"],
        vec!["replay", text(&demo), "--expand", "5"],
        vec!["replay", text(&demo), "--at", "x"],
        vec!["replay", "."],
        vec!["replay"],
        vec!["replay", text(&demo), "--format", "yaml"],
    ] {
        let run = sandbox.run(&arguments);
        assert_eq!((run.code, run.out.as_str()), (2, ""), "{arguments:?}: {}", run.err);
    }
    let many = sandbox.run(&["replay", text(&fixture("corpus/plain-zstd"))]);
    assert_eq!(many.code, 2);
    assert_eq!(many.err.matches("session.jsonl.zstd").count(), 3, "{}", many.err);
}

#[test]
fn a_session_folder_stands_for_its_log() {
    let sandbox = Sandbox::new();
    let folder = fixture("corpus/plain-zstd/--home-dev-project-0--/gen-11-0");
    let (view, code) = sandbox.json(&["replay", text(&folder)]);
    assert_eq!((code, &view["session"]["id"]), (0, &json!("gen-11-0")));
}

#[test]
fn colour_only_where_it_is_asked_for() {
    let sandbox = Sandbox::new();
    let demo = fixture("demo/session.jsonl");
    assert!(!sandbox.run(&["replay", text(&demo)]).out.contains('\u{1b}'));
    assert!(sandbox.run(&["replay", text(&demo), "--color", "always"]).out.contains('\u{1b}'));
}

/// Loading a vocabulary takes tens of MiB; without one, a small log is shown in a few.
#[cfg(target_os = "linux")]
#[test]
fn no_vocabulary_is_loaded_that_was_not_asked_for() {
    let demo = fixture("demo/session.jsonl");
    let run = |limit: u32, arguments: &str| {
        let program = env!("CARGO_BIN_EXE_dshc");
        let script = format!("ulimit -v {limit} && exec {program} replay {} {arguments}", text(&demo));
        let output = std::process::Command::new("sh").args(["-c", &script]).output().unwrap();
        output.status.success()
    };
    // Measured: 20,000 are enough without a vocabulary, 60,000 are too few with one.
    let limit = 40_000;
    assert!(run(limit, ""), "needs more than {limit} KiB");
    assert!(run(limit, "--format json"));
    assert!(!run(limit, "--tokenizer o200k_base"), "the limit of {limit} KiB would let a vocabulary through");
}

#[test]
fn data_reaches_standard_output_byte_for_byte() {
    let sandbox = Sandbox::new();
    let demo = fs::read_to_string(fixture("demo/session.jsonl")).unwrap();
    // JSON.stringify leaves DEL as it is; a terminal's filter would drop it.
    let log = sandbox.write("del.jsonl", demo.replacen("cargo test", "cargo \u{7f}test", 1).as_bytes());
    for color in ["auto", "never", "always"] {
        let run = sandbox.run(&["replay", text(&log), "--format", "messages", "--color", color]);
        assert!(run.out.contains('\u{7f}'), "--color {color}");
    }
    let (view, _) = sandbox.json(&["replay", text(&log)]);
    let messages = sandbox.run(&["replay", text(&log), "--format", "messages"]).out;
    assert_eq!(view["digest"], json!(blake3::hash(messages.as_bytes()).to_hex().to_string()));
}

#[test]
fn what_a_log_holds_cannot_steer_the_terminal() {
    let sandbox = Sandbox::new();
    let demo = fs::read_to_string(fixture("demo/session.jsonl")).unwrap();
    let log = sandbox.write("esc\u{1b}[2J.jsonl", demo.replacen("cargo test", "\\u001b[2J", 1).as_bytes());
    for arguments in
        [vec!["replay", text(&log)], vec!["verify", text(&log)], vec!["compact", "-n", text(&log)]]
    {
        let run = sandbox.run(&[&arguments[..], &["--color", "always"]].concat());
        assert!(!run.out.contains("\u{1b}[2J") && !run.err.contains("\u{1b}[2J"), "{run:?}");
    }
}

#[test]
fn a_reader_that_has_seen_enough_does_not_change_the_exit_code() {
    let sandbox = Sandbox::new();
    let log = fixture("cases/R04-damaged-line-then-work-without-turn-end/session.jsonl");
    for (command, code) in [("verify", 1), ("replay --partial", 1), ("replay --partial --format messages", 1)]
    {
        let mut arguments: Vec<&str> = command.split(' ').collect();
        arguments.push(text(&log));
        let mut child = sandbox
            .command(&arguments)
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        assert_eq!(child.wait().unwrap().code(), Some(code), "{command}");
    }
}

#[test]
fn nested_results_take_no_time() {
    let sandbox = Sandbox::new();
    let block = format!(
        "{}{}",
        r#"{"type":"tool-result","toolCallId":"c","content":["#.repeat(20_000),
        "]}".repeat(20_000)
    );
    let log = format!(
        "{}\n{}\n",
        HEADER,
        format_args!(
            r#"{{"type":"user/message","seq":0,"time":1,"data":{{"id":"m","role":"user","content":[{block}],"source":{{"kind":"user"}}}},"surfaceOp":"append"}}"#
        )
    );
    let log = sandbox.write("deep.jsonl", log.as_bytes());
    for command in ["replay", "verify"] {
        assert_eq!(sandbox.run(&[command, text(&log)]).code, 0, "{command}");
    }
}
