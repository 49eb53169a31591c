//! Oversized tool results made shorter without a model, each in its place (FORMAT §7.4, §11.2).

mod cut;

#[cfg(test)]
mod tests;

use super::records::{SeqRange, replacement};
use crate::format::{Format, MessageKind};
use crate::json::{self, Document, MAX_SAFE_INTEGER};
use crate::log::NewRecord;
use crate::session::{Estimate, MessageView, Node, Session};
use crate::tokens::host;
use serde::Serialize;
use serde_json::value::to_raw_value;
use std::collections::HashSet;
use std::ops::Range;

/// A result that was, or would be, made shorter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pruned {
    /// The result.
    pub seq: u64,
    /// What takes its place.
    pub replacement_seq: u64,
    /// Its price, in host tokens.
    pub before: u64,
    /// The price of what takes its place, in host tokens.
    pub after: u64,
}

/// The records that make results shorter, and which those are; both empty where none is oversized.
#[derive(Debug, Default)]
pub(super) struct Pruning {
    /// To be appended at once, right behind the session's last event.
    pub(super) records: Vec<String>,
    /// In surface order.
    pub(super) pruned: Vec<Pruned>,
}

#[derive(Serialize)]
struct PruneData {
    #[serde(rename = "shadowedRange")]
    range: SeqRange,
    #[serde(rename = "shadowedSeqs")]
    seqs: [u64; 1],
    #[serde(rename = "shadowedTokenCount")]
    figure: u64,
}

/// A result's payload with the middle of its text left out.
struct Short {
    payload: Document<'static>,
    host_tokens: u64,
}

/// Plans to shorten the oversized results among the nodes at `positions` of the surface of `session`, whose messages
/// must be kept. The session must be free to take it: no compaction holds its lock.
///
/// A result may be rewritten inside a turn alone, so that all stand in a turn of their own, without steps, where none
/// is open (FORMAT §11.2). Where turns cannot be counted any further nothing is planned.
pub(super) fn plan(session: &Session, positions: Range<usize>) -> serde_json::Result<Pruning> {
    let pending = pending_calls(session);
    let nodes = session.surface.nodes().get(positions).unwrap_or_default().iter();
    let short = nodes
        .filter(|node| node.answers.as_ref().is_none_or(|call| !pending.contains(call)))
        .filter_map(|node| Some((node, shorten(node, session.format)?)));
    let short: Vec<(&Node, Short)> = short.collect();
    let mut writer = Writer::at_end_of(session);
    if short.is_empty() {
        return Ok(writer.pruning);
    }
    let own_turn = match session.turns.open() {
        Some(_) => None,
        None => match session.turns.current().checked_add(1).filter(|turn| *turn <= MAX_SAFE_INTEGER) {
            None => return Ok(writer.pruning),
            turn => turn,
        },
    };
    if let Some(turn) = own_turn {
        writer.record("turn/start", &format!("{{\"turn\":{turn}}}"))?;
    }
    for (node, short) in short {
        writer.prune(node, short)?;
    }
    if let Some(turn) = own_turn {
        writer.record("turn/end", &format!("{{\"turn\":{turn},\"reason\":{{\"kind\":\"completed\"}}}}"))?;
    }
    Ok(writer.pruning)
}

/// The ids of calls that may still be answered. dsh takes a rewritten result for the answer to such a call if it has
/// its id, and then closes the turn without one (FORMAT §9.4).
fn pending_calls(session: &Session) -> HashSet<String> {
    let unanswered = session.pairing().unanswered.into_iter();
    unanswered.filter(|call| call.is_pending).map(|call| call.call_id).collect()
}

/// The result without the middle of its text, if it is oversized. Images that were offloaded since stay marked as such,
/// for the mark does not go over to a rewrite by itself.
fn shorten(node: &Node, format: &Format) -> Option<Short> {
    if node.kind != MessageKind::ToolResult {
        return None;
    }
    let message = node.message().filter(|message| cut::may_be_oversized(*message))?;
    let answer = MessageView::again(message)?.tool_result(format.tool_result)?;
    let message = json::splice(message, answer.blocks, &cut::cut(&answer.content)?)?;
    let host_tokens = host::message(&MessageView::again(message.raw())?.content, format.unpriced_members);
    Some(Short { payload: node.payload_with(message.raw())?, host_tokens })
}

/// Writes records that are to follow a session's last event, and keeps dsh's estimate as it will be behind each.
struct Writer<'a> {
    format: &'a Format,
    next_seq: u64,
    time: i64,
    estimate: Estimate,
    surface_tokens: u64,
    pruning: Pruning,
}

impl<'a> Writer<'a> {
    fn at_end_of(session: &'a Session) -> Self {
        Self {
            format: session.format,
            next_seq: session.events,
            time: session.last_time.unwrap_or_default(),
            estimate: session.estimate.clone(),
            surface_tokens: session.surface.host_tokens(),
            pruning: Pruning::default(),
        }
    }

    fn record(&mut self, event_type: &str, data: &str) -> serde_json::Result<()> {
        let record = NewRecord::new(event_type, self.next_seq, self.time, json::parse(data)?).to_text()?;
        self.push(record);
        Ok(())
    }

    fn push(&mut self, record: String) {
        self.pruning.records.push(record);
        self.next_seq += 1;
    }

    /// What is hidden and its price, and right behind it what takes its place.
    fn prune(&mut self, node: &Node, short: Short) -> serde_json::Result<()> {
        let (seq, before, after) = (node.seq, node.host_tokens, short.host_tokens);
        let figure = self.estimate.figure_for(before, self.surface_tokens);
        let range = SeqRange { start: seq, end: seq };
        let operation = replacement(self.format, &range)?;
        let data = PruneData { range, seqs: [seq], figure };
        self.record("compaction/prune", to_raw_value(&data)?.get())?;
        let replacement_seq = self.next_seq;
        let rewrite = NewRecord {
            source_event_seqs: Some(vec![seq]),
            surface_op: Some(operation),
            ..NewRecord::new("tool/result", replacement_seq, self.time, short.payload)
        };
        self.push(rewrite.to_text()?);
        self.estimate.plan(figure, after);
        self.surface_tokens = self.surface_tokens.saturating_sub(before).saturating_add(after);
        self.pruning.pruned.push(Pruned { seq, replacement_seq, before, after });
        Ok(())
    }
}
