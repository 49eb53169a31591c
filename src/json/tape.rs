//! One pass over a text that checks that it is JSON and notes where each value stands.

use std::ops::Range;

/// Where a value stands in its text, and how many values stand in it.
///
/// An object is followed by its members, name and value in turn, an array by its elements, each with all that stands
/// in them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Token {
    /// Offset of its first byte.
    pub start: u32,
    /// Offset behind its last byte.
    pub end: u32,
    /// Of an object or array: how many tokens it takes, itself included; while it is open, the place of the one around
    /// it. Of a string with escapes: [`ESCAPED`], and by how much their spelling is longer than what they stand for.
    size: u32,
}

/// Marks a string that has escapes.
const ESCAPED: u32 = 1 << 31;

/// No token.
const NONE: u32 = u32::MAX >> 1;

impl Token {
    /// How many tokens the value takes, itself included.
    #[inline]
    pub fn size(self) -> usize {
        if self.is_escaped() { 1 } else { self.size as usize }
    }

    /// By how many UTF-16 code units the escapes of a string are longer than what they stand for.
    #[inline]
    pub fn surplus(self) -> u32 {
        if self.is_escaped() { self.size & !ESCAPED } else { 0 }
    }

    /// The same token where the text begins `start` bytes later.
    pub fn moved_back(self, start: u32) -> Self {
        let moved = |at: u32| at.saturating_sub(start);
        Self { start: moved(self.start), end: moved(self.end), ..self }
    }

    /// Whether it is a string with escapes.
    #[inline]
    pub fn is_escaped(self) -> bool {
        self.size & ESCAPED != 0
    }
}

/// The values of a text in the order in which they begin. It can be used again for another text.
#[derive(Debug, Clone, Default)]
pub struct Tape {
    pub(super) tokens: Vec<Token>,
}

impl Tape {
    /// Reads `text` as one JSON value with white space around it; false where it is none.
    ///
    /// Nesting has no limit; escapes may name half surrogate pairs. A text of 1 GiB or more is refused.
    pub(super) fn scan(&mut self, text: &str) -> bool {
        self.clear();
        self.add(text).is_some()
    }

    /// Forgets all values.
    pub fn clear(&mut self) {
        self.tokens.clear();
    }

    /// Reads one more text as [`Tape::read`] does. Gives the place of its values among those of all texts; `None` where it
    /// is no JSON.
    pub fn add(&mut self, text: &str) -> Option<Range<usize>> {
        let start = self.tokens.len();
        let is_short = u32::try_from(text.len()).is_ok_and(|length| length < 1 << 30);
        if is_short && Scanner::new(text, &mut self.tokens).text().is_some() {
            return Some(start..self.tokens.len());
        }
        self.tokens.truncate(start);
        // A text of brackets alone would keep many times its length.
        self.tokens.shrink_to(start.max(1 << 16));
        None
    }
}

struct Scanner<'s> {
    bytes: &'s [u8],
    at: usize,
    tokens: &'s mut Vec<Token>,
    /// The place of the object or array that is open.
    around: u32,
    /// Whether that is an object.
    is_in_object: bool,
}

impl<'s> Scanner<'s> {
    fn new(text: &'s str, tokens: &'s mut Vec<Token>) -> Self {
        Self { bytes: text.as_bytes(), at: 0, tokens, around: NONE, is_in_object: false }
    }

    /// Reads one value and the white space around it, up to the end of the text.
    fn text(&mut self) -> Option<()> {
        loop {
            match self.peek()? {
                b'"' => self.string()?,
                b'{' => {
                    self.open(true)?;
                    if self.peek()? != b'}' {
                        self.name()?;
                        continue;
                    }
                    self.close()?;
                }
                b'[' => {
                    self.open(false)?;
                    if self.peek()? != b']' {
                        continue;
                    }
                    self.close()?;
                }
                byte => self.bare(byte)?,
            }
            // Behind a value ends what is around it, or another one follows.
            loop {
                match self.peek() {
                    Some(b',') if self.around != NONE => {
                        self.at += 1;
                        if self.is_in_object {
                            self.name()?;
                        }
                        break;
                    }
                    Some(b'}') if self.is_in_object => self.close()?,
                    Some(b']') if !self.is_in_object && self.around != NONE => self.close()?,
                    None if self.around == NONE => return Some(()),
                    _ => return None,
                }
            }
        }
    }

    /// Reads the name of a member and the colon behind it.
    #[inline]
    fn name(&mut self) -> Option<()> {
        if self.peek()? != b'"' {
            return None;
        }
        self.string()?;
        if self.peek()? != b':' {
            return None;
        }
        self.at += 1;
        Some(())
    }

    /// The next byte that is no white space.
    #[inline]
    fn peek(&mut self) -> Option<u8> {
        loop {
            match self.bytes.get(self.at)? {
                b' ' | b'\n' | b'\t' | b'\r' => self.at += 1,
                byte => return Some(*byte),
            }
        }
    }

    /// Begins an object or array.
    #[inline]
    fn open(&mut self, is_object: bool) -> Option<()> {
        let place = u32::try_from(self.tokens.len()).ok().filter(|place| *place < NONE)?;
        self.push(self.at, self.at, self.around);
        (self.around, self.is_in_object) = (place, is_object);
        self.at += 1;
        Some(())
    }

    /// Ends the object or array that is open.
    #[inline]
    fn close(&mut self) -> Option<()> {
        self.at += 1;
        let length = self.tokens.len();
        let token = self.tokens.get_mut(self.around as usize)?;
        token.end = offset(self.at);
        let around = std::mem::replace(&mut token.size, offset(length - self.around as usize));
        let start_around =
            self.tokens.get(around as usize).and_then(|token| self.bytes.get(token.start as usize));
        (self.around, self.is_in_object) = (around, start_around == Some(&b'{'));
        Some(())
    }

    #[inline]
    fn push(&mut self, start: usize, end: usize, size: u32) {
        self.tokens.push(Token { start: offset(start), end: offset(end), size });
    }

    /// Reads the string whose opening quote is next.
    #[inline]
    fn string(&mut self) -> Option<()> {
        let start = self.at;
        let (mut is_escaped, mut surplus) = (false, 0);
        self.at += 1;
        loop {
            self.at = plain(self.bytes, self.at);
            match self.bytes.get(self.at)? {
                b'"' => break,
                b'\\' => {
                    is_escaped = true;
                    // Each escape stands for one code unit.
                    surplus += self.escape()? - 1;
                }
                _ => return None,
            }
        }
        self.at += 1;
        self.push(start, self.at, if is_escaped { ESCAPED | surplus } else { 1 });
        Some(())
    }

    /// Reads the escape whose backslash is next; gives its length.
    #[inline]
    fn escape(&mut self) -> Option<u32> {
        let length = match self.bytes.get(self.at + 1)? {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => 2,
            b'u' => {
                let digits = self.bytes.get(self.at + 2..self.at + 6)?;
                if !digits.iter().all(u8::is_ascii_hexdigit) {
                    return None;
                }
                6
            }
            _ => return None,
        };
        self.at += length as usize;
        Some(length)
    }

    /// Reads a number or a literal that begins with `first`.
    fn bare(&mut self, first: u8) -> Option<()> {
        let start = self.at;
        match first {
            b't' => self.literal(b"true")?,
            b'f' => self.literal(b"false")?,
            b'n' => self.literal(b"null")?,
            _ => self.number()?,
        }
        self.push(start, self.at, 1);
        Some(())
    }

    fn literal(&mut self, literal: &[u8]) -> Option<()> {
        self.bytes.get(self.at..)?.starts_with(literal).then(|| self.at += literal.len())
    }

    #[inline]
    fn number(&mut self) -> Option<()> {
        if self.next_is(b"-") {
            self.at += 1;
        }
        if self.next_is(b"0") {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.next_is(b".") {
            self.at += 1;
            self.digits()?;
        }
        if self.next_is(b"eE") {
            self.at += 1;
            if self.next_is(b"+-") {
                self.at += 1;
            }
            self.digits()?;
        }
        Some(())
    }

    #[inline]
    fn next_is(&self, any: &[u8]) -> bool {
        self.bytes.get(self.at).is_some_and(|byte| any.contains(byte))
    }

    /// Reads one digit or more.
    #[inline]
    fn digits(&mut self) -> Option<()> {
        let rest = self.bytes.get(self.at..)?;
        let length = rest.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(rest.len());
        self.at += length;
        (length > 0).then_some(())
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a text that is scanned is shorter than 1 GiB")]
const fn offset(at: usize) -> u32 {
    at as u32
}

/// The first byte from `at` on that a string cannot hold as it is: a quote, a backslash, a control character.
#[inline]
fn plain(bytes: &[u8], mut at: usize) -> usize {
    // Names and numbers of a few bytes are the most; of long texts 32 bytes at once are looked at.
    for _ in 0..2 {
        let Some(word) = word(bytes, at) else { return plain_tail(bytes, at) };
        match first_end(word) {
            8 => at += 8,
            found => return at + found,
        }
    }
    while let Some(chunk) = bytes.get(at..).and_then(|rest| rest.first_chunk::<32>()) {
        let mut ends = false;
        for &byte in chunk {
            ends |= is_end(byte);
        }
        if ends {
            break;
        }
        at += 32;
    }
    while let Some(word) = word(bytes, at) {
        match first_end(word) {
            8 => at += 8,
            found => return at + found,
        }
    }
    plain_tail(bytes, at)
}

/// The same byte by byte.
fn plain_tail(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    at + rest.iter().position(|byte| is_end(*byte)).unwrap_or(rest.len())
}

#[inline]
fn word(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk::<8>().map(|word| u64::from_le_bytes(*word))
}

/// Turns a quote into what comes right behind the control characters, and leaves these where they are.
const QUOTE: u8 = b'"' ^ b' ';

#[inline]
const fn is_end(byte: u8) -> bool {
    byte ^ QUOTE <= b' ' || byte == b'\\'
}

/// The same among eight bytes, the first one lowest; 8 if there is none.
#[inline]
const fn first_end(word: u64) -> usize {
    const ONES: u64 = u64::MAX / 0xff;
    const HIGH: u64 = ONES << 7;
    // A byte below `n` borrows into its highest bit; what a borrow does to later bytes does not matter.
    const fn below(word: u64, n: u8) -> u64 {
        word.wrapping_sub(ONES * n as u64) & !word
    }
    let control_or_quote = below(word ^ (ONES * QUOTE as u64), b' ' + 1);
    let backslash = below(word ^ (ONES * b'\\' as u64), 1);
    (((control_or_quote | backslash) & HIGH).trailing_zeros() / 8) as usize
}

#[cfg(test)]
mod tests;
