//! Servers that keep a caller waiting, never end, only think, and send elsewhere: what the mock cannot do.

use super::bench::{Bench, DIALECTS};
use super::wire::{HEAD, Then, serve};
use std::net::TcpListener;

#[test]
fn silence_after_the_headers_ends() {
    for dialect in DIALECTS {
        let url = serve(HEAD.into(), Then::Hang);
        let more = ["--idle-timeout", "0.3", "--retries", "0"];
        Bench::new().fails(dialect, &url, &more, "nothing came for 0.3 s");
    }
}

#[test]
fn silence_before_the_headers_ends() {
    let url = serve(String::new(), Then::Hang);
    let more = ["--idle-timeout", "0.3", "--retries", "0"];
    Bench::new().fails("openai", &url, &more, "nothing came for 0.3 s");
}

#[test]
fn single_bytes_are_life_but_no_answer() {
    for dialect in DIALECTS {
        let url = serve(HEAD.into(), Then::Drip);
        let more = ["--idle-timeout", "10", "--timeout", "0.8"];
        Bench::new().fails(dialect, &url, &more, "no whole answer came within 0.8 s");
    }
}

#[test]
fn an_answer_without_end_is_cut_off() {
    let chat = "data: {\"choices\":[{\"delta\":{\"content\":\"and so on, \"}}]}\n\n";
    let message = "data: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"text_delta\",\"text\":\"and so on, \"}}\n\n";
    for (dialect, event) in DIALECTS.into_iter().zip([chat, message]) {
        let url = serve(HEAD.into(), Then::Flood(event));
        Bench::new().fails(dialect, &url, &["--max-tokens", "100"], "far beyond --max-tokens");
    }
    let url = serve(HEAD.into(), Then::Flood("and so on, "));
    Bench::new().fails("openai", &url, &[], "a line without end");
}

#[test]
fn thinking_alone_is_no_summary() {
    let chat = r#"data: {"choices":[{"delta":{"reasoning_content":"let me think"},"finish_reason":"stop"}]}

data: [DONE]

"#;
    let message = r#"data: {"type":"content_block_delta","delta":{"type":"thinking_delta","thinking":"let me think"}}

data: {"type":"message_delta","delta":{"stop_reason":"end_turn"}}

data: {"type":"message_stop"}

"#;
    for (dialect, events) in DIALECTS.into_iter().zip([chat, message]) {
        let url = serve(format!("{HEAD}{events}"), Then::Close);
        Bench::new().fails(dialect, &url, &[], "thought and said nothing");
    }
}

#[test]
fn a_key_is_not_carried_elsewhere() {
    let elsewhere = TcpListener::bind("127.0.0.1:0").unwrap();
    elsewhere.set_nonblocking(true).unwrap();
    let address = elsewhere.local_addr().unwrap();
    let head = format!("HTTP/1.1 307 There\r\nlocation: http://{address}/v1\r\ncontent-length: 0\r\n\r\n");
    for dialect in DIALECTS {
        Bench::new().fails(dialect, &serve(head.clone(), Then::Close), &[], "status 307");
    }
    assert!(elsewhere.accept().is_err(), "nobody came");
}
