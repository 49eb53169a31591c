//! The members of an object.

use super::raw::Inner;
use super::{Kind, Raw, Text, array, count, kind, text};

/// The members of an object, in the order in which they stand.
#[derive(Debug, Clone, Copy)]
pub struct Object<'a> {
    raw: Raw<'a>,
}

impl<'a> Object<'a> {
    /// The members of an object; `None` for another kind of value.
    #[must_use]
    pub fn of(raw: Raw<'a>) -> Option<Self> {
        (kind(raw) == Kind::Object).then_some(Self { raw })
    }

    /// The object itself.
    #[must_use]
    pub fn raw(self) -> Raw<'a> {
        self.raw
    }

    /// The member `key`; the last one where it stands more than once, as in JavaScript.
    #[must_use]
    pub fn get(self, key: &str) -> Option<Raw<'a>> {
        self.raw.member(key)
    }

    /// The string member `key`.
    #[must_use]
    pub fn text(self, key: &str) -> Option<Text<'a>> {
        self.get(key).and_then(text)
    }

    /// Whether the member `key` is this string.
    #[must_use]
    pub fn has_text(self, key: &str, value: &str) -> bool {
        self.get(key).is_some_and(|raw| raw.is_text(value))
    }

    /// The string member `key`, where it is not empty.
    #[must_use]
    pub fn name(self, key: &str) -> Option<Text<'a>> {
        self.text(key).filter(|text| !text.is_empty())
    }

    /// The count member `key`.
    #[must_use]
    pub fn count(self, key: &str) -> Option<u64> {
        self.get(key).and_then(count)
    }

    /// The object member `key`.
    #[must_use]
    pub fn object(self, key: &str) -> Option<Object<'a>> {
        self.get(key).and_then(Object::of)
    }

    /// The elements of the array member `key`.
    #[must_use]
    pub fn array(self, key: &str) -> Option<Vec<Raw<'a>>> {
        self.get(key).and_then(array)
    }

    /// The members as they stand, repeated ones repeated.
    pub fn members(self) -> impl Iterator<Item = (Text<'a>, Raw<'a>)> + Clone {
        self.pairs().map(|(name, value)| (name.text(), value))
    }

    /// The member names as they stand, repeated ones repeated.
    pub fn names(self) -> impl Iterator<Item = Text<'a>> + Clone {
        self.members().map(|(name, _)| name)
    }

    /// Whether the object has all of `required`, which are 64 at most, and besides those none but `optional`.
    #[must_use]
    pub fn has_exactly(self, required: &[&str], optional: &[&str]) -> bool {
        let mut seen = 0_u64;
        for (name, _) in self.pairs() {
            match required.iter().position(|key| name.is(key)) {
                Some(index) => seen |= 1 << index,
                None if optional.iter().any(|key| name.is(key)) => {}
                None => return false,
            }
        }
        seen.count_ones() as usize == required.len()
    }

    /// The members of these names, the last ones where they are repeated, and whether there are others. One pass finds
    /// them all.
    #[must_use]
    pub fn pick<const N: usize>(self, names: [&str; N]) -> ([Option<Raw<'a>>; N], bool) {
        let (mut found, mut has_others) = ([None; N], false);
        for (name, value) in self.pairs() {
            let slot = names.iter().zip(&mut found).find(|(wanted, _)| name.is(wanted));
            match slot {
                Some((_, slot)) => *slot = Some(value),
                None => has_others = true,
            }
        }
        (found, has_others)
    }

    fn pairs(self) -> Pairs<'a> {
        Pairs(self.raw.inner())
    }
}

/// The names of members with their values.
#[derive(Clone)]
struct Pairs<'a>(Inner<'a>);

impl<'a> Iterator for Pairs<'a> {
    type Item = (Name<'a>, Raw<'a>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        Some((Name::of(self.0.next()?), self.0.next()?))
    }
}

/// The name of a member.
#[derive(Clone, Copy)]
enum Name<'a> {
    Plain(&'a str),
    Escaped(Raw<'a>),
}

impl<'a> Name<'a> {
    #[inline]
    fn of(raw: Raw<'a>) -> Self {
        if raw.is_escaped() { Self::Escaped(raw) } else { Self::Plain(raw.inner_text()) }
    }

    #[inline]
    fn is(self, key: &str) -> bool {
        match self {
            Self::Plain(name) => name == key,
            Self::Escaped(raw) => raw.is_text(key),
        }
    }

    fn text(self) -> Text<'a> {
        match self {
            Self::Plain(name) => Text::from(name),
            Self::Escaped(raw) => text(raw).unwrap_or_default(),
        }
    }
}
