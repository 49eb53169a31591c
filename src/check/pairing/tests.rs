use super::super::testing::{call, check_events, codes, event, marked, only, result, user};
use super::super::{Finding, Severity};

fn turn(seq: u64) -> String {
    event(seq, "turn/start", r#"{"turn":1}"#)
}

fn turn_end(seq: u64) -> String {
    event(seq, "turn/end", r#"{"turn":1,"reason":{"kind":"completed"}}"#)
}

/// A user message with a source of its own that hides `start` to `end`.
fn note(seq: u64, start: u64, end: u64, sources: &str) -> String {
    let message =
        r#"{"id":"m","role":"user","content":[],"source":{"kind":"plugin","plugin":"p","compactionId":"k"}}"#;
    let op = format!(r#"{{"op":"replace","start":{start},"end":{end}}}"#);
    marked(seq, "user/message", message, &op, &format!(r#","sourceEventSeqs":{sources}"#))
}

fn one(events: &[String]) -> Finding {
    only(check_events(events))
}

#[test]
fn a_call_of_the_open_turn_is_a_note() {
    let log = [turn(0), call(1, &["a"]), user(2, "x")];
    let finding = one(&log);
    assert_eq!((finding.code, finding.severity), ("call-without-result", Severity::Note));
    let finding = one(&[&log[..], &[turn_end(3)]].concat());
    assert_eq!(
        (finding.code, finding.severity, finding.seq),
        ("call-without-result", Severity::Error, Some(1))
    );
    assert!(finding.message.ends_with("can end with it, or begin with seq 2"), "{}", finding.message);
    assert_eq!(finding.place.line, Some(3));
}

#[test]
fn halves_name_the_replacement_that_parted_them() {
    let pair = [turn(0), call(1, &["a"]), result(2, "a"), turn_end(3)];
    let orphan = one(&[&pair[..], &[note(4, 1, 1, "[1]")]].concat());
    assert_eq!((orphan.code, orphan.seq, orphan.related[0].seq), ("result-without-call", Some(2), 4));
    assert_eq!(
        orphan.related[0].message,
        "the replacement of 1..1 (compaction \"k\") hides its call at seq 1"
    );
    let bare = one(&[&pair[..], &[note(4, 2, 2, "[2]")]].concat());
    assert_eq!((bare.code, bare.seq, bare.related[0].seq), ("call-without-result", Some(1), 4));
    assert_eq!(codes(&check_events(&[&pair[..], &[note(4, 1, 2, "[1,2]")]].concat())), [""; 0]);
}

#[test]
fn a_rewritten_result_is_still_the_result() {
    let rewrite =
        result(3, "a").replace(r#""append""#, r#"{"op":"replace","start":2,"end":2},"sourceEventSeqs":[2]"#);
    let log = [
        turn(0),
        call(1, &["a"]),
        result(2, "a"),
        rewrite.replace(r#""id":"r3""#, r#""id":"r2""#),
        turn_end(4),
    ];
    assert_eq!(codes(&check_events(&log)), [""; 0]);
    // Hidden with its call at last, it leaves no trace.
    assert_eq!(codes(&check_events(&[&log[..], &[note(5, 1, 3, "[1,3]")]].concat())), [""; 0]);
}

#[test]
fn a_second_result_answers_nothing() {
    let finding = one(&[turn(0), call(1, &["a"]), result(2, "a"), result(3, "a"), turn_end(4)]);
    assert_eq!((finding.code, finding.seq), ("result-without-call", Some(3)));
    assert!(finding.message.contains("has its result already"), "{}", finding.message);
}

#[test]
fn what_a_lost_line_explains_is_a_note() {
    let bad = |seq: u64| format!("{{\"seq\":{seq}");
    let checked = check_events(&[turn(0), call(1, &["a"]), bad(2), turn_end(3)]);
    assert_eq!(codes(&checked), ["call-without-result", "unparsable-line"]);
    assert_eq!((checked.findings[0].severity, checked.findings[0].related[0].seq), (Severity::Note, 2));
    let checked = check_events(&[turn(0), bad(1), result(2, "a"), turn_end(3)]);
    assert_eq!(codes(&checked), ["unparsable-line", "result-without-call"]);
    assert_eq!(checked.findings[1].severity, Severity::Note);
    // A line that is lost elsewhere explains nothing.
    let checked = check_events(&[turn(0), call(1, &["a"]), call(2, &[]), bad(3), turn_end(4)]);
    assert_eq!(checked.findings[0].severity, Severity::Error);
}

#[test]
fn messages_in_between_are_told_once_a_call() {
    let log = [turn(0), call(1, &["a", "b"]), user(2, "x"), result(3, "a"), result(4, "b"), turn_end(5)];
    let finding = one(&log);
    assert_eq!(
        (finding.code, finding.severity, finding.seq),
        ("result-not-adjacent", Severity::Warning, Some(3))
    );
    assert_eq!(finding.related.iter().map(|related| related.seq).collect::<Vec<_>>(), [2, 1]);
}

#[test]
fn halves_of_pairs_take_no_more_time_for_each() {
    // Going over the whole surface for each of them takes minutes.
    const MANY: u64 = 50_000;
    let orphans = (1..=MANY).map(|seq| result(seq, &format!("c{seq}")));
    let log: Vec<String> = [turn(0)].into_iter().chain(orphans).chain([turn_end(MANY + 1)]).collect();
    let checked = check_events(&log);
    assert!(codes(&checked).iter().all(|code| *code == "result-without-call"));
    assert!(checked.findings.last().unwrap().message.starts_with("49,000 more findings"));
    let ids: Vec<String> = (0..MANY).map(|id| format!("c{id}")).collect();
    let calls = call(1, &ids.iter().map(String::as_str).collect::<Vec<_>>());
    let behind = (2..=MANY).map(|seq| user(seq, "x"));
    let log: Vec<String> = [turn(0), calls].into_iter().chain(behind).chain([turn_end(MANY + 1)]).collect();
    let checked = check_events(&log);
    assert!(codes(&checked).iter().all(|code| *code == "call-without-result"));
    assert!(checked.findings.last().unwrap().message.starts_with("49,000 more findings"));
}

#[test]
fn many_calls_before_their_results_take_no_more_time_for_each() {
    // Copying what stands between for each of them takes minutes.
    const MANY: u64 = 50_000;
    let calls = (1..=MANY).map(|seq| call(seq, &[&format!("c{seq}")]));
    let results = (1..=MANY).map(|seq| result(MANY + seq, &format!("c{seq}")));
    let log: Vec<String> = [turn(0)].into_iter().chain(calls).chain(results).collect();
    let checked = check_events(&log);
    assert!(codes(&checked).iter().all(|code| *code == "result-not-adjacent"));
    let first = &checked.findings[0].message;
    assert!(first.starts_with("seqs 2, 3, 4, 5, 6, 7, 8, 9, and 49,991 more stand between"), "{first}");
}

#[test]
fn a_rewritten_message_stands_before_older_ones() {
    // The model spoke at seq 2, but that was before the call; the lost line may hold the result.
    let rewritten =
        call(3, &["a"]).replace(r#""append""#, r#"{"op":"replace","start":1,"end":1},"sourceEventSeqs":[1]"#);
    let lost = "{".to_owned();
    let log = [turn(0), call(1, &[]), call(2, &[]), rewritten, lost, call(5, &[]), turn_end(6)];
    let checked = check_events(&log);
    assert_eq!(codes(&checked), ["call-without-result", "unparsable-line"]);
    assert_eq!((checked.findings[0].severity, checked.findings[0].related[0].seq), (Severity::Note, 4));
}

#[test]
fn ids_that_come_again_are_one_note() {
    let log = [
        turn(0),
        call(1, &["a", "b"]),
        result(2, "a"),
        result(3, "b"),
        call(4, &["a"]),
        result(5, "a"),
        turn_end(6),
    ];
    let finding = one(&log);
    assert_eq!((finding.code, finding.severity, finding.seq), ("reused-call-id", Severity::Note, Some(4)));
    assert!(finding.message.ends_with(": \"a\" x2"), "{}", finding.message);
    // In the order in which they come again, also within one message.
    let rounds = |ids: &[&str]| {
        let ids: Vec<&str> = ids.iter().chain(["x", "x"].iter()).copied().collect();
        let results = (2..).zip(&ids).map(|(seq, id)| result(seq, id));
        let log: Vec<String> = [turn(0), call(1, &ids)].into_iter().chain(results).collect();
        let checked = check_events(&log);
        assert_eq!(codes(&checked), ["call-id-twice-in-message", "reused-call-id"]);
        assert_eq!(checked.findings[0].severity, Severity::Warning);
        checked.findings[1].message.clone()
    };
    let message = rounds(&["c", "b", "a", "a", "c", "b", "c"]);
    assert!(message.ends_with(": \"a\" x2, \"c\" x3, \"b\" x2, \"x\" x2"), "{message}");
}
