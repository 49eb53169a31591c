//! The checkpoint: the message that takes a region's place (FORMAT §7.4).

use crate::format::Format;
use crate::json::{self, Raw};
use crate::session::Task;
pub(super) use crate::session::{CLOSING_TAG, OPENING_TAG};
use crate::tokens::host;

/// What a checkpoint begins with.
pub(super) const PREAMBLE: &str = "Earlier messages of this session were condensed to save room. What they established is \
                        recorded below; the messages after this one are complete.";

/// What stands before a carried task.
pub(super) const TASK_LABEL: &str = "The user's original request, word for word:";

/// Text blocks and carried blocks of a checkpoint message, as JSON.
#[derive(Debug)]
pub(super) struct Checkpoint {
    pub(super) content: Vec<Box<Raw>>,
}

impl Checkpoint {
    /// Frames a summary; the task, if it is carried, stands between the opening tag and the summary.
    pub(super) fn new(summary: &str, task: Option<&Task>) -> Self {
        let mut content: Vec<Box<Raw>> = Vec::new();
        content.extend(text_block(&format!("{PREAMBLE}\n\n{OPENING_TAG}")));
        if let Some(task) = task.filter(|task| !task.content.is_empty()) {
            content.extend(text_block(TASK_LABEL));
            content.extend(task.content.iter().cloned());
        }
        content.extend(text_block(summary));
        content.extend(text_block(CLOSING_TAG));
        Self { content }
    }

    /// Its price as dsh's meter has it (FORMAT §7.5).
    pub(super) fn host_tokens(&self, format: &Format) -> u64 {
        let blocks: Vec<&Raw> = self.content.iter().map(AsRef::as_ref).collect();
        host::message(&blocks, format.unpriced_members)
    }
}

/// A text block as JSON. `None` never comes: a quoted string is JSON.
pub(super) fn text_block(text: &str) -> Option<Box<Raw>> {
    Raw::from_string(format!("{{\"type\":\"text\",\"text\":{}}}", json::quote(text))).ok()
}
