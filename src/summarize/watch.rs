//! How a summarizer tells how far it is, and learns that it is to stop.

/// Who is told. A call that waits asks at least ten times a second whether to go on.
pub trait Watch: Sync {
    /// A new part of the work begins: `asking deepseek-chat`, `part 2 of 5`, `trying again in 4 s`.
    fn stage(&self, stage: &str);

    /// So many tokens of the answer, by estimate, have come in since the call began.
    fn received(&self, tokens: u64);

    /// Whether the user wants to stop.
    fn is_cancelled(&self) -> bool;
}

/// Nobody watches, and nobody stops the work.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unwatched;

impl Watch for Unwatched {
    fn stage(&self, _stage: &str) {}

    fn received(&self, _tokens: u64) {}

    fn is_cancelled(&self) -> bool {
        false
    }
}
