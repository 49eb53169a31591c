//! Servers that keep a caller waiting, that only think, and that send elsewhere: what the mock cannot do.

use super::bench::{Bench, DIALECTS};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

const HEAD: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";

/// What a server does once it has read a request and written what it has to say.
#[derive(Clone, Copy)]
enum Then {
    Hang,
    Close,
    /// Writes a byte of a comment from time to time.
    Drip,
}

/// A server that says `wire` to everyone; its address. It ends with the test.
fn serve(wire: String, then: Then) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/v1", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for connection in listener.incoming() {
            let wire = wire.clone();
            std::thread::spawn(move || attend(&connection.unwrap(), &wire, then));
        }
    });
    address
}

fn attend(mut connection: &TcpStream, wire: &str, then: Then) {
    let mut reader = BufReader::new(connection);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") && reader.read_line(&mut head).unwrap() > 0 {}
    let length =
        head.to_lowercase().lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
    reader.read_exact(&mut vec![0; length.unwrap()]).unwrap();
    connection.write_all(wire.as_bytes()).unwrap();
    match then {
        Then::Close => {}
        // Until the other side has gone.
        Then::Hang => drop(connection.read(&mut [0])),
        Then::Drip => {
            connection.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
            // The time-out of a read that brings nothing is the pause between two bytes.
            while connection.read(&mut [0]).is_err() && connection.write_all(b":").is_ok() {}
        }
    }
}

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
