//! `dshc verify --target-format`: what dsh's upgrades would refuse, held against the official codecs.

use crate::official::judge_strictly;
use crate::sandbox::{Sandbox, corpus, fixture, text};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

/// The variants of the logs in `fixtures/upgrade`, each with what is found in it and what the official codecs make of it.
fn variants() -> Vec<Value> {
    let variants = fs::read_to_string(fixture("upgrade/variants.jsonl")).unwrap();
    variants.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The log of a variant: its lines up to `until`, with the texts of `edit` changed, and the lines of `append`.
fn log_of(sandbox: &Sandbox, index: usize, variant: &Value) -> PathBuf {
    let name = variant["log"].as_str().unwrap();
    let log = fs::read_to_string(fixture(&format!("upgrade/{name}.jsonl"))).unwrap();
    let until = variant["until"].as_u64().map_or(usize::MAX, |until| usize::try_from(until).unwrap());
    let mut lines: Vec<String> = log.lines().take(until).map(str::to_owned).collect();
    for edit in variant["edit"].as_array().into_iter().flatten() {
        let line = &mut lines[usize::try_from(edit[0].as_u64().unwrap()).unwrap() - 1];
        let (from, to) = (edit[1].as_str().unwrap(), edit[2].as_str().unwrap());
        assert!(line.contains(from), "{variant}");
        *line = line.replace(from, to);
    }
    let append = variant["append"].as_array().into_iter().flatten();
    lines.extend(append.map(|line| line.as_str().unwrap().to_owned()));
    sandbox.write(&format!("{index}.jsonl"), (lines.join("\n") + "\n").as_bytes())
}

/// `code@seq` of each error in a log, and of each finding about upgrades.
fn found(sandbox: &Sandbox, log: &str, target: &str) -> Vec<String> {
    let (report, _) = sandbox.json(&["verify", log, "--target-format", target]);
    let findings = report["files"][0]["findings"].as_array().unwrap().iter();
    let told = findings.filter(|finding| {
        finding["severity"] == "error" || finding["code"].as_str().unwrap().starts_with("upgrade-")
    });
    told.map(|finding| {
        let seq = finding["seq"].as_u64().map_or_else(|| "-".to_owned(), |seq| seq.to_string());
        format!("{}@{seq}", finding["code"].as_str().unwrap())
    })
    .collect()
}

#[test]
fn every_refusal_is_told_at_its_event() {
    let sandbox = Sandbox::new();
    for (index, variant) in variants().iter().enumerate() {
        let log = log_of(&sandbox, index, variant);
        let target = variant["target"].to_string();
        assert_eq!(json!(found(&sandbox, text(&log), &target)), variant["found"], "{}", variant["name"]);
    }
}

#[test]
fn every_rule_of_upgrades_has_a_variant() {
    let rules = dshc::check::rules().filter(|rule| rule.family == "upgrade");
    let rules: BTreeSet<String> = rules.map(|rule| rule.code.to_owned()).collect();
    let found = variants().into_iter().flat_map(|variant| variant["found"].as_array().unwrap().clone());
    let codes = found.map(|found| found.as_str().unwrap().split('@').next().unwrap().to_owned());
    let codes: BTreeSet<String> = codes.filter(|code| code.starts_with("upgrade-")).collect();
    assert_eq!(codes, rules);
}

/// Where nothing is refused, nothing may be told, and the other way round; format 4 has no official codec.
#[test]
fn the_official_codecs_refuse_what_is_told() {
    let sandbox = Sandbox::new();
    let variants = variants();
    let logs: Vec<PathBuf> =
        variants.iter().enumerate().map(|(index, variant)| log_of(&sandbox, index, variant)).collect();
    let Some(verdicts) = judge_strictly(&logs) else { return };
    for (variant, verdict) in variants.iter().zip(&verdicts) {
        let steps = verdict["upgrades"].as_object().map(|steps| {
            let steps = steps.iter();
            let steps = steps.map(|(step, said)| {
                (step.clone(), if said == "ok" { said.clone() } else { json!("refused") })
            });
            Value::Object(steps.collect())
        });
        assert_eq!(steps.unwrap_or(json!("refused")), variant["official"], "{}: {verdict}", variant["name"]);
    }
}

#[test]
fn a_variant_is_clean_where_the_official_codecs_take_it() {
    // What dsh's own checks of format 0 refuse, whatever an upgrade makes of it.
    const OWN: [&str; 2] =
        ["deltas before their step, and then in it", "relations are no matter on the way to format 1"];
    for variant in variants() {
        let target = variant["target"].as_u64().unwrap();
        let refuses = match &variant["official"] {
            Value::Object(steps) => {
                steps.iter().any(|(step, said)| said != "ok" && step[1..].parse::<u64>().unwrap() <= target)
            }
            _ => true,
        };
        let told = variant["found"].as_array().unwrap();
        let is_told = told.iter().any(|found| found != "upgrade-not-needed@-");
        let is_own = OWN.contains(&variant["name"].as_str().unwrap());
        assert!(refuses == is_told || target == 4 || is_own, "{variant}");
    }
}

#[test]
fn official_logs_can_be_upgraded() {
    let sandbox = Sandbox::new();
    for (log, _) in corpus() {
        assert_eq!(found(&sandbox, text(&log), "4"), [""; 0], "{}", log.display());
    }
    for version in ["v2", "v3"] {
        for entry in walkdir::WalkDir::new(fixture(&format!("corpus/upgraded/{version}"))).sort_by_file_name()
        {
            let log = entry.unwrap().into_path();
            if log.is_file() {
                assert_eq!(found(&sandbox, text(&log), "4"), [""; 0], "{}", log.display());
            }
        }
    }
}

#[test]
fn a_target_that_no_dsh_writes_is_wrong_usage() {
    let sandbox = Sandbox::new();
    for target in ["0", "5", "x", "v3", "99999999999999999999"] {
        let log = fixture("demo/session.jsonl");
        let run = sandbox.run(&["verify", text(&log), "--target-format", target]);
        assert_eq!((run.code, run.out.as_str()), (2, ""), "{target}");
        let says = run.err.contains(&format!("'{target}'")) && run.err.contains("upgrade to, 1 to 4");
        assert!(says, "{}", run.err);
    }
}

#[test]
fn what_an_upgrade_refuses_is_an_error_only_where_it_is_asked_for() {
    let sandbox = Sandbox::new();
    let log = fixture("upgrade/v0.jsonl");
    let unknown = r#"{"type":"acme/note","seq":67,"time":1,"data":{},"ignorable":true}"#;
    let bytes = fs::read_to_string(log).unwrap() + unknown + "\n";
    let log = sandbox.write("session.jsonl", bytes.as_bytes());
    assert_eq!(sandbox.run(&["verify", text(&log)]).code, 0);
    let run = sandbox.run(&["verify", text(&log), "--target-format", "3"]);
    assert_eq!(run.code, 1);
    assert!(run.out.contains("the upgrade to format 1 refuses"), "{}", run.out);
}
