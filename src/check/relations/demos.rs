//! Whole logs of every version, and rubbish.

use super::testing::{codes, facts, header, judge, judge_log, lines};
use crate::check::testing::{check_events_of, fixture};
use crate::format::CheckedBy;

const NONE: [&str; 0] = [];

#[test]
fn sound_logs_of_every_version_give_no_finding() {
    for name in ["demo.v0", "demo.v2", "demo.v3", "demo.v4", "native.v4"] {
        let text = std::fs::read_to_string(fixture(&format!("formats/{name}.jsonl"))).unwrap();
        assert_eq!(codes(&judge_log(&text)), NONE, "{name}");
    }
    let text = std::fs::read_to_string(fixture("demo/session.jsonl")).unwrap();
    assert_eq!(codes(&judge_log(&text)), NONE);
}

#[test]
fn every_event_of_a_demo_that_others_need_is_missed() {
    let text = std::fs::read_to_string(fixture("formats/demo.v4.jsonl")).unwrap();
    let mut missed = 0;
    let all: Vec<&str> = text.lines().collect();
    for left_out in 1..all.len() {
        let mut log = all.clone();
        log.remove(left_out);
        let needed = [
            "turn/start",
            "step/start",
            "step/end",
            "tool/call",
            "command/run",
            "tool/ptc-dispatch-start",
            "llm/retry\"",
        ];
        let is_needed = needed.iter().any(|kind| all[left_out].contains(&format!("\"type\":\"{kind}")));
        let found = judge_log(&log.join("\n"));
        assert!(!is_needed || !found.is_empty(), "{}", all[left_out]);
        assert!(found.len() <= 3, "{}: {:?}", all[left_out], codes(&found));
        missed += usize::from(is_needed);
    }
    assert_eq!(missed, 12);
}

#[test]
fn each_version_says_who_checks_it() {
    let checked: Vec<CheckedBy> = (0..5).map(|version| facts(version).checked).collect();
    let codec = CheckedBy::Codec;
    assert_eq!(checked, [CheckedBy::Invariants, CheckedBy::Upgrade, codec, codec, CheckedBy::Load]);
}

#[test]
fn a_pass_tells_breaches_where_the_version_asks_for_it() {
    let event = crate::check::testing::event(0, "turn/start", r#"{"turn":7}"#);
    for (version, expected) in
        [(4, vec!["turn-number"]), (3, vec!["turn-number"]), (1, vec![]), (0, vec!["turn-number"])]
    {
        let checked = check_events_of(version, std::slice::from_ref(&event));
        assert_eq!(crate::check::testing::codes(&checked), expected);
    }
}

#[test]
fn a_payload_that_is_no_object_is_told() {
    assert_eq!(codes(&judge(&header(4), &lines(&[("command/run", "null")]))), ["relation-payload@0"]);
    assert_eq!(codes(&judge(&header(4), &lines(&[("todo/write", "null")]))), NONE);
    assert_eq!(codes(&judge(&header(3), &lines(&[("feedback/record", "null")]))), ["relation-payload@0"]);
    assert_eq!(codes(&judge(&header(3), &lines(&[("image/offload", "null")]))), NONE);
    assert_eq!(codes(&judge(&header(0), &lines(&[("feedback/record", "null")]))), NONE);
}

const TYPES: [&str; 25] = [
    "turn/start",
    "turn/end",
    "step/start",
    "step/end",
    "assistant/chunk",
    "assistant/attempt",
    "assistant/message",
    "system/message",
    "developer/message",
    "user/message",
    "tool/call",
    "tool/result",
    "request/header",
    "request/context",
    "llm/retry",
    "llm/retry-started",
    "session/title",
    "session/title-llm-request",
    "command/run",
    "command/done",
    "session-log-deepseek/delivery-accepted",
    "subagent/catalog",
    "session/end-seed",
    "tool/ptc-dispatch-start",
    "tool/ptc-dispatch",
];

#[test]
fn every_type_that_the_rules_know_is_looked_at() {
    // All but this one, which only has to stand in a turn.
    for event_type in TYPES.into_iter().filter(|event_type| *event_type != "request/context") {
        let found = codes(&judge(&header(4), &lines(&[(event_type, "null")])));
        assert!(found.contains(&"relation-payload@0".to_owned()), "{event_type}: {found:?}");
    }
}

const PAYLOADS: [&str; 14] = [
    "null",
    "{}",
    r#"{"turn":1,"step":1}"#,
    r#"{"turn":2,"step":1}"#,
    r#"{"turn":1,"step":9007199254740991}"#,
    r#"{"turn":9007199254740991,"step":2}"#,
    r#"{"turn":-1,"step":"x"}"#,
    r#"{"turn":1,"step":1,"message":{"content":[{"type":"tool-call","id":"a"},5,{"type":"tool-addition"}]}}"#,
    r#"{"turn":1,"step":1,"callId":"a","message":{"source":{"callId":"a"}},"headerSeq":9007199254740991}"#,
    r#"{"retryId":"a","commandId":"a","subCallId":"a","rootCallId":"a","parentCallId":"b","retry":9007199254740991}"#,
    r#"{"retryId":"a","commandId":"a","subCallId":"a","rootCallId":"b","parentCallId":"b","retry":1,"turn":1,"step":1}"#,
    r#"{"messageSeqs":[0,0,1e300,"x"],"source":{"kind":"user"},"messages":[[]],"sourceEventSeq":9007199254740991}"#,
    r#"{"sessionId":"","throughSeq":5,"sessionFormatVersion":4,"inherited":true,"childId":"a","version":0}"#,
    r#"{"error":{"code":"TOOL_NOT_STARTED"},"turn":1,"step":1,"message":{"id":"forked-tool-result-","content":[[]]},"header":{"tools":[1,{"name":"a"}]}}"#,
];

proptest::proptest! {
    #[test]
    fn no_sequence_of_events_makes_a_rule_panic(
        events in proptest::collection::vec((0..TYPES.len(), 0..PAYLOADS.len(), 0..12u8), 0..60), version in 0..5u64,
    ) {
        let picked: Vec<_> = events.iter().map(|(kind, data, _)| (TYPES[*kind], PAYLOADS[*data])).collect();
        let mut log = lines(&picked);
        for (line, (.., luck)) in log.iter_mut().zip(&events) {
            match luck {
                0 => *line = "{".to_owned(),
                1 => *line = line.replace(r#""append""#, r#"{"op":"replace","startSeq":0,"endSeq":0},"sourceEventSeqs":[0]"#),
                _ => {}
            }
        }
        judge(&header(version), &log);
    }
}
