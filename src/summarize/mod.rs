//! Summarizers: what is given to one (a [`Transcript`]), what it gives back (a [`Summary`]), and who there is.
//!
//! A summarizer knows nothing of logs, surfaces or brackets; `compact/` frames, gates and commits its answer.

mod stub;
mod transcript;

pub use stub::Stub;
pub use transcript::{Entry, Transcript};

/// The eight sections of a summary, in their order.
pub const SECTIONS: [&str; 8] = [
    "Primary Request and Intent",
    "Key Technical Concepts",
    "Files and Code",
    "Errors and Fixes",
    "Pending Jobs",
    "Current Work",
    "Next Step",
    "Critical Context",
];

/// What a summarizer is asked for.
#[derive(Debug)]
pub struct Request<'a> {
    /// The region, oldest entry first.
    pub transcript: &'a Transcript,
    /// The prompt that stands beside the summary word for word, by its seq: a summary need not repeat it.
    pub carried: Option<u64>,
    /// The most that the summary may cost, in host tokens (FORMAT §7.5).
    pub budget: u64,
}

/// A summarizer's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// Markdown: the eight [`SECTIONS`], each under a `## ` heading.
    pub text: String,
    /// The provider that the log names.
    pub provider: String,
    /// The model that the log names.
    pub model: String,
}

/// Why there is no summary.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SummarizeError {
    /// What went wrong, for people and for the log.
    pub message: String,
}

/// Who makes summaries.
pub trait Summarizer: Sync {
    /// The name that reports use: `stub`, `command`, `openai`, `anthropic`.
    fn kind(&self) -> &'static str;

    /// Whether the answer costs nothing to ask for. Such a summary is made, and judged, before the log is
    /// touched; any other only inside an open bracket.
    fn is_free(&self) -> bool;

    /// Makes one summary of the request's transcript.
    fn summarize(&self, request: &Request) -> Result<Summary, SummarizeError>;
}
