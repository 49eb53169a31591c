//! JSON as JavaScript reads and writes it, over the original text.
//!
//! dsh writes logs with `JSON.stringify` and reads them with `JSON.parse` (FORMAT §0.4): half surrogate pairs,
//! repeated keys (the last wins) and `5.0` for five are all legal. Everything here works on [`Raw`], the text
//! of one value, so that nothing is rewritten and nothing is parsed that nobody asks for. Any room may use it.

mod fold;
mod meaning;
mod object;
mod raw;
mod splice;
mod tape;
mod text;

use crate::wording::clipped;
pub(crate) use fold::behind_string;
pub use fold::{Digest, digest, digest_without, stringify, stringify_len, stringify_len_without};
pub use meaning::Meaning;
pub use object::Object;
pub use raw::{Document, Raw};
pub use splice::{code_points, place, splice};
use std::borrow::Cow;
pub use tape::Tape;
pub use text::Text;

/// The largest integer that JavaScript represents without loss, 2^53 − 1.
pub const MAX_SAFE_INTEGER: u64 = (1 << 53) - 1;

/// Checks that `text` is one JSON value, with white space around it.
pub fn parse(text: &str) -> Result<Document<'_>, serde_json::Error> {
    Document::new(text)
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
#[inline]
#[must_use]
pub fn kind(raw: Raw) -> Kind {
    match raw.bytes().first() {
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
pub fn text(raw: Raw<'_>) -> Option<Text<'_>> {
    if kind(raw) != Kind::String {
        return None;
    }
    if raw.is_escaped() {
        return serde_json::from_str(raw.get()).ok();
    }
    Some(Text::from(raw.inner_text()))
}

/// The JavaScript length of the string that `raw` holds, in UTF-16 code units (FORMAT §7.5); 0 for another kind of value.
#[must_use]
pub fn utf16_len(raw: Raw) -> u64 {
    if kind(raw) != Kind::String {
        return 0;
    }
    text::utf16_len(raw.inner_text().as_bytes()).saturating_sub(u64::from(raw.surplus()))
}

/// The number that `raw` holds, as JavaScript rounds it; `None` for another kind of value.
#[must_use]
pub fn number(raw: Raw) -> Option<f64> {
    (kind(raw) == Kind::Number).then(|| raw.get().parse().ok()).flatten()
}

/// The integer that `raw` holds if JavaScript calls it a safe one: `5`, `5.0` and `5e0` are five (FORMAT §0.4).
#[must_use]
pub fn integer(raw: Raw) -> Option<i64> {
    let source = raw.bytes();
    if source.len() <= 15 && source.iter().all(u8::is_ascii_digit) && !source.is_empty() {
        return Some(source.iter().fold(0, |value, digit| value * 10 + i64::from(digit - b'0')));
    }
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
pub fn count(raw: Raw) -> Option<u64> {
    integer(raw).and_then(|value| u64::try_from(value).ok())
}

/// The same, but for the spelling `-0`, which some readers refuse (FORMAT §0.4).
#[must_use]
pub fn strict_count(raw: Raw) -> Option<u64> {
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
pub fn sample(raw: Raw) -> String {
    text(raw).map_or_else(|| clip(raw.get()).into_owned(), |text| excerpt(&text.to_str()))
}

/// Whether `raw` is a number that JavaScript reads as negative zero, which some readers refuse (FORMAT §0.4).
#[must_use]
pub fn is_negative_zero(raw: Raw) -> bool {
    raw.bytes().first() == Some(&b'-') && number(raw) == Some(0.0)
}

/// The literal `true` or `false` that `raw` is; `None` for another kind of value.
#[must_use]
pub fn boolean(raw: Raw) -> Option<bool> {
    (kind(raw) == Kind::Bool).then(|| is_true(raw))
}

/// Whether `raw` is the literal `true`.
#[must_use]
pub fn is_true(raw: Raw) -> bool {
    raw.get() == "true"
}

/// Whether `raw` is `null`.
#[must_use]
pub fn is_null(raw: Raw) -> bool {
    kind(raw) == Kind::Null
}

/// The elements of an array, or `None` for another kind of value.
#[must_use]
pub fn array(raw: Raw) -> Option<Vec<Raw>> {
    elements(raw).map(Iterator::collect)
}

/// The elements of an array one by one, or `None` for another kind of value.
#[must_use]
pub fn elements(raw: Raw) -> Option<impl Iterator<Item = Raw> + Clone> {
    (kind(raw) == Kind::Array).then(|| raw.inner())
}

/// How many strings an array holds; `None` if it holds anything else, or is none.
#[must_use]
pub fn string_count(raw: Raw) -> Option<u64> {
    elements(raw)?.try_fold(0, |count, element| (kind(element) == Kind::String).then_some(count + 1))
}

/// Writes `value` as a JSON string: for text that dshc itself puts into a log.
#[must_use]
pub fn quote(value: &str) -> String {
    serde_json::Value::from(value).to_string()
}

/// The value of a text that is JSON, for as long as a test runs.
#[cfg(test)]
pub(crate) fn leaked(text: impl AsRef<str>) -> Raw<'static> {
    Box::leak(Box::new(Document::new(text.as_ref().to_owned()).unwrap())).raw()
}

#[cfg(test)]
mod tests {
    use super::leaked as raw;
    use super::*;

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
            assert!(parse(text).is_err(), "{text:?}");
        }
        assert!(parse(r#"{"a\u0001\n":1}"#).is_ok());
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
