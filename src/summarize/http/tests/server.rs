//! A server that answers each connection with the next of the texts that it was given.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread::JoinHandle;

/// An answer as it goes over the wire, and whether the connection then stays open, in silence.
pub(super) struct Answer {
    pub(super) wire: String,
    pub(super) is_held: bool,
}

/// An answer with this status line and these further headers, ended by the end of the connection.
pub(super) fn answer(status: &str, headers: &str, body: &str) -> Answer {
    let wire = format!("HTTP/1.1 {status}\r\nconnection: close\r\n{headers}\r\n{body}");
    Answer { wire, is_held: false }
}

/// A stream of events that hold this data.
pub(super) fn stream(events: &[&str]) -> Answer {
    let body: Vec<_> = events.iter().map(|event| format!("data: {event}\n\n")).collect();
    answer("200 OK", "content-type: text/event-stream\r\n", &body.concat())
}

/// A whole chat that says `text`.
pub(super) fn chat(text: &str) -> Answer {
    let chunk = format!(r#"{{"choices":[{{"delta":{{"content":"{text}"}},"finish_reason":"stop"}}]}}"#);
    stream(&[&chunk, "[DONE]"])
}

/// Where the server listens, and the requests that it got once it has given all answers.
pub(super) fn serve(answers: Vec<Answer>) -> (String, JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/v1", listener.local_addr().unwrap());
    let serve = move || answers.iter().map(|answer| give(&listener, answer)).collect();
    (address, std::thread::spawn(serve))
}

fn give(listener: &TcpListener, answer: &Answer) -> String {
    let (mut connection, _) = listener.accept().unwrap();
    let request = request(&connection);
    connection.write_all(answer.wire.as_bytes()).unwrap();
    if answer.is_held {
        // Until the other side has gone.
        let _ = connection.read(&mut [0]);
    }
    request
}

fn request(connection: &TcpStream) -> String {
    let mut reader = BufReader::new(connection);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        assert_ne!(reader.read_line(&mut head).unwrap(), 0, "{head}");
    }
    let length = head
        .to_ascii_lowercase()
        .lines()
        .find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
    let mut body = vec![0; length.unwrap()];
    reader.read_exact(&mut body).unwrap();
    head + std::str::from_utf8(&body).unwrap()
}
