//! A value in a text, and texts that are kept with their values.

use super::tape::{Tape, Token};
use super::{Object, Text};
use serde::de::{self, Deserialize, Deserializer};
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

/// One value: its original text, of which nothing is copied, and what stands in it, which is found without reading the
/// text again.
#[derive(Clone, Copy)]
pub struct Raw<'a> {
    /// The text around the value.
    text: &'a str,
    /// The value and all that stands in it.
    tokens: &'a [Token],
}

impl<'a> Raw<'a> {
    /// The value's text, without white space around it.
    #[inline]
    #[must_use]
    pub fn get(self) -> &'a str {
        let text = |token: &Token| self.text.get(token.start as usize..token.end as usize);
        self.tokens.first().and_then(text).unwrap_or_default()
    }

    /// The bytes of the value's text.
    #[inline]
    pub(super) fn bytes(self) -> &'a [u8] {
        let bytes = |token: &Token| self.text.as_bytes().get(token.start as usize..token.end as usize);
        self.tokens.first().and_then(bytes).unwrap_or_default()
    }

    /// The member `key` of an object; the last one where it stands more than once.
    pub(super) fn member(self, key: &str) -> Option<Raw<'a>> {
        let mut found = None;
        let mut tokens = self.tokens.get(1..).unwrap_or_default();
        while let [name, value, ..] = tokens {
            let (member, behind) = tokens.split_at_checked(1 + value.size())?;
            // Most names are told apart by their lengths.
            let may_be = name.is_escaped() || (name.end - name.start) as usize == key.len() + 2;
            if may_be && (Raw { text: self.text, tokens: member }).is_text(key) {
                found = member.get(1..);
            }
            tokens = behind;
        }
        found.map(|tokens| Raw { text: self.text, tokens })
    }

    /// Whether it is this string.
    #[inline]
    #[must_use]
    pub fn is_text(self, value: &str) -> bool {
        let Some(token) = self.tokens.first() else { return false };
        if token.is_escaped() {
            return super::text(self).is_some_and(|text| text == *value);
        }
        // Most strings are told apart by their lengths.
        (token.end - token.start) as usize == value.len() + 2
            && self.bytes().strip_prefix(b"\"").and_then(|rest| rest.strip_suffix(b"\""))
                == Some(value.as_bytes())
    }

    /// The text of a string between its quotes.
    #[inline]
    pub(super) fn inner_text(self) -> &'a str {
        let Some(token) = self.tokens.first() else { return "" };
        self.text.get(token.start as usize + 1..token.end as usize - 1).unwrap_or_default()
    }

    /// Whether it is a string with escapes.
    #[inline]
    pub(super) fn is_escaped(self) -> bool {
        self.tokens.first().is_some_and(|token| token.is_escaped())
    }

    /// By how many UTF-16 code units the escapes of a string are longer than what they stand for.
    pub(super) fn surplus(self) -> u32 {
        self.tokens.first().map_or(0, |token| token.surplus())
    }

    /// What stands in it directly: the elements of an array; names and values of an object in turn.
    pub(super) fn inner(self) -> Inner<'a> {
        Inner { text: self.text, tokens: self.tokens.get(1..).unwrap_or_default() }
    }

    /// A copy of the value that can be kept.
    #[must_use]
    pub fn to_document(self) -> Document<'static> {
        let start = self.tokens.first().map_or(0, |token| token.start);
        let tokens = self.tokens.iter().map(|token| token.moved_back(start)).collect();
        Document { text: Cow::Owned(self.get().to_owned()), tape: Tape { tokens } }
    }
}

/// The value as it stands.
impl Serialize for Raw<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw: &RawValue = serde_json::from_str(self.get()).map_err(serde::ser::Error::custom)?;
        raw.serialize(serializer)
    }
}

impl fmt::Debug for Raw<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.get())
    }
}

/// Values one behind the other.
#[derive(Debug, Clone)]
pub struct Inner<'a> {
    text: &'a str,
    tokens: &'a [Token],
}

impl<'a> Iterator for Inner<'a> {
    type Item = Raw<'a>;

    #[inline]
    fn next(&mut self) -> Option<Raw<'a>> {
        let (tokens, behind) = self.tokens.split_at_checked(self.tokens.first()?.size())?;
        self.tokens = behind;
        Some(Raw { text: self.text, tokens })
    }
}

impl Tape {
    /// The value of a text that was added, by the place that [`Tape::add`] gave.
    #[must_use]
    pub fn value<'a>(&'a self, place: Range<usize>, text: &'a str) -> Raw<'a> {
        Raw { text, tokens: self.tokens.get(place).unwrap_or_default() }
    }

    /// Reads `text` as one JSON value, with white space around it.
    ///
    /// Nesting has no limit, and escapes may name half surrogate pairs.
    pub fn read<'a>(&'a mut self, text: &'a str) -> Result<Raw<'a>, serde_json::Error> {
        if self.scan(text) {
            return Ok(Raw { text, tokens: &self.tokens });
        }
        Err(Self::problem(text))
    }

    /// What is wrong with a text that is no JSON.
    #[must_use]
    pub fn problem(text: &str) -> serde_json::Error {
        // A parser that counts columns tells it.
        match serde_json::from_str::<&RawValue>(text) {
            Err(error) => error,
            Ok(_) => de::Error::custom("the value is too long"),
        }
    }
}

/// A text that is one JSON value.
#[derive(Clone)]
pub struct Document<'a> {
    text: Cow<'a, str>,
    tape: Tape,
}

impl<'a> Document<'a> {
    /// Checks that `text` is one JSON value, with white space around it.
    pub fn new(text: impl Into<Cow<'a, str>>) -> Result<Self, serde_json::Error> {
        let (text, mut tape) = (text.into(), Tape::default());
        tape.read(&text)?;
        Ok(Self { text, tape })
    }

    /// The value.
    #[must_use]
    pub fn raw(&self) -> Raw<'_> {
        Raw { text: &self.text, tokens: &self.tape.tokens }
    }

    /// The value's text, without white space around it.
    #[must_use]
    pub fn get(&self) -> &str {
        self.raw().get()
    }

    /// The string that the value is.
    #[must_use]
    pub fn text(&self) -> Option<Text<'_>> {
        super::text(self.raw())
    }

    /// The object that the value is.
    #[must_use]
    pub fn object(&self) -> Option<Object<'_>> {
        Object::of(self.raw())
    }
}

impl Serialize for Document<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.raw().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Document<'static> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        Self::new(String::from(Box::<str>::from(raw))).map_err(de::Error::custom)
    }
}

impl fmt::Debug for Document<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.raw().fmt(f)
    }
}
