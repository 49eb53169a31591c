//! The figures of a compaction in exact tokens, for people, and the gate on them.

use super::checkpoint::Checkpoint;
use super::gates::Objection;
use super::meter;
use crate::json::{Document, Raw};
use crate::session::Node;
use crate::tokens::{Tokenizer, TokenizerName};
use std::ops::RangeInclusive;

/// Exact tokens before and after; `None` where the tokenizer gave up on a text, or where there is no figure yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExactTokens {
    /// Whose tokens they are.
    pub tokenizer: TokenizerName,
    /// The surface as it was.
    pub before: Option<u64>,
    /// The region.
    pub shadowed: Option<u64>,
    /// The message that takes its place.
    pub checkpoint: Option<u64>,
    /// The surface as it is, or would be, now.
    pub after: Option<u64>,
}

impl ExactTokens {
    /// The figures of a surface and of a region of it, by position; messages must be kept.
    pub(super) fn of(tokenizer: &Tokenizer, nodes: &[Node], region: &RangeInclusive<usize>) -> Self {
        let mut before = Some(0_u64);
        let mut shadowed = Some(0_u64);
        for (position, node) in nodes.iter().enumerate() {
            let tokens = meter::exact(tokenizer, node);
            before = sum(before, tokens);
            if region.contains(&position) {
                shadowed = sum(shadowed, tokens);
            }
        }
        Self { tokenizer: tokenizer.name(), before, shadowed, checkpoint: None, after: None }
    }

    /// The same with the figures that a checkpoint brings.
    pub(super) fn with(self, tokenizer: &Tokenizer, checkpoint: &Checkpoint) -> Self {
        let content: Vec<Raw> = checkpoint.content.iter().map(Document::raw).collect();
        let checkpoint = tokenizer.message(&content);
        let kept = self.before.zip(self.shadowed).map(|(before, shadowed)| before.saturating_sub(shadowed));
        Self { checkpoint, after: kept.and_then(|kept| sum(Some(kept), checkpoint)), ..self }
    }

    /// Why the checkpoint would be no gain. Where the tokenizer gave up nothing is said: the figures in host tokens,
    /// which are judged too, have to do, and [`Self::note`] tells so.
    pub(super) fn objection(&self) -> Option<Objection> {
        let (checkpoint, shadowed) = self.checkpoint.zip(self.shadowed)?;
        (checkpoint >= shadowed).then(|| Objection {
            code: "not_smaller",
            message: format!(
                "the checkpoint would cost {checkpoint} tokens of {}, the region costs {shadowed}",
                self.tokenizer
            ),
            help: "name a larger region, or keep less of the tail",
        })
    }

    /// What is to be said about a figure that is not known, once a checkpoint has been counted.
    pub(super) fn note(&self) -> Option<String> {
        let judged = if self.checkpoint.is_some() && self.shadowed.is_some() {
            ""
        } else {
            ", and the size is judged in host tokens alone"
        };
        let is_known = self.before.is_some() && self.after.is_some();
        (!is_known)
            .then(|| format!("the tokenizer gave up on a text: some exact figures are unknown{judged}"))
    }
}

fn sum(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    one?.checked_add(other?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compact::testing;

    #[test]
    fn figures_add_up() {
        let folded = testing::surface_of(&["hello world", &"one two three four ".repeat(40), "hello world"]);
        let nodes = folded.session.surface.nodes();
        let tokenizer = Tokenizer::load(TokenizerName::O200kBase);
        let figures = ExactTokens::of(&tokenizer, nodes, &(0..=1));
        let count = |at: usize| meter::exact(&tokenizer, &nodes[at]).unwrap();
        assert_eq!(count(0), 2);
        assert_eq!(figures.before, Some(4 + count(1)));
        assert_eq!((figures.shadowed, figures.checkpoint, figures.after), (Some(2 + count(1)), None, None));
        let figures = figures.with(&tokenizer, &Checkpoint::new("hello world", None, &[1]));
        let checkpoint = figures.checkpoint.unwrap();
        assert_eq!(figures.after, Some(2 + checkpoint));
        assert_eq!((figures.objection(), figures.note()), (None, None));
    }

    #[test]
    fn a_checkpoint_that_is_no_smaller_is_refused() {
        let folded = testing::surface_of(&["hello world"]);
        let tokenizer = Tokenizer::load(TokenizerName::Cl100kBase);
        let figures = ExactTokens::of(&tokenizer, folded.session.surface.nodes(), &(0..=0));
        let figures = figures.with(&tokenizer, &Checkpoint::new("hello world", None, &[1]));
        let objection = figures.objection().unwrap();
        assert_eq!(objection.code, "not_smaller");
        let expected = format!(
            "the checkpoint would cost {} tokens of cl100k_base, the region costs 2",
            figures.checkpoint.unwrap()
        );
        assert_eq!(objection.message, expected);
    }

    #[test]
    fn what_cannot_be_counted_is_told_and_bars_nothing() {
        let blanks = " ".repeat(1_000_000);
        let folded = testing::surface_of(&["hello world", &blanks]);
        let nodes = folded.session.surface.nodes();
        let tokenizer = Tokenizer::load(TokenizerName::O200kBase);
        let checkpoint = Checkpoint::new("hello world", None, &[1]);
        let figures = ExactTokens::of(&tokenizer, nodes, &(1..=1)).with(&tokenizer, &checkpoint);
        assert_eq!((figures.before, figures.shadowed, figures.after), (None, None, None));
        assert_eq!(figures.objection(), None);
        assert!(figures.note().unwrap().ends_with("the size is judged in host tokens alone"));
        let figures = ExactTokens::of(&tokenizer, nodes, &(0..=0)).with(&tokenizer, &checkpoint);
        assert!(figures.objection().is_some());
        assert!(figures.note().unwrap().ends_with("unknown"));
    }
}
