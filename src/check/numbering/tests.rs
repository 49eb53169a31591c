use super::super::Checked;
use super::super::testing::{self, check_events, event};

/// The codes but for what dsh would delete, which `aftermath` tests.
fn codes(checked: &Checked) -> Vec<&'static str> {
    let mut codes = testing::codes(checked);
    codes.retain(|code| *code != "valid-events-after-damage");
    codes
}

fn todo(seq: u64) -> String {
    event(seq, "todo/write", "{}")
}

fn row(seq: u64, members: usize) -> String {
    let texts = vec!["\"x\""; members].join(",");
    let gaps = vec!["1"; members - 1].join(",");
    format!(
        r#"{{"type":"text-chunks","seq0":{seq},"time0":1,"data":{{"turn":1,"step":1,"index":0,"dt":[{gaps}],"texts":[{texts}]}}}}"#
    )
}

/// A message that breaks the rules of the surface: found only while the checks go on.
fn broken(seq: u64) -> String {
    event(seq, "user/message", "{}")
}

#[test]
fn a_gap_ends_nothing() {
    let checked = check_events(&[todo(0), todo(3), broken(4)]);
    assert_eq!(codes(&checked), ["seq-gap", "message-shape"]);
    assert!(checked.findings[0].message.contains("2 events missing"));
}

#[test]
fn a_gap_names_what_is_missing() {
    let message = |last| check_events(&[todo(0), todo(last)]).findings[0].message.clone();
    assert!(message(2).ends_with("1 event missing (seq 1)"));
    assert!(message(5).ends_with("4 events missing (seqs 1 to 4)"));
}

#[test]
fn records_that_come_again_are_passed_over() {
    let closers = [event(2, "step/end", "{}")];
    for (log, again, line) in [
        (vec![todo(0), todo(1), todo(1), broken(2)], 1, 4),
        (vec![todo(0), todo(1), todo(1), todo(1), broken(2)], 2, 4),
        (vec![todo(0), todo(1), closers[0].clone(), todo(1), closers[0].clone(), broken(3)], 2, 5),
        // A piece of the copied run alone, so that the reader sees a gap behind it.
        (vec![todo(0), todo(1), closers[0].clone(), todo(0), broken(3)], 1, 5),
        (
            vec![
                todo(0),
                event(1, "todo/write", r#"{"a":1,"b":2}"#),
                event(1, "todo/write", r#"{"b":2, "a":1}"#),
                broken(2),
            ],
            1,
            4,
        ),
    ] {
        let checked = check_events(&log);
        assert_eq!(codes(&checked), ["seq-repeat", "message-shape"], "{log:?}");
        let finding = &checked.findings[0];
        assert_eq!(finding.place.line, Some(line));
        let told = if again == 1 {
            "the record stands in the log a second time"
        } else {
            "2 records stand in the log"
        };
        assert!(finding.message.contains(told), "{}", finding.message);
        assert_eq!(checked.ending.lock, Some(crate::session::LockState::Free));
    }
    assert_eq!(codes(&check_events(&[todo(0), todo(0)])), ["seq-repeat"]);
    let gap = check_events(&[todo(0), todo(1), todo(0), todo(4)]);
    assert_eq!(codes(&gap), ["seq-repeat", "seq-gap"]);
    assert!(gap.findings[1].message.starts_with("seq 4 where 2 was expected: 2 events missing"));
}

/// The message of the one fork.
fn fork(log: &[String]) -> String {
    let checked = check_events(log);
    assert_eq!(codes(&checked), ["seq-fork"], "{:#?}", checked.findings);
    assert_eq!(checked.ending.lock, None);
    checked.findings[0].message.clone()
}

fn turn_end(seq: u64, kind: &str) -> String {
    event(seq, "turn/end", &format!(r#"{{"turn":1,"reason":{{"kind":"{kind}"}}}}"#))
}

/// The same seq with another text.
fn other(seq: u64, text: &str) -> String {
    event(seq, "todo/write", &format!("{{\"text\":\"{text}\"}}"))
}

#[test]
fn two_histories_are_a_fork() {
    let message = fork(&[todo(0), todo(1), turn_end(2, "interrupted"), other(1, "b"), broken(2)]);
    assert!(
        message
            .starts_with("line 5 carries seq 1 where 3 was expected: the log holds two histories from seq 1")
    );
    assert!(
        message.contains("branch A: lines 3 to 4, seqs 1 to 2 (real work: todo/write, turn/end interrupted)"),
        "{message}"
    );
    assert!(
        message.contains("branch B: lines 5 to 6, seqs 1 to 2 (real work: todo/write, user/message)"),
        "{message}"
    );
    assert!(message.contains("branches A and B each hold real work"), "{message}");
    assert!(message.ends_with("not checked from here on"), "{message}");
    // A copied record may stand before those that differ.
    let message = fork(&[
        todo(0),
        turn_end(1, "completed"),
        turn_end(2, "interrupted"),
        turn_end(1, "completed"),
        other(2, "b"),
    ]);
    assert!(message.contains("branch B: lines 5 to 6, seqs 1 to 2"), "{message}");
}

#[test]
fn what_dsh_wrote_by_itself_is_told_from_work() {
    let closed = [todo(0), turn_end(1, "interrupted"), event(2, "session/end-seed", "{}")];
    let message = fork(&[&closed[..], &[other(1, "b")]].concat());
    assert!(
        message.contains(
            "branch A: lines 3 to 4, seqs 1 to 2 (entirely synthetic: turn/end interrupted, session/end-seed)"
        ),
        "{message}"
    );
    assert!(message.contains("branch B: line 5, seq 1 (real work: todo/write)"), "{message}");
    assert!(
        message.contains("keeping branch B loses no real work, since the others are entirely synthetic"),
        "{message}"
    );
    let message = fork(&[&closed[..], &[event(1, "session/end-seed", "{}")]].concat());
    assert!(message.contains("none of them holds real work, so any may be kept"), "{message}");
}

#[test]
fn every_branch_of_many_is_named() {
    let log = [
        todo(0),
        todo(1),
        todo(2),
        other(1, "b"),
        other(2, "b"),
        other(3, "b"),
        other(2, "c"),
        turn_end(0, "interrupted"),
    ];
    let message = fork(&log);
    assert!(message.contains("the log holds 4 histories from seq 0"), "{message}");
    for told in [
        "branch A: lines 2 to 4, seqs 0 to 2 (",
        "branch B: lines 5 to 7, seqs 1 to 3 (",
        "branch C: line 8, seq 2 (",
        "branch D: line 9, seq 0 (entirely synthetic: turn/end interrupted)",
        "branches A and B and C each hold real work",
    ] {
        assert!(message.contains(told), "{told}: {message}");
    }
    let many: Vec<String> =
        [todo(0), todo(1)].into_iter().chain((0..40).map(|text| other(1, &text.to_string()))).collect();
    assert!(fork(&many).contains("25 more branches are not told apart here"), "{}", fork(&many));
}

#[test]
fn writers_that_take_turns_are_two_branches() {
    let log = [todo(0), todo(1), todo(2), todo(3), other(2, "b"), todo(4), other(3, "b"), todo(5)];
    let message = fork(&log);
    assert!(message.contains("branch A: lines 4 to 9, seqs 2 to 5"), "{message}");
    assert!(message.contains("branch B: lines 6 to 8, seqs 2 to 3"), "{message}");
}

#[test]
fn a_row_that_overlaps_is_one_finding() {
    let log = [todo(0), todo(1), row(1, 3), todo(2), broken(3)];
    let checked = check_events(&log);
    assert_eq!(codes(&checked), ["seq-overlap", "message-shape"]);
    assert!(
        checked.findings[0].message.contains("3 events (seqs 1 to 3)"),
        "{}",
        checked.findings[0].message
    );
    // The same where the row ends where the numbers go on, and where it is the end of the log.
    assert_eq!(
        codes(&check_events(&[todo(0), todo(1), todo(2), row(1, 2), broken(3)])),
        ["seq-overlap", "message-shape"]
    );
    assert_eq!(codes(&check_events(&[todo(0), todo(1), row(0, 2)])), ["seq-overlap"]);
    assert_eq!(codes(&check_events(&[todo(0), todo(1), row(0, 4)])), ["seq-overlap"]);
}

#[test]
fn a_row_of_another_history_ends_the_checks() {
    let checked = check_events(&[todo(0), todo(1), row(1, 3), todo(4), broken(5)]);
    assert_eq!(codes(&checked), ["seq-fork"]);
    let message = &checked.findings[0].message;
    assert!(
        message.contains("branch B: lines 4 to 6, seqs 1 to 5 (real work: streamed deltas, todo/write"),
        "{message}"
    );
    assert!(message.contains("not checked from here on"), "{message}");
}
