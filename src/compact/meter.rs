//! What budgets are counted in: host tokens, or those of a tokenizer.

use crate::session::Node;
use crate::tokens::{Tokenizer, TokenizerName, UnknownTokenizer};
use std::fmt;
use std::str::FromStr;

/// How the tokens of a retained tail are counted. What a log says, and the pressure that it is under, is host tokens
/// whatever is chosen here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Counting {
    /// By dsh's own estimate (FORMAT §7.5).
    #[default]
    Host,
    /// Exactly, by a vocabulary.
    Exact(TokenizerName),
}

impl fmt::Display for Counting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Host => "host",
            Self::Exact(name) => name.as_str(),
        })
    }
}

impl FromStr for Counting {
    type Err = UnknownCounting;

    fn from_str(name: &str) -> Result<Self, UnknownCounting> {
        if name == "host" { Ok(Self::Host) } else { Ok(Self::Exact(name.parse()?)) }
    }
}

/// A name that is neither `host` nor a tokenizer's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}; host is dsh's own estimate")]
pub struct UnknownCounting(#[from] UnknownTokenizer);

/// Prices nodes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Meter {
    tokenizer: Option<Tokenizer>,
}

impl Meter {
    /// A meter for `counting`; a vocabulary is loaded here, and only if it is asked for.
    pub(super) fn new(counting: Counting) -> Self {
        let tokenizer = match counting {
            Counting::Host => None,
            Counting::Exact(name) => Some(Tokenizer::load(name)),
        };
        Self { tokenizer }
    }

    /// The vocabulary, if it counts by one.
    #[expect(dead_code, reason = "wired in with the exact figures")]
    pub(super) fn tokenizer(&self) -> Option<&Tokenizer> {
        self.tokenizer.as_ref()
    }

    /// The position where a tail of at least `budget` tokens starts; the node that reaches it is in the tail. Nodes
    /// are counted from the last one on and no further than needed. One that the tokenizer gives up on counts as its
    /// host tokens, which `remarks` tells.
    pub(super) fn tail(&self, nodes: &[Node], budget: u64, remarks: &mut Vec<String>) -> usize {
        let mut held = 0_u64;
        for (position, node) in nodes.iter().enumerate().rev() {
            held = held.saturating_add(self.price(node, remarks));
            if held >= budget {
                return position;
            }
        }
        0
    }

    fn price(&self, node: &Node, remarks: &mut Vec<String>) -> u64 {
        let Some(tokenizer) = &self.tokenizer else { return node.host_tokens };
        exact(tokenizer, node).unwrap_or_else(|| {
            let (seq, price) = (node.seq, node.host_tokens);
            remarks.push(format!(
                "the tokenizer gave up on seq {seq}, which is counted as its {price} host tokens"
            ));
            price
        })
    }
}

/// The exact tokens of a node whose message is kept; `None` where the tokenizer gives up.
pub(super) fn exact(tokenizer: &Tokenizer, node: &Node) -> Option<u64> {
    node.view().and_then(|message| tokenizer.message(&message.content))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compact::testing;

    #[test]
    fn names_are_read_as_they_are_printed() {
        for name in ["host", "o200k_base", "cl100k_base"] {
            assert_eq!(name.parse::<Counting>().map(|counting| counting.to_string()), Ok(name.to_owned()));
        }
        let error = "Host".parse::<Counting>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "no tokenizer is called \"Host\"; dshc has o200k_base and cl100k_base; host is dsh's own estimate"
        );
    }

    #[test]
    fn a_tail_is_counted_in_what_was_asked_for() {
        let folded = testing::fixture("demo/session.jsonl");
        let nodes = folded.session.surface.nodes();
        let mut remarks = Vec::new();
        let mut check = |counting, price: &dyn Fn(&Node) -> u64| {
            let meter = Meter::new(counting);
            let mut held = 0;
            for (position, node) in nodes.iter().enumerate().rev() {
                assert_eq!(meter.tail(nodes, held + 1, &mut remarks), position, "{counting}");
                held += price(node);
                assert_eq!(meter.tail(nodes, held, &mut remarks), position, "{counting}");
            }
            assert_eq!(meter.tail(nodes, held + 1, &mut remarks), 0);
        };
        check(Counting::Host, &|node| node.host_tokens);
        let tokenizer = Tokenizer::load(TokenizerName::O200kBase);
        check(Counting::Exact(TokenizerName::O200kBase), &|node| {
            tokenizer.message(&node.view().unwrap().content).unwrap()
        });
        assert!(remarks.is_empty(), "{remarks:?}");
    }

    #[test]
    fn a_node_that_the_tokenizer_gives_up_on_counts_as_its_host_tokens() {
        let folded = testing::surface_of(&["short", &" ".repeat(1_000_000), "short"]);
        let nodes = folded.session.surface.nodes();
        let meter = Meter::new(Counting::Exact(TokenizerName::O200kBase));
        let mut remarks = Vec::new();
        assert_eq!(meter.tail(nodes, 1, &mut remarks), 2);
        assert!(remarks.is_empty(), "what is not needed is not counted");
        assert_eq!(meter.tail(nodes, nodes[1].host_tokens, &mut remarks), 1);
        let expected = format!(
            "the tokenizer gave up on seq 1, which is counted as its {} host tokens",
            nodes[1].host_tokens
        );
        assert_eq!(remarks, [expected]);
    }
}
