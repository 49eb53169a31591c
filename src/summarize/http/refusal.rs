//! What an answer with another status than 200 means, and an error in the middle of a stream.

use super::exchange::Head;
use super::fault::Fault;
use super::key::Key;
use super::retry;
use super::server::Server;
use super::words::{self, Words};

const LATER: &str = "try again later, or raise --retries";

/// The fault of an answer that is none, by its status and body. `body` holds no key any more.
pub(super) fn of_answer(head: Head, body: &str, server: &Server, key: Option<&Key>) -> Fault {
    let words = words::of_body(body.as_bytes()).message;
    let shown = words::shown(&words);
    let place = &server.place;
    let message = match shown.as_str() {
        "" => format!("{place} answers with status {}", head.status),
        shown => format!("{place} answers with status {}: {shown}", head.status),
    };
    if retry::may_pass(head.status) {
        return Fault::Passing { message, help: LATER, wait: head.wait };
    }
    let help = match (head.status, key) {
        (300..=399, _) => {
            "the server sends elsewhere, and dshc does not follow with a key: check --base-url".into()
        }
        (401 | 403, Some(key)) => format!("check the key in the environment variable {}", key.variable()),
        (401 | 403, None) => {
            "name the environment variable that holds the server's key with --api-key-env".into()
        }
        (402, _) => "the account has no balance left".into(),
        (404 | 405, _) => format!("check --model and --base-url: the request went to {}", server.endpoint),
        (413, _) => "say --summarizer-window, so that the region is put to the model in parts".into(),
        (400 | 422, _) => {
            let help =
                "check --model, --max-tokens and --summarizer-window against what the server says".into();
            return Fault::Refused { message, help, words };
        }
        _ => "check --base-url and --model".into(),
    };
    Fault::Lasting { message, help }
}

/// The fault of an error that a stream told: passing, unless its status or its kind says that the request is at fault.
pub(super) fn of_stream(words: &Words) -> Fault {
    let shown = words::shown(&words.message);
    let message = format!("the server broke the answer off: {shown}");
    let is_ours = match (words.status, words.kind.as_deref()) {
        (Some(status), _) => !retry::may_pass(status),
        (None, Some(kind)) => matches!(
            kind,
            "invalid_request_error"
                | "authentication_error"
                | "billing_error"
                | "permission_error"
                | "not_found_error"
                | "request_too_large"
                | "exceed_context_size_error"
        ),
        (None, None) => false,
    };
    if is_ours {
        Fault::lasting(
            message,
            "check --model, --max-tokens and --summarizer-window against what the server says",
        )
    } else {
        Fault::Passing { message, help: LATER, wait: None }
    }
}

#[cfg(test)]
mod tests {
    use super::super::server::Dialect;
    use super::*;
    use std::time::Duration;

    fn answer(status: u16, body: &str) -> Fault {
        let server = Server::find(Dialect::OpenAi, None).unwrap();
        let head = Head { status, wait: Some(Duration::from_secs(2)) };
        of_answer(head, body, &server, Key::new("THE_KEY", "sk-1").as_ref())
    }

    #[test]
    fn a_status_says_what_to_do() {
        for (status, expected) in [
            (307, "--base-url"),
            (401, "THE_KEY"),
            (403, "THE_KEY"),
            (402, "balance"),
            (404, "https://api.deepseek.com/chat/completions"),
            (413, "--summarizer-window"),
            (418, "--model"),
        ] {
            let Fault::Lasting { message, help } = answer(status, r#"{"error":{"message":"so it is"}}"#)
            else {
                panic!("{status}")
            };
            assert_eq!(message, format!("api.deepseek.com answers with status {status}: so it is"));
            assert!(help.contains(expected), "{status}: {help}");
        }
        assert!(matches!(answer(400, "no"), Fault::Refused { words, .. } if words == "no"));
        let Fault::Passing { message, wait, .. } = answer(429, "") else { panic!() };
        assert_eq!(
            (message.as_str(), wait),
            ("api.deepseek.com answers with status 429", Some(Duration::from_secs(2)))
        );
    }

    #[test]
    fn an_error_in_a_stream_passes_unless_it_is_the_requests() {
        let fault = |kind: Option<&str>, status| {
            of_stream(&Words { message: "m".into(), kind: kind.map(str::to_owned), status })
        };
        for (kind, status) in [
            (None, None),
            (Some("overloaded_error"), None),
            (Some("x"), Some(503)),
            (Some("invalid_request_error"), Some(500)),
        ] {
            assert!(matches!(fault(kind, status), Fault::Passing { .. }), "{kind:?} {status:?}");
        }
        for (kind, status) in [
            (Some("invalid_request_error"), None),
            (None, Some(400)),
            (Some("exceed_context_size_error"), None),
        ] {
            assert!(matches!(fault(kind, status), Fault::Lasting { .. }), "{kind:?} {status:?}");
        }
    }
}
