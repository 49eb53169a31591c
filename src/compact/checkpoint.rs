//! The checkpoint: the message that takes a region's place (FORMAT §7.4).

use crate::format::Format;
use crate::json::{self, Document, Raw};
use crate::session::Task;
pub(super) use crate::session::{CLOSING_TAG, OPENING_TAG};
use crate::tokens::host;
use crate::wording::{amount, span};

/// The end of what every checkpoint begins with.
pub(super) const PREAMBLE_END: &str = "were taken out here. Kept of them:";

/// What stands before a carried task.
pub(super) const TASK_LABEL: &str = "The user's original request, word for word:";

/// Text blocks and carried blocks of a checkpoint message, as JSON.
#[derive(Debug)]
pub(super) struct Checkpoint {
    pub(super) content: Vec<Document<'static>>,
}

impl Checkpoint {
    /// Frames a summary of the nodes `hidden`; the task, if it is carried, stands between the opening tag and the
    /// summary.
    pub(super) fn new(summary: &str, task: Option<&Task>, hidden: &[u64]) -> Self {
        let mut content: Vec<Document<'static>> = Vec::new();
        content.extend(text_block(&format!("{}\n\n{OPENING_TAG}", preamble(hidden))));
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
        let blocks: Vec<Raw> = self.content.iter().map(Document::raw).collect();
        host::message(&blocks, format.unpriced_members)
    }
}

/// Says what a checkpoint stands for. Every word of it is paid for in each request, and a checkpoint must cost less
/// than what it hides.
fn preamble(hidden: &[u64]) -> String {
    let messages = amount(hidden.len() as u64, "message");
    let seqs = hidden.first().zip(hidden.last()).map(|(first, last)| span("seq", *first, *last));
    let seqs = seqs.unwrap_or_default();
    format!("{messages} ({seqs} of the log) {PREAMBLE_END}")
}

/// A text block as JSON. `None` never comes: a quoted string is JSON.
pub(super) fn text_block(text: &str) -> Option<Document<'static>> {
    Document::new(format!("{{\"type\":\"text\",\"text\":{}}}", json::quote(text))).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format;

    #[test]
    fn a_checkpoint_names_what_it_hides() {
        let told = |hidden: &[u64]| {
            let checkpoint = Checkpoint::new("All of it.", None, hidden);
            let blocks: Vec<String> = checkpoint.content.iter().map(|block| block.get().to_owned()).collect();
            blocks.join(" ")
        };
        assert!(
            told(&[3, 9, 454]).contains("3 messages (seqs 3 to 454 of the log)"),
            "{}",
            told(&[3, 9, 454])
        );
        // Positions count, not the size of the numbers.
        assert!(told(&[2013, 17]).contains("2 messages (seqs 2013 to 17 of the log)"));
        assert!(told(&[5]).contains("1 message (seq 5 of the log)"));
    }

    #[test]
    fn the_frame_is_cheap() {
        let frame = Checkpoint::new("", None, &[1_000, 2_000]).host_tokens(format::NEWEST);
        assert!(frame <= 70, "{frame} host tokens");
    }
}
