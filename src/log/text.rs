//! A line's bytes as text, as the official reader has it: U+FFFD for what is no UTF-8 (FORMAT §0.4).

use super::lines::MAX_LINE;
use std::borrow::Cow;

/// A line's text.
#[derive(Debug)]
pub(super) struct Decoded<'a> {
    pub text: Cow<'a, str>,
    /// Offset in the line of the first byte that is no UTF-8.
    pub first_bad: Option<usize>,
}

impl<'a> Decoded<'a> {
    /// A text that is known to be UTF-8.
    pub(super) fn of(text: &'a str) -> Self {
        Self { text: Cow::Borrowed(text), first_bad: None }
    }
}

/// Decodes a line; `None` where U+FFFD makes it longer than any line that is read.
pub(super) fn decode(bytes: &[u8]) -> Option<Decoded<'_>> {
    // Nearly every line is sound, and checking is faster than looking for what to replace: five times as fast as with the
    // standard library, where not all is ASCII.
    if let Ok(text) = simdutf8::basic::from_utf8(bytes) {
        return Some(Decoded::of(text));
    }
    let first_bad = std::str::from_utf8(bytes).err().map(|error| error.valid_up_to());
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        if !chunk.invalid().is_empty() {
            text.push(char::REPLACEMENT_CHARACTER);
        }
        if text.len() > MAX_LINE {
            return None;
        }
    }
    Some(Decoded { text: Cow::Owned(text), first_bad })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: &str = "x23456789012345678901234567890123456789012345678901234567890123\u{fffd}";

    #[test]
    fn what_is_no_utf8_is_replaced_as_nodes_decoder_does() {
        for (bytes, text, bad) in [
            (&b"abc"[..], "abc", None),
            (b"a\xff\xe4\xb8b", "a\u{fffd}\u{fffd}b", Some(1)),
            (b"ab\xed\xa0\x80", "ab\u{fffd}\u{fffd}\u{fffd}", Some(2)),
            (b"\xc0\xaf", "\u{fffd}\u{fffd}", Some(0)),
            (b"x\xf0\x9f\x98", "x\u{fffd}", Some(1)),
            (b"x23456789012345678901234567890123456789012345678901234567890123\xe4\xb8", LONG, Some(63)),
        ] {
            let decoded = decode(bytes).unwrap();
            assert_eq!((&*decoded.text, decoded.first_bad), (text, bad), "{bytes:?}");
        }
    }
}
