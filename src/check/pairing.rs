//! Calls and their results on the surface as the log leaves it (FORMAT §6.2, §7.4).
//!
//! Pairs are told by id and occurrence: dsh's own rule counts, and so takes a result of another call for the answer.

mod rules;

use super::Finding;
use super::finding::Findings;
use super::losses::Losses;
use super::places::Places;
use super::registry::Rule;
use super::splits::{Replaced, Splits};
use super::wording::{quoted, short_list};
use crate::format::MessageKind;
use crate::session::{Node, Pairing, Session, Unanswered};
pub(super) use rules::RULES;
use rules::{CALL_ID_TWICE, CALL_WITHOUT_RESULT, RESULT_NOT_ADJACENT, RESULT_WITHOUT_CALL, REUSED_CALL_ID};
use std::collections::{BTreeSet, HashMap, HashSet};

/// What the rules look at.
pub(super) struct Calls<'a> {
    pub session: &'a Session,
    pub places: &'a Places,
    pub splits: &'a Splits,
    pub losses: &'a Losses,
}

/// What the rules ask of the surface for each call and result, found in one pass.
#[derive(Debug, Default)]
struct Index<'a> {
    /// Positions of all nodes but the tool results.
    others: Vec<usize>,
    /// Positions of the calls of each id.
    calls: HashMap<&'a str, Vec<usize>>,
    /// Ids of more than one call, in the order of the second.
    again: Vec<&'a str>,
    /// For each node, the first assistant message behind it that is also a later event.
    next_spoken: Vec<Option<u64>>,
}

impl<'a> Index<'a> {
    fn of(nodes: &'a [Node]) -> Self {
        let mut index = Self { next_spoken: next_spoken(nodes), ..Self::default() };
        for (position, node) in nodes.iter().enumerate() {
            if node.kind != MessageKind::ToolResult {
                index.others.push(position);
            }
            for call in &node.calls {
                let positions = index.calls.entry(call).or_default();
                positions.push(position);
                if positions.len() == 2 {
                    index.again.push(call);
                }
            }
        }
        index
    }

    /// Position of the last call of `id` before `position`.
    fn call_before(&self, id: &str, position: usize) -> Option<usize> {
        last_before(self.calls.get(id)?, position)
    }

    /// The nodes between two positions that are no tool results.
    fn others_between(&self, call: usize, result: usize) -> &[usize] {
        let from = self.others.partition_point(|at| *at <= call);
        let to = self.others.partition_point(|at| *at < result);
        self.others.get(from..to).unwrap_or_default()
    }
}

/// The last of `positions`, which rise, before `position`.
fn last_before(positions: &[usize], position: usize) -> Option<usize> {
    positions[..positions.partition_point(|at| *at < position)].last().copied()
}

/// For each node, the seq of the first assistant message behind it that is also a later event: a rewritten message
/// stands before older ones.
fn next_spoken(nodes: &[Node]) -> Vec<Option<u64>> {
    let mut next = vec![None; nodes.len()];
    // From the back, those that are later than all between them and here: their seqs fall, the next one is the last.
    let mut behind: Vec<u64> = Vec::new();
    for (node, next) in nodes.iter().zip(&mut next).rev() {
        let later = behind.partition_point(|seq| *seq > node.seq);
        *next = behind[..later].last().copied();
        if node.kind == MessageKind::Assistant {
            behind.truncate(later);
            behind.push(node.seq);
        }
    }
    next
}

impl Calls<'_> {
    /// Looks at the whole surface.
    pub(super) fn check(&self, findings: &mut Findings) {
        let pairing = self.session.pairing();
        let index = Index::of(self.nodes());
        for call in &pairing.unanswered {
            findings.push(self.unanswered(call, &index));
        }
        for position in &pairing.orphans {
            if let Some(node) = self.nodes().get(*position) {
                findings.push(self.orphan(*position, node, &index));
            }
        }
        self.twice(findings);
        self.not_adjacent(&pairing, &index, findings);
        findings.extend(self.reused(&index));
    }

    fn nodes(&self) -> &[Node] {
        self.session.surface.nodes()
    }

    fn finding(&self, rule: &Rule, seq: u64, message: String) -> Finding {
        Finding::new(rule, self.places.of(seq), message).at_seq(seq)
    }

    fn unanswered(&self, call: &Unanswered, index: &Index) -> Finding {
        let nodes = self.nodes();
        let seq = nodes.get(call.position).map_or(0, |node| node.seq);
        let boundary = match nodes.get(call.position + 1) {
            Some(next) => {
                format!("no region of a compaction can end with it, or begin with seq {}", next.seq)
            }
            None => "no region of a compaction can end with it".to_owned(),
        };
        let state =
            if call.is_pending { "yet, its turn is open" } else { "on the surface, and its turn is over" };
        let message =
            format!("call {} of seq {seq} has no result {state}; {boundary}", quoted(&call.call_id));
        let finding = self.finding(&CALL_WITHOUT_RESULT, seq, message);
        if let Some((result, by)) = self.splits.result_behind(&call.call_id, seq) {
            let cause = format!("{} hides its result {result}", replacement(by));
            return finding.with_help(SPLIT).relating(by.seq, cause);
        }
        // The model speaks again only when it has its results, so that is how far a lost one may have stood.
        let next = index.next_spoken.get(call.position).copied().flatten();
        if let Some(lost) = self.losses.first_between(seq, next) {
            return excused(
                finding,
                lost,
                "its result may have stood on a line that could not be read or used",
            );
        }
        if call.is_pending {
            return finding.with_help("dsh writes the missing result when it next opens the session").noted();
        }
        finding
            .with_help("providers refuse such a history, and no region that holds the call can be compacted")
    }

    fn orphan(&self, position: usize, node: &Node, index: &Index) -> Finding {
        let id = node.answers.as_deref().unwrap_or_default();
        let seq_of = |position: usize| self.nodes().get(position).map(|node| node.seq);
        let why = match index.call_before(id, position).and_then(seq_of) {
            Some(call) => format!("the call of that id at seq {call} has its result already"),
            None => "no call before it on the surface has that id".to_owned(),
        };
        let message = format!("tool/result of seq {} answers {}, but {why}", node.seq, quoted(id));
        let finding = self.finding(&RESULT_WITHOUT_CALL, node.seq, message);
        if let Some((call, by)) = self.splits.call_before(id, node.seq) {
            let cause = format!("{} hides its call at seq {call}", replacement(by));
            return finding.with_help(SPLIT).relating(by.seq, cause);
        }
        let message_before = last_before(&index.others, position).and_then(seq_of);
        if let Some(lost) = self.losses.first_between(message_before.unwrap_or(0), Some(node.seq)) {
            return excused(
                finding,
                lost,
                "its call may have stood on a line that could not be read or used",
            );
        }
        finding.with_help("providers refuse such a history, and dsh fails on every further compaction")
    }

    fn not_adjacent(&self, pairing: &Pairing, index: &Index, findings: &mut Findings) {
        let nodes = self.nodes();
        let mut told = None;
        for (call, result) in pairing.pairs() {
            let between = index.others_between(*call, *result);
            let (Some(first), Some(caller), Some(answer)) =
                (between.first(), nodes.get(*call), nodes.get(*result))
            else {
                continue;
            };
            if told.replace(*call) == Some(*call) {
                continue;
            }
            let message = format!(
                "{} between the call of seq {} and its result {}",
                if between.len() == 1 {
                    format!("seq {} stands", nodes[*first].seq)
                } else {
                    format!("seqs {} stand", short_list(between.iter().map(|at| nodes[*at].seq)))
                },
                caller.seq,
                answer.seq
            );
            let help = "dsh allows it, strict providers may refuse it; a region must not part the call from its result";
            let finding = self.finding(&RESULT_NOT_ADJACENT, answer.seq, message).with_help(help);
            let finding = finding.relating(nodes[*first].seq, "stands between");
            findings.push(finding.relating(caller.seq, "the call"));
        }
    }

    /// One finding for each message with calls of the same id.
    fn twice(&self, findings: &mut Findings) {
        for node in self.nodes().iter().filter(|node| node.calls.len() > 1) {
            let mut seen = HashSet::new();
            let again = node.calls.iter().map(String::as_str).filter(|call| !seen.insert(*call));
            let again: BTreeSet<&str> = again.collect();
            if again.is_empty() {
                continue;
            }
            let ids = short_list(again.iter().map(|id| quoted(id)));
            let message =
                format!("the message of seq {} makes more than one call of the same id: {ids}", node.seq);
            let help = "which result answers which call cannot be told; providers refuse such a message";
            findings.push(self.finding(&CALL_ID_TWICE, node.seq, message).with_help(help));
        }
    }

    /// One finding for all ids, at the first call that has an id of an earlier one.
    fn reused(&self, index: &Index) -> Option<Finding> {
        let positions = |id: &str| index.calls.get(id).map_or(&[][..], Vec::as_slice);
        let second = *positions(index.again.first()?).get(1)?;
        let name = |id: &&str| format!("{} x{}", quoted(id), positions(id).len());
        let ids = short_list(index.again.iter().map(name));
        let help = "calls and results are paired by their order too, so nothing is to be done";
        let message = format!("call ids come again on the surface: {ids}");
        Some(self.finding(&REUSED_CALL_ID, self.nodes().get(second)?.seq, message).with_help(help))
    }
}

const SPLIT: &str = "a replacement must hide a call together with its results; providers refuse such a history, and \
                     dsh fails on every further compaction";

fn replacement(by: &Replaced) -> String {
    let compaction =
        by.compaction_id.as_deref().map_or_else(String::new, |id| format!(" (compaction {})", quoted(id)));
    format!("the replacement of {}..{}{compaction}", by.start, by.end)
}

fn excused(finding: Finding, lost: u64, cause: &str) -> Finding {
    finding.noted().relating(lost, cause).with_help("mend the damaged line first")
}

#[cfg(test)]
mod tests;
