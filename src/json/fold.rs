//! One pass over a value's text that never recurses: JavaScript's spelling of it, the length of that, and a digest of
//! the meaning.

use super::{Object, Raw, Text};
use std::collections::HashMap;

/// Identifies a value by meaning: order of members, spelling of numbers and escapes do not count.
pub type Digest = [u8; 32];

/// The JavaScript length of `JSON.stringify(JSON.parse(raw))`: UTF-16 code units, no spaces, `1.0` as `1`,
/// half surrogate pairs escaped, the last of a repeated key (FORMAT §7.5).
#[must_use]
pub fn stringify_len(raw: Raw) -> u64 {
    fold(raw, &Length)
}

/// `JSON.stringify(JSON.parse(raw))`, members in the order in which they stand: names that are numbers, which JavaScript
/// puts first, stay where they are.
#[must_use]
pub fn stringify(raw: Raw) -> String {
    fold(raw, &Spelling)
}

/// The length of an object without the members of the names `left_out`.
#[must_use]
pub fn stringify_len_without(raw: Raw, left_out: &[&str]) -> u64 {
    if left_out.is_empty() {
        return stringify_len(raw);
    }
    Object::of(raw).map_or_else(|| stringify_len(raw), |object| without(&object, left_out, &Length))
}

/// A digest that two values share exactly if JavaScript would call them deeply equal.
#[must_use]
pub fn digest(raw: Raw) -> Digest {
    fold(raw, &Meaning)
}

/// A digest of an object's meaning, `left_out` not counted.
#[must_use]
pub fn digest_without(object: &Object, left_out: &str) -> Digest {
    without(object, &[left_out], &Meaning)
}

fn without<A: Algebra>(object: &Object, left_out: &[&str], algebra: &A) -> A::Out {
    let is_kept = |name: &Text| !left_out.iter().any(|left_out| *name == **left_out);
    // Collecting keeps the last of a repeated name, as JavaScript does.
    let last: HashMap<Text, Raw> = object.members().filter(|(name, _)| is_kept(name)).collect();
    algebra.object(last.into_iter().map(|(name, value)| (name, fold(value, algebra))).collect())
}

/// What a fold makes of each kind of value.
trait Algebra {
    type Out;
    fn string(&self, value: &Text) -> Self::Out;
    fn number(&self, value: f64) -> Self::Out;
    /// `true`, `false` or `null`.
    fn literal(&self, value: &str) -> Self::Out;
    fn array(&self, elements: Vec<Self::Out>) -> Self::Out;
    /// The members in order of first appearance, each with its last value.
    fn object(&self, members: Vec<(Text, Self::Out)>) -> Self::Out;
}

struct Length;

impl Algebra for Length {
    type Out = u64;
    fn string(&self, value: &Text) -> u64 {
        value.stringify_len()
    }
    fn number(&self, value: f64) -> u64 {
        if value.is_finite() { ryu_js::Buffer::new().format(value).len() as u64 } else { "null".len() as u64 }
    }
    fn literal(&self, value: &str) -> u64 {
        value.len() as u64
    }
    fn array(&self, elements: Vec<u64>) -> u64 {
        2 + commas(elements.len()) + elements.into_iter().sum::<u64>()
    }
    fn object(&self, members: Vec<(Text, u64)>) -> u64 {
        2 + commas(members.len())
            + members.into_iter().map(|(key, value)| key.stringify_len() + 1 + value).sum::<u64>()
    }
}

struct Spelling;

impl Algebra for Spelling {
    type Out = String;
    fn string(&self, value: &Text) -> String {
        value.stringify()
    }
    fn number(&self, value: f64) -> String {
        if value.is_finite() { ryu_js::Buffer::new().format(value).to_owned() } else { "null".to_owned() }
    }
    fn literal(&self, value: &str) -> String {
        value.to_owned()
    }
    fn array(&self, elements: Vec<String>) -> String {
        format!("[{}]", elements.join(","))
    }
    fn object(&self, members: Vec<(Text, String)>) -> String {
        let members = members.into_iter().map(|(key, value)| format!("{}:{value}", key.stringify()));
        format!("{{{}}}", members.collect::<Vec<_>>().join(","))
    }
}

fn commas(items: usize) -> u64 {
    items.saturating_sub(1) as u64
}

struct Meaning;

impl Meaning {
    fn hash<'a>(tag: u8, parts: impl IntoIterator<Item = &'a [u8]>) -> Digest {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&[tag]);
        for part in parts {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        *hasher.finalize().as_bytes()
    }
}

impl Algebra for Meaning {
    type Out = Digest;
    fn string(&self, value: &Text) -> Digest {
        Self::hash(b's', [value.as_bytes()])
    }
    fn number(&self, value: f64) -> Digest {
        // Adding zero makes -0 and 0 one, as `===` has it.
        Self::hash(b'n', [(value + 0.0).to_bits().to_le_bytes().as_slice()])
    }
    fn literal(&self, value: &str) -> Digest {
        Self::hash(b'l', [value.as_bytes()])
    }
    fn array(&self, elements: Vec<Digest>) -> Digest {
        Self::hash(b'a', elements.iter().map(Digest::as_slice))
    }
    fn object(&self, mut members: Vec<(Text, Digest)>) -> Digest {
        members.sort_by(|(a, _), (b, _)| a.cmp(b));
        Self::hash(b'o', members.iter().flat_map(|(key, value)| [key.as_bytes(), value.as_slice()]))
    }
}

/// An array or object whose end has not been reached.
enum Open<'a, T> {
    Array(Vec<T>),
    Object { members: Vec<(Text<'a>, T)>, places: HashMap<Text<'a>, usize>, key: Option<Text<'a>> },
}

fn fold<A: Algebra>(raw: Raw, algebra: &A) -> A::Out {
    let mut open: Vec<Open<A::Out>> = Vec::new();
    let mut rest = raw.get().trim();
    loop {
        let (token, after) = next_token(rest);
        rest = after;
        let value = match token {
            Token::Open(b'[') => {
                open.push(Open::Array(Vec::new()));
                continue;
            }
            Token::Open(_) => {
                open.push(Open::Object { members: Vec::new(), places: HashMap::new(), key: None });
                continue;
            }
            Token::Close => match open.pop() {
                Some(Open::Array(elements)) => algebra.array(elements),
                Some(Open::Object { members, .. }) => algebra.object(members),
                None => return algebra.literal("null"),
            },
            Token::String(source) => {
                let value = serde_json::from_str::<Text>(source).unwrap_or(Text::borrowed(b""));
                if let Some(Open::Object { key: key @ None, .. }) = open.last_mut() {
                    *key = Some(value);
                    continue;
                }
                algebra.string(&value)
            }
            Token::Bare(source @ ("true" | "false" | "null")) => algebra.literal(source),
            Token::Bare(source) => algebra.number(source.parse().unwrap_or(f64::NAN)),
            Token::Separator => continue,
            Token::End => return algebra.literal("null"),
        };
        match open.last_mut() {
            None => return value,
            Some(Open::Array(elements)) => elements.push(value),
            Some(Open::Object { members, places, key }) => {
                let name = key.take().unwrap_or(Text::borrowed(b""));
                if let Some(&place) = places.get(&name) {
                    members[place].1 = value;
                } else {
                    places.insert(name.clone(), members.len());
                    members.push((name, value));
                }
            }
        }
    }
}

enum Token<'a> {
    Open(u8),
    Close,
    String(&'a str),
    Bare(&'a str),
    Separator,
    End,
}

/// Cuts one token off text that is known to be JSON.
fn next_token(rest: &str) -> (Token<'_>, &str) {
    let rest = rest.trim_start_matches([' ', '\t', '\n', '\r']);
    let Some(&first) = rest.as_bytes().first() else { return (Token::End, rest) };
    let length = match first {
        b'"' => behind_string(rest.as_bytes(), 0),
        b'[' | b'{' | b']' | b'}' | b',' | b':' => 1,
        _ => rest.find([' ', '\t', '\n', '\r', ',', ':', ']', '}']).unwrap_or(rest.len()),
    };
    let (source, after) = rest.split_at(length);
    let token = match first {
        b'"' => Token::String(source),
        b'[' | b'{' => Token::Open(first),
        b']' | b'}' => Token::Close,
        b',' | b':' => Token::Separator,
        _ => Token::Bare(source),
    };
    (token, after)
}

/// The index behind the string that begins at `at`.
pub(crate) fn behind_string(bytes: &[u8], at: usize) -> usize {
    let mut at = at + 1;
    while let Some(step) = memchr::memchr2(b'"', b'\\', bytes.get(at..).unwrap_or_default()) {
        at += step;
        if bytes.get(at) == Some(&b'"') {
            return at + 1;
        }
        at += 2;
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;

    #[test]
    fn lengths_are_those_of_json_stringify() {
        for (json, expected) in [
            ("{}", 2),
            (r#"{ "a" : [ 1.0 , -0 , 1e21 , 1e-7, 1e400 ] }"#, r#"{"a":[1,0,1e+21,1e-7,null]}"#.len() as u64),
            (r#"{"a":1,"b":2,"a":[true,false,null]}"#, r#"{"a":[true,false,null],"b":2}"#.len() as u64),
            (r#"{"\u0061":"\u4f1a"}"#, 9),
            (r#"["a\\\"b"]"#, 10),
            ("123456789012345680000", 21),
            ("  7 ", 1),
        ] {
            assert_eq!(stringify_len(parse(json).unwrap().raw()), expected, "{json}");
            assert_eq!(
                stringify(parse(json).unwrap().raw()).encode_utf16().count() as u64,
                expected,
                "{json}"
            );
        }
    }

    #[test]
    fn values_are_spelt_as_javascript_spells_them() {
        for (json, expected) in [
            (
                r#"{ "b" : [ 1.0 , -0 , 1e21 ], "a" : "\u00e9\u0007", "b" : null }"#,
                "{\"b\":null,\"a\":\"é\\u0007\"}",
            ),
            (r#"["\ud83d\ude00", "\"x\udd80\n"]"#, r#"["😀","\"x\udd80\n"]"#),
            ("[{},[],true]", "[{},[],true]"),
        ] {
            assert_eq!(stringify(parse(json).unwrap().raw()), expected);
        }
    }

    #[test]
    fn members_can_be_left_out_of_a_length() {
        let object = parse(r#"{"a":[1.0],"b":true,"a":{"b":1},"c":""}"#).unwrap();
        assert_eq!(stringify_len_without(object.raw(), &["b"]), r#"{"a":{"b":1},"c":""}"#.len() as u64);
        assert_eq!(stringify_len_without(object.raw(), &["x"]), stringify_len(object.raw()));
        assert_eq!(stringify_len_without(parse("[1]").unwrap().raw(), &["b"]), 3);
    }

    #[test]
    fn digests_tell_meaning_not_spelling() {
        let same = |a: &str, b: &str| digest(parse(a).unwrap().raw()) == digest(parse(b).unwrap().raw());
        assert!(same(r#"{"a":1.0,"b":"\u0063"}"#, r#"{ "b":"c", "a":1 }"#));
        assert!(same(r#"{"a":0,"a":-0}"#, r#"{"a":0}"#));
        assert!(!same("[1,2]", "[2,1]"));
        assert!(!same("[[1],2]", "[1,[2]]"));
        assert!(!same(r#""1""#, "1"));
        assert!(!same(r#"{"a":null}"#, "{}"));
    }
}
