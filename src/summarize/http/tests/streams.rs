//! What the dialects make of a stream.

use super::super::draft::Draft;
use super::super::fault::Fault;
use super::super::{anthropic, openai, sse};
use crate::summarize::{Answer, Usage};

type Take = fn(&str, &mut Draft) -> Result<bool, Fault>;

/// The answer in a stream of these events.
fn read(take: Take, events: &[&str]) -> Result<Answer, Fault> {
    let mut reader = sse::Reader::default();
    let mut draft = Draft::new(1_000);
    let mut data = Vec::new();
    for event in events {
        reader.push(format!("event: x\ndata: {event}\n\n: keep-alive\n\n").as_bytes(), &mut data).unwrap();
    }
    for event in data {
        if take(&event, &mut draft)? {
            return draft.finish();
        }
    }
    Err(Fault::broken("no end"))
}

fn message(done: Result<Answer, Fault>) -> String {
    match done {
        Err(Fault::Lasting { message, .. }) => format!("lasting: {message}"),
        Err(Fault::Passing { message, .. }) => format!("passing: {message}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn chunks_of_a_chat_make_an_answer() {
    let answer = read(
        openai::take,
        &[
            r#"{"id":"c","choices":[{"index":0,"delta":{"role":"assistant","content":null,"reasoning_content":"let me"},"finish_reason":null}],"usage":null}"#,
            r#"{"choices":[{"index":0,"delta":{"content":"Half \ud83d"}}],"new":{"deep":[1]}}"#,
            r#"{"choices":[{"index":1,"delta":{"content":"another answer"}}]}"#,
            r#"{"choices":[{"index":0,"delta":{"content":"\ude00, then \udc00."},"logprobs":null,"finish_reason":null}]}"#,
            r#"{"choices":[{"index":0,"delta":{"content":"","tool_calls":[]},"finish_reason":"stop"}]}"#,
            r#"{"choices":[],"usage":{"prompt_tokens":70,"completion_tokens":12,"total_tokens":82,"completion_tokens_details":{"reasoning_tokens":3}}}"#,
            "[DONE]",
        ],
    );
    let usage = Some(Usage { input_tokens: 70, output_tokens: 12 });
    assert_eq!(answer, Ok(Answer { text: "Half 😀, then \u{fffd}.".into(), usage }));
}

#[test]
fn what_ends_a_chat_otherwise_is_no_answer() {
    let said = r#"{"choices":[{"delta":{"content":"text"}}]}"#;
    for (last, expected) in [
        (
            r#"{"choices":[{"delta":{},"finish_reason":"length"}]}"#,
            "lasting: the answer was cut off at --max-tokens",
        ),
        (r#"{"choices":[{"delta":{},"finish_reason":"content_filter"}]}"#, "lasting: the model refused"),
        (r#"{"choices":[{"delta":{"refusal":"I will not"},"finish_reason":"stop"}]}"#, "I will not"),
        (
            r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"name":"read","arguments":""}}]}}]}"#,
            "lasting: the model called a tool",
        ),
        (r#"{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}"#, "lasting: the model called a tool"),
        (
            r#"{"choices":[{"delta":{},"finish_reason":"insufficient_system_resource"}]}"#,
            "passing: the server broke the answer off",
        ),
        (r#"{"choices":[{"delta":{},"finish_reason":"sulking"}]}"#, "\"sulking\""),
        (
            r#"{"error":{"message":"slots are full","type":"unavailable_error","code":503}}"#,
            "passing: the server broke the answer off: slots are full",
        ),
        (
            r#"{"error":{"message":"too long","type":"exceed_context_size_error","code":400}}"#,
            "lasting: the server broke the answer off: too long",
        ),
        (r#"{"error":"gone"}"#, "passing: the server broke the answer off: gone"),
        (r#"{"choices":[{"delta":{"content":"te"#, "passing: the stream holds an event that is no JSON"),
        (
            r#"{"object":"error","message":"out of memory","code":500}"#,
            "passing: the answer ended before its end mark",
        ),
        ("overloaded", "passing: the stream holds an event that is no JSON"),
    ] {
        let message = message(read(openai::take, &[said, last, "[DONE]"]));
        assert!(message.contains(expected), "{last}: {message}");
    }
}

#[test]
fn a_member_of_another_kind_says_nothing() {
    let chunk = r#"{"choices":[{"delta":{"content":[{"type":"text"}],"reasoning":{"x":1}},"finish_reason":"stop"}],"usage":{"prompt_tokens":"7"}}"#;
    assert!(message(read(openai::take, &[chunk, "[DONE]"])).contains("empty text"));
}

const BEGIN: &str = r#"{"type":"message_start","message":{"id":"m","usage":{"input_tokens":20,"cache_creation_input_tokens":5,"cache_read_input_tokens":100,"output_tokens":1}}}"#;
const END: &str = r#"{"type":"message_stop"}"#;

#[test]
fn events_of_a_message_make_an_answer() {
    let answer = read(
        anthropic::take,
        &[
            BEGIN,
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"let me see"}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"s"}}"#,
            r#"{"type":"content_block_stop","index":0}"#,
            r#"{"type":"ping"}"#,
            r#"{"type":"content_block_start","index":1,"content_block":{"type":"text","text":"A "}}"#,
            r#"{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"summary"}}"#,
            r#"{"type":"something_new","delta":{}}"#,
            r#"{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":40}}"#,
            END,
        ],
    );
    let usage = Some(Usage { input_tokens: 125, output_tokens: 40 });
    assert_eq!(answer, Ok(Answer { text: "A summary".into(), usage }));
}

#[test]
fn what_ends_a_message_otherwise_is_no_answer() {
    let said = r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"text"}}"#;
    for (last, expected) in [
        (
            r#"{"type":"message_delta","delta":{"stop_reason":"max_tokens"}}"#,
            "lasting: the answer was cut off at --max-tokens",
        ),
        (r#"{"type":"message_delta","delta":{"stop_reason":"refusal"}}"#, "lasting: the model refused"),
        (
            r#"{"type":"message_delta","delta":{"stop_reason":"model_context_window_exceeded"}}"#,
            "context window",
        ),
        (
            r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"}}"#,
            "lasting: the model called a tool",
        ),
        (r#"{"type":"message_delta","delta":{"stop_reason":"pause_turn"}}"#, "\"pause_turn\""),
        (
            r#"{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t","name":"read","input":{}}}"#,
            "lasting: the model called a tool",
        ),
        (
            r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
            "passing: the server broke the answer off: Overloaded",
        ),
        (
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"bad"}}"#,
            "lasting: the server broke the answer off: bad",
        ),
        (r#"{"type":"error"}"#, "passing: the server broke the answer off"),
        (r#"{"type":"content_block"#, "passing: the stream holds an event that is no JSON"),
        (END, "passing: the answer ended before its end mark"),
    ] {
        let message = message(read(anthropic::take, &[BEGIN, said, last, END]));
        assert!(message.contains(expected), "{last}: {message}");
    }
}
