//! What was found and what was expected, in words.

use crate::check::wording::{amount, quoted};
use crate::format::payload::{Range, Shape, Tagged};
use crate::json::{self, Kind, MAX_SAFE_INTEGER, Raw, Text};

/// A value, short.
pub(super) fn found(raw: Raw) -> String {
    match json::kind(raw) {
        Kind::Null | Kind::Bool => raw.get().to_owned(),
        Kind::Number => json::clip(raw.get()).into_owned(),
        Kind::String => json::text(raw).map_or_else(String::new, |text| quoted(&text.to_str())),
        Kind::Array => {
            let elements = json::array(raw).map_or(0, |elements| elements.len());
            format!("an array of {}", amount(elements as u64, "element"))
        }
        Kind::Object => "an object".to_owned(),
    }
}

/// The name of a member.
pub(super) fn name(name: &Text) -> String {
    quoted(&name.to_str())
}

/// What a shape without members admits; `seq` is the event's own.
pub(super) fn expected(shape: &Shape, seq: u64) -> String {
    match shape {
        Shape::Lossless => "a value whose numbers all fit a double, none of them -0".to_owned(),
        Shape::OrNull(_) => "null".to_owned(),
        Shape::Bool => "true or false".to_owned(),
        Shape::True => "true".to_owned(),
        Shape::Exactly(number) => number.to_string(),
        Shape::Integer { least, most } => integer(*least, *most),
        Shape::Number(range) => match range {
            Range::Finite => "a finite number",
            Range::FromZero => "a number of at least 0",
            Range::Positive => "a number above 0",
            Range::Timer => "a number from 0 to 2147483647",
        }
        .to_owned(),
        Shape::Earlier => format!("the seq of an event before {seq}"),
        Shape::Name => "a text that is not empty".to_owned(),
        Shape::Trimmed => "a text that is not empty and neither begins nor ends with white space".to_owned(),
        Shape::Instant => "a time such as 2026-01-01T00:00:00.000Z".to_owned(),
        Shape::OneOf(words) => choice(words.iter().copied()),
        Shape::Array | Shape::Blocks => "an array".to_owned(),
        _ => "a text".to_owned(),
    }
}

fn integer(least: i64, most: i64) -> String {
    const LARGEST: i64 = MAX_SAFE_INTEGER.cast_signed();
    match (least, most) {
        (least, LARGEST) if least == -LARGEST => "an integer".to_owned(),
        (least, LARGEST) => format!("an integer of at least {least}"),
        (least, most) if least == most => least.to_string(),
        (least, most) => format!("an integer from {least} to {most}"),
    }
}

/// An array of so many elements.
pub(super) fn length(least: usize, most: usize) -> String {
    if least == most {
        format!("an array of {}", amount(least as u64, "element"))
    } else {
        format!("an array of at least {}", amount(least as u64, "element"))
    }
}

/// The tags that have a shape of their own.
pub(super) fn tags(tagged: &Tagged) -> String {
    choice(tagged.cases.iter().flat_map(|part| part.iter().map(|(name, _)| *name)))
}

fn choice<'a>(words: impl Iterator<Item = &'a str>) -> String {
    let words: Vec<String> = words.map(|word| format!("\"{word}\"")).collect();
    match &words[..] {
        [one] => one.clone(),
        [all @ .., last] => format!("{} or {last}", all.join(", ")),
        [] => "nothing".to_owned(),
    }
}
