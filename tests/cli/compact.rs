//! `dshc compact`.

use crate::sandbox::{Sandbox, column, corpus, fixture, lines, text};
use serde_json::{Value, json};
use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

fn seqs(view: &Value) -> Vec<u64> {
    column(&view["surface"], "seq").iter().map(|seq| seq.as_u64().unwrap()).collect()
}

#[test]
fn dshs_own_choice_of_region_is_kept() {
    let sandbox = Sandbox::new();
    for (log, facts) in corpus() {
        let arguments = ["compact", "-n", text(&log), "--retain-tokens", "2000", "--no-keep-task"];
        let (report, code) = sandbox.json(&arguments);
        let file = &report["files"][0];
        assert_eq!((code, &file["status"]), (0, &json!("planned")), "{}", log.display());
        let region = json!({ "start": file["region"]["start"], "end": file["region"]["end"] });
        assert_eq!(region, facts["stored"]["range"], "{}", log.display());
        assert_eq!(file["task"], json!("lost"), "dsh's choice hides the task");
    }
}

#[test]
fn compactions_add_to_the_log_and_keep_the_task() {
    let sandbox = Sandbox::new();
    for (log, _) in corpus() {
        let copy = sandbox.copy(&log);
        let mut old = fs::read(&copy).unwrap();
        let mut compacted = 0;
        for budget in ["2000", "1000", "400"] {
            let old_records = lines(&copy).len();
            let (report, code) = sandbox.json(&["compact", text(&copy), "--retain-tokens", budget]);
            let file = &report["files"][0];
            assert_eq!(code, 0, "{}: {file}", log.display());
            let new = fs::read(&copy).unwrap();
            assert!(new.starts_with(&old), "{}", log.display());
            let (view, _) = sandbox.json(&["replay", text(&copy)]);
            assert_ne!(view["task"]["visible"], json!("lost"), "{}", log.display());
            assert_eq!(view["lock"]["state"], json!("free"));
            if file["status"] == json!("compacted") {
                compacted += 1;
                assert_eq!(view["hostTokens"], file["hostTokens"]["after"]);
                assert_eq!(view["task"]["visible"], file["task"]);
                let added = lines(&copy).split_off(old_records);
                let types: Vec<&str> = added.iter().map(|record| record["type"].as_str().unwrap()).collect();
                assert_eq!(
                    types,
                    ["compaction/start", "compaction/summary", "user/message", "compaction/end"]
                );
                assert_eq!(added[1]["data"]["shadowedTokenCount"], file["hostTokens"]["shadowed"]);
                assert_eq!(added[0]["data"]["turn"], view["openTurn"]);
            } else {
                assert_eq!(new, old);
            }
            old = new;
        }
        assert!(compacted >= 1, "{}", log.display());
    }
}

#[test]
fn a_region_may_be_named() {
    let sandbox = Sandbox::new();
    let log = sandbox.copy(fixture("demo/session.jsonl"));
    let (before, _) = sandbox.json(&["replay", text(&log)]);
    let nodes = seqs(&before);
    let region = format!("{}..{}", nodes[0], nodes[13]);
    let (report, code) = sandbox.json(&["compact", text(&log), "--region", &region]);
    let file = &report["files"][0];
    assert_eq!((code, &file["status"]), (0, &json!("compacted")));
    assert_eq!(file["region"]["chosenBy"], json!("region"));
    assert_eq!(file["region"]["seqs"], json!(nodes[..=13]));
    let (after, _) = sandbox.json(&["replay", text(&log)]);
    let expected: Vec<u64> =
        [file["checkpointSeq"].as_u64().unwrap()].into_iter().chain(nodes[14..].iter().copied()).collect();
    assert_eq!(seqs(&after), expected);
    assert_eq!(after["task"], json!({ "seq": nodes[0], "visible": "carried" }));
    assert_eq!(after["surface"][0]["checkpoint"], json!(true));
}

#[test]
fn the_checkpoint_carries_the_task_between_tag_and_summary() {
    let sandbox = Sandbox::new();
    let log = sandbox.copy(fixture("demo/session.jsonl"));
    let old = lines(&log).len();
    let (view, _) = sandbox.json(&["replay", text(&log)]);
    let nodes = seqs(&view);
    let region = format!("{}..{}", nodes[0], nodes[13]);
    sandbox.json(&["compact", text(&log), "--region", &region]);
    let all = lines(&log);
    let added = &all[old..];
    let task = all.iter().find(|record| record["type"] == json!("user/message")).unwrap();
    let content = added[2]["data"]["content"].as_array().unwrap();
    assert!(content[0]["text"].as_str().unwrap().ends_with("\n\n<compacted-summary>"));
    assert_eq!(content[2], task["data"]["content"][0]);
    assert_eq!(content[3], added[1]["data"]["summary"][0]);
    assert_eq!(content[4]["text"], json!("</compacted-summary>"));
    let sources: Vec<u64> = [added[0]["seq"].as_u64().unwrap(), added[1]["seq"].as_u64().unwrap()]
        .into_iter()
        .chain(nodes[..=13].iter().copied())
        .collect();
    assert_eq!(added[2]["sourceEventSeqs"], json!(sources));
    let last_time = &all[all.len() - 5]["time"];
    assert!(added.iter().all(|record| &record["time"] == last_time));
    assert_eq!((&added[1]["data"]["provider"], &added[1]["data"]["model"]), (&json!("dshc"), &json!("stub")));
}

#[test]
fn blocks_of_the_task_without_their_text_are_not_carried() {
    let sandbox = Sandbox::new();
    let sound = fs::read_to_string(fixture("demo/session.jsonl")).unwrap();
    let prompt = sound.lines().position(|line| line.contains("\"user/message\"")).unwrap();
    for (broken, carried) in
        [(r#"{"type":"text","tex":"lost"},{"type":"reasoning"},"#, 1), (r#"{"type":"image"},"#, 2)]
    {
        let spell = |(at, line): (usize, &str)| {
            let content = format!("\"content\":[{}", if at == prompt { broken } else { "" });
            line.replacen("\"content\":[", &content, 1)
        };
        let changed: Vec<String> = sound.lines().enumerate().map(spell).collect();
        let log = sandbox.path("session.jsonl");
        fs::write(&log, changed.join("\n") + "\n").unwrap();
        let errors = || {
            let (report, _) = sandbox.json(&["verify", text(&log)]);
            column(&report["files"][0]["findings"], "severity")
                .iter()
                .filter(|severity| **severity == "error")
                .count()
        };
        let before = errors();
        let (report, code) = sandbox.json(&["compact", text(&log), "--region", "2..517"]);
        assert_eq!((code, &report["files"][0]["task"]), (0, &json!("carried")), "{report}");
        assert_eq!(errors(), before, "the meter's trouble is not copied");
        let checkpoint = &lines(&log)[changed.len() + 2];
        let content = checkpoint["data"]["content"].as_array().unwrap();
        assert_eq!(content.len(), 4 + carried, "{checkpoint}");
    }
}

#[test]
fn the_same_log_gives_the_same_bytes() {
    let sandbox = Sandbox::new();
    let log = fixture("demo-zstd/session.jsonl.zstd");
    let results = ["a.jsonl.zstd", "b.jsonl.zstd"].map(|name| {
        let run = sandbox.run(&["compact", text(&log), "--keep-turns", "2", "-o", name]);
        assert_eq!(run.code, 0, "{run:?}");
        fs::read(sandbox.path(name)).unwrap()
    });
    assert_eq!(results[0], results[1]);
}

#[test]
fn keep_turns_counts_the_turns_of_the_surface() {
    let sandbox = Sandbox::new();
    let log = fixture("demo/session.jsonl");
    let (view, _) = sandbox.json(&["replay", text(&log)]);
    let nodes = view["surface"].as_array().unwrap();
    let humans: Vec<u64> = nodes
        .iter()
        .filter(|node| node["source"] == json!("user"))
        .map(|node| node["seq"].as_u64().unwrap())
        .collect();
    for turns in 1..humans.len() {
        let (report, _) = sandbox.json(&["compact", "-n", text(&log), "--keep-turns", &turns.to_string()]);
        let end = report["files"][0]["region"]["end"].as_u64().unwrap();
        let kept = humans[humans.len() - turns];
        assert!(end < kept, "{turns} turns: {end} is before {kept}");
        let position = nodes.iter().position(|node| node["seq"] == json!(kept)).unwrap();
        assert_eq!(nodes[position - 1]["seq"], json!(end));
    }
    let (report, code) = sandbox.json(&["compact", "-n", text(&log), "--keep-turns", "100"]);
    assert_eq!((code, &report["files"][0]["status"]), (0, &json!("nothing_to_do")));
}

#[test]
fn nothing_to_do_is_said_plainly() {
    let sandbox = Sandbox::new();
    let log = sandbox.copy(fixture("demo/session.jsonl"));
    let old = fs::read(&log).unwrap();
    let run = sandbox.run(&["compact", text(&log), "-o", "new.jsonl"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(run.out.contains("nothing to do"), "{}", run.out);
    assert!(!sandbox.path("new.jsonl").exists());
    assert_eq!(fs::read(&log).unwrap(), old);
}

#[test]
fn a_dry_run_writes_nothing() {
    let sandbox = Sandbox::new();
    let log = sandbox.copy(fixture("demo/session.jsonl"));
    let old = fs::read(&log).unwrap();
    let (report, code) =
        sandbox.json(&["compact", "-n", text(&log), "--keep-turns", "1", "-o", "there/new.jsonl"]);
    let file = &report["files"][0];
    assert_eq!((code, &file["status"]), (0, &json!("planned")));
    assert!(file["hostTokens"]["after"].as_u64() < file["hostTokens"]["before"].as_u64());
    assert!(file.get("startSeq").is_none());
    assert_eq!(fs::read(&log).unwrap(), old);
    assert!(!sandbox.path("there").exists());
}

#[test]
fn output_goes_to_a_new_file_and_the_input_stays() {
    let sandbox = Sandbox::new();
    let log = sandbox.copy(fixture("demo/session.jsonl"));
    let old = fs::read(&log).unwrap();
    let arguments = ["compact", text(&log), "--keep-turns", "2", "-o", "new.jsonl"];
    let (report, code) = sandbox.json(&arguments);
    assert_eq!((code, &report["files"][0]["output"]), (0, &json!("new.jsonl")));
    assert_eq!(fs::read(&log).unwrap(), old);
    assert!(fs::read(sandbox.path("new.jsonl")).unwrap().starts_with(&old));
    // A second run would write over it.
    let again = sandbox.run(&arguments);
    assert_eq!(again.code, 2);
    assert!(again.err.contains("new.jsonl exists"), "{}", again.err);
    assert_eq!(fs::read_dir(sandbox.path(".")).unwrap().count(), 2, "no temporary file is left");
}

#[test]
fn an_output_name_must_fit_the_container() {
    let sandbox = Sandbox::new();
    for (log, output) in
        [("demo/session.jsonl", "new.jsonl.zstd"), ("demo-zstd/session.jsonl.zstd", "session.jsonl")]
    {
        let (report, code) =
            sandbox.json(&["compact", text(&fixture(log)), "--keep-turns", "2", "-o", output]);
        assert_eq!((code, &report["files"][0]["reason"]["code"]), (4, &json!("output")), "{log}");
        assert!(!sandbox.path(output).exists());
    }
}

#[test]
fn an_output_folder_mirrors_the_inputs() {
    let sandbox = Sandbox::new();
    let root = fixture("corpus/plain-zstd");
    let (report, code) = sandbox.json(&["compact", text(&root), "--retain-tokens", "1500", "-o", "mirror"]);
    assert_eq!((code, &report["summary"]["compacted"]), (0, &json!(3)));
    for log in [
        "--home-dev-project-0--/gen-11-0",
        "--home-dev-project-1--/gen-11-1",
        "--home-dev-project-2--/gen-11-2",
    ] {
        assert!(sandbox.path("mirror").join(log).join("session.jsonl.zstd").exists(), "{log}");
    }
    assert_eq!(sandbox.run(&["compact", text(&root), "-o", "mirror"]).code, 2);
}

#[test]
fn a_region_is_for_one_log() {
    let sandbox = Sandbox::new();
    let run = sandbox.run(&["compact", text(&fixture("corpus/plain-zstd")), "--region", "1..2"]);
    assert_eq!(run.code, 2);
    for arguments in
        [["--region", "5"], ["--region", "a..b"], ["--retain-ratio", "1.5"], ["--keep-turns", "0"]]
    {
        let log = fixture("demo/session.jsonl");
        assert_eq!(
            sandbox.run(&["compact", text(&log), arguments[0], arguments[1]]).code,
            2,
            "{arguments:?}"
        );
    }
    assert_eq!(sandbox.run(&["compact"]).code, 2);
    assert_eq!(sandbox.run(&["compact", "-"]).code, 2);
}

#[test]
fn an_edge_that_is_not_on_the_surface_is_refused() {
    let sandbox = Sandbox::new();
    let log = sandbox.copy(fixture("cases/R15-nested-replace-start-greater-than-end/session.jsonl"));
    let old = fs::read(&log).unwrap();
    // Positions count: 19 stands before 9. 6 is hidden, 4 never was on the surface, 16 stands behind 9.
    for (region, word) in [
        ("6..9", "hidden by 19"),
        ("19..4", "not on the surface"),
        ("16..9", "stands behind"),
        ("9..999", "not on the surface"),
    ] {
        let (report, code) = sandbox.json(&["compact", text(&log), "--region", region]);
        let reason = &report["files"][0]["reason"];
        assert_eq!((code, &reason["code"]), (4, &json!("region")), "{region}");
        assert!(reason["message"].as_str().unwrap().contains(word), "{region}: {reason}");
        assert!(!reason["suggest"].as_array().unwrap().is_empty(), "{region}: {reason}");
    }
    assert_eq!(fs::read(&log).unwrap(), old);
}

#[test]
fn nothing_is_written_to_a_damaged_log() {
    let sandbox = Sandbox::new();
    for name in [
        "bytes/torn-raw.jsonl",
        "bytes/no-final-newline.jsonl",
        "cases/R01-duplicate-seq-closers-vs-late-result/session.jsonl",
        "cases/R03-packed-row-overlaps-committed-seqs/session.jsonl",
        "cases/R04-damaged-line-then-work-without-turn-end/session.jsonl",
        "cases/R07-zstd-torn-tail/session.jsonl.zstd",
        "cases/R07-zstd-torn-tail/variant-3-stray-bytes.jsonl.zstd",
        "cases/R07-zstd-torn-tail/variant-bitflip-in-committed-frame.jsonl.zstd",
        "cases/R07-zstd-torn-tail/variant-last-frame-only-magic.jsonl.zstd",
        "cases/R07-zstd-torn-tail/variant-nul-padding-at-end.jsonl.zstd",
        "cases/R07-zstd-torn-tail/variant-skippable-frame-in-middle.jsonl.zstd",
        "cases/R09-torn-stub-fused-with-next-record/session.jsonl",
        "cases/R12-crlf-and-bom/variant-blank-line-inside.jsonl",
        "cases/R14-surfaceop-dialects/variant-both-spellings.jsonl",
        "cases/R14-surfaceop-dialects/variant-v0-with-new-names.jsonl",
    ] {
        let log = sandbox.copy(fixture(name));
        let old = fs::read(&log).unwrap();
        for extra in [&["--assume-idle"][..], &["-o", "new.jsonl"]] {
            let (report, code) =
                sandbox.json(&[&["compact", text(&log), "--retain-tokens", "0"], extra].concat());
            let reason = &report["files"][0]["reason"];
            assert_eq!((code, &reason["code"]), (4, &json!("damaged")), "{name}: {reason}");
            assert!(!sandbox.path("new.jsonl").exists());
        }
        assert_eq!(fs::read(&log).unwrap(), old, "{name}");
    }
    let unknown = sandbox.copy(fixture("cases/R31-unknown-required-event/session.jsonl"));
    let (report, code) = sandbox.json(&["compact", text(&unknown), "--retain-tokens", "0"]);
    assert_eq!((code, &report["files"][0]["reason"]["code"]), (4, &json!("unsupported")));
}

#[test]
fn a_held_lock_is_busy_and_says_what_became_of_its_turn() {
    let sandbox = Sandbox::new();
    for (name, word) in [
        ("locks/orphan-open-turn.jsonl", "turn 2, which owns it, is open"),
        ("locks/held-no-turn.jsonl", "no turn owns it"),
        ("cases/R16-orphan-lock-owner-turn-already-ended/session.jsonl", "turn 1, which owns it, has ended"),
    ] {
        let log = sandbox.copy(fixture(name));
        let old = fs::read(&log).unwrap();
        let (report, code) = sandbox.json(&["compact", text(&log), "--retain-tokens", "0"]);
        let reason = &report["files"][0]["reason"];
        assert_eq!((code, &reason["code"]), (4, &json!("busy")), "{name}");
        assert!(reason["message"].as_str().unwrap().contains(word), "{name}: {reason}");
        assert_eq!(fs::read(&log).unwrap(), old, "{name}");
    }
    let stale = sandbox.copy(fixture("locks/stale-before-end-seed.jsonl"));
    let (report, _) = sandbox.json(&["compact", "-n", text(&stale), "--retain-tokens", "0"]);
    assert_ne!(report["files"][0]["reason"]["code"], json!("busy"));
}

#[test]
fn a_log_that_was_just_written_to_is_taken_to_be_in_use() {
    let sandbox = Sandbox::new();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis();
    let mut log = fs::read_to_string(fixture("demo/session.jsonl")).unwrap();
    let events = log.lines().count() - 1;
    let last: Value = serde_json::from_str(log.lines().last().unwrap()).unwrap();
    let seq = last["seq"].as_u64().unwrap() + 1;
    assert!(events > 0);
    let record =
        format!("{{\"type\":\"todo/write\",\"seq\":{seq},\"time\":{now},\"data\":{{\"todos\":[]}}}}\n");
    log.push_str(&record);
    let path = sandbox.path("session.jsonl");
    fs::write(&path, &log).unwrap();
    let arguments = ["compact", text(&path), "--keep-turns", "2"];
    let (report, code) = sandbox.json(&arguments);
    assert_eq!((code, &report["files"][0]["reason"]["code"]), (4, &json!("in_use")));
    assert_eq!(fs::read_to_string(&path).unwrap(), log);
    // A copy is nobody's; and the caller may know better.
    let (_, code) = sandbox.json(&[&arguments[..], &["-o", "new.jsonl"]].concat());
    assert_eq!(code, 0);
    let (_, code) = sandbox.json(&[&arguments[..], &["--assume-idle"]].concat());
    assert_eq!(code, 0);
    // dshc's own end is the last event now: no reason to wait.
    let (report, _) = sandbox.json(&["compact", text(&path), "--keep-turns", "1"]);
    assert_eq!(report["files"][0]["status"], json!("compacted"));
}

#[test]
fn a_log_that_another_dshc_holds_is_left_alone() {
    let sandbox = Sandbox::new();
    let log = sandbox.copy(fixture("demo/session.jsonl"));
    let old = fs::read(&log).unwrap();
    let holder = fs::File::open(&log).unwrap();
    holder.try_lock().unwrap();
    let (report, code) = sandbox.json(&["compact", text(&log), "--keep-turns", "2"]);
    assert_eq!((code, &report["files"][0]["reason"]["code"]), (4, &json!("busy")));
    assert_eq!(fs::read(&log).unwrap(), old);
}

#[test]
fn unreadable_logs_are_told_apart_from_refused_ones() {
    let sandbox = Sandbox::new();
    let (report, code) = sandbox.json(&["compact", text(&fixture("bytes/empty.jsonl"))]);
    assert_eq!((code, &report["files"][0]["status"]), (3, &json!("unreadable")));
    assert_eq!(report["files"][0]["reason"]["code"], json!("empty-file"));
}

#[test]
fn one_bad_log_does_not_stop_the_others() {
    let sandbox = Sandbox::new();
    let archive = fixture("cases/R05-archive-with-one-bad-session/archive");
    let (report, code) = sandbox.json(&["compact", "-n", text(&archive), "--retain-tokens", "0"]);
    assert_eq!((code, &report["summary"]["files"]), (3, &json!(4)));
    assert_eq!(report["summary"]["unreadable"], json!(1));
}

#[test]
fn a_report_that_cannot_be_written_does_not_hide_what_was_done() {
    let sandbox = Sandbox::new();
    let Ok(full) = fs::File::options().write(true).open("/dev/full") else { return };
    let log = sandbox.copy(fixture("demo/session.jsonl"));
    let output =
        sandbox.command(&["compact", text(&log), "--keep-turns", "2"]).stdout(full).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("standard output (1 of 1 logs were compacted)"), "{said}");
}

#[test]
fn an_output_that_cannot_be_made_is_refused_and_nothing_is_left() {
    let sandbox = Sandbox::new();
    let log = sandbox.copy(fixture("demo/session.jsonl"));
    let arguments = |output| ["compact", text(&log), "--keep-turns", "2", "-o", output];
    sandbox.write("file", b"");
    let (report, code) = sandbox.json(&arguments("file/new.jsonl"));
    assert_eq!((code, &report["files"][0]["reason"]["code"]), (4, &json!("persistence")));
    // A log that is refused leaves no folder behind.
    let held = sandbox.copy(fixture("locks/held-no-turn.jsonl"));
    sandbox.run(&["compact", text(&held), "-o", "made/new.jsonl"]);
    assert!(!sandbox.path("made").exists());
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("nowhere", sandbox.path("link.jsonl")).unwrap();
        assert_eq!(sandbox.run(&arguments("link.jsonl")).code, 2);
    }
}
