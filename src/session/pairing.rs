//! Which tool calls of the surface have which results, and where a cut would part them.

use super::Node;
use std::collections::HashMap;
use std::ops::RangeInclusive;

/// Calls and results of a surface, matched by id and occurrence: ids may come again in later rounds, and a
/// count alone would pair a result with a call that it does not answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pairing {
    /// For each node, whether the cut before it is crossed by no call; one more for the cut behind the last.
    pub balanced_before: Vec<bool>,
    /// Calls without a result.
    pub unanswered: Vec<Unanswered>,
    /// Positions of results that answer no call of the surface.
    pub orphans: Vec<usize>,
    /// Positions of a calling node and of its last result, for nodes with results.
    pairs: Vec<(usize, usize)>,
    /// For each cut, before each node and behind the last, a pair that it would part.
    crossing: Vec<Option<(usize, usize)>>,
}

/// A call that has no result on the surface.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unanswered {
    /// Position of the calling node.
    pub position: usize,
    /// The call's id.
    pub call_id: String,
    /// Whether the call's turn is open still, so that the result may come.
    pub is_pending: bool,
}

/// Why a span of the surface may not be taken out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Bar {
    /// A call and one of its results would be parted: the positions of both.
    Pair(usize, usize),
    /// A call without a result stands in the span, or may still be answered behind it: its position.
    Unanswered(usize),
}

impl Pairing {
    /// Pairs the calls and results of `nodes`. A result answers the latest open call with its id.
    #[must_use]
    pub fn of(nodes: &[Node], open_turn: Option<u64>) -> Self {
        let mut open: HashMap<&str, Vec<usize>> = HashMap::new();
        let mut open_calls = 0_usize;
        let mut balanced_before = Vec::with_capacity(nodes.len() + 1);
        let (mut orphans, mut pairs) = (Vec::new(), Vec::new());
        for (position, node) in nodes.iter().enumerate() {
            balanced_before.push(open_calls == 0);
            for call in &node.calls {
                open.entry(call).or_default().push(position);
                open_calls += 1;
            }
            if let Some(id) = &node.answers {
                match open.get_mut(id.as_str()).and_then(Vec::pop) {
                    Some(call) => {
                        open_calls -= 1;
                        pairs.push((call, position));
                    }
                    None => orphans.push(position),
                }
            }
        }
        balanced_before.push(open_calls == 0);
        let mut unanswered: Vec<Unanswered> = open
            .into_iter()
            .flat_map(|(id, positions)| positions.into_iter().map(move |position| (position, id)))
            .map(|(position, id)| Unanswered {
                position,
                call_id: id.to_owned(),
                is_pending: open_turn == Some(nodes[position].turn),
            })
            .collect();
        unanswered.sort_by(|a, b| (a.position, &a.call_id).cmp(&(b.position, &b.call_id)));
        Self { balanced_before, unanswered, orphans, crossing: crossings(nodes.len(), &pairs), pairs }
    }

    /// Positions of each answered call's node and of its result, in the results' order.
    #[must_use]
    pub fn pairs(&self) -> &[(usize, usize)] {
        &self.pairs
    }

    /// Why the nodes at `span` may not be taken out together; `None` if they may.
    ///
    /// A call whose turn is over will never be answered, so it bars only spans that hold it. One of the open
    /// turn will be answered at the end of the surface, so it bars every span behind it too.
    #[must_use]
    pub fn bar(&self, span: &RangeInclusive<usize>) -> Option<Bar> {
        if let Some((call, result)) = self.crossing(*span.start()).or_else(|| self.crossing(span.end() + 1)) {
            return Some(Bar::Pair(call, result));
        }
        let bars = |call: &&Unanswered| {
            span.contains(&call.position) || (call.is_pending && call.position < *span.end())
        };
        self.unanswered.iter().find(bars).map(|call| Bar::Unanswered(call.position))
    }

    /// Whether the cut before position `cut` would part a call from its result.
    #[must_use]
    pub fn parts_a_pair(&self, cut: usize) -> bool {
        self.crossing(cut).is_some()
    }

    fn crossing(&self, cut: usize) -> Option<(usize, usize)> {
        self.crossing.get(cut).copied().flatten()
    }
}

/// For each of the cuts around `nodes` nodes, the pair that reaches farthest over it.
fn crossings(nodes: usize, pairs: &[(usize, usize)]) -> Vec<Option<(usize, usize)>> {
    let mut farthest_from = vec![None; nodes];
    for &(call, result) in pairs {
        if let Some(farthest) = farthest_from.get_mut(call) {
            *farthest = (*farthest).max(Some(result));
        }
    }
    let mut reaching: Option<(usize, usize)> = None;
    let mut crossing = vec![None];
    for (call, farthest) in farthest_from.into_iter().enumerate() {
        if let Some(result) = farthest.filter(|result| reaching.is_none_or(|(_, far)| *result > far)) {
            reaching = Some((call, result));
        }
        // The cut behind this node is crossed by what a node up to here calls and a later one answers.
        crossing.push(reaching.filter(|(_, result)| *result > call));
    }
    crossing
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::MessageKind;

    fn node(seq: u64, calls: &[&str], answers: Option<&str>) -> Node {
        Node {
            seq,
            event_type: "user/message",
            kind: MessageKind::User,
            role: "user",
            source_kind: "user".into(),
            host_tokens: 1,
            turn: 1,
            calls: calls.iter().map(|&call| call.to_owned()).collect(),
            answers: answers.map(str::to_owned),
            replaces: Vec::new(),
            is_checkpoint: false,
            is_visible: true,
            message_id: format!("m{seq}"),
            images: Vec::new(),
            stored: None,
            offloaded: Vec::new(),
            marked: std::sync::OnceLock::new(),
            rewrite_identity: None,
            around: None,
        }
    }

    #[test]
    fn parallel_calls_are_balanced_when_all_are_answered() {
        let nodes = [
            node(1, &[], None),
            node(3, &["a", "b"], None),
            node(6, &[], Some("a")),
            node(7, &[], Some("b")),
            node(10, &[], None),
        ];
        let pairing = Pairing::of(&nodes, None);
        assert_eq!(pairing.balanced_before, [true, true, false, false, true, true]);
        assert_eq!(pairing.bar(&(0..=2)), Some(Bar::Pair(1, 3)));
        assert_eq!(pairing.bar(&(2..=3)), Some(Bar::Pair(1, 3)));
        assert_eq!(pairing.bar(&(1..=3)), None);
        assert_eq!(pairing.bar(&(0..=0)), None);
    }

    #[test]
    fn ids_that_come_again_are_paired_round_by_round() {
        let nodes = [node(1, &["r"], None), node(2, &[], Some("r")), node(3, &["r"], None)];
        let pairing = Pairing::of(&nodes, None);
        assert_eq!(pairing.unanswered, [Unanswered { position: 2, call_id: "r".into(), is_pending: false }]);
        assert!(pairing.orphans.is_empty());
    }

    #[test]
    fn a_right_count_does_not_make_a_pair() {
        let nodes = [node(1, &["build"], None), node(2, &[], Some("other")), node(3, &[], None)];
        let pairing = Pairing::of(&nodes, None);
        assert_eq!(pairing.balanced_before, [true, false, false, false]);
        assert_eq!(pairing.orphans, [1]);
        assert_eq!(pairing.bar(&(0..=1)), Some(Bar::Unanswered(0)));
        assert_eq!(pairing.bar(&(2..=2)), None);
    }

    #[test]
    fn a_call_of_the_open_turn_bars_what_stands_behind_it() {
        let nodes = [node(1, &[], None), node(2, &["a"], None), node(3, &[], None)];
        assert_eq!(Pairing::of(&nodes, Some(1)).bar(&(2..=2)), Some(Bar::Unanswered(1)));
        assert_eq!(Pairing::of(&nodes, Some(1)).bar(&(0..=0)), None);
        assert_eq!(Pairing::of(&nodes, None).bar(&(2..=2)), None);
    }
}
