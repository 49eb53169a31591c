//! The servers that are known by name: where they are, and what each wants to be told.

use super::server::Dialect;
use super::terms::{Cap, Switch};

/// What is known of a server.
#[derive(Debug)]
pub(super) struct Preset {
    /// The name that `--base-url` takes, and that the log names.
    pub(super) name: &'static str,
    pub(super) dialect: Dialect,
    pub(super) base: &'static str,
    /// The variable that its own documents put the key in; local servers want none.
    pub(super) key: Option<&'static str>,
    /// The model that its own documents take where nothing else is said.
    pub(super) model: Option<&'static str>,
    pub(super) switch: Switch,
    pub(super) cap: Cap,
    /// Whether the address tells which server it is. A port that many use does not.
    pub(super) is_telling: bool,
}

/// A server of one's own, at a port that others use too.
const OWN: Preset = Preset {
    name: "",
    dialect: Dialect::OpenAi,
    base: "",
    key: None,
    model: None,
    switch: Switch::Template,
    cap: Cap::Tokens,
    is_telling: false,
};

/// The first of a dialect is the one that is asked where nothing is said.
pub(super) const PRESETS: [Preset; 7] = [
    Preset {
        name: "deepseek",
        dialect: Dialect::OpenAi,
        base: "https://api.deepseek.com",
        key: Some("DEEPSEEK_API_KEY"),
        model: Some("deepseek-flash"),
        switch: Switch::Thinking,
        cap: Cap::Tokens,
        is_telling: true,
    },
    Preset {
        name: "openai",
        dialect: Dialect::OpenAi,
        base: "https://api.openai.com/v1",
        key: Some("OPENAI_API_KEY"),
        model: None,
        switch: Switch::Effort,
        cap: Cap::CompletionTokens,
        is_telling: true,
    },
    Preset {
        name: "ollama",
        dialect: Dialect::OpenAi,
        base: "http://127.0.0.1:11434/v1",
        key: None,
        model: None,
        switch: Switch::Effort,
        cap: Cap::Tokens,
        is_telling: true,
    },
    Preset { name: "llama.cpp", base: "http://127.0.0.1:8080/v1", ..OWN },
    Preset { name: "vllm", base: "http://127.0.0.1:8000/v1", ..OWN },
    Preset {
        name: "anthropic",
        dialect: Dialect::Anthropic,
        base: "https://api.anthropic.com",
        key: Some("ANTHROPIC_API_KEY"),
        model: None,
        switch: Switch::Thinking,
        cap: Cap::Tokens,
        is_telling: true,
    },
    Preset {
        name: "deepseek",
        dialect: Dialect::Anthropic,
        base: "https://api.deepseek.com/anthropic",
        key: Some("DEEPSEEK_API_KEY"),
        model: Some("deepseek-flash"),
        switch: Switch::Thinking,
        cap: Cap::Tokens,
        is_telling: true,
    },
];
