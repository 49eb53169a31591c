//! The secret that a server wants, which no message may hold.

use std::fmt;

/// What a message shows where the key stood.
const MASK: &str = "[key]";

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

    /// `text` without the secret, plain or as JSON spells it.
    pub(super) fn redact(&self, text: &str) -> String {
        let spelt = crate::json::quote(&self.secret);
        let spelt = spelt.trim_matches('"');
        text.replace(&self.secret, MASK).replace(if spelt.is_empty() { &self.secret } else { spelt }, MASK)
    }
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
    fn what_no_header_can_hold_is_no_key() {
        for secret in ["", " ", "a b", "schlüssel", "a\nb"] {
            assert!(Key::new("K", secret).is_none(), "{secret:?}");
        }
    }
}
