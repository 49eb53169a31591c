//! A region as plain text: the only view of a log that a summarizer gets.

/// A region's entries in surface order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Transcript {
    /// Oldest first.
    pub entries: Vec<Entry>,
}

/// One thing that was said, called or answered. Texts are well formed: U+FFFD for half surrogate pairs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    /// A human's prompt (`source.kind` is `user`).
    Human {
        /// The node's seq.
        seq: u64,
        /// The texts of its blocks, joined by blank lines; `[image]`-like placeholders for other blocks.
        text: String,
    },
    /// A user message that no human wrote: injected context, reminders, other plugins' notes.
    Context {
        /// The node's seq.
        seq: u64,
        /// `source.kind`, with the plugin's name where there is one: `plugin:dsh-system-prompt`.
        source: String,
        /// Its text.
        text: String,
    },
    /// An earlier checkpoint, which a new summary merges and never copies.
    Checkpoint {
        /// The node's seq.
        seq: u64,
        /// The summary that it carries, without the frame and without a carried task.
        summary: String,
    },
    /// What the model said, reasoning left out.
    Assistant {
        /// The node's seq.
        seq: u64,
        /// Its text.
        text: String,
    },
    /// A tool call.
    Call {
        /// The calling node's seq.
        seq: u64,
        /// The call id.
        id: String,
        /// The tool's name.
        tool: String,
        /// The arguments as the model wrote them, usually JSON.
        arguments: String,
    },
    /// A tool's result.
    Result {
        /// The node's seq.
        seq: u64,
        /// The id of the call that it answers.
        id: String,
        /// Whether the tool reported an error.
        is_error: bool,
        /// Its text.
        text: String,
    },
}

impl Entry {
    /// What was said, called with or answered.
    #[must_use]
    pub fn text(&self) -> &str {
        match self {
            Self::Human { text, .. }
            | Self::Context { text, .. }
            | Self::Assistant { text, .. }
            | Self::Result { text, .. }
            | Self::Checkpoint { summary: text, .. }
            | Self::Call { arguments: text, .. } => text,
        }
    }

    /// The seq of the node that it is of; of a prompt that a checkpoint carries, that of the prompt.
    #[must_use]
    pub fn seq(&self) -> u64 {
        match self {
            Self::Human { seq, .. }
            | Self::Context { seq, .. }
            | Self::Checkpoint { seq, .. }
            | Self::Assistant { seq, .. }
            | Self::Call { seq, .. }
            | Self::Result { seq, .. } => *seq,
        }
    }
}
