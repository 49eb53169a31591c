//! Whole calls.

use super::server::{Answer, answer, chat, serve, stream};
use crate::summarize::{
    Dialect, Key, Limits, Model, Prompt, Remote, Server, SummarizeError, Unwatched, Watch,
};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const SECRET: &str = "sk-very-secret";
const AT_ONCE: &str = "retry-after-ms: 1\r\n";

fn remote(dialect: Dialect, address: &str, retries: u32) -> Remote {
    let server = Server::find(dialect, Some(address)).unwrap();
    let limits = Limits { total: Duration::from_mins(1), idle: Duration::from_secs(30), retries };
    Remote::new(server, Key::new("THE_KEY", SECRET), "the-model".into(), 100, limits)
}

fn prompt() -> Prompt {
    Prompt { instructions: "Sum it up.".into(), text: "[1] \"hello\"".into() }
}

/// Asks a server that gives these answers: what came of it, and the requests.
fn ask(
    dialect: Dialect,
    retries: u32,
    answers: Vec<Answer>,
) -> (Result<String, SummarizeError>, Vec<String>) {
    let (address, server) = serve(answers);
    let done = remote(dialect, &address, retries).ask(&prompt(), &Unwatched);
    (done.map(|answer| answer.text), server.join().unwrap())
}

fn failure(done: Result<String, SummarizeError>) -> (String, String) {
    match done {
        Err(SummarizeError::Failed { message, help }) => (message, help),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_request_is_what_the_dialect_wants() {
    let (done, requests) = ask(Dialect::OpenAi, 0, vec![chat("a summary")]);
    assert_eq!(done, Ok("a summary".into()));
    let (head, body) = requests[0].split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("POST /v1/chat/completions HTTP/1.1\r\n"), "{head}");
    assert!(head.to_lowercase().contains("authorization: bearer sk-very-secret"), "{head}");
    assert_eq!(
        body,
        r#"{"model":"the-model","messages":[{"role":"system","content":"Sum it up."},{"role":"user","content":"[1] \"hello\""}],"stream":true,"stream_options":{"include_usage":true},"max_tokens":100}"#
    );

    let events = [
        r#"{"type":"content_block_delta","delta":{"type":"text_delta","text":"a summary"}}"#,
        r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"}}"#,
        r#"{"type":"message_stop"}"#,
    ];
    let (done, requests) = ask(Dialect::Anthropic, 0, vec![stream(&events)]);
    assert_eq!(done, Ok("a summary".into()));
    let (head, body) = requests[0].split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("POST /v1/messages HTTP/1.1\r\n"), "{head}");
    let head = head.to_lowercase();
    assert!(
        head.contains("x-api-key: sk-very-secret") && head.contains("anthropic-version: 2023-06-01"),
        "{head}"
    );
    assert_eq!(
        body,
        r#"{"model":"the-model","max_tokens":100,"system":"Sum it up.","messages":[{"role":"user","content":"[1] \"hello\""}],"stream":true}"#
    );
}

#[test]
fn what_may_pass_is_tried_again() {
    for status in
        ["408 Request Timeout", "409 Conflict", "429 Too Many Requests", "500 Oops", "529 Overloaded"]
    {
        let (done, requests) = ask(Dialect::OpenAi, 1, vec![answer(status, AT_ONCE, ""), chat("a summary")]);
        assert_eq!(done, Ok("a summary".into()), "{status}");
        assert_eq!(requests.len(), 2);
    }
    let broken = [
        stream(&[r#"{"choices":[{"delta":{"content":"half"}}]}"#]),
        stream(&[r#"{"choices":[{"del"#]),
        answer("200 OK", "content-length: 1000\r\n", "data: {}\n\n"),
        answer("200 OK", "", ""),
        answer("200 OK", "", "overloaded"),
    ];
    for first in broken {
        let wire = first.wire.clone();
        let (done, _) = ask(Dialect::OpenAi, 1, vec![first, chat("a summary")]);
        assert_eq!(done, Ok("a summary".into()), "{wire}");
    }
}

#[test]
fn trying_again_has_an_end() {
    let busy = || answer("503 Busy", AT_ONCE, r#"{"error":{"message":"come back"}}"#);
    let (done, requests) = ask(Dialect::OpenAi, 2, vec![busy(), busy(), busy()]);
    assert_eq!(requests.len(), 3);
    let (message, help) = failure(done);
    assert!(message.contains("status 503: come back (asked 3 times)"), "{message}");
    assert!(help.contains("--retries"), "{help}");
}

#[test]
fn a_wait_past_the_deadline_fails_at_once() {
    let (done, _) = ask(Dialect::OpenAi, 3, vec![answer("429 No", "retry-after: 120\r\n", "")]);
    let (message, _) = failure(done);
    assert!(message.contains("429") && message.contains("120.0 s would pass --timeout"), "{message}");
}

#[test]
fn what_lasts_is_told_at_once_without_the_key() {
    for (status, help_part) in [
        ("401 No", "THE_KEY"),
        ("404 No", "--model"),
        ("307 There\r\nlocation: http://127.0.0.1:1/", "--base-url"),
    ] {
        let body = format!(r#"{{"error":{{"message":"no: {SECRET} will not do"}}}}"#);
        let (done, requests) = ask(Dialect::OpenAi, 3, vec![answer(status, "", &body)]);
        assert_eq!(requests.len(), 1, "{status}");
        let (message, help) = failure(done);
        assert!(message.contains("no: [key] will not do"), "{message}");
        assert!(help.contains(help_part) && !help.contains(SECRET), "{help}");
    }
    let event = format!(r#"{{"error":{{"message":"{SECRET}","code":400}}}}"#);
    let (message, _) = failure(ask(Dialect::OpenAi, 3, vec![stream(&[&event])]).0);
    assert!(message.ends_with("[key]"), "{message}");
}

#[test]
fn no_part_of_a_key_is_told_and_none_stands_in_an_answer() {
    // The message is cut in the middle of the key.
    let event = format!("{}{SECRET}", "x".repeat(295));
    let (message, _) = failure(ask(Dialect::OpenAi, 0, vec![stream(&[&event])]).0);
    assert!(message.contains("no JSON") && !message.contains("sk-"), "{message}");
    let (begin, end) = SECRET.split_at(5);
    let chunk = |text: &str| format!(r#"{{"choices":[{{"delta":{{"content":"{text}"}}}}]}}"#);
    let stop = r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#;
    let echo = stream(&[&chunk(begin), &chunk(end), &chunk(SECRET), stop]);
    assert_eq!(ask(Dialect::OpenAi, 0, vec![echo]).0, Ok("[key][key]".into()));
}

#[test]
fn a_refused_member_is_left_out_and_stays_out() {
    let no = |words: &str| answer("400 No", "", &format!(r#"{{"error":{{"message":"{words}"}}}}"#));
    let (address, server) = serve(vec![
        no("Unsupported parameter: 'max_tokens', use 'max_completion_tokens'"),
        no("stream_options is not known"),
        chat("one"),
        chat("two"),
    ]);
    let remote = remote(Dialect::OpenAi, &address, 0);
    for text in ["one", "two"] {
        assert_eq!(remote.ask(&prompt(), &Unwatched).unwrap().text, text);
    }
    let requests = server.join().unwrap();
    assert!(
        requests[1].contains(r#""max_completion_tokens":100"#) && !requests[1].contains(r#""max_tokens""#)
    );
    assert!(requests[2].ends_with(&requests[3][requests[3].find("\r\n\r\n").unwrap()..]));
    assert!(!requests[2].contains("stream_options"));
    let (message, help) = failure(ask(Dialect::OpenAi, 3, vec![no("too long")]).0);
    assert!(message.contains("400: too long") && help.contains("--summarizer-window"), "{message} {help}");
}

#[test]
fn a_stream_that_is_held_open_after_its_end_is_whole() {
    let mut held = chat("a summary");
    held.is_held = true;
    let (address, _) = serve(vec![held]);
    let answer = remote(Dialect::OpenAi, &address, 0).ask(&prompt(), &Unwatched);
    assert_eq!(answer.unwrap().text, "a summary");

    let chunk = r#"{"choices":[{"delta":{"content":"a summary"},"finish_reason":"stop"}]}"#;
    for is_idle in [true, false] {
        let (address, _) = serve(vec![Answer { is_held: true, ..stream(&[chunk]) }]);
        let mut remote = remote(Dialect::OpenAi, &address, 0);
        let soon = Duration::from_millis(500);
        *(if is_idle { &mut remote.limits.idle } else { &mut remote.limits.total }) = soon;
        assert_eq!(remote.ask(&prompt(), &Unwatched).unwrap().text, "a summary", "{is_idle}");
    }
}

#[test]
fn a_chat_may_end_without_its_last_event_once_it_says_why() {
    let chunk = r#"{"choices":[{"delta":{"content":"a summary"},"finish_reason":"stop"}]}"#;
    assert_eq!(ask(Dialect::OpenAi, 0, vec![stream(&[chunk])]).0, Ok("a summary".into()));
    let message = r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"}}"#;
    let (message, _) = failure(ask(Dialect::Anthropic, 0, vec![stream(&[message])]).0);
    assert!(message.contains("before its end mark"), "{message}");
}

#[test]
fn nobody_is_there() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/v1", listener.local_addr().unwrap());
    drop(listener);
    let done = remote(Dialect::OpenAi, &address, 0).ask(&prompt(), &Unwatched);
    let (message, help) = failure(done.map(|answer| answer.text));
    assert!(message.contains("no connection") && help.contains("running"), "{message} {help}");
}

/// Stops the call once something came in, and keeps what it was told.
#[derive(Default)]
struct Witness {
    stages: Mutex<Vec<String>>,
    received: Mutex<Vec<u64>>,
    stops: bool,
    has_come: AtomicBool,
}

impl Watch for Witness {
    fn stage(&self, stage: &str) {
        self.stages.lock().unwrap().push(stage.to_owned());
    }

    fn received(&self, tokens: u64) {
        self.received.lock().unwrap().push(tokens);
        self.has_come.store(true, Ordering::Relaxed);
    }

    fn is_cancelled(&self) -> bool {
        self.stops && self.has_come.load(Ordering::Relaxed)
    }
}

#[test]
fn whoever_watches_is_told() {
    let (address, server) = serve(vec![answer("429 No", AT_ONCE, "slow down"), chat("a summary!!!")]);
    let witness = Witness::default();
    remote(Dialect::OpenAi, &address, 1).ask(&prompt(), &witness).unwrap();
    server.join().unwrap();
    let stages = witness.stages.into_inner().unwrap();
    assert_eq!(stages.len(), 3, "{stages:?}");
    assert_eq!((stages[0].as_str(), stages[2].as_str()), ("asking the-model", "asking the-model"));
    assert!(
        stages[1].starts_with("trying again in 0.0 s (") && stages[1].ends_with("429: slow down)"),
        "{stages:?}"
    );
}

#[test]
fn a_call_stops_whatever_the_server_does() {
    let mut silent = stream(&[r#"{"choices":[{"delta":{"content":"a beginning"}}]}"#]);
    silent.is_held = true;
    let (address, _) = serve(vec![silent]);
    let witness = Witness { stops: true, ..Witness::default() };
    let remote = remote(Dialect::OpenAi, &address, 3);
    assert_eq!(remote.ask(&prompt(), &witness).unwrap_err(), SummarizeError::Cancelled);
    assert_eq!(witness.received.into_inner().unwrap(), [2]);
}
