//! One pass over a text that checks that it is JSON and notes where each value stands.

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
    /// While it is open: the place of the token around it. Then: how many tokens the value takes, itself included.
    /// [`ESCAPED`] marks a string with escapes.
    size: u32,
}

/// Set in the size of a string that has escapes.
const ESCAPED: u32 = 1 << 31;

/// No token.
const NONE: u32 = u32::MAX >> 1;

impl Token {
    /// How many tokens the value takes, itself included.
    pub fn size(self) -> usize {
        (self.size & !ESCAPED) as usize
    }

    /// The same token where the text begins `start` bytes later.
    pub fn moved_back(self, start: u32) -> Self {
        let moved = |at: u32| at.saturating_sub(start);
        Self { start: moved(self.start), end: moved(self.end), ..self }
    }

    /// Whether it is a string with escapes.
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
        self.tokens.clear();
        let is_short = u32::try_from(text.len()).is_ok_and(|length| length < 1 << 30);
        is_short && Scanner { bytes: text.as_bytes(), at: 0, tokens: &mut self.tokens }.value().is_some()
    }
}

/// What may stand next.
#[derive(Clone, Copy)]
enum Expected {
    Value,
    FirstElement,
    FirstName,
    Name,
    Behind,
}

struct Scanner<'s> {
    bytes: &'s [u8],
    at: usize,
    tokens: &'s mut Vec<Token>,
}

impl Scanner<'_> {
    /// Reads one value and the white space around it, up to the end of the text.
    fn value(&mut self) -> Option<()> {
        let mut expected = Expected::Value;
        let mut around = NONE;
        loop {
            let byte = self.peek();
            expected = match (expected, byte) {
                (Expected::FirstElement, Some(b']')) | (Expected::FirstName, Some(b'}')) => {
                    around = self.close(around)?;
                    Expected::Behind
                }
                (Expected::Value | Expected::FirstElement, Some(byte)) => match byte {
                    b'"' => {
                        self.string()?;
                        Expected::Behind
                    }
                    b'{' => {
                        around = self.open(around)?;
                        Expected::FirstName
                    }
                    b'[' => {
                        around = self.open(around)?;
                        Expected::FirstElement
                    }
                    _ => {
                        self.bare(byte)?;
                        Expected::Behind
                    }
                },
                (Expected::FirstName | Expected::Name, Some(b'"')) => {
                    self.string()?;
                    if self.peek()? != b':' {
                        return None;
                    }
                    self.at += 1;
                    Expected::Value
                }
                (Expected::Behind, None) if around == NONE => return Some(()),
                (Expected::Behind, Some(byte)) => {
                    let is_object =
                        self.bytes.get(self.tokens.get(around as usize)?.start as usize)? == &b'{';
                    match byte {
                        b',' => {
                            self.at += 1;
                            if is_object { Expected::Name } else { Expected::Value }
                        }
                        b'}' if is_object => {
                            around = self.close(around)?;
                            Expected::Behind
                        }
                        b']' if !is_object => {
                            around = self.close(around)?;
                            Expected::Behind
                        }
                        _ => return None,
                    }
                }
                _ => return None,
            };
        }
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

    /// Begins an object or array inside the one at `around`; gives its place.
    #[inline]
    fn open(&mut self, around: u32) -> Option<u32> {
        let place = u32::try_from(self.tokens.len()).ok().filter(|place| *place < NONE)?;
        self.push(self.at, self.at, around);
        self.at += 1;
        Some(place)
    }

    /// Ends the object or array at `place`; gives the place of the one around it.
    #[inline]
    fn close(&mut self, place: u32) -> Option<u32> {
        self.at += 1;
        let length = self.tokens.len();
        let token = self.tokens.get_mut(place as usize)?;
        let around = token.size;
        token.end = offset(self.at);
        token.size = offset(length - place as usize);
        Some(around)
    }

    #[inline]
    fn push(&mut self, start: usize, end: usize, size: u32) {
        self.tokens.push(Token { start: offset(start), end: offset(end), size });
    }

    /// Reads the string whose opening quote is next.
    #[inline]
    fn string(&mut self) -> Option<()> {
        let start = self.at;
        let mut size = 1;
        self.at += 1;
        loop {
            self.at = plain(self.bytes, self.at);
            match self.bytes.get(self.at)? {
                b'"' => break,
                b'\\' => {
                    size |= ESCAPED;
                    self.escape()?;
                }
                _ => return None,
            }
        }
        self.at += 1;
        self.push(start, self.at, size);
        Some(())
    }

    /// Reads the escape whose backslash is next.
    #[inline]
    fn escape(&mut self) -> Option<()> {
        match self.bytes.get(self.at + 1)? {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => self.at += 2,
            b'u' => {
                let digits = self.bytes.get(self.at + 2..self.at + 6)?;
                if !digits.iter().all(u8::is_ascii_hexdigit) {
                    return None;
                }
                self.at += 6;
            }
            _ => return None,
        }
        Some(())
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
        if self.bytes.get(self.at) == Some(&b'-') {
            self.at += 1;
        }
        if self.bytes.get(self.at) == Some(&b'0') {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.bytes.get(self.at) == Some(&b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.bytes.get(self.at), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.bytes.get(self.at), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        Some(())
    }

    /// Reads one digit or more.
    #[inline]
    fn digits(&mut self) -> Option<()> {
        let start = self.at;
        while self.bytes.get(self.at).is_some_and(u8::is_ascii_digit) {
            self.at += 1;
        }
        (self.at > start).then_some(())
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a text that is scanned is shorter than 1 GiB")]
const fn offset(at: usize) -> u32 {
    at as u32
}

/// The first byte from `at` on that a string cannot hold as it is: a quote, a backslash, a control character.
#[inline]
fn plain(bytes: &[u8], mut at: usize) -> usize {
    const WIDE: usize = 32;
    // Most strings are long, and the compiler makes a few vector instructions of this.
    while let Some(chunk) = bytes.get(at..).and_then(|rest| rest.first_chunk::<WIDE>()) {
        let mut ends = false;
        for &byte in chunk {
            ends |= byte < b' ' || byte == b'"' || byte == b'\\';
        }
        if ends {
            break;
        }
        at += WIDE;
    }
    while let Some(word) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        match first_end(u64::from_le_bytes(*word)) {
            8 => at += 8,
            found => return at + found,
        }
    }
    let rest = bytes.get(at..).unwrap_or_default();
    let is_end = |byte: &u8| *byte < b' ' || *byte == b'"' || *byte == b'\\';
    at + rest.iter().position(is_end).unwrap_or(rest.len())
}

/// The same among eight bytes, the first one lowest; 8 if there is none.
#[inline]
const fn first_end(word: u64) -> usize {
    const ONES: u64 = u64::MAX / 0xff;
    const HIGH: u64 = ONES << 7;
    // A byte below `n` borrows into its highest bit; what a borrow does to later bytes does not matter.
    const fn below(word: u64, n: u64) -> u64 {
        word.wrapping_sub(ONES * n) & !word
    }
    let quote = below(word ^ (ONES * b'"' as u64), 1);
    let backslash = below(word ^ (ONES * b'\\' as u64), 1);
    let ends = (below(word, b' ' as u64) | quote | backslash) & HIGH;
    (ends.trailing_zeros() / 8) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::value::RawValue;

    fn is_json(text: &str) -> bool {
        Tape::default().scan(text)
    }

    fn is_json_for_serde(text: &str) -> bool {
        serde_json::from_str::<&RawValue>(text).is_ok()
    }

    #[test]
    fn values_are_told_from_other_texts() {
        for text in [
            "{}",
            "[]",
            " [ ] ",
            "\"\"",
            "0",
            "-0",
            "-1.5e+7",
            "1E5",
            "true",
            "false",
            "null",
            "{\"a\":{\"b\":[1,{}]}}",
            "\"\\ud83d\"",
            "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00Ff\"",
            "\r\n\t 1 ",
            "[1,2 , 3]",
            "\"\u{7f}é会🦀\"",
        ] {
            assert!(is_json(text) && is_json_for_serde(text), "{text}");
        }
        for text in [
            "",
            " ",
            "{",
            "}",
            "[",
            "]",
            "[1",
            "[1,",
            "[1,]",
            "[,1]",
            "{\"a\"}",
            "{\"a\":}",
            "{\"a\":1,}",
            "{1:2}",
            "{a:1}",
            "01",
            "-",
            "1.",
            ".5",
            "1e",
            "1e+",
            "+1",
            "tru",
            "nulll",
            "truefalse",
            "\"",
            "\"a",
            "\"\\\"",
            "\"\\x\"",
            "\"\\u12g4\"",
            "\"\\u12\"",
            "\"\n\"",
            "\"\u{1f}\"",
            "1 2",
            "[1}",
            "{\"a\":1]",
            "[]]",
            "{\"a\u{1}\":1}",
            "\u{feff}1",
            "\u{a0}1",
            "'a'",
            "NaN",
        ] {
            assert!(!is_json(text) && !is_json_for_serde(text), "{text:?}");
        }
    }

    #[test]
    fn nesting_has_no_limit() {
        assert!(is_json(&format!("{}{}", "[".repeat(100_000), "]".repeat(100_000))));
        assert!(!is_json(&"[".repeat(100_000)));
    }

    #[test]
    fn the_first_end_is_found_wherever_it_stands() {
        for length in 0..80 {
            for end in ["\"", "\\", "\n", "\u{1f}"] {
                let text = format!("{}{end}\"x", "é".repeat(length));
                assert_eq!(plain(text.as_bytes(), 0), 2 * length);
            }
        }
        assert_eq!(plain(&[b'a'; 70], 3), 70);
        assert_eq!(plain(b"\x7f\x80\xff !#[]^\"", 0), 9);
    }

    proptest! {
        #[test]
        fn texts_that_are_nearly_json_are_judged_as_by_serde(
            pieces in proptest::collection::vec(0_usize..28, 0..24),
        ) {
            const PIECES: [&str; 28] = [
                "{", "}", "[", "]", ",", ":", "\"", "\"a\"", "\"a\":", "\\", "\\n", "\\u00e9", "\\ud800", "0", "1", "-", ".",
                "e", "E+", "true", "null", " ", "\n", "\u{1}", "é", "[]", "{}", "\"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\"",
            ];
            let text: String = pieces.iter().map(|piece| PIECES[*piece]).collect();
            prop_assert_eq!(is_json(&text), is_json_for_serde(&text), "{}", text);
        }

        #[test]
        fn a_changed_byte_is_judged_as_by_serde(at in 0_usize..1000, byte in 0_u8..128) {
            const TEXT: &str = r#"{"type":"user/message","seq":12,"time":-1.5e3,"data":{"content":[{"text":"a\n\u00e9"},[],{},true,null]}}"#;
            let mut bytes = TEXT.as_bytes().to_vec();
            let at = at % bytes.len();
            bytes[at] = byte;
            let text = String::from_utf8(bytes).unwrap();
            prop_assert_eq!(is_json(&text), is_json_for_serde(&text), "{}", text);
        }
    }
}
