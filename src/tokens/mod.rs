//! What text costs: [`host`], dsh's own estimate, and exact counts by a tokenizer's vocabulary.
//!
//! Figures that stand in a log are always host tokens; exact counts are for people. Any room may call it.

mod bpe;
pub mod host;
mod parts;

pub use bpe::{Tokenizer, TokenizerName, UnknownTokenizer};
pub use parts::images;
