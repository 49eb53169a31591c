//! What each known server is sent.

use super::super::terms::{Switch, Terms};
use super::super::{anthropic, openai};
use crate::summarize::{Dialect, Prompt, Server};

/// The members of a body behind the prompt.
fn members(dialect: Dialect, address: &str, change: impl Fn(Terms) -> Terms) -> String {
    let prompt = Prompt { instructions: "I".into(), text: "half \u{fffd}".into() };
    let terms = change(Server::find(dialect, Some(address)).unwrap().terms());
    let word = match dialect {
        Dialect::OpenAi => openai::body,
        Dialect::Anthropic => anthropic::body,
    };
    let body = word("m", &prompt, 100, terms).unwrap();
    body.split_once("}],").unwrap().1.to_owned()
}

#[test]
fn each_server_is_told_in_its_own_way_not_to_think() {
    let usage = r#""stream":true,"stream_options":{"include_usage":true},"#;
    for (address, expected) in [
        ("deepseek", r#""max_tokens":100,"thinking":{"type":"disabled"}}"#),
        ("openai", r#""max_completion_tokens":100,"reasoning_effort":"none"}"#),
        ("ollama", r#""max_tokens":100,"reasoning_effort":"none"}"#),
        ("llama.cpp", r#""max_tokens":100,"chat_template_kwargs":{"enable_thinking":false}}"#),
        ("vllm", r#""max_tokens":100,"chat_template_kwargs":{"enable_thinking":false}}"#),
        ("http://127.0.0.1:9/v1", r#""max_tokens":100}"#),
    ] {
        assert_eq!(
            members(Dialect::OpenAi, address, |terms| terms),
            format!("{usage}{expected}"),
            "{address}"
        );
    }
    let message = members(Dialect::Anthropic, "anthropic", |terms| terms);
    assert_eq!(message, r#""stream":true,"thinking":{"type":"disabled"}}"#);
}

#[test]
fn a_model_that_cannot_but_think_has_room_for_it() {
    let refused = |terms| Terms { switch: Switch::Refused, ..terms };
    let chat = members(Dialect::OpenAi, "openai", refused);
    assert!(chat.ends_with(r#""max_completion_tokens":8292}"#), "{chat}");
    let terms = Server::find(Dialect::Anthropic, None).unwrap().terms();
    let prompt = Prompt { instructions: String::new(), text: String::new() };
    let message = anthropic::body("m", &prompt, 100, refused(terms)).unwrap();
    assert!(message.contains(r#""max_tokens":8292"#) && !message.contains("thinking"), "{message}");
}
