//! What each rule of brackets finds, and what it lets pass.

use crate::check::testing::{
    HEADER, bracket, check_bytes, check_events, event, structural_codes as codes, user,
};
use crate::check::{Checked, Severity};

fn turn(seq: u64, turn: u64) -> String {
    event(seq, "turn/start", &format!(r#"{{"turn":{turn}}}"#))
}

fn turn_end(seq: u64, turn: u64) -> String {
    event(seq, "turn/end", &format!(r#"{{"turn":{turn},"reason":{{"kind":"completed"}}}}"#))
}

fn found(events: &[String]) -> Vec<&'static str> {
    codes(&check_events(events))
}

/// A user message and a bracket around it without a turn; nothing is wrong with it.
fn sound() -> Vec<String> {
    [vec![user(0, "one")], bracket(1, "c", "null", 0)].concat()
}

#[test]
fn a_sound_bracket_gives_no_finding() {
    assert_eq!(found(&sound()), [""; 0]);
    let in_turn = [vec![turn(0, 1), user(1, "one")], bracket(2, "c", "1", 1), vec![turn_end(6, 1)]].concat();
    assert_eq!(found(&in_turn), [""; 0]);
}

#[test]
fn one_wrong_member_has_its_code() {
    for (at, from, to, code) in [
        (1, r#""compactionId":"c""#, r#""compactionId":7"#, "compaction-id-invalid"),
        (2, r#""compactionId":"c""#, r#""compactionId":"""#, "compaction-id-invalid"),
        (2, r#""compactionId":"c""#, r#""compactionId":"d""#, "compaction-id-mismatch"),
        (3, r#""compactionId":"c""#, r#""compactionId":"d""#, "compaction-id-mismatch"),
        (4, r#""compactionId":"c""#, r#""compactionId":"d""#, "compaction-id-mismatch"),
        (4, r#""compactionId":"c""#, r#""compactionId":"c","sourceCommandId":"x""#, "compaction-id-mismatch"),
        (4, r#""compactionId":"c""#, r#""compactionId":"c","sourceCommandId":null"#, "compaction-id-invalid"),
        (4, r#""turn":null"#, r#""turn":1"#, "compaction-owner-turn"),
        (4, r#","turn":null"#, "", "compaction-owner-turn"),
    ] {
        let mut log = sound();
        let changed = log[at].replace(from, to);
        assert_ne!(changed, log[at]);
        log[at] = changed;
        assert_eq!(found(&log), [code], "{from} -> {to}");
    }
}

#[test]
fn ids_that_development_builds_left_out_are_no_fault() {
    let strip =
        |line: &String| line.replace(r#","compactionId":"c""#, "").replace(r#""compactionId":"c","#, "");
    let checked = check_events(&sound().iter().map(strip).collect::<Vec<_>>());
    assert_eq!(codes(&checked), ["compaction-id-invalid"; 4]);
    let ids = checked.findings.iter().filter(|finding| finding.code == "compaction-id-invalid");
    assert!(ids.into_iter().all(|finding| finding.severity == Severity::Note));
    // What has one must have the right one, and later formats have one everywhere.
    let mut log = sound();
    log[1] = strip(&log[1]);
    let mismatches = found(&log).into_iter().filter(|code| *code == "compaction-id-mismatch");
    assert_eq!(mismatches.count(), 3);
    let later = HEADER.replace("\"version\":0", "\"version\":1");
    let log = format!("{later}\n{}\n", sound().iter().map(strip).collect::<Vec<_>>().join("\n"));
    assert_eq!(codes(&check_bytes(log.as_bytes())), ["compaction-id-invalid"; 4]);
}

#[test]
fn owners_must_be_open() {
    let log = [vec![turn(0, 1), user(1, "one")], bracket(2, "c", "null", 1)].concat();
    assert_eq!(found(&log), ["compaction-owner-turn"]);
    let log = [vec![user(0, "one")], bracket(1, "c", "1", 0)].concat();
    assert_eq!(found(&log), ["compaction-owner-turn"]);
    let log = [vec![turn(0, 1), user(1, "one")], bracket(2, "c", "2", 1)].concat();
    assert_eq!(found(&log), ["compaction-owner-turn"]);
}

#[test]
fn parts_without_a_start_are_found() {
    let start = |seq| bracket(seq, "c", "null", 0)[0].clone();
    let mut log = sound();
    log[1] = event(1, "todo/write", "{}");
    assert_eq!(
        found(&log),
        [
            "compaction-summary-without-start",
            "compaction-checkpoint-without-start",
            "compaction-end-without-start"
        ]
    );
    let [_, summary, ..] = &bracket(1, "c", "null", 0)[..] else { panic!() };
    let again = summary.replace("\"seq\":2", "\"seq\":3");
    let log = [
        user(0, "one"),
        start(1),
        summary.clone(),
        again,
        event(4, "compaction/end", r#"{"compactionId":"c","turn":null}"#),
    ];
    assert_eq!(found(&log), ["summary-without-replacement", "compaction-summary-repeated"]);
    let log = [user(0, "one"), start(1), event(2, "compaction/end", r#"{"compactionId":"c","turn":null}"#)];
    assert_eq!(found(&log), ["compaction-end-without-summary"]);
    let log = [[user(0, "one"), start(1)].to_vec(), bracket(2, "c", "null", 0)].concat();
    assert_eq!(found(&log), ["compaction-start-while-open"]);
}

#[test]
fn summary_and_checkpoint_belong_together() {
    let sound = sound();
    let renumbered = |lines: &[&String]| -> Vec<String> {
        let seq = |line: &str| line.split("\"seq\":").nth(1).unwrap().split(',').next().unwrap().to_owned();
        let renumber = |(at, line): (usize, &&String)| {
            line.replace(&format!("\"seq\":{}", seq(line)), &format!("\"seq\":{at}"))
        };
        lines.iter().enumerate().map(renumber).collect()
    };
    let [prompt, start, summary, checkpoint, end] = &sound[..] else { panic!() };
    let without = check_events(&renumbered(&[prompt, start, summary, end]));
    assert_eq!(codes(&without), ["summary-without-replacement"]);
    let told = |checked: &Checked, code: &str| {
        let finding = checked.findings.iter().find(|finding| finding.code == code).unwrap();
        (finding.severity, finding.seq, finding.related[0].seq)
    };
    assert_eq!(told(&without, "summary-without-replacement"), (Severity::Warning, Some(2), 3));
    let error = end.replace("\"turn\":null", "\"turn\":null,\"error\":\"late\"");
    assert_eq!(found(&renumbered(&[prompt, start, summary, &error])), ["failed-compactions"]);
    // A checkpoint before its summary cites what stands before it.
    let early = checkpoint.replace("[1,2,0]", "[1,0]");
    let turned = check_events(&renumbered(&[prompt, start, &early, &error]));
    assert_eq!(codes(&turned), ["replacement-without-summary", "failed-compactions"]);
    assert_eq!(told(&turned, "replacement-without-summary"), (Severity::Warning, Some(2), 1));
}

#[test]
fn boundaries_inside_a_bracket_are_excused_by_a_seed_boundary_alone() {
    let lost = event(1, "compaction/start", r#"{"compactionId":"l","turn":1}"#);
    let open = [turn(0, 1), lost, turn_end(2, 1)];
    let close = event(3, "compaction/end", r#"{"compactionId":"l","turn":1,"error":"late"}"#);
    assert_eq!(
        found(&[open.to_vec(), vec![close]].concat()),
        ["compaction-bracket-crosses-turn", "failed-compactions"]
    );
    let next = event(3, "compaction/start", r#"{"compactionId":"n","turn":null}"#);
    assert_eq!(
        found(&[open.to_vec(), vec![next]].concat()),
        ["compaction-bracket-crosses-turn", "compaction-start-while-open", "orphaned-lock"]
    );
    assert_eq!(found(&[open.to_vec(), vec![event(3, "session/end-seed", "{}")]].concat()), ["expired-lock"]);
    assert_eq!(found(&open), ["orphaned-lock"]);
}

#[test]
fn nothing_is_said_of_a_bracket_whose_parts_were_lost() {
    for lost in 1..=4 {
        let mut log = sound();
        log[lost] = "{".to_owned();
        log.push(user(5, "two"));
        let expected: &[&str] = if lost == 4 { &["orphaned-lock"] } else { &[] };
        let damage = ["unparsable-line", "valid-events-after-damage"];
        assert_eq!(found(&log), [expected, &damage].concat(), "line {lost}");
    }
}
