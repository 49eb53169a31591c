//! The task: the first human prompt, and whether the model still sees it.

use super::{MessageView, Node};
use crate::json::{self, Digest, Document, Raw};
use crate::tokens::host;

/// The first appended `user/message` whose source is a human.
#[derive(Debug, Clone)]
pub struct Task {
    /// Its seq.
    pub seq: u64,
    /// Its content blocks as they stand in the log; without those that lack their text, which say nothing to a model and
    /// would stop dsh's meter again wherever they were carried.
    pub content: Vec<Document<'static>>,
    digests: Vec<Digest>,
    /// The replacements that hide it, the first directly, each next one through the one before, and whether each carries
    /// its blocks.
    pub hidden_by: Vec<(u64, bool)>,
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
        let sound = message.content.iter().filter(|block| host::problem(**block).is_none());
        let content: Vec<Document<'static>> = sound.map(|block| block.to_document()).collect();
        let digests = content.iter().map(|block| json::digest(block.raw())).collect();
        Self { seq, content, digests, hidden_by: Vec::new() }
    }

    /// The node of this message has taken the place of others.
    pub(super) fn replaced(&mut self, node: &Node, message: &MessageView) {
        if node.replaces.contains(&self.shown()) {
            self.hidden_by.push((node.seq, self.run_in(&message.content).is_some()));
        }
    }

    /// The node that stands for it on the surface: its own, or the replacement that hides it.
    #[must_use]
    pub fn shown(&self) -> u64 {
        self.hidden_by.last().map_or(self.seq, |(seq, _)| *seq)
    }

    /// How the model can see the task.
    #[must_use]
    pub fn visibility(&self) -> TaskVisibility {
        match self.hidden_by.last() {
            None => TaskVisibility::Node,
            Some((_, true)) => TaskVisibility::Carried,
            Some((_, false)) => TaskVisibility::Lost,
        }
    }

    /// Where in `blocks` the task's blocks start, if they stand there as one run.
    #[must_use]
    pub fn run_in(&self, blocks: &[Raw]) -> Option<usize> {
        let digests: Vec<Digest> = blocks.iter().map(|block| json::digest(*block)).collect();
        // Comparing the task at each block takes long where many are equal.
        let at = memchr::memmem::find(digests.as_flattened(), self.digests.as_flattened())?;
        (at % size_of::<Digest>() == 0).then_some(at / size_of::<Digest>())
    }
}
