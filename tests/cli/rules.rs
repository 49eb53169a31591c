//! `--rule`, `--explain` and `--list-rules` of `dshc verify`.

use crate::sandbox::{Sandbox, fixture, text};
use serde_json::{Value, json};

fn torn() -> String {
    text(&fixture("bytes/torn-raw.jsonl")).to_owned()
}

#[test]
fn a_rule_is_off_or_weighed_anew_before_the_exit_code_is_decided() {
    let sandbox = Sandbox::new();
    let torn = torn();
    for (options, status, code) in [
        (&["--rule", "torn-tail=off"][..], "clean", 0),
        (&["--rule", "torn-tail=note"], "clean", 0),
        (&["--rule", "torn-tail=error"], "findings", 1),
        (&["--rule", "container=error"], "findings", 1),
        (&["--rule", "container=off", "--rule", "torn-tail=error"], "findings", 1),
        (&["--rule", "torn-tail=error", "--rule", "container=off"], "clean", 0),
    ] {
        let (report, found) = sandbox.json(&[&["verify"], options, &[&torn]].concat());
        assert_eq!((&report["files"][0]["status"], found), (&json!(status), code), "{options:?}");
    }
}

#[test]
fn what_only_shows_between_logs_is_set_too() {
    let sandbox = Sandbox::new();
    let log = std::fs::read(fixture("demo/session.jsonl")).unwrap();
    for project in ["a", "b"] {
        sandbox.write(&format!("root/{project}/s/session.jsonl"), &log);
    }
    let (_, before) = sandbox.json(&["verify", "root"]);
    let (report, after) = sandbox.json(&["verify", "root", "--rule", "duplicate-session-id=off"]);
    assert_eq!((before, after), (1, 0), "{report}");
    assert_eq!(report["summary"]["clean"], json!(2));
}

#[test]
fn names_that_are_no_rule_are_wrong_usage_and_close_ones_are_told() {
    let sandbox = Sandbox::new();
    let torn = torn();
    for arguments in [&["--rule", "torn-tial=off", &torn][..], &["--explain", "torn-tial"]] {
        let run = sandbox.run(&[&["verify"], arguments].concat());
        assert_eq!((run.code, run.out.as_str()), (2, ""), "{run:?}");
        assert!(run.err.contains("\"torn-tial\"") && run.err.contains("close: torn-tail"), "{run:?}");
    }
    for arguments in [
        &["--rule", "torn-tail=fatal", &torn][..],
        &["--rule", "torn-tail", &torn],
        &["--rule", "empty-file=off", &torn],
        &["--list-rules", &torn],
        &["--explain", "torn-tail", &torn],
        &["--list-rules", "--explain", "torn-tail"],
        &["--list-rules", "--format", "junit"],
    ] {
        let run = sandbox.run(&[&["verify"], arguments].concat());
        assert_eq!((run.code, run.out.as_str()), (2, ""), "{run:?}");
    }
}

#[test]
fn a_family_is_explained_by_its_rules() {
    let sandbox = Sandbox::new();
    let run = sandbox.run(&["verify", "--explain", "opening"]);
    let codes: Vec<&str> = run.out.lines().filter_map(|line| line.split(' ').next()).collect();
    assert_eq!((run.code, codes.contains(&"empty-file"), codes.contains(&"torn-tail")), (0, true, false));
    let (document, _) = sandbox.json(&["verify", "--explain", "opening"]);
    let rules = document["rules"].as_array().unwrap();
    assert_eq!(rules.len(), codes.len());
    assert!(rules.iter().all(|rule| rule["page"].as_str().unwrap().contains("cannot be set")), "{document}");
}

#[test]
fn a_format_without_rules_names_one_that_has_them() {
    let run = Sandbox::new().run(&["verify", "--list-rules", "--format", "sarif"]);
    assert!(run.err.contains("--format json"), "{}", run.err);
}

#[test]
fn the_rules_of_a_family_stand_together() {
    let (document, _) = Sandbox::new().json(&["verify", "--list-rules"]);
    let families: Vec<&str> =
        document["rules"].as_array().unwrap().iter().map(|rule| rule["family"].as_str().unwrap()).collect();
    let runs = families.chunk_by(|one, next| one == next).count();
    let mut all = families.clone();
    all.sort_unstable();
    all.dedup();
    assert_eq!(runs, all.len());
}

#[test]
fn every_rule_is_listed_and_has_a_page() {
    let sandbox = Sandbox::new();
    let list = sandbox.run(&["verify", "--list-rules"]);
    let (document, code) = sandbox.json(&["verify", "--list-rules"]);
    assert_eq!((list.code, code, &document["schema"]), (0, 0, &json!("dshc.rules/1")));
    let rules = document["rules"].as_array().unwrap();
    assert_eq!(list.out.lines().count(), rules.len());
    for (rule, line) in rules.iter().zip(list.out.lines()) {
        let member = |name: &str| rule[name].as_str().unwrap();
        let words: Vec<&str> = line.split_whitespace().take(3).collect();
        assert_eq!(words, [member("code"), member("severity"), member("family")]);
        assert!(line.ends_with(member("summary")), "{line}");
        assert!(member("page").starts_with(member("summary")), "{rule}");
    }
    // The summaries stand below each other.
    let columns: Vec<Option<usize>> = rules
        .iter()
        .zip(list.out.lines())
        .map(|(rule, line)| line.find(rule["summary"].as_str().unwrap()))
        .collect();
    assert!(columns.windows(2).all(|pair| pair[0] == pair[1]), "{}", list.out);
}

#[test]
fn a_page_is_shown_in_short_lines_without_markup() {
    let sandbox = Sandbox::new();
    let (rules, _) = sandbox.json(&["verify", "--list-rules"]);
    for rule in rules["rules"].as_array().unwrap() {
        let code = rule["code"].as_str().unwrap();
        let page = sandbox.run(&["verify", "--explain", code]);
        assert_eq!((page.code, page.err.as_str()), (0, ""));
        let head = format!(
            "{code}  {}, of the family {}\n",
            rule["severity"].as_str().unwrap(),
            rule["family"].as_str().unwrap()
        );
        assert!(page.out.starts_with(&head), "{}", page.out);
        assert!(page.out.lines().all(|line| line.chars().count() <= 80), "{}", page.out);
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let markdown = rule["page"].as_str().unwrap();
        assert_eq!(words(&page.out[head.len()..]), words(&markdown.replace("**", "")), "{code}");
    }
    let (page, _) = sandbox.json(&["verify", "--explain", "torn-tail"]);
    let one: &Value = &page["rules"];
    assert_eq!((one.as_array().unwrap().len(), &one[0]["code"]), (1, &json!("torn-tail")));
}
