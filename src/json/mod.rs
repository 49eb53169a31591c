//! JSON as JavaScript reads and writes it, over the original text.
//!
//! dsh writes logs with `JSON.stringify` and reads them with `JSON.parse` (FORMAT §0.4): half surrogate pairs,
//! repeated keys (the last wins) and `5.0` for five are all legal. Everything here works on [`Raw`], the text
//! of one value, so that nothing is rewritten and nothing is parsed that nobody asks for. Any room may use it.

mod count;
mod fold;
mod splice;
mod text;

use crate::wording::clipped;
pub use count::string_count;
pub(crate) use fold::behind_string;
pub use fold::{Digest, digest, digest_without, stringify, stringify_len, stringify_len_without};
use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
pub use serde_json::value::RawValue as Raw;
pub use splice::{code_points, place, splice};
use std::borrow::Cow;
pub use text::Text;

/// The largest integer that JavaScript represents without loss, 2^53 − 1.
pub const MAX_SAFE_INTEGER: u64 = (1 << 53) - 1;

/// Checks that `text` is one JSON value (with white space around it) and borrows it.
///
/// Nesting has no limit, and escapes may name half surrogate pairs.
pub fn parse(text: &str) -> Result<&Raw, serde_json::Error> {
    serde_json::from_str(text)
}

/// What a value is, told by its first byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `null`
    Null,
    /// `true` or `false`
    Bool,
    /// any number
    Number,
    /// a string
    String,
    /// an array
    Array,
    /// an object
    Object,
}

/// The kind of a value.
#[must_use]
pub fn kind(raw: &Raw) -> Kind {
    match raw.get().as_bytes().first() {
        Some(b'n') | None => Kind::Null,
        Some(b't' | b'f') => Kind::Bool,
        Some(b'"') => Kind::String,
        Some(b'[') => Kind::Array,
        Some(b'{') => Kind::Object,
        Some(_) => Kind::Number,
    }
}

/// The string that `raw` holds, or `None` for another kind of value.
#[must_use]
pub fn text(raw: &Raw) -> Option<Text<'_>> {
    (kind(raw) == Kind::String).then(|| serde_json::from_str(raw.get()).ok()).flatten()
}

/// The number that `raw` holds, as JavaScript rounds it; `None` for another kind of value.
#[must_use]
pub fn number(raw: &Raw) -> Option<f64> {
    (kind(raw) == Kind::Number).then(|| raw.get().parse().ok()).flatten()
}

/// The integer that `raw` holds if JavaScript calls it a safe one: `5`, `5.0` and `5e0` are five (FORMAT §0.4).
#[must_use]
pub fn integer(raw: &Raw) -> Option<i64> {
    if let Ok(plain) = raw.get().parse::<i64>() {
        return (plain.unsigned_abs() <= MAX_SAFE_INTEGER).then_some(plain);
    }
    let value = number(raw)?;
    #[expect(clippy::cast_precision_loss, reason = "2^53 - 1 is exact in a double")]
    let safe = value.fract() == 0.0 && value.abs() <= MAX_SAFE_INTEGER as f64;
    #[expect(clippy::cast_possible_truncation, reason = "a safe integer fits")]
    safe.then_some(value as i64)
}

/// The count that `raw` holds: a safe integer of zero or more.
#[must_use]
pub fn count(raw: &Raw) -> Option<u64> {
    integer(raw).and_then(|value| u64::try_from(value).ok())
}

/// The same, but for the spelling `-0`, which some readers refuse (FORMAT §0.4).
#[must_use]
pub fn strict_count(raw: &Raw) -> Option<u64> {
    count(raw).filter(|_| !is_negative_zero(raw))
}

/// A text from a log as a message shows it: in quotes, on one line, and cut where it is long.
#[must_use]
pub fn excerpt(text: &str) -> String {
    quote(&clip(text))
}

/// The beginning of a text from a log: messages, and what is kept for them, must not grow with what a log holds.
#[must_use]
pub fn clip(text: &str) -> Cow<'_, str> {
    const LONGEST: usize = 160;
    clipped(text, LONGEST)
}

/// The beginning of any value from a log: a text quoted, another one as it is written; "…" where it is cut.
#[must_use]
pub fn sample(raw: &Raw) -> String {
    text(raw).map_or_else(|| clip(raw.get()).into_owned(), |text| excerpt(&text.to_str()))
}

/// Whether `raw` is a number that JavaScript reads as negative zero, which some readers refuse (FORMAT §0.4).
#[must_use]
pub fn is_negative_zero(raw: &Raw) -> bool {
    raw.get().starts_with('-') && number(raw) == Some(0.0)
}

/// The literal `true` or `false` that `raw` is; `None` for another kind of value.
#[must_use]
pub fn boolean(raw: &Raw) -> Option<bool> {
    (kind(raw) == Kind::Bool).then(|| is_true(raw))
}

/// Whether `raw` is the literal `true`.
#[must_use]
pub fn is_true(raw: &Raw) -> bool {
    raw.get() == "true"
}

/// Whether `raw` is `null`.
#[must_use]
pub fn is_null(raw: &Raw) -> bool {
    kind(raw) == Kind::Null
}

/// The elements of an array, or `None` for another kind of value.
#[must_use]
pub fn array(raw: &Raw) -> Option<Vec<&Raw>> {
    (kind(raw) == Kind::Array)
        .then(|| serde_json::from_str::<Elements>(raw.get()).ok())
        .flatten()
        .map(|e| e.0)
}

struct Elements<'a>(Vec<&'a Raw>);

impl<'de> Deserialize<'de> for Elements<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ElementsVisitor;
        impl<'de> Visitor<'de> for ElementsVisitor {
            type Value = Elements<'de>;
            fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
                f.write_str("an array")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut elements = Vec::new();
                while let Some(element) = seq.next_element()? {
                    elements.push(element);
                }
                Ok(Elements(elements))
            }
        }
        deserializer.deserialize_seq(ElementsVisitor)
    }
}

/// The members of an object, in the order in which they stand.
#[derive(Debug)]
pub struct Object<'a> {
    members: Vec<(Text<'a>, &'a Raw)>,
}

impl<'a> Object<'a> {
    /// Checks that `text` is one JSON object and reads its members, in one pass.
    pub fn parse(text: &'a str) -> Result<Self, serde_json::Error> {
        let object: Self = serde_json::from_str(text)?;
        // Names are asked for as bytes, and there serde_json lets bare control characters pass, which JSON forbids.
        if object.names().any(|name| name.as_bytes().iter().any(|byte| *byte < b' ')) {
            parse(text)?;
        }
        Ok(object)
    }

    /// Reads the members of an object; `None` for another kind of value.
    #[must_use]
    pub fn of(raw: &'a Raw) -> Option<Self> {
        (kind(raw) == Kind::Object).then(|| serde_json::from_str(raw.get()).ok()).flatten()
    }

    /// The member `key`; the last one where it stands more than once, as in JavaScript.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&'a Raw> {
        self.members.iter().rev().find(|(name, _)| *name == *key).map(|(_, value)| *value)
    }

    /// The string member `key`.
    #[must_use]
    pub fn text(&self, key: &str) -> Option<Text<'a>> {
        self.get(key).and_then(text)
    }

    /// Whether the member `key` is this string.
    #[must_use]
    pub fn has_text(&self, key: &str, value: &str) -> bool {
        self.text(key).is_some_and(|text| text == *value)
    }

    /// The string member `key`, where it is not empty.
    #[must_use]
    pub fn name(&self, key: &str) -> Option<Text<'a>> {
        self.text(key).filter(|text| !text.is_empty())
    }

    /// The count member `key`.
    #[must_use]
    pub fn count(&self, key: &str) -> Option<u64> {
        self.get(key).and_then(count)
    }

    /// The object member `key`.
    #[must_use]
    pub fn object(&self, key: &str) -> Option<Object<'a>> {
        self.get(key).and_then(Object::of)
    }

    /// The elements of the array member `key`.
    #[must_use]
    pub fn array(&self, key: &str) -> Option<Vec<&'a Raw>> {
        self.get(key).and_then(array)
    }

    /// The members as they stand, repeated ones repeated.
    pub fn members(&self) -> impl Iterator<Item = (&Text<'a>, &'a Raw)> {
        self.members.iter().map(|(name, value)| (name, *value))
    }

    /// The member names as they stand, repeated ones repeated.
    pub fn names(&self) -> impl Iterator<Item = &Text<'a>> {
        self.members.iter().map(|(name, _)| name)
    }

    /// Whether the object has all of `required`, and besides those none but `optional`.
    #[must_use]
    pub fn has_exactly(&self, required: &[&str], optional: &[&str]) -> bool {
        required.iter().all(|key| self.get(key).is_some())
            && self.names().all(|name| required.iter().chain(optional).any(|key| *name == **key))
    }
}

impl<'de> Deserialize<'de> for Object<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ObjectVisitor;
        impl<'de> Visitor<'de> for ObjectVisitor {
            type Value = Object<'de>;
            fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry::<Text<'de>, &'de Raw>()? {
                    members.push(member);
                }
                Ok(Object { members })
            }
        }
        deserializer.deserialize_map(ObjectVisitor)
    }
}

impl<'de> Deserialize<'de> for Text<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;
        impl<'de> Visitor<'de> for TextVisitor {
            type Value = Text<'de>;
            fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
                f.write_str("a string")
            }
            fn visit_borrowed_bytes<E: de::Error>(self, bytes: &'de [u8]) -> Result<Self::Value, E> {
                Ok(Text::borrowed(bytes))
            }
            fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> Result<Self::Value, E> {
                Ok(Text::owned(bytes.to_vec()))
            }
            fn visit_borrowed_str<E: de::Error>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Text::borrowed(text.as_bytes()))
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Text::owned(text.as_bytes().to_vec()))
            }
        }
        // serde_json hands out half surrogate pairs only to those who ask for bytes.
        deserializer.deserialize_bytes(TextVisitor)
    }
}

/// Writes `value` as a JSON string: for text that dshc itself puts into a log.
#[must_use]
pub fn quote(value: &str) -> String {
    serde_json::Value::from(value).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> &Raw {
        parse(text).unwrap()
    }

    #[test]
    fn integers_are_those_of_javascript() {
        for (text, expected) in [
            ("5", Some(5)),
            ("5.0", Some(5)),
            ("5e0", Some(5)),
            ("0.5e1", Some(5)),
            ("-0", Some(0)),
            ("-3", Some(-3)),
            ("9007199254740991", Some(9_007_199_254_740_991)),
            ("9007199254740992", None),
            ("123456789012345678901234567890", None),
            ("1e400", None),
            ("5.5", None),
            ("\"5\"", None),
        ] {
            assert_eq!(integer(raw(text)), expected, "{text}");
        }
        assert_eq!(count(raw("-1")), None);
    }

    #[test]
    fn the_last_of_a_repeated_key_wins() {
        let object = Object::of(raw(r#"{"a":1,"b":2,"a":3}"#)).unwrap();
        assert_eq!(object.count("a"), Some(3));
        assert!(object.has_exactly(&["a", "b"], &[]));
        assert!(!object.has_exactly(&["a"], &[]));
        assert!(object.has_exactly(&["a"], &["b", "c"]));
    }

    #[test]
    fn bare_control_characters_are_no_json() {
        for text in ["{\"a\u{1}\":1}", "{\"\\n\u{0}\":1}", "{\"a\":\"\u{1f}\"}", "{\"a\":{\"\u{2}\":1}}"] {
            assert!(Object::parse(text).is_err(), "{text:?}");
        }
        assert!(Object::parse(r#"{"a\u0001\n":1}"#).is_ok());
    }

    #[test]
    fn keys_and_strings_may_hold_half_surrogate_pairs() {
        let object = Object::of(raw(r#"{"\ud83d":"\ude00x","ok":"\ud83d\ude00"}"#)).unwrap();
        assert_eq!(object.text("ok").unwrap().to_str(), "😀");
        assert_eq!(object.names().next().unwrap().utf16_len(), 1);
    }

    #[test]
    fn nesting_has_no_limit() {
        let deep = format!("{}{}", "[".repeat(200_000), "]".repeat(200_000));
        assert_eq!(stringify_len(raw(&deep)), 400_000);
        assert_eq!(array(raw(&deep)).unwrap().len(), 1);
    }
}
