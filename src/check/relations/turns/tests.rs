//! What each rule of turns and steps finds, and what it lets pass.

use crate::check::relations::testing::{HEADER, STEP, TURN, codes, found, header, judge, lines};

const TURN_2: &str = r#"{"turn":2}"#;
const STEP_2: &str = r#"{"turn":1,"step":2}"#;
const STEP_OF_2: &str = r#"{"turn":2,"step":1}"#;
const NONE: [&str; 0] = [];

/// Two turns, the first with two steps.
fn sound() -> Vec<(&'static str, &'static str)> {
    vec![
        ("turn/start", TURN),
        ("step/start", STEP),
        ("request/header", HEADER),
        ("assistant/attempt", STEP),
        ("step/end", STEP),
        ("step/start", STEP_2),
        ("assistant/attempt", STEP_2),
        ("step/end", STEP_2),
        ("request/context", "{}"),
        ("turn/end", TURN),
        ("turn/start", TURN_2),
        ("step/start", STEP_OF_2),
        ("assistant/attempt", STEP_OF_2),
        ("step/end", STEP_OF_2),
        ("turn/end", TURN_2),
    ]
}

#[test]
fn sound_turns_give_no_finding_wherever_they_end() {
    for length in 0..=sound().len() {
        assert_eq!(found(&sound()[..length]), NONE);
    }
    assert_eq!(found(&[("turn/start", r#"{"turn":1.0}"#), ("turn/end", TURN)]), NONE);
}

#[test]
fn a_missing_event_is_told_once() {
    let expected = [
        "step-outside-turn@0",
        "event-outside-step@2",
        "",
        "",
        "step-start-while-open@4",
        "event-outside-step@5",
        "",
        "turn-end-in-step@8",
        "",
        "turn-start-while-open@9",
        "step-outside-turn@10",
        "event-outside-step@11",
        "",
        "turn-end-in-step@13",
        "",
    ];
    for (missing, expected) in expected.into_iter().enumerate() {
        let mut log = sound();
        log.remove(missing);
        let expected: Vec<&str> = Some(expected).filter(|code| !code.is_empty()).into_iter().collect();
        assert_eq!(found(&log), expected, "{missing}");
    }
}

#[test]
fn a_repeated_boundary_is_told_once() {
    for (repeated, expected) in [
        (0, "turn-start-while-open@1"),
        (1, "step-start-while-open@2"),
        (4, "step-end-unmatched@5"),
        (9, "turn-end-unmatched@10"),
    ] {
        let mut log = sound();
        log.insert(repeated + 1, log[repeated]);
        assert_eq!(found(&log), [expected], "{repeated}");
    }
}

#[test]
fn a_wrong_number_is_told_where_it_stands() {
    for (at, data, expected) in [
        (0, r#"{"turn":3}"#, "turn-number@0"),
        (0, "{}", "turn-number@0"),
        (0, r#"{"turn":"1"}"#, "turn-number@0"),
        (1, STEP_2, "step-number@1"),
        (1, STEP_OF_2, "step-outside-turn@1"),
        (3, STEP_2, "event-outside-step@3"),
        (3, r#"{"turn":1}"#, "event-outside-step@3"),
        (4, r#"{"turn":1,"step":9}"#, "step-end-unmatched@4"),
        (4, r#"{"turn":7,"step":1}"#, "step-end-unmatched@4"),
        (5, r#"{"turn":1,"step":7}"#, "step-number@5"),
        (9, TURN_2, "turn-end-unmatched@9"),
        (9, r#"{"turn":0}"#, "turn-end-unmatched@9"),
        (10, r#"{"turn":5}"#, "turn-number@10"),
    ] {
        let mut log = sound();
        log[at].1 = data;
        assert_eq!(found(&log), [expected], "{at}: {data}");
    }
}

#[test]
fn what_stands_outside_is_told_each_time_but_a_late_step_once() {
    let mut log = sound();
    log.splice(10..10, [("request/header", HEADER), ("request/context", "{}")]);
    assert_eq!(found(&log), ["event-outside-turn@10", "event-outside-turn@11"]);
    let mut log = sound();
    log.splice(10..10, [("assistant/attempt", STEP_2), ("assistant/attempt", STEP_2), ("step/end", STEP_2)]);
    assert_eq!(found(&log), ["event-outside-step@10"]);
}

#[test]
fn a_turn_that_ends_too_early_goes_on() {
    let mut log = sound();
    log.insert(5, ("turn/end", TURN));
    assert_eq!(found(&log), ["step-outside-turn@6"]);
}

#[test]
fn two_causes_are_two_findings() {
    let mut log = sound();
    log[0].1 = r#"{"turn":3}"#;
    log[9].1 = r#"{"turn":4}"#;
    assert_eq!(found(&log), ["turn-number@0", "turn-end-unmatched@9"]);
}

#[test]
fn nothing_is_said_of_what_a_lost_event_explains() {
    for lost in 0..sound().len() {
        for more in 1..4 {
            let mut log = lines(&sound());
            for line in log.iter_mut().skip(lost).take(more) {
                *line = "{".to_owned();
            }
            assert_eq!(codes(&judge(&header(4), &log)), NONE, "{lost} and {more}");
        }
    }
    let mut log = lines(&sound());
    log[1] = "{".to_owned();
    log[9] = log[9].replace(TURN, TURN_2);
    assert_eq!(
        codes(&judge(&header(4), &log)),
        ["turn-end-unmatched@9"],
        "what is known again is checked again"
    );
}
