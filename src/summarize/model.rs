//! A model: text in, text out. How it is reached is its own business; what it is asked is that of [`Live`](super::Live).

use super::{SummarizeError, Watch};

/// What a model is asked, in plain text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt {
    /// What to do: the system prompt, where the model knows one.
    pub instructions: String,
    /// What to do it with.
    pub text: String,
}

/// What a model says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The whole text, never empty, never cut off.
    pub text: String,
    /// What it says that it read and wrote.
    pub usage: Option<Usage>,
}

/// Tokens by a model's own count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Usage {
    /// Read, those from a cache included.
    pub input_tokens: u64,
    /// Written, those of its thinking included.
    pub output_tokens: u64,
}

/// A model that can be asked.
pub trait Model: Sync {
    /// The summarizer's name: `command`, `openai`, `anthropic`.
    fn kind(&self) -> &'static str;

    /// The provider that the log names.
    fn provider(&self) -> &str;

    /// The model that the log names.
    fn name(&self) -> &str;

    /// The most tokens that it may write in one answer, where it is told.
    fn max_tokens(&self) -> Option<u64>;

    /// Asks once, within the model's own deadlines; failures that may pass are tried again within them.
    fn ask(&self, prompt: &Prompt, watch: &dyn Watch) -> Result<Answer, SummarizeError>;
}
