//! Where to ask: the servers that dshc knows by name, and any other by its address.

use super::address::Address;
use super::key::Key;
use super::presets::{PRESETS, Preset};
use super::terms::{Cap, Switch, Terms};

/// How a server is spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// Chat completions, as OpenAI has them and many others took over.
    OpenAi,
    /// Anthropic's messages.
    Anthropic,
}

/// An address, or a key, that will not do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ServerError {
    /// What is wrong with it. It holds no key.
    pub message: String,
    /// What to do about it.
    pub help: String,
}

impl ServerError {
    fn new(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { message: message.into(), help: help.into() }
    }
}

/// A server that can be asked.
#[derive(Debug, Clone)]
pub struct Server {
    pub(super) dialect: Dialect,
    /// What requests are sent to.
    pub(super) endpoint: String,
    /// Host and port, for messages.
    pub(super) place: String,
    pub(super) is_loopback: bool,
    is_encrypted: bool,
    preset: Option<&'static Preset>,
}

impl Server {
    /// The server of this name or at this address; without one, the dialect's own: DeepSeek's, Anthropic's.
    pub fn find(dialect: Dialect, address: Option<&str>) -> Result<Self, ServerError> {
        let mut known = PRESETS.iter().filter(|preset| preset.dialect == dialect);
        // A server without a key of its own may be anywhere: `vllm=http://127.0.0.1:9000`.
        if let Some((name, address)) = address.and_then(|address| address.split_once('='))
            && let Some(preset) = known.clone().find(|preset| preset.name == name && preset.key.is_none())
        {
            return Self::at(dialect, address, Some(preset));
        }
        let named = match address {
            None => known.next(),
            Some(name) => known.find(|preset| preset.name == name),
        };
        match (named, address) {
            (Some(preset), _) => Self::at(dialect, preset.base, Some(preset)),
            (None, address) => Self::at(dialect, address.unwrap_or_default(), None),
        }
    }

    fn at(dialect: Dialect, address: &str, preset: Option<&'static Preset>) -> Result<Self, ServerError> {
        let place = Address::parse(address).ok_or_else(|| unfit(dialect))?;
        let recognised = || PRESETS.iter().filter(|preset| preset.dialect == dialect && preset.is_telling);
        let preset = preset.or_else(|| {
            let is_there =
                |preset: &&Preset| Address::parse(preset.base).is_some_and(|known| known.is_same(&place));
            recognised().find(is_there)
        });
        let own_path = preset.and_then(|preset| Address::parse(preset.base)).map(|known| known.path);
        let usual_path = || if dialect == Dialect::OpenAi { "/v1".into() } else { String::new() };
        let path = match place.path.as_str() {
            "" => own_path.unwrap_or_else(usual_path),
            path => path.to_owned(),
        };
        Ok(Self {
            dialect,
            endpoint: format!("{}://{}{}", place.scheme, place.authority(), endpoint(dialect, &path)),
            place: place.authority(),
            is_loopback: place.is_loopback(),
            is_encrypted: place.scheme == "https",
            preset,
        })
    }

    /// The provider that the log names.
    #[must_use]
    pub fn provider(&self) -> &'static str {
        match (self.preset, self.dialect) {
            (Some(preset), _) => preset.name,
            (None, Dialect::Anthropic) => "anthropic",
            (None, Dialect::OpenAi) => "openai-compatible",
        }
    }

    /// The model that is asked where nothing else is said.
    #[must_use]
    pub fn model(&self) -> Option<&'static str> {
        self.preset.and_then(|preset| preset.model)
    }

    /// The key for this server: from the variable that is `named`, else from the one that a known server's documents
    /// name. A server on this machine needs none. A key never goes over plain http to another machine.
    pub fn key(
        &self,
        named: Option<&str>,
        environment: impl Fn(&str) -> Option<String>,
    ) -> Result<Option<Key>, ServerError> {
        if named.is_some_and(|name| !is_variable(name)) {
            return Err(ServerError::new(
                "what --api-key-env was given cannot be the name of a variable",
                "give it the name of the environment variable that holds the key, never the key itself",
            ));
        }
        let is_safe = self.is_encrypted || self.is_loopback;
        if !is_safe {
            return match named {
                None => Ok(None),
                Some(_) => Err(ServerError::new(
                    format!("a key would go to {} unencrypted", self.place),
                    "name an https address, or leave out --api-key-env where the server wants no key",
                )),
            };
        }
        let Some(variable) = named.or(self.preset.and_then(|preset| preset.key)) else {
            return if self.is_loopback {
                Ok(None)
            } else {
                Err(ServerError::new(
                    format!("dshc does not know where the key for {} is", self.place),
                    "name the environment variable that holds it with --api-key-env",
                ))
            };
        };
        let Some(secret) = environment(variable).filter(|secret| !secret.trim().is_empty()) else {
            return Err(ServerError::new(
                format!(
                    "the environment variable {variable}, which holds the key for {}, is not set",
                    self.place
                ),
                "set it, or name another with --api-key-env",
            ));
        };
        Key::new(variable, &secret).map(Some).ok_or_else(|| {
            ServerError::new(
                format!("what the environment variable {variable} holds can be no key"),
                "a key is one word of letters, digits and signs",
            )
        })
    }

    /// What the server is asked beyond what each knows.
    pub(super) fn terms(&self) -> Terms {
        Terms {
            switch: self.preset.map_or(Switch::Unknown, |preset| preset.switch),
            cap: self.preset.map_or(Cap::Tokens, |preset| preset.cap),
            asks_usage: self.dialect == Dialect::OpenAi,
        }
    }
}

/// Letters, digits and underscores: most keys have other signs too.
fn is_variable(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// The address itself is not shown: it may hold a password.
fn unfit(dialect: Dialect) -> ServerError {
    let names: Vec<&str> =
        PRESETS.iter().filter(|preset| preset.dialect == dialect).map(|preset| preset.name).collect();
    ServerError::new(
        "the base URL is none that dshc can use",
        format!(
            "name {}, or an address such as http://127.0.0.1:8080/v1, without user, password, query or fragment",
            names.join(", ")
        ),
    )
}

/// Where a dialect's requests go below a base path; a path that already leads there is taken as it is.
fn endpoint(dialect: Dialect, path: &str) -> String {
    let path = path.trim_end_matches('/');
    let (version, method) = match dialect {
        Dialect::OpenAi => ("", "/chat/completions"),
        Dialect::Anthropic => ("/v1", "/messages"),
    };
    match path {
        _ if path.ends_with(method) => path.to_owned(),
        _ if path.ends_with(version) => format!("{path}{method}"),
        _ => format!("{path}{version}{method}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(dialect: Dialect, address: &str) -> (String, &'static str) {
        let server = Server::find(dialect, Some(address)).unwrap();
        (server.endpoint.clone(), server.provider())
    }

    #[test]
    fn a_key_goes_to_no_other_place_by_a_name() {
        assert!(Server::find(Dialect::OpenAi, Some("deepseek=https://elsewhere.example")).is_err());
    }

    #[test]
    fn names_and_addresses_lead_to_an_endpoint() {
        for (address, endpoint, provider) in [
            ("deepseek", "https://api.deepseek.com/chat/completions", "deepseek"),
            ("https://api.deepseek.com/", "https://api.deepseek.com/chat/completions", "deepseek"),
            ("HTTPS://API.openai.com", "https://api.openai.com/v1/chat/completions", "openai"),
            ("ollama", "http://127.0.0.1:11434/v1/chat/completions", "ollama"),
            ("http://localhost:11434", "http://localhost:11434/v1/chat/completions", "ollama"),
            ("llama.cpp", "http://127.0.0.1:8080/v1/chat/completions", "llama.cpp"),
            ("vllm", "http://127.0.0.1:8000/v1/chat/completions", "vllm"),
            ("vllm=http://10.0.0.5:9000", "http://10.0.0.5:9000/v1/chat/completions", "vllm"),
            ("http://127.0.0.1:8080/v1", "http://127.0.0.1:8080/v1/chat/completions", "openai-compatible"),
            ("http://127.0.0.1:8080", "http://127.0.0.1:8080/v1/chat/completions", "openai-compatible"),
            ("http://h/x/chat/completions", "http://h/x/chat/completions", "openai-compatible"),
            ("http://[::1]:9/v1/", "http://[::1]:9/v1/chat/completions", "openai-compatible"),
        ] {
            assert_eq!(found(Dialect::OpenAi, address), (endpoint.to_owned(), provider), "{address}");
        }
        for (address, endpoint, provider) in [
            ("anthropic", "https://api.anthropic.com/v1/messages", "anthropic"),
            ("https://api.anthropic.com/v1", "https://api.anthropic.com/v1/messages", "anthropic"),
            ("deepseek", "https://api.deepseek.com/anthropic/v1/messages", "deepseek"),
            ("http://127.0.0.1:1/proxy", "http://127.0.0.1:1/proxy/v1/messages", "anthropic"),
        ] {
            assert_eq!(found(Dialect::Anthropic, address), (endpoint.to_owned(), provider), "{address}");
        }
        assert_eq!(Server::find(Dialect::OpenAi, None).unwrap().provider(), "deepseek");
        assert_eq!(Server::find(Dialect::Anthropic, None).unwrap().provider(), "anthropic");
    }

    #[test]
    fn an_address_with_a_password_is_refused_unseen() {
        for address in [
            "http://u:secret@h/v1",
            "ftp://h",
            "h:80",
            "nobody",
            "",
            "http://",
            "http://h?key=secret",
            "http://h/#secret",
        ] {
            let error = Server::find(Dialect::OpenAi, Some(address)).unwrap_err();
            assert!(!error.message.contains("secret") && !error.help.contains("secret"), "{address}");
        }
    }

    #[test]
    fn a_key_is_wanted_where_another_machine_is_asked() {
        let environment = |name: &str| match name {
            "DEEPSEEK_API_KEY" => Some("sk-1".to_owned()),
            "BAD" => Some("two words".to_owned()),
            _ => None,
        };
        let key = |address: &str, named: Option<&str>| {
            let key = Server::find(Dialect::OpenAi, Some(address)).unwrap().key(named, environment);
            key.map(|key| key.map(|key| key.variable().to_owned())).map_err(|error| error.message)
        };
        assert_eq!(key("deepseek", None), Ok(Some("DEEPSEEK_API_KEY".into())));
        assert!(key("openai", None).unwrap_err().contains("OPENAI_API_KEY"));
        assert!(key("https://h/v1", None).unwrap_err().contains("does not know"));
        assert_eq!(key("https://h/v1", Some("DEEPSEEK_API_KEY")), Ok(Some("DEEPSEEK_API_KEY".into())));
        assert_eq!(key("http://h/v1", None), Ok(None));
        assert!(key("http://h/v1", Some("DEEPSEEK_API_KEY")).unwrap_err().contains("unencrypted"));
        assert_eq!(key("http://127.0.0.1:5/v1", None), Ok(None));
        assert_eq!(key("ollama", None), Ok(None));
        assert_eq!(key("http://[::1]:5", Some("DEEPSEEK_API_KEY")), Ok(Some("DEEPSEEK_API_KEY".into())));
        assert!(key("ollama", Some("NONE")).unwrap_err().contains("NONE"));
        let error = key("deepseek", Some("sk-the-key-itself")).unwrap_err();
        assert!(error.contains("--api-key-env") && !error.contains("sk-"), "{error}");
        let error = key("ollama", Some("BAD")).unwrap_err();
        assert!(error.contains("BAD") && !error.contains("two words"));
    }
}
