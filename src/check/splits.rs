//! Which replacement hid a call and left its result, or the other way round.

use crate::session::Node;
use std::collections::HashMap;
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

/// A hidden call without its result, or a hidden result without its call.
#[derive(Debug)]
pub(super) struct Split {
    /// The hidden node.
    pub seq: u64,
    pub by: Rc<Replaced>,
}

/// The halves of pairs that replacements have hidden, by call id; whole pairs are not kept.
#[derive(Debug, Default)]
pub(super) struct Splits {
    calls: HashMap<String, Vec<Split>>,
    results: HashMap<String, Vec<Split>>,
}

impl Splits {
    /// Takes note of what `node` hides, and of what it puts in the hidden nodes' place: a rewritten result stands
    /// for the one that it hides.
    pub(super) fn replaced(&mut self, hidden: &[Node], node: &Node, compaction_id: Option<String>) {
        let (Some(first), Some(last)) = (hidden.first(), hidden.last()) else { return };
        let by = Rc::new(Replaced { seq: node.seq, start: first.seq, end: last.seq, compaction_id });
        let mut calls: HashMap<&str, Vec<u64>> = HashMap::new();
        let mut results: HashMap<&str, Vec<u64>> = HashMap::new();
        for hidden in hidden {
            for call in &hidden.calls {
                calls.entry(call).or_default().push(hidden.seq);
            }
            if let Some(id) = hidden.answers.as_deref() {
                let is_answer = calls.get_mut(id).and_then(Vec::pop).is_some();
                if !is_answer {
                    results.entry(id).or_default().push(hidden.seq);
                }
            }
        }
        for call in &node.calls {
            calls.get_mut(call.as_str()).and_then(Vec::pop);
        }
        if let Some(id) = node.answers.as_deref() {
            results.get_mut(id).and_then(Vec::pop);
        }
        keep(&mut self.calls, calls, &by);
        keep(&mut self.results, results, &by);
    }

    /// The hidden call that a result at `seq` answers.
    pub(super) fn call_before(&self, id: &str, seq: u64) -> Option<&Split> {
        self.calls.get(id)?.iter().filter(|split| split.seq < seq).max_by_key(|split| split.seq)
    }

    /// The hidden result that answers a call at `seq`.
    pub(super) fn result_behind(&self, id: &str, seq: u64) -> Option<&Split> {
        self.results.get(id)?.iter().filter(|split| split.seq > seq).min_by_key(|split| split.seq)
    }
}

fn keep(all: &mut HashMap<String, Vec<Split>>, halves: HashMap<&str, Vec<u64>>, by: &Rc<Replaced>) {
    for (id, seqs) in halves {
        if !seqs.is_empty() {
            let splits = seqs.into_iter().map(|seq| Split { seq, by: Rc::clone(by) });
            all.entry(id.to_owned()).or_default().extend(splits);
        }
    }
}
