use super::super::Checked;
use super::super::testing::{self, check_events, event};

mod branches;

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
    let checked = check_events(&log);
    assert_eq!(codes(&checked), ["seq-fork"; 3]);
    let messages: Vec<&str> = checked.findings.iter().map(|finding| finding.message.as_str()).collect();
    for (message, told) in [
        (0, "two histories from seq 1, within branch A of the fork at line 9"),
        (0, "branch A: lines 3 to 4, seqs 1 to 2 (real work: todo/write, todo/write)"),
        (0, "branch B: line 5, seq 1 (real work: todo/write), and behind it the branches told at line 8"),
        (1, "two histories from seq 2, within branch B of the fork at line 5"),
        (1, "branch B: line 8, seq 2 ("),
        (2, "branch A: line 2, seq 0 (real work: todo/write), and behind it the branches told at line 5"),
        (2, "branch B: line 9, seq 0 (entirely synthetic: turn/end interrupted)"),
    ] {
        assert!(messages[message].contains(told), "{told}: {}", messages[message]);
    }
    let many: Vec<String> =
        [todo(0), todo(1)].into_iter().chain((0..40).map(|text| other(1, &text.to_string()))).collect();
    let message = fork(&many);
    assert!(message.contains("the log holds 41 histories from seq 1"), "{message}");
    assert!(message.contains("10 more branches are not told apart here"), "{message}");
}

#[test]
fn writers_that_take_turns_are_two_branches() {
    let log = [todo(0), todo(1), todo(2), todo(3), other(2, "b"), todo(4), other(3, "b"), todo(5)];
    let message = fork(&log);
    assert!(message.contains("branch A: lines 4 to 5, 7 and 9, seqs 2 to 5"), "{message}");
    assert!(message.contains("branch B: lines 6 and 8, seqs 2 to 3"), "{message}");
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

#[test]
fn a_fork_behind_a_fork_is_another_finding() {
    let turn = |seq: u64, text: &str| {
        vec![event(seq, "turn/start", "{\"turn\":1}"), other(seq + 1, text), turn_end(seq + 2, "completed")]
    };
    let log = [turn(0, "a"), turn(3, "b"), turn(3, "c"), turn(6, "d"), turn(6, "e")].concat();
    let checked = check_events(&log);
    assert_eq!(codes(&checked), ["seq-fork", "seq-fork"]);
    let [first, second] = [0, 1].map(|at: usize| checked.findings[at].message.as_str());
    assert!(
        first.contains("branch A: lines 5 to 7, seqs 3 to 5 (")
            && first.contains("branch B: lines 8 to 10, seqs 3 to 5 (")
    );
    assert!(
        first.contains("the branches end before seq 6, and line 11 goes on behind each of them"),
        "{first}"
    );
    assert!(second.contains(
        "line 14 carries seq 6 where 9 was expected: the log holds two histories from seq 6; branch A"
    ));
    assert!(
        second.contains("branch A: lines 11 to 13,") && second.contains("branch B: lines 14 to 16,"),
        "{second}"
    );
    // Where the first are not of one length, the second lies within the longer one.
    let log = [&turn(0, "a")[..], &[turn_end(3, "interrupted")], &turn(3, "c"), &turn(6, "d"), &turn(6, "e")]
        .concat();
    let checked = check_events(&log);
    let [first, second] = [0, 1].map(|at: usize| checked.findings[at].message.as_str());
    assert!(
        first.contains("two histories from seq 3; branch A: line 5, seq 3 (entirely synthetic"),
        "{first}"
    );
    assert!(first.contains("branch B: lines 6 to 8, seqs 3 to 5 ("), "{first}");
    assert!(first.contains("and behind it the branches told at line 12"), "{first}");
    assert!(
        second.contains(
            "two histories from seq 6, within branch B of the fork at line 6; branch A: lines 9 to 11"
        ),
        "{second}"
    );
}

#[test]
fn copies_that_do_not_reach_a_fork_are_told_alone() {
    let checked = check_events(&[todo(0), todo(1), todo(2), todo(0), other(2, "b"), todo(3)]);
    assert_eq!(codes(&checked), ["seq-repeat", "seq-fork"]);
    let message = &checked.findings[1].message;
    assert!(
        message.contains("branch A: line 4, seq 2 (") && message.contains("branch B: line 6, seq 2 ("),
        "{message}"
    );
}

#[test]
fn a_gap_is_told_in_its_branch() {
    let step = |seq: u64| event(seq, "step/end", "{}");
    let log = [todo(0), turn_end(1, "interrupted"), other(1, "b"), step(3), step(4)];
    let fork_of = |log: &[String]| {
        let checked = check_events(log);
        let fork = checked.findings.iter().find(|finding| finding.code == "seq-fork").unwrap();
        (codes(&checked), fork.message.clone())
    };
    let (codes, message) = fork_of(&log);
    assert_eq!(codes, ["seq-fork", "seq-gap"]);
    assert!(
        message.contains("branch B: lines 4 to 6, seqs 1 to 4, of which seq 2 is missing ("),
        "{message}"
    );
    // No part of a turn goes on where a turn has ended, though its number would.
    let (_, message) =
        fork_of(&[todo(0), turn_end(1, "interrupted"), turn_end(2, "interrupted"), other(1, "b"), step(3)]);
    assert!(message.contains("branch A: lines 3 to 4, seqs 1 to 2 (entirely"), "{message}");
    assert!(
        message.contains("branch B: lines 5 to 6, seqs 1 to 3, of which seq 2 is missing ("),
        "{message}"
    );
}

#[test]
fn each_row_that_overlaps_is_told() {
    for log in [
        [todo(0), todo(1), row(0, 4), row(1, 3), broken(2)],
        [todo(0), todo(1), row(1, 1), row(1, 1), broken(2)],
    ] {
        let checked = check_events(&log);
        assert_eq!(codes(&checked), ["seq-overlap", "seq-overlap", "message-shape"], "{log:?}");
        assert_eq!([0, 1].map(|at: usize| checked.findings[at].place.line), [Some(4), Some(5)]);
    }
    let one = check_events(&[todo(0), todo(1), row(1, 1), broken(2)]);
    assert!(
        one.findings[0]
            .message
            .starts_with("a packed row of 1 event (seq 1) where seq 2 was expected: seq 1 is taken")
    );
    // In a branch as well.
    let log = [todo(0), todo(1), todo(2), other(1, "b"), other(2, "b"), other(3, "b"), row(2, 2), todo(4)];
    assert_eq!(codes(&check_events(&log)), ["seq-fork", "seq-overlap"]);
}

#[test]
fn a_row_that_begins_a_branch_is_named() {
    let message = fork(&[todo(0), todo(1), row(1, 3), todo(4)]);
    assert!(
        message.starts_with(
            "line 4, a packed row of 3 events (seqs 1 to 3), which counts as one unit, carries seq 1 where 2"
        ),
        "{message}"
    );
    // A branch that parts within a row lacks what the row holds before it.
    let message = fork(&[todo(0), row(1, 3), todo(4), other(2, "b"), todo(3)]);
    assert!(message.contains("two histories from seq 1; branch A: lines 3 to 4, seqs 1 to 4 ("), "{message}");
    assert!(
        message.contains("branch B: lines 5 to 6, seqs 2 to 3, of which seq 1 is missing ("),
        "{message}"
    );
}

#[test]
fn a_branch_may_begin_in_a_damaged_line() {
    let log = [todo(0), todo(1), todo(2), format!("{{\"type\"{}", todo(1)), other(2, "b")];
    let checked = check_events(&log);
    assert_eq!(codes(&checked), ["seq-fork", "fused-records"]);
    let message = &checked.findings[0].message;
    assert!(message.contains("branch A: lines 3 to 4, seqs 1 to 2 ("), "{message}");
    assert!(
        message.contains(
            "branch B: lines 5 to 6, seqs 1 to 2 (real work: a record in a damaged line, todo/write)"
        ),
        "{message}"
    );
}

#[test]
fn two_lines_in_the_wrong_order_lose_nothing() {
    let checked = check_events(&[todo(0), todo(2), todo(1), broken(3)]);
    assert_eq!(codes(&checked), ["seq-order", "message-shape"]);
    assert_eq!(
        checked.findings[0].message,
        "two records stand in the wrong order, in lines 3 and 4: seq 2 comes before seq 1; no event is missing, and the \
         checks pass over the second"
    );
    // More than one record between them is something else.
    assert_eq!(codes(&check_events(&[todo(0), todo(2), todo(3), todo(1)]))[0], "seq-gap");
    assert_eq!(codes(&check_events(&[todo(0), todo(3), todo(1)]))[0], "seq-gap");
}
