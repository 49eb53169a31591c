//! Changes one value in a text that else stays as it is.

use super::{Document, Kind, Raw, fold::behind_string, kind};
use std::ops::Range;

/// Where `part`, a value that was read out of `whole`, stands in its text, in bytes; `None` if it stands elsewhere.
#[must_use]
pub fn place(whole: Raw, part: Raw) -> Option<Range<usize>> {
    let (text, part) = (whole.get(), part.get());
    let start = (part.as_ptr() as usize).checked_sub(text.as_ptr() as usize)?;
    let end = start.checked_add(part.len())?;
    (end <= text.len()).then_some(start..end)
}

/// The text of `whole` with `value` in the place of `part`, a value that was read out of it.
#[must_use]
pub fn splice(whole: Raw, part: Raw, value: &str) -> Option<Document<'static>> {
    let Range { start, end } = place(whole, part)?;
    let text = whole.get();
    Document::new(format!("{}{value}{}", text.get(..start)?, text.get(end..)?)).ok()
}

/// The code points of a string as they are spelt in its JSON text: both halves of a surrogate pair together, a half
/// that has no other alone. No other kind of value has any.
pub fn code_points(raw: Raw<'_>) -> impl Iterator<Item = &str> {
    let text = if kind(raw) == Kind::String { raw.get() } else { "" };
    let end = behind_string(text.as_bytes(), 0).saturating_sub(1);
    let mut rest = text.get(1..end).unwrap_or_default();
    std::iter::from_fn(move || {
        let (point, behind) = rest.split_at_checked(spelling(rest)?)?;
        rest = behind;
        Some(point)
    })
}

/// How many bytes the first code point of a string's inner text takes there.
fn spelling(text: &str) -> Option<usize> {
    let first = text.chars().next()?;
    if first != '\\' {
        return Some(first.len_utf8());
    }
    let Some(unit) = escaped_unit(text) else { return Some(2) };
    let is_pair = (0xd800..0xdc00).contains(&unit)
        && text.get(6..).and_then(escaped_unit).is_some_and(|next| (0xdc00..0xe000).contains(&next));
    Some(if is_pair { 12 } else { 6 })
}

/// The UTF-16 code unit that a text begins with as `\uXXXX`.
fn escaped_unit(text: &str) -> Option<u16> {
    text.strip_prefix("\\u").and_then(|rest| u16::from_str_radix(rest.get(..4)?, 16).ok())
}

#[cfg(test)]
mod tests {
    use super::super::{Object, leaked, text};
    use super::*;

    #[test]
    fn one_value_changes_and_nothing_else() {
        let whole = leaked(r#"{ "a" : 1.0, "b":[ "\u0061" ,2], "a":{"c": null} }"#);
        let object = Object::of(whole).unwrap();
        let spliced = splice(whole, object.get("a").unwrap(), "7").unwrap();
        assert_eq!(spliced.get(), r#"{ "a" : 1.0, "b":[ "\u0061" ,2], "a":7 }"#);
        let inner = object.array("b").unwrap()[0];
        assert_eq!(
            splice(whole, inner, "[]").unwrap().get(),
            r#"{ "a" : 1.0, "b":[ [] ,2], "a":{"c": null} }"#
        );
        assert!(splice(whole, inner, "]").is_none());
    }

    #[test]
    fn a_value_of_another_text_has_no_place() {
        let both = "[1][2]";
        let (first, second) = (leaked(&both[..3]), leaked(&both[3..]));
        assert_eq!((place(first, second), place(second, first)), (None, None));
        assert_eq!(place(first, first), Some(0..3));
    }

    #[test]
    fn code_points_keep_their_spelling() {
        let points = |json: &'static str| code_points(leaked(json)).collect::<Vec<_>>();
        assert_eq!(points(r#""a\n\\\"\/é""#), ["a", r"\n", r"\\", r#"\""#, r"\/", "é"]);
        assert_eq!(points(r#""\ud83e\udd80🦀\uD83E""#), [r"\ud83e\udd80", "🦀", r"\uD83E"]);
        // A low half first, two high halves, a high half before something else.
        assert_eq!(points(r#""\udd80\ud83e\ud83e\n""#), [r"\udd80", r"\ud83e", r"\ud83e", r"\n"]);
        assert_eq!(points(r#""\u00e9""#), [r"\u00e9"]);
        assert_eq!((points(r#""""#).len(), points("12").len(), points("[\"a\"]").len()), (0, 0, 0));
    }

    proptest::proptest! {
        #[test]
        fn code_points_are_those_of_the_value(units in proptest::collection::vec(0xd7f0_u16..0xe010, 0..40)) {
            let value = super::super::Text::from_utf16(&units);
            let escaped: Vec<String> = units.iter().map(|unit| format!("\\u{unit:04x}")).collect();
            for spelling in [value.stringify(), format!("\"{}\"", escaped.concat())] {
                let raw = leaked(&spelling);
                let joined: String = code_points(raw).collect();
                proptest::prop_assert_eq!(format!("\"{joined}\""), spelling.clone());
                let count = char::decode_utf16(text(raw).unwrap().to_utf16()).count();
                proptest::prop_assert_eq!(code_points(raw).count(), count);
            }
        }
    }
}
