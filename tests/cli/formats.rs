//! Formats 1 to 4 through every command, each by its own rules.

use crate::official::{judge_recovering, judge_strictly};
use crate::sandbox::{Run, Sandbox, alarms, column, corpus, fixture, lines, text};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;

/// The logs of `fixtures/corpus/upgraded` by format, each with its session's id.
fn upgraded() -> Vec<(u64, String, PathBuf)> {
    let mut logs = Vec::new();
    for entry in walkdir::WalkDir::new(fixture("corpus/upgraded")).sort_by_file_name() {
        let path = entry.unwrap().into_path();
        if path.is_file() {
            let name = path.file_name().unwrap().to_str().unwrap();
            let version = name.trim_start_matches("session.v").trim_end_matches(".jsonl").parse().unwrap();
            let session = path.parent().unwrap().file_name().unwrap().to_str().unwrap().to_owned();
            logs.push((version, session, path));
        }
    }
    logs
}

fn messages(run: &Run) -> Vec<Value> {
    assert_eq!(run.code, 0, "{run:?}");
    run.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A message's conversation: who says what, without the wrappings that formats differ in.
fn plain(message: &Value) -> Value {
    let content = match message["content"].as_array().unwrap().as_slice() {
        [block] if block["type"] == json!("tool-result") => block["content"].clone(),
        _ => message["content"].clone(),
    };
    let role =
        if message["source"]["kind"] == json!("tool") { json!("tool") } else { message["role"].clone() };
    json!([message["id"], role, content])
}

#[test]
fn upgraded_logs_give_the_messages_of_their_originals() {
    let sandbox = Sandbox::new();
    let originals: HashMap<String, Value> = corpus()
        .into_iter()
        .map(|(log, facts)| {
            (log.parent().unwrap().file_name().unwrap().to_str().unwrap().to_owned(), facts["stored"].clone())
        })
        .collect();
    let logs = upgraded();
    assert_eq!(logs.len(), 15);
    for (version, session, log) in logs {
        let original = fs::read_to_string(fixture(&format!("corpus/messages/{session}.jsonl"))).unwrap();
        let original: Vec<Value> = original.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let mut seen = messages(&sandbox.run(&["replay", text(&log), "--format", "messages"]));
        let (view, _) = sandbox.json(&["replay", text(&log)]);
        let mut prices = column(&view["surface"], "hostTokens");
        if version >= 3 {
            assert_eq!(seen.remove(0)["role"], json!("system"), "{}", log.display());
            assert_eq!(view["surface"][0]["role"], json!("system"));
            prices.remove(0);
        }
        let plainly = |all: &[Value]| all.iter().map(plain).collect::<Vec<_>>();
        assert_eq!(plainly(&seen), plainly(&original), "{}", log.display());
        if version < 4 {
            assert_eq!(seen, original, "{}", log.display());
            assert_eq!(json!(prices), originals[&session]["nodeTokens"], "{}", log.display());
        }
        let (report, code) = sandbox.json(&["verify", text(&log)]);
        assert_eq!((code, &report["files"][0]["version"]), (0, &json!(version)), "{report}");
        assert_eq!(alarms(&report), [&Value::Null; 0]);
    }
}

#[test]
fn the_sample_logs_hold_the_same_conversation() {
    let sandbox = Sandbox::new();
    let of = |name: &str| {
        let log = fixture(&format!("formats/{name}.jsonl"));
        let all = messages(&sandbox.run(&["replay", text(&log), "--format", "messages"]));
        let all = all.iter().filter(|message| message["role"] != json!("system")).map(plain);
        all.collect::<Vec<_>>()
    };
    let first = of("demo.v0");
    assert_eq!(first.len(), 2);
    for name in ["demo.v2", "demo.v3", "demo.v4"] {
        assert_eq!(of(name), first, "{name}");
    }
}

/// The last records of a log as JSON.
#[test]
fn each_format_is_compacted_twice_in_its_own_words() {
    let sandbox = Sandbox::new();
    let mut results = Vec::new();
    for (version, session, log) in upgraded() {
        for keep in [&[][..], &["--no-keep-task"]] {
            let name = format!("{session}-{}/session.v{version}.jsonl", keep.len());
            let current = sandbox.write(&name, &fs::read(&log).unwrap());
            for (round, budget) in ["600", "50"].into_iter().enumerate() {
                let old = fs::read(&current).unwrap();
                let old_lines = lines(&current).len();
                let (before, _) = sandbox.json(&["replay", text(&current)]);
                let (report, code) =
                    sandbox.json(&[&["compact", text(&current), "--retain-tokens", budget], keep].concat());
                let file = &report["files"][0];
                assert_eq!((code, &file["version"]), (0, &json!(version)), "{report}");
                if file["status"] != json!("compacted") {
                    assert_eq!(file["status"], json!("nothing_to_do"), "{report}");
                    continue;
                }
                assert!(fs::read(&current).unwrap().starts_with(&old));
                in_its_own_words(version, &before, &lines(&current)[old_lines..], file);
                let (verdict, code) = sandbox.json(&["verify", text(&current), "--fail-on", "warning"]);
                assert_eq!(code, 0, "{verdict}");
                let copy = format!("{session}-{}-{round}/copy.v{version}.jsonl", keep.len());
                results.push((version, sandbox.write(&copy, &fs::read(&current).unwrap())));
            }
        }
    }
    assert!(results.len() > 40, "{}", results.len());
    let judged: Vec<PathBuf> =
        results.into_iter().filter(|(version, _)| *version < 4).map(|(_, log)| log).collect();
    for verdict in judge_strictly(&judged).into_iter().flatten() {
        assert_eq!(verdict["ok"], json!(true), "{verdict}");
        let upgrades = if verdict["version"] == json!(2) { json!({ "v3": "ok" }) } else { json!({}) };
        assert_eq!(verdict["upgrades"], upgrades, "{verdict}");
    }
}

/// The appended records are spelt as the format spells them, and leave the system prompt alone.
fn in_its_own_words(version: u64, before: &Value, added: &[Value], file: &Value) {
    let checkpoint = &added[2];
    let (start, end) = if version < 3 { ("start", "end") } else { ("startSeq", "endSeq") };
    let region = &file["region"];
    assert_eq!(
        checkpoint["surfaceOp"],
        json!({ "op": "replace", start: region["start"], end: region["end"] })
    );
    let source = &checkpoint["data"]["source"];
    if version < 4 {
        assert_eq!((&source["kind"], &source["plugin"]), (&json!("plugin"), &json!("compact")));
    } else {
        assert_eq!((&source["kind"], source.get("plugin")), (&json!("compact-checkpoint"), None));
    }
    assert_eq!(checkpoint["data"]["role"], json!("user"));
    assert_eq!(added[1]["data"]["shadowedRange"], json!({ "start": region["start"], "end": region["end"] }));
    if version >= 3 {
        let head = &before["surface"][0]["seq"];
        assert!(!region["seqs"].as_array().unwrap().contains(head), "{file}");
    }
}

#[test]
fn the_system_prompt_at_the_head_is_never_taken_out() {
    let sandbox = Sandbox::new();
    let log = sandbox.copy(fixture("corpus/upgraded/v3/--home-dev-project-0--/gen-11-0/session.v3.jsonl"));
    let old = fs::read(&log).unwrap();
    let (view, _) = sandbox.json(&["replay", text(&log)]);
    let seqs = column(&view["surface"], "seq");
    let region = format!("{}..{}", seqs[0], seqs[5]);
    let (report, code) = sandbox.json(&["compact", text(&log), "--region", &region]);
    let reason = &report["files"][0]["reason"];
    assert_eq!((code, &reason["code"]), (4, &json!("region")), "{report}");
    assert!(reason["message"].as_str().unwrap().contains("protected system head"), "{reason}");
    for span in reason["suggest"].as_array().unwrap() {
        let (plan, code) = sandbox.json(&["compact", "-n", text(&log), "--region", span.as_str().unwrap()]);
        assert_eq!((code, &plan["files"][0]["status"]), (0, &json!("planned")), "{plan}");
    }
    assert_eq!(fs::read(&log).unwrap(), old);
    let (plan, _) = sandbox.json(&["compact", "-n", text(&log), "--keep-turns", "1", "--no-keep-task"]);
    assert_eq!(plan["files"][0]["region"]["start"], seqs[1], "dsh's own choice starts behind the head");
}

#[test]
fn offloaded_images_are_marked_in_what_the_model_sees() {
    let sandbox = Sandbox::new();
    let log = fixture("formats/native.v4.jsonl");
    let (before, _) = sandbox.json(&["replay", text(&log), "--at", "7"]);
    let (after, _) = sandbox.json(&["replay", text(&log), "--at", "8"]);
    assert_eq!(
        column(&before["surface"], "hostTokens"),
        column(&after["surface"], "hostTokens"),
        "the mark is free in format 4"
    );
    assert_ne!(before["digest"], after["digest"]);
    let seen = messages(&sandbox.run(&["replay", text(&log), "--format", "messages"]));
    assert_eq!(seen[1]["content"][1]["offloaded"], json!(true));
    assert_eq!(seen[1]["content"][0]["text"], json!("look at this"));
    // Twice, or where there is none, is refused as dsh refuses it.
    let stored = fs::read_to_string(&log).unwrap();
    for (from, to, problem) in [
        ("\"imageIndexes\":[0]", "\"imageIndexes\":[1]", "names image 1"),
        ("\"imageIndexes\":[0]", "\"imageIndexes\":[0,0]", "that rise"),
        ("{\"seq\":3,\"imageIndexes\":[0]}", "{\"seq\":5,\"imageIndexes\":[0]}", "no input image"),
        ("{\"seq\":3,\"imageIndexes\":[0]}", "{\"seq\":4,\"imageIndexes\":[0]}", "which is no node"),
    ] {
        let odd = sandbox.write("odd.jsonl", stored.replace(from, to).as_bytes());
        let run = sandbox.run(&["replay", text(&odd)]);
        assert_eq!(run.code, 3);
        assert!(run.err.contains(problem), "{}", run.err);
    }
}

#[test]
fn a_session_that_dsh_has_open_is_left_alone() {
    let sandbox = Sandbox::new();
    for (version, locks) in [(2, false), (3, true), (4, true)] {
        let log = upgraded().into_iter().find(|(found, ..)| *found == version).unwrap().2;
        let name = format!("{version}/session.v{version}.jsonl");
        let log = sandbox.write(&name, &fs::read(log).unwrap());
        let old = fs::read(&log).unwrap();
        let lock = fs::File::create(log.with_file_name("session.lock")).unwrap();
        lock.lock().unwrap();
        let arguments = ["compact", text(&log), "--retain-tokens", "600", "--assume-idle"];
        if locks {
            let (report, code) = sandbox.json(&arguments);
            let reason = &report["files"][0]["reason"];
            assert_eq!((code, &reason["code"]), (4, &json!("in_use")), "{report}");
            assert!(reason["message"].as_str().unwrap().contains("session.lock"), "{reason}");
            assert_eq!(fs::read(&log).unwrap(), old);
            // Readers never ask for it, and nobody holds it for another file.
            assert_eq!(sandbox.run(&["replay", text(&log)]).code, 0);
            let output = sandbox.path(&format!("{version}.jsonl"));
            let to_new = [&arguments[..], &["-o", text(&output)]].concat();
            assert_eq!(sandbox.json(&to_new).0["files"][0]["status"], json!("compacted"));
        }
        lock.unlock().unwrap();
        assert_eq!(sandbox.json(&arguments).0["files"][0]["status"], json!("compacted"));
        assert!(log.with_file_name("session.lock").exists(), "dsh never deletes it either");
    }
}

#[test]
fn session_lock_is_that_of_the_log_itself_and_only_for_writes() {
    let sandbox = Sandbox::new();
    let log = upgraded().into_iter().find(|(version, ..)| *version == 4).unwrap().2;
    let log = sandbox.write("s/session.v4.jsonl", &fs::read(log).unwrap());
    let lock = log.with_file_name("session.lock");
    for arguments in [&["--keep-turns", "99"][..], &["-n", "--keep-turns", "1"], &["--region", "0..1"]] {
        sandbox.run(&[&["compact", text(&log)], arguments].concat());
        assert!(!lock.exists(), "{arguments:?} writes nothing");
    }
    let held = fs::File::create(&lock).unwrap();
    held.lock().unwrap();
    #[cfg(unix)]
    {
        let link = sandbox.path("link.jsonl");
        std::os::unix::fs::symlink(&log, &link).unwrap();
        let old = fs::read(&log).unwrap();
        let (report, code) = sandbox.json(&["compact", text(&link), "--keep-turns", "1"]);
        assert_eq!((code, &report["files"][0]["reason"]["code"]), (4, &json!("in_use")), "{report}");
        assert_eq!(fs::read(&log).unwrap(), old);
    }
}

#[test]
fn logs_of_windows_are_read_checked_and_compacted() {
    let sandbox = Sandbox::new();
    for (version, _, log) in upgraded() {
        let stored = fs::read_to_string(&log).unwrap();
        let (header, events) = stored.split_once('\n').unwrap();
        let mut header: Value = serde_json::from_str(header).unwrap();
        header["cwd"] = json!(r"G:\work\客户端");
        let events = events.replace(r"cargo test", r"cargo\r\ntest").replace('\n', "\r\n");
        let name = format!("w/session.v{version}.jsonl");
        let log = sandbox.write(&name, format!("{header}\r\n{events}").as_bytes());
        let (report, code) = sandbox.json(&["verify", text(&log)]);
        assert_eq!((code, alarms(&report).len()), (0, 0), "{report}");
        let old = fs::read(&log).unwrap();
        let (report, code) = sandbox.json(&["compact", text(&log), "--retain-tokens", "600"]);
        assert_eq!((code, &report["files"][0]["status"]), (0, &json!("compacted")), "{report}");
        assert!(fs::read(&log).unwrap().starts_with(&old));
        let (view, code) = sandbox.json(&["replay", text(&log)]);
        assert_eq!((code, &view["session"]["cwd"]), (0, &json!(r"G:\work\客户端")));
    }
}

#[test]
fn what_development_builds_wrote_is_taken_as_dsh_takes_it() {
    let sandbox = Sandbox::new();
    let log = fixture("formats/development-builds.v0.jsonl");
    let (at_14, _) = sandbox.json(&["replay", text(&log), "--at", "14"]);
    assert_eq!(
        json!([column(&at_14["surface"], "seq"), column(&at_14["surface"], "hostTokens")]),
        json!([[2, 4, 8, 11, 12], [9, 15, 13, 9, 9]])
    );
    let seen = messages(&sandbox.run(&["replay", text(&log), "--at", "14", "--format", "messages"]));
    let ids: Vec<&Value> = seen.iter().map(|message| &message["id"]).collect();
    let minted = |seq: u64| json!(format!("legacy-message:old-1:{seq}"));
    assert_eq!(ids, [&minted(2), &minted(4), &minted(6), &minted(11), &json!("m9")]);
    assert_eq!(seen[1]["source"], json!({ "provider": "p", "model": "m", "kind": "model" }));
    for (name, note) in [("development-builds", "old-payload"), ("development-names", "old-event-name")] {
        let log = sandbox.copy(fixture(&format!("formats/{name}.v0.jsonl")));
        let (report, code) =
            sandbox.json(&["verify", text(&log), "--fail-on", "warning", "--rule", "task-lost=off"]);
        assert_eq!(code, 0, "{report}");
        assert!(report["files"][0]["findings"].to_string().contains(note), "{report}");
        assert_eq!(sandbox.json(&["replay", text(&log)]).0["surface"][0]["seq"], json!(17));
    }
}

#[test]
fn unknown_types_and_versions_are_looked_at_when_asked() {
    let sandbox = Sandbox::new();
    let log = fixture("cases/R31-unknown-required-event/session.jsonl");
    let run = sandbox.run(&["replay", text(&log)]);
    assert_eq!(run.code, 3);
    assert!(run.err.contains("acme-fallbacks/switch") && run.err.contains("--allow-unknown"), "{}", run.err);
    for wish in ["--allow-unknown", "--allow-unknown=acme-fallbacks/switch"] {
        let (view, code) = sandbox.json(&["replay", text(&log), wish]);
        assert_eq!((code, &view["events"]), (0, &json!(18)), "{wish}");
        assert!(view["notes"].to_string().contains("acme-fallbacks/switch"), "{wish}: {}", view["notes"]);
    }
    assert_eq!(sandbox.run(&["replay", text(&log), "--allow-unknown=other/type"]).code, 3);
    assert_eq!(sandbox.run(&["compact", text(&log), "--allow-unknown"]).code, 2, "it only reads");

    let later = fs::read_to_string(fixture("formats/native.v4.jsonl")).unwrap();
    let later = later.replacen("\"version\":4", "\"version\":9,\"tenant\":\"x\"", 1);
    let later = sandbox.write("session.v9.jsonl", later.as_bytes());
    for command in ["replay", "verify", "compact"] {
        let run = sandbox.run(&[command, text(&later)]);
        assert_eq!(run.code, 3, "{run:?}");
        let said = run.out + &run.err;
        assert!(said.contains("log format 9") && !said.contains("corrupt"), "{said}");
    }
    assert_eq!(
        sandbox.run(&["replay", text(&later), "--allow-unknown=acme/x"]).code,
        3,
        "a type is no version"
    );
    let (view, code) = sandbox.json(&["replay", text(&later), "--allow-unknown"]);
    assert_eq!((code, &view["session"]["version"], column(&view["surface"], "seq").len()), (0, &json!(9), 5));
    assert!(view["notes"][0].as_str().unwrap().contains("log format 9 is unknown"), "{}", view["notes"]);
}

#[test]
fn r14_surfaceop_dialects_of_format_3() {
    let sandbox = Sandbox::new();
    let case = |name: &str| fixture(&format!("cases/R14-surfaceop-dialects/{name}.jsonl"));
    assert_eq!(
        sandbox.run(&["verify", text(&case("variant-v3-with-new-names")), "--fail-on", "warning"]).code,
        0
    );
    let (report, code) = sandbox.json(&["verify", text(&case("variant-v3-with-old-names"))]);
    let findings = report["files"][0]["findings"].as_array().unwrap();
    let finding = findings.iter().find(|finding| finding["severity"] == json!("error")).unwrap();
    assert_eq!(
        (code, &finding["code"], &finding["seq"]),
        (1, &json!("surface-op-dialect"), &json!(9)),
        "{report}"
    );
    let message = finding["message"].as_str().unwrap();
    assert!(message.contains("startSeq, endSeq") && message.contains("found op, start, end"), "{message}");
}

#[test]
fn r36_v3_system_head() {
    let sandbox = Sandbox::new();
    let log = sandbox.copy(fixture("cases/R36-v3-system-head-and-generation-files/session.v3.jsonl"));
    let (view, _) = sandbox.json(&["replay", text(&log)]);
    assert_eq!(json!(column(&view["surface"], "seq")), json!([2, 3, 4, 7]));
    let (plan, code) =
        sandbox.json(&["compact", "-n", text(&log), "--retain-tokens", "10", "--no-keep-task"]);
    assert_eq!((code, &plan["files"][0]["region"]["start"]), (0, &json!(3)), "{plan}");
    let old = fs::read(&log).unwrap();
    let (report, code) = sandbox.json(&["compact", text(&log), "--region", "2..4"]);
    assert_eq!((code, &report["files"][0]["reason"]["suggest"]), (4, &json!(["3..4"])), "{report}");
    assert_eq!(fs::read(&log).unwrap(), old);
}

/// In the first event of this type that holds it, this becomes that.
type Change = (&'static str, &'static str, &'static str);

/// A sample log up to the end of its first turn, changed.
fn open_turn(version: u64, changes: &[Change]) -> String {
    let name = if version == 1 { "demo.v0".into() } else { format!("demo.v{version}") };
    let text = fs::read_to_string(fixture(&format!("formats/{name}.jsonl"))).unwrap();
    let text = if version == 1 { text.replacen("\"version\":0", "\"version\":1", 1) } else { text };
    let until = text.find("{\"type\":\"turn/end\"").unwrap();
    let mut lines: Vec<String> = text[..until].lines().map(str::to_owned).collect();
    for (event_type, from, to) in changes {
        let start = format!("{{\"type\":\"{event_type}\"");
        let line = lines.iter_mut().find(|line| line.starts_with(&start) && line.contains(from)).unwrap();
        *line = line.replacen(from, to, 1);
    }
    lines.join("\n") + "\n"
}

#[test]
fn verify_says_what_readers_of_later_formats_drop_and_what_they_refuse() {
    const BAD: Change = ("turn/start", "{", "");
    let sources = ("tool/result", "\"sourceEventSeqs\":[", "\"sourceEventSeqs\":[-0,");
    let extra = ("todo/write", "\"data\"", "\"meta\":1,\"data\"");
    let marker = ("user/message", "\"append\"", "7");
    let no_tools = ("request/header", "[{\"name\"", "[],\"x\":[{\"name\"");
    let prompt = ("request/header", "\"header\":{", "\"header\":{\"system\":\"x\",");
    let no_config = ("request/header", "\"config\"", "\"conf\"");
    let no_error = ("tool/result", "\"meta\"", "\"error\":{\"name\":\"E\",\"code\":\"C\"},\"meta\"");
    let edge = ("system/message", "\"endSeq\":9", "\"endSeq\":99");
    let source = ("system/message", "\"kind\":\"plugin\"", "\"kind\":\"own\"");
    let dispatch = ("tool/ptc-dispatch-start", "ptc", "code");
    let time = ("todo/write", "\"time\":", "\"time\":-0,\"x\":");
    // (version, changes, whether readers drop the line and all behind it; else they refuse the log)
    let variants: &[(u64, &[Change], bool)] = &[
        (1, &[BAD], true),
        (1, &[sources], true),
        (2, &[BAD], true),
        (2, &[sources], true),
        (2, &[extra], true),
        (2, &[time], true),
        (3, &[BAD], true),
        (3, &[sources], true),
        (3, &[extra], true),
        (3, &[marker], true),
        (3, &[no_tools], true),
        (3, &[no_error], true),
        (3, &[edge], true),
        (3, &[BAD, no_config], true),
        (3, &[prompt], false),
        (3, &[BAD, prompt], false),
        (3, &[source], false),
        (3, &[BAD, source], false),
        (3, &[BAD, dispatch], false),
    ];
    let sandbox = Sandbox::new();
    let mut logs = Vec::new();
    for (index, (version, changes, drops)) in variants.iter().enumerate() {
        let log = sandbox.write(&format!("{index}.jsonl"), open_turn(*version, changes).as_bytes());
        let (report, code) = sandbox.json(&["verify", text(&log)]);
        let findings = report["files"][0]["findings"].to_string();
        assert_eq!(code, 1, "{report}");
        assert_eq!(
            findings.contains("valid-events-after-damage"),
            *drops,
            "{version} {changes:?}: {report:#}"
        );
        logs.push(log);
    }
    let Some(verdicts) = judge_recovering(&logs) else { return };
    for ((version, changes, drops), verdict) in variants.iter().zip(verdicts) {
        assert_eq!(verdict["opens"], json!(drops), "{version} {changes:?}: {verdict}");
    }
}
