//! The task: the first human prompt, and whether the model still sees it.

use super::{MessageView, Surface};
use crate::json::{self, Digest, Raw};

/// The first appended `user/message` whose source is a human.
#[derive(Debug, Clone)]
pub struct Task {
    /// Its seq.
    pub seq: u64,
    /// Its content blocks as they stand in the log.
    pub content: Vec<Box<Raw>>,
    digests: Vec<Digest>,
}

/// How the model can see the task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskVisibility {
    /// Its own node is on the surface.
    Node,
    /// The replacement that hides it carries its blocks, unchanged and in their order.
    Carried,
    /// Not at all.
    Lost,
    /// There is none: no human has said anything.
    None,
}

impl TaskVisibility {
    /// The word that reports use.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Node => "node",
            Self::Carried => "carried",
            Self::Lost => "lost",
            Self::None => "none",
        }
    }
}

impl Task {
    pub(super) fn new(seq: u64, message: &MessageView) -> Self {
        Self {
            seq,
            content: message.content.iter().map(|block| (*block).to_owned()).collect(),
            digests: message.content.iter().map(|block| json::digest(block)).collect(),
        }
    }

    /// Looks for the task on `surface`, whose messages must be kept.
    pub(super) fn visibility(&self, surface: &Surface) -> TaskVisibility {
        let shown = surface.chain(self.seq).last().copied().unwrap_or(self.seq);
        if shown == self.seq {
            return TaskVisibility::Node;
        }
        let node = surface.nodes().iter().find(|node| node.seq == shown);
        let view = node.and_then(super::Node::view);
        let is_carried = view.is_some_and(|message| self.run_in(&message.content).is_some());
        if is_carried { TaskVisibility::Carried } else { TaskVisibility::Lost }
    }

    /// Where in `blocks` the task's blocks start, if they stand there as one run.
    #[must_use]
    pub fn run_in(&self, blocks: &[&Raw]) -> Option<usize> {
        let digests: Vec<Digest> = blocks.iter().map(|block| json::digest(block)).collect();
        (0..=digests.len().checked_sub(self.digests.len())?)
            .find(|at| digests[*at..].starts_with(&self.digests))
    }
}
