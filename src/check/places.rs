//! Where the calls, results and replacements of the surface stand in the file.

use crate::log::Place;
use crate::session::Node;
use std::collections::HashMap;

/// The places of the surface's calls, results and replacements, and of no other event: what a finding at the end needs.
#[derive(Debug, Default)]
pub(super) struct Places(HashMap<u64, Place>);

impl Places {
    /// Keeps the place of a node that makes or answers a call, or stands for others.
    pub(super) fn keep(&mut self, node: &Node, place: Place) {
        if node.answers.is_some() || !node.calls.is_empty() || !node.replaces.is_empty() {
            self.0.insert(node.seq, place);
        }
    }

    /// Forgets nodes that are no longer on the surface.
    pub(super) fn forget(&mut self, seqs: &[u64]) {
        for seq in seqs {
            self.0.remove(seq);
        }
    }

    pub(super) fn of(&self, seq: u64) -> Place {
        self.0.get(&seq).copied().unwrap_or_default()
    }
}
