//! What each rule of tool calls finds, and what it lets pass.

use crate::check::relations::testing::{
    Case, STEP, TURN, call, calls, codes, found, found_in, header, judge, lines, result,
};
use crate::check::testing::marked;

const NONE: [&str; 0] = [];

/// A step around these events, which begin at seq 2.
fn step(events: &[(&str, &str)]) -> Vec<String> {
    found(&around(events))
}

fn around<'a>(events: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    let open = [("turn/start", TURN), ("step/start", STEP)];
    [&open[..], events, &[("step/end", STEP), ("turn/end", TURN)]].concat()
}

#[test]
fn answered_calls_give_no_finding() {
    let (both, a, b) = (calls(&["a", "b"]), call("a"), call("b"));
    let (ra, rb) = (result("a"), result("b"));
    assert_eq!(
        step(&[
            ("assistant/message", &both),
            ("tool/call", &a),
            ("tool/call", &b),
            ("tool/result", &rb),
            ("tool/result", &ra),
            ("assistant/message", &both),
            ("tool/call", &b),
            ("tool/result", &rb),
            ("tool/call", &a),
            ("tool/result", &ra),
        ]),
        NONE
    );
}

#[test]
fn each_breach_has_its_code() {
    let (one, two, both) = (calls(&["a"]), calls(&["a", "a"]), calls(&["a", "b"]));
    let (a, ra, rb) = (call("a"), result("a"), result("b"));
    let renamed = a.replace("sh", "bash");
    let changed = a.replace("\"{}\"", "\"{ }\"");
    let nameless = a.replace(r#""callId":"a","#, "");
    let rest = [("tool/call", &*a), ("tool/result", &ra)];
    let message = |message: &'static str| [("assistant/message", message)];
    let cases: &[Case] = &[
        (&[("assistant/message", &two), rest[0], rest[1], rest[0], rest[1]], &["call-advertised-twice@2"]),
        (&rest, &["call-not-advertised@2"]),
        (&[("assistant/message", &one), rest[0], rest[0], rest[1]], &["call-started-twice@4"]),
        (&[("assistant/message", &one), ("tool/call", &renamed), rest[1]], &["call-differs@3"]),
        (&[("assistant/message", &one), ("tool/call", &changed), rest[1]], &["call-differs@3"]),
        (&[("assistant/message", &one), rest[0], rest[1], rest[1]], &["result-not-advertised@5"]),
        (
            &[("assistant/message", &one), rest[0], ("tool/result", &rb), rest[1]],
            &["result-not-advertised@4"],
        ),
        (&[("assistant/message", &one), rest[1]], &["result-not-started@3"]),
        (&[("assistant/message", &one), rest[0]], &["call-unresolved@4"]),
        (&[("assistant/message", &both), rest[0], rest[1]], &["call-unresolved@5"]),
        (&[("assistant/message", &one), ("tool/call", &nameless), rest[0], rest[1]], &["call-id-invalid@3"]),
        (&[rest[0], ("assistant/message", &one), rest[1]], &["call-not-advertised@2"]),
        (
            &message(r#"{"turn":1,"step":1,"message":{"content":[{"type":"tool-call","name":"sh"}]}}"#),
            &["call-id-invalid@2"],
        ),
    ];
    for (events, expected) in cases {
        assert_eq!(step(events), *expected, "{events:?}");
    }
}

#[test]
fn what_differs_is_named_and_the_id_left_as_it_is() {
    let (made, started) = (calls(&["another"]), call("another"));
    for (started, told) in [
        (started.replace("\"sh\"", "\"ls\""), "call \"another\" starts with another name than"),
        (started.replace("\"{}\"", "\"[]\""), "call \"another\" starts with other arguments than"),
    ] {
        let events = [("assistant/message", &*made), ("tool/call", &*started)];
        let findings = judge(&header(4), &lines(&around(&events)));
        assert!(findings[0].message.starts_with(told), "{}", findings[0].message);
    }
}

#[test]
fn arguments_are_compared_as_javascript_strings() {
    let made = calls(&["a"]).replace("\"{}\"", r#""\u007b\ud83d}""#);
    for (arguments, expected) in
        [(r#""{\uD83D}""#, vec![]), (r#""{\ud83e}""#, vec!["call-differs@3".to_owned()])]
    {
        let started = call("a").replace("\"{}\"", arguments);
        let events =
            [("assistant/message", &*made), ("tool/call", &*started), ("tool/result", &*result("a"))];
        assert_eq!(step(&events), expected);
    }
}

#[test]
fn ids_come_again_in_a_later_step() {
    let (one, a, ra) = (calls(&["a"]), call("a"), result("a"));
    let second = [&one, &a, &ra].map(|data| data.replace(r#""step":1"#, r#""step":2"#));
    let step_2 = r#"{"turn":1,"step":2}"#;
    let events = [
        ("turn/start", TURN),
        ("step/start", STEP),
        ("assistant/message", &*one),
        ("tool/call", &a),
        ("tool/result", &ra),
        ("step/end", STEP),
        ("step/start", step_2),
        ("assistant/message", &second[0]),
        ("tool/call", &second[1]),
        ("tool/result", &second[2]),
        ("step/end", step_2),
    ];
    assert_eq!(found(&events), NONE);
    // A boundary that should not be there does not make a call unknown.
    let mut early = events[..4].to_vec();
    early.extend([("step/end", step_2), events[4], events[5]]);
    assert_eq!(found(&early), ["step-end-unmatched@4"]);
}

const SENTENCE: &str = "The tool call was interrupted before the Harness recorded it as started. Retry it if it is still needed.";

fn repair(id: &str, text: &str) -> String {
    format!(
        r#"{{"turn":1,"step":1,"error":{{"name":"ToolNotStartedError","code":"TOOL_NOT_STARTED"}},"message":{{"id":"{id}","role":"tool","isError":true,"toolCallId":"a","content":[{{"type":"text","text":"{text}"}}],"source":{{"kind":"tool","callId":"a"}}}}}}"#
    )
}

/// The same with the wrapper that formats before 4 have.
fn wrapped(id: &str) -> String {
    format!(
        r#"{{"turn":1,"step":1,"error":{{"name":"ToolNotStartedError","code":"TOOL_NOT_STARTED"}},"message":{{"id":"{id}","role":"user","content":[{{"type":"tool-result","toolCallId":"a","isError":true,"content":[{{"type":"text","text":"{SENTENCE}"}}]}}],"source":{{"kind":"tool","callId":"a"}}}}}}"#
    )
}

#[test]
fn only_the_exact_repair_answers_a_call_that_never_started() {
    let one = calls(&["a"]);
    let sound = repair("interrupted-tool-result-a-3", SENTENCE);
    let not_started = vec!["result-not-started@3"];
    for (result, expected) in [
        (sound.clone(), vec![]),
        (sound.replace("a-3", "a-17"), vec![]),
        (sound.replace("a-3", "a-017"), not_started.clone()),
        (sound.replace("a-3", "b-3"), not_started.clone()),
        (sound.replace("a-3", "a-99999999999999999999"), not_started.clone()),
        (sound.replace("needed.", "needed"), not_started.clone()),
        (sound.replace("ToolNotStartedError", "Other"), not_started.clone()),
        (sound.replace("\"isError\":true,", ""), not_started.clone()),
        (sound.replace("[{\"type\":\"text\"", "[{},{\"type\":\"text\""), not_started),
        (repair("forked-tool-result-a-3", "own words"), vec![]),
        (repair("forked-tool-result-a-4", "own words"), vec!["fork-result@3"]),
        (
            repair("forked-tool-result-a-3", "own words").replace("tool\",\"is", "user\",\"is"),
            vec!["fork-result@3"],
        ),
    ] {
        assert_eq!(step(&[("assistant/message", &one), ("tool/result", &result)]), expected, "{result}");
    }
    for (version, id, expected) in [
        (2, "interrupted-tool-result-a-3", vec![]),
        (2, "interrupted-tool-result-a-17", vec!["result-not-started@3"]),
        (3, "interrupted-tool-result-a-17", vec![]),
        (3, "forked-tool-result-a-3", vec!["result-not-started@3"]),
    ] {
        let result = wrapped(id);
        let events = around(&[("assistant/message", &one), ("tool/result", &result)]);
        assert_eq!(found_in(version, &events), expected, "{version}: {id}");
    }
}

#[test]
fn a_repair_with_sources_is_none_and_a_fork_result_is_rewritten_over_itself() {
    let mut log = lines(&around(&[("assistant/message", &calls(&["a"]))]));
    log.truncate(3);
    let cites =
        |id: &str, op: &str| marked(3, "tool/result", &repair(id, SENTENCE), op, r#","sourceEventSeqs":[2]"#);
    let judged = |line: String| codes(&judge(&header(4), &[&log[..], &[line]].concat()));
    assert_eq!(judged(cites("interrupted-tool-result-a-3", r#""append""#)), ["result-not-started@3"]);
    let replace = r#"{"op":"replace","startSeq":2,"endSeq":2}"#;
    assert_eq!(judged(cites("forked-tool-result-a-2", replace)), NONE);
    assert_eq!(judged(cites("forked-tool-result-a-1", replace)), ["fork-result@3"]);
}

#[test]
fn results_are_replaced_in_any_turn_and_in_no_other_place() {
    let replace =
        |seq| marked(seq, "tool/result", &result("a"), r#"{"op":"replace","startSeq":1,"endSeq":1}"#, "");
    let turn = lines(&[("turn/start", TURN)]);
    assert_eq!(codes(&judge(&header(4), &[turn, vec![replace(1)]].concat())), NONE);
    let ended = lines(&[("turn/start", TURN), ("turn/end", TURN)]);
    let found = codes(&judge(&header(4), &[ended, vec![replace(2), replace(3)]].concat()));
    assert_eq!(found, ["event-outside-turn@2", "event-outside-turn@3"]);
}

#[test]
fn lost_events_excuse_what_they_may_have_held() {
    let (one, a, ra) = (calls(&["a"]), call("a"), result("a"));
    let log = lines(&around(&[("assistant/message", &one), ("tool/call", &a), ("tool/result", &ra)]));
    for lost in 0..log.len() {
        let mut log = log.clone();
        log[lost] = "{".to_owned();
        assert_eq!(codes(&judge(&header(4), &log)), NONE, "{lost}");
    }
}
