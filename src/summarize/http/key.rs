//! The secret that a server wants, which no message may hold.

use std::borrow::Cow;
use std::fmt;

/// What a message shows where the key stood.
const MASK: &str = "[key]";

/// What is shorter, in bytes, is no real key but a word that a server of one's own is content with, and may be one of
/// the model's too.
const SHORTEST: usize = 12;

/// A key, and the environment variable that it came from.
#[derive(Clone, PartialEq, Eq)]
pub struct Key {
    variable: String,
    secret: String,
}

impl Key {
    /// The key in `variable`; `None` where it can be no key: empty, or not of visible ASCII, which a header wants.
    #[must_use]
    pub fn new(variable: &str, secret: &str) -> Option<Self> {
        let secret = secret.trim();
        let is_sound = !secret.is_empty() && secret.bytes().all(|byte| byte.is_ascii_graphic());
        is_sound.then(|| Self { variable: variable.to_owned(), secret: secret.to_owned() })
    }

    /// The variable's name.
    pub(super) fn variable(&self) -> &str {
        &self.variable
    }

    /// The secret itself, for a header.
    pub(super) fn secret(&self) -> &str {
        &self.secret
    }

    /// A model's text, or an event of it, without the secret, where that is a real one: what a server echoes must not
    /// come into the log.
    pub(super) fn redact_answer<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.secret.len() < SHORTEST { text.into() } else { self.redact(text).into() }
    }

    /// `text` without the secret, plain or as JSON spells it. One that holds it, or its beginning, in any other
    /// spelling is left out as a whole.
    pub(super) fn redact(&self, text: &str) -> String {
        let spelt = crate::json::quote(&self.secret);
        let spelt = spelt.trim_matches('"');
        let redacted = text.replace(&self.secret, MASK).replace(spelt, MASK);
        let begins = self.secret.get(..SHORTEST);
        if begins.is_some_and(|begins| bare(&redacted).contains(begins)) { MASK.to_owned() } else { redacted }
    }
}

/// A text without blanks, control characters and backslashes, escapes of single characters resolved.
fn bare(text: &str) -> String {
    let mut bare = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        let escaped = rest.strip_prefix("\\u").and_then(|rest| rest.get(..4));
        let escaped = escaped.and_then(|digits| char::from_u32(u32::from_str_radix(digits, 16).ok()?));
        let (character, length) = escaped.map_or((character, character.len_utf8()), |one| (one, 6));
        if character.is_ascii_graphic() && character != '\\' {
            bare.push(character);
        }
        rest = rest.get(length..).unwrap_or_default();
    }
    bare
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "Key({})", self.variable)
    }
}

#[cfg(test)]
mod tests {
    use super::Key;

    #[test]
    fn a_key_is_never_shown() {
        let key = Key::new("K", " sk-\"1\\2\n").unwrap();
        assert_eq!(key.secret(), "sk-\"1\\2");
        assert_eq!(format!("{key:?}"), "Key(K)");
        assert_eq!(key.redact(r#"bad key sk-"1\2, {"k":"sk-\"1\\2"}"#), r#"bad key [key], {"k":"[key]"}"#);
    }

    #[test]
    fn a_key_in_disguise_takes_its_text_with_it() {
        let key = Key::new("K", "sk-secret-KEY-1234567890").unwrap();
        for text in [
            "{\"x\": \"sk\\u002dsecret-KEY-1234567890\"",
            "bad sk- secret-KEY-12345",
            "sk-\0secret-KEY-1234567890",
            "cut at sk-secret-KE",
        ] {
            assert_eq!(key.redact(text), "[key]", "{text}");
        }
        assert_eq!(key.redact("sk-secret-K"), "sk-secret-K");
    }

    #[test]
    fn a_word_that_stands_for_a_key_may_be_said() {
        let redacted = |secret, text: &str| Key::new("K", secret).unwrap().redact_answer(text).into_owned();
        assert_eq!(redacted("ollama", "- ollama runs"), "- ollama runs");
        assert_eq!(redacted("sk-0123456789", "- sk-0123456789!"), "- [key]!");
    }

    #[test]
    fn what_no_header_can_hold_is_no_key() {
        for secret in ["", " ", "a b", "schlüssel", "a\nb"] {
            assert!(Key::new("K", secret).is_none(), "{secret:?}");
        }
    }
}
