//! Values that are kept to be compared with others.

use super::{Document, Raw, digest};

/// What a value means, as JavaScript has it: order of members, spelling of numbers and escapes do not count.
///
/// Its text is kept, and worked out only where another text is compared with it: most values that mean the same are
/// written the same.
#[derive(Debug, Clone)]
pub struct Meaning(Box<str>);

impl Meaning {
    /// The meaning of a value.
    #[must_use]
    pub fn of(raw: Raw) -> Self {
        Self(raw.get().into())
    }

    /// The meaning of the value that a text holds.
    #[must_use]
    pub fn of_text(text: String) -> Self {
        Self(text.into())
    }
}

impl PartialEq for Meaning {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0 || {
            let meaning = |text: &str| Document::new(text).map(|document| digest(document.raw())).ok();
            meaning(&self.0) == meaning(&other.0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::leaked;
    use super::*;

    #[test]
    fn spelling_does_not_count() {
        let meaning = |text: &str| Meaning::of(leaked(text));
        assert_eq!(meaning(r#"{"a":1,"b":"\u0061"}"#), meaning(r#"{ "b":"a", "a":1.0 }"#));
        assert_eq!(meaning("[1]"), meaning("[1]"));
        assert_ne!(meaning("[1]"), meaning("[2]"));
    }
}
