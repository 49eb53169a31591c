//! Single values.

use crate::format::payload::{Range, Shape};
use crate::json::{self, Kind, Raw};

/// Whether a value is what a shape without members admits; `seq` is the event's own.
pub(super) fn are(raw: Raw, shape: &Shape, seq: u64) -> bool {
    let kind = json::kind(raw);
    match shape {
        Shape::Any | Shape::IfObject(_) => true,
        Shape::Lossless => is_lossless(raw.get()),
        // Other values, and objects above, are left to the other shape.
        Shape::OrNull(_) => kind == Kind::Null,
        Shape::Bool => kind == Kind::Bool,
        Shape::True => json::is_true(raw),
        Shape::Exactly(number) => is_number(raw, *number),
        Shape::Integer { least, most } => {
            json::integer(raw).is_some_and(|value| (*least..=*most).contains(&value))
                && !json::is_negative_zero(raw)
        }
        Shape::Number(range) => {
            json::number(raw).is_some_and(|value| is_in(value, *range)) && !json::is_negative_zero(raw)
        }
        Shape::Earlier => json::strict_count(raw).is_some_and(|earlier| earlier < seq),
        Shape::Text => kind == Kind::String,
        Shape::Name => kind == Kind::String && raw.get() != "\"\"",
        Shape::Trimmed => json::text(raw).is_some_and(|text| is_trimmed(&text.to_str())),
        Shape::Instant => json::text(raw).is_some_and(|text| is_instant(text.as_bytes())),
        Shape::OneOf(words) => json::text(raw).is_some_and(|text| words.iter().any(|word| text == **word)),
        Shape::Array | Shape::Blocks => kind == Kind::Array,
        // These are the walk's.
        _ => false,
    }
}

/// Whether a value is this number, however it is spelt.
pub(super) fn is_number(raw: Raw, number: u32) -> bool {
    json::number(raw) == Some(f64::from(number))
}

fn is_in(value: f64, range: Range) -> bool {
    value.is_finite()
        && match range {
            Range::Finite => true,
            Range::FromZero => value >= 0.0,
            Range::Positive => value > 0.0,
            Range::Timer => (0.0..=f64::from(i32::MAX)).contains(&value),
        }
}

/// Whether a text is not empty and `trim` of JavaScript leaves it as it is.
fn is_trimmed(text: &str) -> bool {
    // JavaScript counts the byte order mark as white space, but not the control character U+0085.
    let is_space =
        |character: char| character == '\u{feff}' || (character.is_whitespace() && character != '\u{85}');
    !text.is_empty() && !text.starts_with(is_space) && !text.ends_with(is_space)
}

/// Whether a text is a date that exists and a time, as `YYYY-MM-DDTHH:MM:SS.mmmZ`.
fn is_instant(text: &[u8]) -> bool {
    const PATTERN: &[u8] = b"0000-00-00T00:00:00.000Z";
    let is_like = |(byte, pattern): (&u8, &u8)| {
        if *pattern == b'0' { byte.is_ascii_digit() } else { byte == pattern }
    };
    if text.len() != PATTERN.len() || !text.iter().zip(PATTERN).all(is_like) {
        return false;
    }
    let number = |from: usize, to: usize| {
        text.iter().take(to).skip(from).fold(0, |value: u32, byte| value * 10 + u32::from(byte - b'0'))
    };
    let (year, month, day) = (number(0, 4), number(5, 7), number(8, 10));
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if is_leap => 29,
        2 => 28,
        _ => 0,
    };
    year > 0 && (1..=days).contains(&day) && number(11, 13) < 24 && number(14, 16) < 60 && number(17, 19) < 60
}

/// Whether no number in a value is `-0` or too large for a double, and so would not come back as it was.
fn is_lossless(text: &str) -> bool {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        at = match byte {
            b'"' => json::behind_string(bytes, at),
            b'-' | b'0'..=b'9' => {
                let digits = bytes.get(at..).unwrap_or_default();
                let is_part = |byte: &u8| matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9');
                let end = at + digits.iter().take_while(|byte| is_part(byte)).count();
                let number: Option<f64> = text.get(at..end).and_then(|number| number.parse().ok());
                if number.is_none_or(|number| !number.is_finite() || (number == 0.0 && byte == b'-')) {
                    return false;
                }
                end
            }
            _ => at + 1,
        };
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_are_dates_that_exist() {
        for instant in ["2026-01-01T00:00:00.000Z", "2024-02-29T23:59:59.999Z", "0001-12-31T00:00:00.000Z"] {
            assert!(is_instant(instant.as_bytes()), "{instant}");
        }
        for odd in [
            "2026-02-29T00:00:00.000Z",
            "1900-02-29T00:00:00.000Z",
            "2026-04-31T00:00:00.000Z",
            "2026-13-01T00:00:00.000Z",
            "2026-00-01T00:00:00.000Z",
            "2026-01-00T00:00:00.000Z",
            "0000-01-01T00:00:00.000Z",
            "2026-01-01T24:00:00.000Z",
            "2026-01-01T00:60:00.000Z",
            "2026-01-01T00:00:60.000Z",
            "2026-01-01T00:00:00.00Z",
            "2026-01-01 00:00:00.000Z",
            "2026-01-01T00:00:00.000+00:00",
            "",
        ] {
            assert!(!is_instant(odd.as_bytes()), "{odd}");
        }
    }

    #[test]
    fn white_space_is_that_of_javascript() {
        for trimmed in ["a", "a b", "\u{85}a"] {
            assert!(is_trimmed(trimmed), "{trimmed:?}");
        }
        for odd in ["", " a", "a\n", "\u{feff}a", "a\u{3000}", "\u{a0}"] {
            assert!(!is_trimmed(odd), "{odd:?}");
        }
    }

    #[test]
    fn numbers_that_do_not_come_back_are_found_at_any_depth() {
        for sound in ["0", "[-1,0.5e-3,{\"-0\":\"1e999 \\\" -0\"}]", "null", "\"-0\""] {
            assert!(is_lossless(sound), "{sound}");
        }
        for odd in ["-0", "[[{\"a\":-0.0}]]", "1e999", "[\"\\\\\",-0e1]", "-1e-999"] {
            assert!(!is_lossless(odd), "{odd}");
        }
        let deep = format!("{}-0{}", "[".repeat(100_000), "]".repeat(100_000));
        assert!(!is_lossless(&deep));
    }
}
