//! What is refused, and in which words.

use super::*;
use crate::check::relations::testing::event;
use crate::format;
use crate::json::{self, Object};
use crate::log::{Body, Item, LogReader, Record, Source};
use crate::session::{Keep, Session};
use std::path::Path;

/// Why a log of format `from` would be refused for the payload of an event when it is upgraded to format `to` or, without
/// that, when it is read.
fn refusal(from: u64, to: Option<u64>, asked: &Object, in_bracket: bool) -> Option<Problem> {
    let asked = event(asked);
    let from = format::of(from).unwrap();
    let occasions = match to {
        Some(to) => from.asked_on_the_way_to(to).map(|(_, rules)| rules).collect(),
        None => vec![from.asked_on_reading],
    };
    occasions.into_iter().find_map(|rules| check(&asked, &Payload::of(&asked), rules, in_bracket))
}

/// The same for the payload of event 12 in an upgrade to the next format, as `code: message`.
fn told(from: u64, event_type: &str, data: &str) -> Option<String> {
    let line = crate::check::testing::event(12, event_type, data);
    let line = Object::of(json::leaked(&line)).unwrap();
    refusal(from, Some(from + 1), &line, false)
        .map(|problem| format!("{}: {}", problem.rule.code, problem.message))
}

/// A user message with this content and source.
fn user(content: &str, source: &str) -> String {
    format!(r#"{{"id":"m","role":"user","content":{content},"source":{source}}}"#)
}

const HUMAN: &str = r#"{"kind":"user"}"#;

#[test]
fn verdicts_are_the_official_ones() {
    let verdicts = include_str!("../../../fixtures/payloads/verdicts.jsonl");
    for line in verdicts.lines() {
        let case = Object::of(json::leaked(line)).unwrap();
        let asked = case.object("event").unwrap();
        let (from, to) = (case.count("from").unwrap(), case.count("to"));
        let refusal = refusal(from, to, &asked, case.get("inBracket").is_some());
        assert_eq!(refusal.is_some(), json::is_true(case.get("refused").unwrap()), "{refusal:?}: {line}");
    }
}

/// What the events of a log would be refused for, at any occasion up to the upgrade to format 3.
fn refusals(path: &Path) -> Vec<String> {
    let mut reader = LogReader::open(&Source::open(path).unwrap()).unwrap();
    let format = reader.format();
    let mut session = Session::new(reader.header().clone(), format, Keep::Figures);
    let occasions: Vec<_> = format.asked_on_the_way_to(3).map(|(_, rules)| rules).collect();
    let (mut refusals, mut in_bracket) = (Vec::new(), false);
    let mut take = |item: Item| {
        let Item::Record(Record { body: Body::Event(stored), .. }) = item else { return };
        let converted = session.apply(&stored).unwrap();
        let current = converted.as_ref().map(|converted| converted.event(&stored));
        let event = current.as_ref().unwrap_or(&stored);
        let payload = Payload::of(event);
        let asked = occasions.iter().copied().chain([format.asked_on_reading]);
        let problems = asked.filter_map(|rules| check(event, &payload, rules, in_bracket));
        refusals.extend(problems.map(|problem| problem.message));
        match &*event.event_type {
            "compaction/start" => in_bracket = true,
            "compaction/end" | "session/end-seed" => in_bracket = false,
            _ => {}
        }
    };
    while reader.next(&mut take).unwrap().is_some() {}
    refusals
}

#[test]
fn what_dsh_writes_is_refused_nowhere() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let mut logs = 0;
    for folder in ["corpus", "formats", "demo", "demo-zstd"] {
        for entry in walkdir::WalkDir::new(fixtures.join(folder)) {
            let path = entry.unwrap().into_path();
            let name = path.file_name().unwrap().to_str().unwrap();
            let is_log =
                ["session.", "demo.", "native.", "development-"].iter().any(|start| name.starts_with(start));
            if is_log && path.is_file() {
                assert_eq!(refusals(&path), [""; 0], "{}", path.display());
                logs += 1;
            }
        }
    }
    assert!(logs > 30, "{logs}");
}

#[test]
fn problems_name_the_place_what_was_found_and_what_belongs_there() {
    for (from, event_type, data, expected) in [
        (0, "step/start", "[]", "payload-value: data is an array of 0 elements, not an object"),
        (0, "step/start", r#"{"turn":1}"#, "payload-members: data lacks the member \"step\""),
        (
            0,
            "step/start",
            r#"{"turn":1,"step":1,"a\nb":0}"#,
            "payload-members: data has a member \"a\\nb\", which does not belong there",
        ),
        (
            1,
            "step/start",
            r#"{"turn":-0,"step":1}"#,
            "payload-value: data.turn is -0, not an integer of at least 0",
        ),
        (
            1,
            "llm/retry",
            r#"{"retryId":"r","turn":1,"step":1,"provider":"p","mode":"always","policyKey":"k","retry":1,"delayMs":1,"failure":{"message":"m","code":"c","status":600}}"#,
            "payload-value: data.failure.status is 600, not an integer from 100 to 599",
        ),
        (
            2,
            "sandbox/mode",
            r#"{"mode":"off"}"#,
            "payload-value: data.mode is \"off\", not \"read-only\", \"workspace-write\" or \"danger-full-access\"",
        ),
        (
            2,
            "session/title",
            r#"{"title":"t","messageSeqs":[3,3],"source":{"kind":"fallback"}}"#,
            "payload-value: data.messageSeqs[1] is 3 a second time",
        ),
        (
            2,
            "session/title",
            r#"{"title":"t","messageSeqs":[12],"source":{"kind":"fallback"}}"#,
            "payload-value: data.messageSeqs[0] is 12, not the seq of an event before 12",
        ),
        (
            2,
            "goal/change",
            r#"{"kind":"goal/change","version":1,"operation":"drop"}"#,
            "payload-value: data.operation is \"drop\", not \"clear\", \"create\", \"edit\", \"pause\", \"resume\", \
             \"complete\" or \"block\"",
        ),
    ] {
        assert_eq!(told(from, event_type, data).as_deref(), Some(expected));
    }
}

#[test]
fn kinds_that_pass_formats_0_and_1_are_refused_on_the_way_to_3() {
    let odd_block = user(r#"[{"type":"text","text":"t"},{"type":"chart","x":1}]"#, HUMAN);
    let odd_source = user("[]", r#"{"kind":"acme"}"#);
    for from in [0, 1] {
        assert_eq!(told(from, "user/message", &odd_block), None);
        assert_eq!(told(from, "user/message", &odd_source), None);
        let line = crate::check::testing::event(12, "user/message", &odd_source);
        let refusal = refusal(from, Some(3), &Object::of(json::leaked(&line)).unwrap(), false).unwrap();
        assert_eq!(refusal.rule.code, "source-kind");
    }
    let block = told(2, "user/message", &odd_block).unwrap();
    assert!(block.starts_with("content-kind: data.content[1].type is \"chart\", not \"text\","), "{block}");
    let source = told(2, "user/message", &odd_source).unwrap();
    assert!(source.starts_with("source-kind: data.source.kind is \"acme\", not \"user\","), "{source}");
    let stream = r#"{"turn":1,"step":1,"stream":[{"type":"chunk","chunk":{"type":"block-start","blockType":"chart"}}]}"#;
    let stream = told(2, "assistant/attempt", stream).unwrap();
    assert!(stream.starts_with("content-kind: data.stream[0].chunk.blockType is \"chart\""), "{stream}");
}

#[test]
fn members_that_owe_something_to_each_other() {
    let result = |id: &str, error: &str, is_error: bool| {
        format!(
            r#"{{"turn":1,"step":1,"message":{{"id":"{id}","role":"user","content":[{{"type":"tool-result","toolCallId":"c","content":[],"isError":{is_error}}}],"source":{{"kind":"tool","callId":"c"}}}},"error":{{"name":"E","code":"{error}"}}}}"#
        )
    };
    assert_eq!(told(2, "tool/result", &result("r", "E", true)), None);
    let told_of = |id, error, is_error| told(2, "tool/result", &result(id, error, is_error)).unwrap();
    assert_eq!(
        told_of("r", "E", false),
        "payload-members: data has error details, but its result is no error"
    );
    assert!(told_of("r", "TOOL_NOT_STARTED", true).starts_with("payload-value: data answers a call"));
    assert_eq!(
        told(2, "tool/result", &result("interrupted-tool-result-c-7", "TOOL_NOT_STARTED", true)),
        None
    );

    let prune = |end| {
        format!(
            r#"{{"shadowedRange":{{"start":2,"end":{end}}},"shadowedSeqs":[2,9],"shadowedTokenCount":0}}"#
        )
    };
    assert_eq!(told(1, "compaction/prune", &prune(9)), None);
    assert!(
        told(1, "compaction/prune", &prune(2))
            .unwrap()
            .starts_with("payload-value: data has a shadowedRange")
    );
}

#[test]
fn ids_that_development_builds_left_out_come_from_an_open_bracket() {
    let end = crate::check::testing::event(12, "compaction/end", r#"{"turn":null}"#);
    let end = Object::of(json::leaked(&end)).unwrap();
    assert_eq!(refusal(0, Some(3), &end, true), None);
    let problem = refusal(0, Some(3), &end, false).unwrap();
    assert!(problem.message.starts_with("data lacks the member \"compactionId\""), "{}", problem.message);
    assert!(refusal(1, Some(3), &end, true).is_some(), "format 1 has ids");
}

#[test]
fn results_within_results_are_looked_at_but_not_for_ever() {
    let nested = |depth: usize, inner: &str| {
        let open = r#"{"type":"tool-result","toolCallId":"c","content":["#.repeat(depth);
        user(&format!("[{open}{inner}{}]", "]}".repeat(depth)), HUMAN)
    };
    assert_eq!(told(0, "user/message", &nested(200, "")), None);
    let problem = told(0, "user/message", &nested(50, r#"{"type":"text"}"#)).unwrap();
    assert!(problem.ends_with("lacks the member \"text\""), "{problem}");
    let problem = told(0, "user/message", &nested(300, "")).unwrap();
    assert!(problem.ends_with("deeper than is looked into"), "{problem}");
}

#[test]
fn a_finding_names_the_event() {
    let line = crate::check::testing::event(12, "plan/mode", r#"{"active":1}"#);
    let line = Object::of(json::leaked(&line)).unwrap();
    let problem = refusal(0, Some(1), &line, false).unwrap();
    let finding = problem.finding(&event(&line), Place::default());
    assert_eq!((finding.code, finding.seq), ("payload-value", Some(12)));
    assert_eq!(finding.message, "plan/mode: data.active is 1, not true or false");
}
