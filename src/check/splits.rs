//! Which replacement hid a call and left its result, or the other way round.

use crate::session::{Node, Pairing};
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

/// A replacement that took place.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Replaced {
    /// The replacing event.
    pub seq: u64,
    /// The first node that it hides.
    pub start: u64,
    /// The last node that it hides.
    pub end: u64,
    /// The compaction that it belongs to.
    pub compaction_id: Option<String>,
}

/// Hidden nodes by seq, each with the replacement that hides it.
type Hidden = BTreeMap<u64, Rc<Replaced>>;

/// The halves of pairs that replacements have hidden, by call id; whole pairs are not kept.
#[derive(Debug, Default)]
pub(super) struct Splits {
    calls: HashMap<String, Hidden>,
    results: HashMap<String, Hidden>,
}

impl Splits {
    /// Takes note of what `node` hides, and of what it puts in the hidden nodes' place: a rewritten result stands
    /// for the one that it hides.
    pub(super) fn replaced(&mut self, hidden: &[Node], node: &Node, compaction_id: Option<String>) {
        let (Some(first), Some(last)) = (hidden.first(), hidden.last()) else { return };
        let by = Rc::new(Replaced { seq: node.seq, start: first.seq, end: last.seq, compaction_id });
        let pairing = Pairing::of(hidden, None);
        let calls = pairing.unanswered.iter().map(|call| (call.call_id.as_str(), call.position));
        let results = pairing.orphans.iter().filter_map(|at| Some((hidden[*at].answers.as_deref()?, *at)));
        let (mut calls, mut results) = (by_id(calls, hidden), by_id(results, hidden));
        for call in &node.calls {
            calls.get_mut(call.as_str()).and_then(Vec::pop);
        }
        if let Some(id) = node.answers.as_deref() {
            results.get_mut(id).and_then(Vec::pop);
        }
        keep(&mut self.calls, calls, &by);
        keep(&mut self.results, results, &by);
    }

    /// The hidden call that a result at `seq` answers, and what hides it.
    pub(super) fn call_before(&self, id: &str, seq: u64) -> Option<(u64, &Replaced)> {
        self.calls.get(id)?.range(..seq).next_back().map(|(seq, by)| (*seq, &**by))
    }

    /// The hidden result that answers a call at `seq`, and what hides it.
    pub(super) fn result_behind(&self, id: &str, seq: u64) -> Option<(u64, &Replaced)> {
        self.results.get(id)?.range(seq + 1..).next().map(|(seq, by)| (*seq, &**by))
    }
}

/// Seqs of the nodes at these positions, in their order, by call id.
fn by_id<'a>(halves: impl Iterator<Item = (&'a str, usize)>, nodes: &[Node]) -> HashMap<&'a str, Vec<u64>> {
    let mut seqs: HashMap<&str, Vec<u64>> = HashMap::new();
    for (id, position) in halves {
        seqs.entry(id).or_default().push(nodes[position].seq);
    }
    seqs
}

fn keep(all: &mut HashMap<String, Hidden>, halves: HashMap<&str, Vec<u64>>, by: &Rc<Replaced>) {
    for (id, seqs) in halves.into_iter().filter(|(_, seqs)| !seqs.is_empty()) {
        let hidden = all.entry(id.to_owned()).or_default();
        hidden.extend(seqs.into_iter().map(|seq| (seq, Rc::clone(by))));
    }
}
