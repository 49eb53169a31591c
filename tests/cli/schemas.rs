//! Documents of `dshc verify` against the schemas that describe them: `docs/verify.schema.json` and
//! `docs/rules.schema.json`, which this project makes, and `tests/schemas/sarif-2.1.0.json`, the schema of the OASIS standard SARIF 2.1.0: sarif-schema-2.1.0.json of
//! oasis-tcs/sarif-spec, as the crate serde-sarif 0.8.0 ships it, without its titles and descriptions, and with a stray
//! bracket of one pattern escaped.

use crate::golden::is_rewriting;
use crate::sandbox::{HEADER, Sandbox, fixture, text};
use jsonschema::Validator;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

fn schema_file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

pub fn validator(name: &str) -> Validator {
    let schema: Value = serde_json::from_str(&fs::read_to_string(schema_file(name)).unwrap()).unwrap();
    jsonschema::options().should_validate_formats(true).build(&schema).unwrap()
}

pub fn faults(validator: &Validator, document: &Value) -> Vec<String> {
    validator.iter_errors(document).map(|error| format!("{}: {error}", error.instance_path())).collect()
}

/// Folders of logs that between them show every kind of member, and a log with more findings than are kept.
fn reports(format: &str) -> Vec<Value> {
    let sandbox = Sandbox::new();
    let mut flood = format!("{HEADER}\n");
    flood.extend((0..1200).map(|_| "?\n"));
    sandbox.write("flood.jsonl", flood.as_bytes());
    sandbox.write("a %b/c,d:e.jsonl", HEADER.as_bytes());
    let folders = ["bytes", "cases", "corpus", "demo", "formats", "locks"].map(fixture);
    let mut logs: Vec<String> = vec!["flood.jsonl".into(), "a %b/c,d:e.jsonl".into(), "nowhere.jsonl".into()];
    for folder in ["bytes", "formats", "locks"] {
        let entries = fs::read_dir(fixture(folder)).unwrap();
        logs.extend(entries.map(|entry| text(&entry.unwrap().path()).to_owned()));
    }
    logs.extend(cases());
    let of = |paths: &[&str]| {
        let run = sandbox.run(&[&["verify", "--format", format], paths].concat());
        serde_json::from_str(&run.out).unwrap()
    };
    let files: Vec<&str> = logs.iter().map(String::as_str).collect();
    let mut reports: Vec<Value> = folders.iter().map(|folder| of(&[text(folder)])).collect();
    reports.push(of(&files));
    reports
}

/// Every log of every case, those too that no walk finds.
fn cases() -> Vec<String> {
    let mut logs = Vec::new();
    for case in fs::read_dir(fixture("cases")).unwrap() {
        for file in fs::read_dir(case.unwrap().path()).unwrap() {
            let path = file.unwrap().path();
            if path.is_file() {
                logs.push(text(&path).to_owned());
            }
        }
    }
    logs
}

#[test]
fn json_reports_are_as_their_schema_says() {
    let validator = validator("docs/verify.schema.json");
    let reports = reports("json");
    for report in &reports {
        assert_eq!(faults(&validator, report), [""; 0]);
    }
    // Every member that the schema has occurs somewhere, or nothing was tested of it.
    let seen = serde_json::to_string(&reports).unwrap();
    for member in
        ["seq", "line", "frame", "byte", "textByte", "count", "related", "owner", "turn", "compactionId"]
    {
        assert!(seen.contains(&format!("\"{member}\":")), "no report has {member}");
    }
}

#[test]
fn the_schema_refuses_what_verify_does_not_write() {
    let validator = validator("docs/verify.schema.json");
    let log = fixture("cases/R04-damaged-line-then-work-without-turn-end/session.jsonl");
    let (whole, _) = Sandbox::new().json(&["verify", text(&log)]);
    assert_eq!(faults(&validator, &whole), [""; 0]);
    let changed = |pointer: &str, value: Value| {
        let mut report = whole.clone();
        let (parent, member) = pointer.rsplit_once('/').unwrap();
        report.pointer_mut(parent).unwrap()[member] = value;
        report
    };
    for (pointer, value) in [
        ("/schema", json!("dshc.verify/2")),
        ("/extra", json!(1)),
        ("/files/0/extra", json!(1)),
        ("/files/0/status", json!("broken")),
        ("/files/0/events", json!("43")),
        ("/files/0/events", json!(-1)),
        ("/files/0/version", json!(0.5)),
        ("/files/0/lock", json!({ "state": "held" })),
        ("/files/0/findings/0/code", json!("no-such-rule")),
        ("/files/0/findings/0/family", json!("no-such-family")),
        ("/files/0/findings/0/severity", json!("fatal")),
        ("/files/0/findings/0/line", json!(0)),
        ("/files/0/findings/0/count", json!(1)),
        ("/files/0/findings/0/extra", json!(1)),
        ("/files/0/findings/0/related", json!([{ "seq": 1 }])),
        ("/files/0/findings/0/help", json!(null)),
        ("/summary/byCode", json!({ "no-such-rule": 1 })),
        ("/summary/byCode", json!({ "torn-tail": 0 })),
        ("/ignored", json!([1])),
    ] {
        assert!(!validator.is_valid(&changed(pointer, value.clone())), "{pointer} may be {value}");
    }
    for member in ["code", "family", "severity", "message", "help"] {
        let mut report = whole.clone();
        report["files"][0]["findings"][0].as_object_mut().unwrap().remove(member);
        assert!(!validator.is_valid(&report), "{member} may be missing");
    }
}

/// `DSHC_GOLDEN=write` makes the lists anew.
#[test]
fn the_schema_knows_all_rules() {
    let path = schema_file("docs/verify.schema.json");
    let (rules, _) = Sandbox::new().json(&["verify", "--list-rules"]);
    let values = |member: &str| {
        let mut values: Vec<String> =
            rules["rules"].as_array().unwrap().iter().map(|rule| rule[member].to_string()).collect();
        values.sort();
        values.dedup();
        values
    };
    let mut schema = fs::read_to_string(&path).unwrap();
    let old = schema.clone();
    for (name, values) in [("code", values("code")), ("family", values("family"))] {
        let definition = schema.find(&format!("\n    \"{name}\": {{")).unwrap();
        let start = definition + schema[definition..].find("\"enum\": [").unwrap();
        let end = start + schema[start..].find(']').unwrap();
        let list = format!("\"enum\": [\n        {}\n      ", values.join(",\n        "));
        schema.replace_range(start..end, &list);
    }
    if is_rewriting() {
        fs::write(&path, &schema).unwrap();
    } else {
        assert!(
            old == schema,
            "docs/verify.schema.json does not list the rules; DSHC_GOLDEN=write makes the lists"
        );
    }
}

#[test]
fn lists_of_rules_are_as_their_schema_says() {
    let validator = validator("docs/rules.schema.json");
    let sandbox = Sandbox::new();
    for arguments in [&["--list-rules"][..], &["--explain", "pairing"], &["--explain", "torn-tail"]] {
        let (list, code) = sandbox.json(&[&["verify"], arguments].concat());
        assert_eq!((faults(&validator, &list), code), (Vec::new(), 0));
        for (pointer, value) in [
            ("schema", json!("dshc.rules/2")),
            ("extra", json!(1)),
            ("rules", json!([])),
            ("rules", json!([{ "code": "torn-tail" }])),
        ] {
            let mut changed = list.clone();
            changed[pointer] = value;
            assert!(!validator.is_valid(&changed), "{pointer}");
        }
        for member in ["code", "family", "severity", "summary", "page"] {
            let mut changed = list.clone();
            changed["rules"][0][member] = json!(null);
            assert!(!validator.is_valid(&changed), "{member}");
        }
    }
}

#[test]
fn sarif_reports_of_standard_input_pass_the_schema_too() {
    let log = fixture("bytes/torn-raw.jsonl");
    let run = Sandbox::new().run_with_input(&["verify", "--format", "sarif", "-"], &log);
    let report: Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!(faults(&validator("tests/schemas/sarif-2.1.0.json"), &report), [""; 0]);
    let place = &report["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], Value::Null);
    assert!(place["region"]["startLine"].is_u64(), "{place}");
}

#[test]
fn sarif_reports_pass_the_schema_of_the_standard() {
    let validator = validator("tests/schemas/sarif-2.1.0.json");
    let (list, _) = Sandbox::new().json(&["verify", "--list-rules"]);
    let all = list["rules"].as_array().unwrap().len();
    for report in reports("sarif") {
        assert_eq!(faults(&validator, &report), [""; 0]);
        let listed = &report["runs"][0]["tool"]["driver"]["rules"];
        assert_eq!(listed.as_array().unwrap().len(), all);
    }
    assert!(!validator.is_valid(&json!({ "version": "2.1.0", "runs": [{ "results": [] }] })));
}
