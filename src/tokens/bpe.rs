//! Exact token counts by a tokenizer's vocabulary, for people who want to know what a model would see.

use super::parts::{Part, parts};
use crate::json::{self, Raw};
use std::collections::HashSet;
use std::fmt;
use std::str::FromStr;
use tiktoken_rs::CoreBPE;

/// The vocabularies that dshc carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenizerName {
    /// `o200k_base`, the newer one.
    O200kBase,
    /// `cl100k_base`, the older one.
    Cl100kBase,
}

impl TokenizerName {
    /// The name as it is typed and printed.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::O200kBase => "o200k_base",
            Self::Cl100kBase => "cl100k_base",
        }
    }
}

impl fmt::Display for TokenizerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for TokenizerName {
    type Err = UnknownTokenizer;
    fn from_str(name: &str) -> Result<Self, UnknownTokenizer> {
        [Self::O200kBase, Self::Cl100kBase]
            .into_iter()
            .find(|known| known.as_str() == name)
            .ok_or_else(|| UnknownTokenizer(name.to_owned()))
    }
}

/// A name that is no tokenizer's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no tokenizer is called {0:?}; dshc has o200k_base and cl100k_base")]
pub struct UnknownTokenizer(String);

/// A vocabulary, ready to count.
#[derive(Clone, Copy)]
pub struct Tokenizer {
    name: TokenizerName,
    vocabulary: &'static CoreBPE,
}

impl Tokenizer {
    /// Loads a vocabulary, which takes a tenth of a second and some 50 MiB the first time, then nothing.
    #[must_use]
    pub fn load(name: TokenizerName) -> Self {
        let vocabulary = match name {
            TokenizerName::O200kBase => tiktoken_rs::o200k_base_singleton(),
            TokenizerName::Cl100kBase => tiktoken_rs::cl100k_base_singleton(),
        };
        Self { name, vocabulary }
    }

    /// Which vocabulary this is.
    #[must_use]
    pub fn name(&self) -> TokenizerName {
        self.name
    }

    /// The number of tokens of `text`; spellings of special tokens such as `<|endoftext|>` are ordinary text.
    ///
    /// `None` where the tokenizer gives up, as it does on about a million blanks in a row.
    #[must_use]
    pub fn count(&self, text: &str) -> Option<u64> {
        // Not `count_ordinary`, which panics where this returns an error.
        self.vocabulary.count(text, &HashSet::new()).ok().map(|count| count as u64)
    }

    /// The number of tokens of a message's content, without any overhead (CONTRACT, `--tokenizer`).
    ///
    /// Every text, reasoning, tool name and arguments string is encoded alone, inside tool results too; other
    /// blocks count as their JSON text. `None` where the tokenizer gives up on any of them.
    #[must_use]
    pub fn message(&self, content: &[Raw]) -> Option<u64> {
        let text = |raw: Raw| self.count(&json::text(raw)?.to_str());
        parts(content)
            .map(|part| match &part {
                Part::Text(value) => text(*value),
                Part::Call { name, arguments } => text(*name)?.checked_add(text(*arguments)?),
                Part::Result => Some(0),
                Part::Other(block) => self.count(block.get()),
            })
            .try_fold(0_u64, |sum, count| sum.checked_add(count?))
    }
}

impl fmt::Debug for Tokenizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tokenizer").field("name", &self.name).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;
    use TokenizerName::{Cl100kBase, O200kBase};

    #[test]
    fn names_are_read_as_they_are_printed() {
        for name in [O200kBase, Cl100kBase] {
            assert_eq!(name.to_string().parse(), Ok(name));
            assert_eq!(Tokenizer::load(name).name(), name);
        }
        let error = "O200K".parse::<TokenizerName>().unwrap_err();
        assert_eq!(
            error.to_string(),
            r#"no tokenizer is called "O200K"; dshc has o200k_base and cl100k_base"#
        );
    }

    // The expected counts are those of the Python package tiktoken 0.14.0.
    #[test]
    fn counts_are_exact() {
        let (o200k, cl100k) = (Tokenizer::load(O200kBase), Tokenizer::load(Cl100kBase));
        for (text, newer, older) in [
            ("", 0, 0),
            ("hello world", 2, 2),
            ("It's 1234567 o'clock, DON'T!", 10, 12),
            ("压缩会话日志", 5, 8),
            ("🦀 🦀", 6, 6),
            ("naïve façade", 4, 5),
            ("    fn main() {\r\n\t\tlet x = 0x7f3a;\n\n\n}", 18, 18),
            ("<|fim_prefix|>", 6, 7),
            ("\u{301}\u{a0}\u{3000}", 3, 3),
        ] {
            assert_eq!((o200k.count(text), cl100k.count(text)), (Some(newer), Some(older)), "{text:?}");
        }
    }

    #[test]
    fn spellings_of_special_tokens_are_text() {
        for name in [O200kBase, Cl100kBase] {
            let tokenizer = Tokenizer::load(name);
            assert_eq!(tokenizer.count("<|endoftext|>"), Some(7));
            assert_eq!(tokenizer.count("<|endoftext|><|endofprompt|>"), Some(13));
        }
    }

    /// The text of a line of `fixtures/tokens/counts.jsonl`.
    fn described(line: &serde_json::Value) -> String {
        let text = |member: &str| line[member].as_str().unwrap();
        let Some(times) = line["times"].as_u64() else { return text("text").to_owned() };
        let times = usize::try_from(times).unwrap();
        format!("{}{}{}", text("before"), text("unit").repeat(times), text("behind"))
    }

    /// Texts of code, of many scripts, of pictures, with special tokens spelt out, with long runs, and at random.
    #[test]
    fn counts_are_those_of_tiktoken_itself() {
        let lines = include_str!("../../fixtures/tokens/counts.jsonl").lines();
        let lines: Vec<serde_json::Value> = lines.map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(lines.len(), 284);
        for name in [O200kBase, Cl100kBase] {
            let tokenizer = Tokenizer::load(name);
            for line in &lines {
                let count = line[name.as_str()].as_u64().unwrap();
                assert_eq!(tokenizer.count(&described(line)), Some(count), "{name}: {line}");
            }
        }
    }

    #[test]
    fn a_million_blanks_make_no_panic() {
        let blanks = " ".repeat(1_000_000);
        assert_eq!(Tokenizer::load(O200kBase).count(&blanks), None);
        assert_eq!(Tokenizer::load(Cl100kBase).count(&blanks), Some(7_813));
        let block = format!(r#"{{"type":"text","text":"{blanks}"}}"#);
        let result = format!(r#"{{"type":"tool-result","content":[{block}]}}"#);
        assert_eq!(Tokenizer::load(O200kBase).message(&[json::leaked(&result)]), None);
    }

    #[test]
    fn messages_count_each_string_alone_and_no_overhead() {
        let tokenizer = Tokenizer::load(O200kBase);
        let count = |content: &[&str]| {
            let content: Vec<Raw> = content.iter().map(|block| json::leaked(block)).collect();
            tokenizer.message(&content).unwrap()
        };
        let alone = |text: &str| tokenizer.count(text).unwrap();
        assert_eq!(count(&[]), 0);
        let text = r#"{"type":"text","text":"hello world"}"#;
        assert_eq!(count(&[text]), 2);
        assert_eq!(count(&[text, r#"{"type":"reasoning","text":"hello world","signature":"x"}"#]), 4);
        let call = r#"{"type":"tool-call","id":"call-1","name":"read_file","arguments":"{\"path\":\"a\"}"}"#;
        assert_eq!(count(&[call]), alone("read_file") + alone(r#"{"path":"a"}"#));
        let image = r#"{ "type":"image", "attachment":{"attachmentId":"\u0061"} }"#;
        assert_eq!(count(&[image]), alone(image));
        let result = format!(r#"{{"type":"tool-result","toolCallId":"c","content":[{text},{image}]}}"#);
        assert_eq!(count(&[&result]), 2 + alone(image));
        assert_eq!(count(&[r#"{"type":"text","text":"a\ud83d"}"#]), alone("a\u{fffd}"));
    }
}
