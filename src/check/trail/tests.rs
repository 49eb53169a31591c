use super::super::testing::event;
use super::*;
use crate::log::{Item, LogReader, Source};

/// The trail of a log of these lines, and what it makes of the last of them.
fn trail(lines: &[String]) -> (Trail, bool) {
    let header = super::super::testing::HEADER;
    let log = format!("{header}\n{}\n", lines.join("\n"));
    let mut reader = LogReader::open(&Source::of_bytes(log.as_bytes())).unwrap();
    let (mut trail, mut is_again) = (Trail::default(), false);
    while reader
        .next(|item| {
            if let Item::Record(record) = item {
                is_again = trail.is_again(&record);
                trail.push(Piece::of(&record));
            }
        })
        .unwrap()
        .is_some()
    {}
    (trail, is_again)
}

#[test]
fn the_past_is_bounded_but_its_figures_are_not() {
    let todo = |seq: u64| event(seq, "todo/write", &format!("{{\"text\":\"{}\"}}", "x".repeat(8000)));
    let lines: Vec<String> = (0..1000).map(todo).chain([event(1000, "step/end", "{}")]).collect();
    let (mut trail, _) = trail(&lines);
    assert!(trail.records.len() < MOST && trail.bytes <= MOST_BYTES);
    let near = trail.split_off(1000);
    assert_eq!((near.lines(), near.is_synthetic()), ((true, vec![(1002, 1002)]), true));
    assert_eq!(near.told(6), ["step/end"]);
    let far = trail.split_off(3);
    assert_eq!((far.lines(), far.is_synthetic(), far.count()), ((true, vec![(5, 1001)]), false, 997));
    assert_eq!((trail.lines(), trail.is_synthetic()), ((true, vec![(2, 4)]), false));
}

#[test]
fn lines_and_seqs_run_apart_at_a_row() {
    let row = r#"{"type":"text-chunks","seq0":1,"time0":1,"data":{"turn":1,"step":1,"index":0,"dt":[1],"texts":["a","b"]}}"#;
    let lines =
        [event(0, "step/end", "{}"), row.to_owned(), event(3, "step/end", "{}"), event(5, "step/end", "{}")];
    let (mut trail, _) = trail(&lines);
    assert_eq!((trail.start_of(2), trail.start_of(3), trail.count()), (1, 3, 4));
    assert_eq!(trail.missing(0, 7).collect::<Vec<_>>(), [(4, 5), (6, 7)]);
    let behind = trail.split_off(3);
    assert_eq!((behind.lines().1, behind.seqs()), (vec![(4, 5)], Some((3, 5))));
    assert!(behind.is_synthetic() && !trail.is_synthetic());
}

#[test]
fn a_record_is_compared_by_what_it_means() {
    let one = event(0, "todo/write", r#"{"a":1,"b":[1.0]}"#);
    for (other, is_again) in [
        (event(0, "todo/write", r#"{ "b": [1], "a": 1 }"#), true),
        (event(0, "todo/write", r#"{"a":2,"b":[1.0]}"#), false),
        (event(0, "plan/mode", r#"{"a":1,"b":[1.0]}"#), false),
        (one.replace("\"time\":0", "\"time\":1"), false),
    ] {
        assert_eq!(trail(&[one.clone(), other.clone()]).1, is_again, "{other}");
    }
}
