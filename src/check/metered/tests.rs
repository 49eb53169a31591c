use crate::check::testing::{check_events, codes, event, marked, user};

const HEADER: &str = r#"{"header":{"config":{"provider":"p","model":"m"}},"reason":"initial"}"#;

fn delta(seq: u64, chunk: &str) -> String {
    event(seq, "assistant/chunk", &format!(r#"{{"turn":1,"step":1,"chunk":{chunk}}}"#))
}

fn answer(seq: u64, content: &str, usage: &str, sources: &str) -> String {
    let data = format!(
        r#"{{"turn":1,"step":1,"message":{{"id":"a","role":"assistant","content":[{content}],"source":{{"kind":"model","provider":"p","model":"m"}}}}{usage}}}"#
    );
    marked(seq, "assistant/message", &data, r#""append""#, &format!(r#","sourceEventSeqs":{sources}"#))
}

const TEXT: &str = r#"{"type":"text-delta","index":0,"text":"x"}"#;
const USAGE: &str = r#","usage":{"inputTokens":1,"outputTokens":1}"#;

fn found(lines: &[String]) -> Vec<&'static str> {
    codes(&check_events(lines))
}

#[test]
fn an_answer_with_usage_cites_the_deltas_of_its_step() {
    let log = |usage: &str, sources: &str| {
        let row = r#"{"type":"text-chunks","seq0":3,"time0":1,"data":{"turn":1,"step":1,"index":0,"dt":[1],"texts":["a","b"]}}"#;
        vec![
            event(0, "request/header", HEADER),
            user(1, "one"),
            delta(2, TEXT),
            row.to_owned(),
            answer(5, "", usage, sources),
        ]
    };
    assert_eq!(found(&log(USAGE, "[2,3,4]")), [""; 0]);
    assert_eq!(found(&log(USAGE, "[]")), [""; 0]);
    assert_eq!(found(&log(USAGE, "[1,2]")), ["chunk-citation"]);
    assert_eq!(found(&log("", "[1,2]")), [""; 0], "without usage nothing is put together again");
    let mut other = log(USAGE, "[2,3,4]");
    other[4] = other[4].replace(r#""step":1"#, r#""step":2"#);
    assert_eq!(found(&other), ["chunk-citation"]);
    let mut unasked = log(USAGE, "[1,2]");
    unasked[0] = user(0, "zero");
    assert_eq!(found(&unasked), [""; 0], "before any request nothing is");
}

#[test]
fn a_cited_delta_is_whole() {
    let log = |chunk: &str| {
        found(&[event(0, "request/header", HEADER), delta(1, chunk), answer(2, "", USAGE, "[1]")])
    };
    for chunk in [
        TEXT,
        r#"{"type":"usage","usage":{"inputTokens":1,"outputTokens":1}}"#,
        r#"{"type":"block-end","index":0,"block":{"type":"text","text":""}}"#,
    ] {
        assert_eq!(log(chunk), [""; 0], "{chunk}");
    }
    for chunk in [
        "1",
        r#"{"type":"tool/result"}"#,
        r#"{"type":"block-end","index":0}"#,
        r#"{"type":"block-end","index":0,"block":{"type":"text"}}"#,
        r#"{"type":"block-start","index":0,"blockType":"image"}"#,
    ] {
        assert_eq!(log(chunk), ["chunk-shape"], "{chunk}");
    }
}

#[test]
fn an_event_without_its_chunk_needs_no_answer() {
    for chunk in [r#""other":1"#, r#""chunk":null"#] {
        let data = format!(r#"{{"turn":1,"step":1,{chunk}}}"#);
        assert_eq!(found(&[event(0, "assistant/chunk", &data)]), ["chunk-shape"], "{chunk}");
    }
    assert_eq!(found(&[delta(0, "5")]), [""; 0]);
}

#[test]
fn a_block_of_another_type_is_whole_when_it_ends() {
    let log = |index: u64| {
        let start = r#"{"type":"block-start","index":0,"blockType":"image"}"#;
        let end = format!(r#"{{"type":"block-end","index":{index},"block":{{"type":"image"}}}}"#);
        let (start, end) = (delta(1, start), delta(2, &end));
        found(&[event(0, "request/header", HEADER), start, end, answer(3, "", USAGE, "[1,2]")])
    };
    assert_eq!(log(0), [""; 0]);
    assert_eq!(log(1), ["chunk-shape"]);
}

#[test]
fn blocks_have_the_texts_that_are_counted() {
    let log = |content: &str| found(&[answer(0, content, "", "[]")]);
    assert_eq!(log(r#"{"type":"text","text":""}"#), [""; 0]);
    assert!(log(r#"{"type":"text"}"#).contains(&"block-unpriced"));
    let header = HEADER.replace("},\"reason", ",\"tools\":null},\"reason");
    assert_eq!(found(&[event(0, "request/header", &header)]), ["header-unpriced"]);
}
