//! Summarizers: what is given to one (a [`Request`]), what it gives back (a [`Summary`]), and who there is.
//!
//! A summarizer knows nothing of logs, surfaces or brackets; `compact/` frames, gates and commits its answer. The
//! [`Stub`] and [`Drop`] work without a model; [`Live`] puts the region to any [`Model`]: a [`Command`], or one that is
//! [`Remote`].

mod command;
mod drop;
mod http;
mod identifiers;
mod live;
mod model;
mod stub;
mod text;
mod transcript;
mod watch;

pub use command::Command;
pub use drop::Drop;
pub use http::{Dialect, Key, Limits, Remote, Server, ServerError};
pub use identifiers::{Identifier, IdentifierKind, Mentions, identifiers};
pub use live::Live;
pub use model::{Answer, Model, Prompt, Usage};
pub use stub::Stub;
pub use transcript::{Entry, Transcript};
pub use watch::{Unwatched, Watch};

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
pub struct Request<'a> {
    /// The region, oldest entry first.
    pub transcript: &'a Transcript,
    /// The seqs of the region's nodes, in surface order, those without an entry too.
    pub hidden: &'a [u64],
    /// The prompt that stands beside the summary word for word, by its seq: a summary need not repeat it.
    pub carried: Option<u64>,
    /// The most that the summary may cost, in host tokens (FORMAT §7.5).
    pub budget: u64,
    /// What is wrong with an answer, if anything is, in words for who made it. A model is asked once more where
    /// something is; whether the second answer will do is the caller's to judge.
    pub objection: &'a dyn Fn(&str) -> Option<String>,
    /// Who is told how far it is, and says whether to go on.
    pub watch: &'a dyn Watch,
}

/// A summarizer's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// Markdown: the eight [`SECTIONS`], each under a `## ` heading; of a note, one paragraph.
    pub text: String,
    /// The provider that the log names.
    pub provider: String,
    /// The model that the log names.
    pub model: String,
    /// How often the summarizer, or its model, was asked; retries after failures left out.
    pub calls: u64,
    /// What the model says that it read and wrote, over all calls.
    pub usage: Option<Usage>,
    /// The most tokens that the model was allowed to write, where it was told.
    pub max_tokens: Option<u64>,
}

impl Summary {
    /// A text that dshc made without a model.
    #[must_use]
    pub fn own(text: String, model: &str) -> Self {
        let (provider, model) = ("dshc".to_owned(), model.to_owned());
        Self { text, provider, model, calls: 1, usage: None, max_tokens: None }
    }
}

/// Why there is no summary.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SummarizeError {
    /// The request cannot be put to this summarizer, whatever it would answer; told before anything is asked.
    #[error("{message}")]
    Unfit {
        /// Why not, for people.
        message: String,
        /// What to do about it.
        help: String,
    },
    /// It was asked, and gave no summary.
    #[error("{message}")]
    Failed {
        /// What went wrong, for people and for the log. It holds no key.
        message: String,
        /// What to do about it.
        help: String,
    },
    /// The user stopped it.
    #[error("interrupted")]
    Cancelled,
}

/// Who makes summaries.
pub trait Summarizer: Sync {
    /// The name that reports use: `stub`, `drop`, `command`, `openai`, `anthropic`.
    fn kind(&self) -> &'static str;

    /// Whether the answer is made by dshc itself, at once, and is the same each time. Such a summary is made, and
    /// judged, before the log is touched; any other only inside an open bracket, and by stricter gates.
    fn is_free(&self) -> bool;

    /// Whether it can be asked for this at all ([`SummarizeError::Unfit`] if not); told before the log is touched.
    fn admits(&self, _request: &Request) -> Result<(), SummarizeError> {
        Ok(())
    }

    /// Makes one summary of the request's transcript.
    fn summarize(&self, request: &Request) -> Result<Summary, SummarizeError>;
}
