//! A server that puts on the wire what it is told to.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

/// The head of an answer that streams events.
pub const HEAD: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";

/// What a server does once it has read a request and written what it has to say.
#[derive(Clone, Copy)]
pub enum Then {
    /// Stays, in silence.
    Hang,
    Close,
    /// Writes a byte of a comment from time to time.
    Drip,
    /// Writes this without end.
    Flood(&'static str),
}

/// A server that says `wire` to everyone; its address. It ends with the test.
pub fn serve(wire: String, then: Then) -> String {
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
        Then::Flood(text) => while connection.write_all(text.as_bytes()).is_ok() {},
        Then::Drip => {
            connection.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
            // The time-out of a read that brings nothing is the pause between two bytes.
            while connection.read(&mut [0]).is_err() && connection.write_all(b":").is_ok() {}
        }
    }
}
