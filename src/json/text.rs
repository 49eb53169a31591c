//! Strings that may hold half surrogate pairs.

use serde::de::{self, Deserialize, Deserializer, Visitor};
use std::borrow::Cow;
use std::fmt;

/// A JSON string's value in WTF-8: UTF-8 in which a half surrogate pair stands as its three bytes.
#[derive(Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Text<'a>(Cow<'a, [u8]>);

impl<'a> Text<'a> {
    pub(super) fn borrowed(bytes: &'a [u8]) -> Self {
        Text(Cow::Borrowed(bytes))
    }

    pub(super) fn owned(bytes: Vec<u8>) -> Self {
        Text(Cow::Owned(bytes))
    }

    /// The WTF-8 bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Whether the string has no characters.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The string for people, U+FFFD where half a surrogate pair stands.
    #[must_use]
    pub fn to_str(&self) -> Cow<'_, str> {
        match std::str::from_utf8(&self.0) {
            Ok(text) => Cow::Borrowed(text),
            Err(_) => Cow::Owned(self.replace_halves()),
        }
    }

    /// Like [`Text::to_str`], keeping the string's lifetime where nothing is replaced.
    #[must_use]
    pub fn into_str(self) -> Cow<'a, str> {
        match self.0 {
            Cow::Borrowed(bytes) => match std::str::from_utf8(bytes) {
                Ok(text) => Cow::Borrowed(text),
                Err(_) => Cow::Owned(Text(Cow::Borrowed(bytes)).replace_halves()),
            },
            Cow::Owned(bytes) => Cow::Owned(match String::from_utf8(bytes) {
                Ok(text) => text,
                Err(error) => Text(Cow::Owned(error.into_bytes())).replace_halves(),
            }),
        }
    }

    /// The JavaScript length: UTF-16 code units (FORMAT §7.5).
    #[must_use]
    pub fn utf16_len(&self) -> u64 {
        utf16_len(&self.0)
    }

    /// The JavaScript length of this string as `JSON.stringify` writes it, quotes included.
    #[must_use]
    pub fn stringify_len(&self) -> u64 {
        let mut length = 2;
        for (index, &byte) in self.0.iter().enumerate() {
            length += match byte {
                b'"' | b'\\' | 0x08 | 0x09 | 0x0a | 0x0c | 0x0d => 2,
                0x00..=0x1f => 6,
                0xed if self.0.get(index + 1).is_some_and(|&next| next >= 0xa0) => 6,
                _ => units(byte),
            };
        }
        length
    }

    /// This string as `JSON.stringify` writes it, quotes included: half a surrogate pair as an escape.
    #[must_use]
    pub fn stringify(&self) -> String {
        if let Ok(text) = std::str::from_utf8(&self.0) {
            return super::quote(text);
        }
        let spelt = char::decode_utf16(self.to_utf16()).map(|unit| match unit {
            Ok('"') => "\\\"".to_owned(),
            Ok(character) => super::quote(character.encode_utf8(&mut [0; 4])).replace('"', ""),
            Err(half) => format!("\\u{:04x}", half.unpaired_surrogate()),
        });
        format!("\"{}\"", spelt.collect::<String>())
    }

    /// The UTF-16 code units: what JavaScript walks where it walks a string.
    #[must_use]
    pub fn to_utf16(&self) -> Vec<u16> {
        let bytes = &*self.0;
        let mut units = Vec::with_capacity(bytes.len());
        let mut at = 0;
        while let Some(&first) = bytes.get(at) {
            let (length, mut code) = match first {
                0x00..=0x7f => (1, u32::from(first)),
                0x80..=0xdf => (2, u32::from(first & 0x1f)),
                0xe0..=0xef => (3, u32::from(first & 0x0f)),
                0xf0..=0xff => (4, u32::from(first & 0x07)),
            };
            for &byte in bytes.iter().skip(at + 1).take(length - 1) {
                code = (code << 6) | u32::from(byte & 0x3f);
            }
            match (u16::try_from(code), char::from_u32(code)) {
                (Ok(unit), _) => units.push(unit),
                (Err(_), Some(astral)) => units.extend_from_slice(astral.encode_utf16(&mut [0; 2])),
                (Err(_), None) => units.push(0xfffd),
            }
            at += length;
        }
        units
    }

    /// The string of these UTF-16 code units. A half that finds its other half joins it, as in JavaScript.
    #[must_use]
    pub fn from_utf16(units: &[u16]) -> Text<'static> {
        let mut bytes = Vec::with_capacity(units.len());
        for unit in char::decode_utf16(units.iter().copied()) {
            match unit {
                Ok(character) => bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
                Err(half) => {
                    let [high, low] = half.unpaired_surrogate().to_be_bytes();
                    let middle = ((high & 0x0f) << 2) | (low >> 6);
                    bytes.extend([0xe0 | (high >> 4), 0x80 | middle, 0x80 | (low & 0x3f)]);
                }
            }
        }
        Text(Cow::Owned(bytes))
    }

    fn replace_halves(&self) -> String {
        let mut out = String::with_capacity(self.0.len());
        let mut rest: &[u8] = &self.0;
        while let Some(at) = half(rest) {
            out.push_str(&String::from_utf8_lossy(&rest[..at]));
            out.push('\u{fffd}');
            rest = &rest[at + 3..];
        }
        out.push_str(&String::from_utf8_lossy(rest));
        out
    }
}

/// Where the first half surrogate pair starts.
fn half(bytes: &[u8]) -> Option<usize> {
    bytes.windows(3).position(|three| three[0] == 0xed && three[1] >= 0xa0)
}

/// The UTF-16 code units of text in WTF-8.
pub(super) fn utf16_len(bytes: &[u8]) -> u64 {
    // Sums of one byte each, so that many are made at once; two for each character keep them below 256.
    let chunk_len = |chunk: &[u8]| {
        chunk.iter().fold(0_u8, |sum, &byte| sum + u8::from(byte & 0xc0 != 0x80) + u8::from(byte >= 0xf0))
    };
    bytes.chunks(127).map(|chunk| u64::from(chunk_len(chunk))).sum()
}

/// How many units the spelling of the escapes in a string's inner text takes beyond what they stand for, one each.
pub(super) fn units_in_escapes(inner: &[u8]) -> u64 {
    let (mut more, mut at) = (0, 0);
    while let Some(step) = memchr::memchr(b'\\', inner.get(at..).unwrap_or_default()) {
        let length = if inner.get(at + step + 1) == Some(&b'u') { 6 } else { 2 };
        more += length - 1;
        at += step + usize::try_from(length).unwrap_or(2);
    }
    more
}

/// UTF-16 code units that a character contributes, counted at its first byte.
fn units(byte: u8) -> u64 {
    match byte {
        0x80..=0xbf => 0,
        0xf0..=0xff => 2,
        _ => 1,
    }
}

impl<'a> From<&'a str> for Text<'a> {
    fn from(text: &'a str) -> Self {
        Text(Cow::Borrowed(text.as_bytes()))
    }
}

impl PartialEq<str> for Text<'_> {
    fn eq(&self, other: &str) -> bool {
        *self.0 == *other.as_bytes()
    }
}

impl fmt::Debug for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.to_str())
    }
}

impl<'de> Deserialize<'de> for Text<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;
        impl<'de> Visitor<'de> for TextVisitor {
            type Value = Text<'de>;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
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

#[cfg(test)]
mod tests {
    use super::super::{parse, text};
    use super::Text;

    fn lengths(json: &str) -> (u64, u64) {
        let raw = parse(json).unwrap();
        let value = text(raw.raw()).unwrap();
        (value.utf16_len(), value.stringify_len())
    }

    #[test]
    fn lengths_are_those_of_javascript() {
        assert_eq!(lengths(r#""abc""#), (3, 5));
        assert_eq!(lengths(r#""会话""#), (2, 4));
        assert_eq!(lengths(r#""🦀""#), (2, 4));
        assert_eq!(lengths(r#""\ud83e\udd80""#), (2, 4));
        assert_eq!(lengths(r#""\ud83d""#), (1, 8));
        assert_eq!(lengths(r#""a\n\t\"\\\u0001\u007f""#), (7, 18));
        assert_eq!(lengths(r#""\u2028""#), (1, 3));
        assert_eq!(lengths("\"\u{d7ff}\""), (1, 3));
    }

    #[test]
    fn half_a_pair_is_shown_as_the_replacement_character() {
        let raw = parse(r#""a\ud83db\ude00""#).unwrap();
        let value = text(raw.raw()).unwrap();
        assert_eq!(value.to_str(), "a\u{fffd}b\u{fffd}");
        assert_eq!(value.into_str(), "a\u{fffd}b\u{fffd}");
    }

    #[test]
    fn halves_that_meet_join() {
        let crab = parse(r#""\ud83e\udd80""#).unwrap();
        assert_eq!(Text::from_utf16(&[0xd83e, 0xdd80]), text(crab.raw()).unwrap());
        let apart = parse(r#""\udd80\ud83e""#).unwrap();
        assert_eq!(Text::from_utf16(&[0xdd80, 0xd83e]), text(apart.raw()).unwrap());
    }

    proptest::proptest! {
        #[test]
        fn units_come_back(units in proptest::collection::vec(proptest::prelude::any::<u16>(), 0..40)) {
            let text = Text::from_utf16(&units);
            proptest::prop_assert_eq!(text.utf16_len(), units.len() as u64);
            proptest::prop_assert_eq!(text.to_utf16(), units);
        }

        #[test]
        fn units_are_those_of_the_standard_library(plain in ".*") {
            let units: Vec<u16> = plain.encode_utf16().collect();
            proptest::prop_assert_eq!(Text::from(&*plain).to_utf16(), units);
        }
    }
}
