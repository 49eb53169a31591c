//! The four records of a compaction, as dsh spells them (FORMAT §6.2, §7.4). Member order is the writer's.

use super::checkpoint::{Checkpoint, text_block};
use crate::format::Format;
use crate::json::{self, Document, MAX_SAFE_INTEGER};
use crate::log::NewRecord;
use crate::summarize::{Summary, Usage};
use serde::Serialize;
use uuid::Uuid;

/// What the records of one bracket have in common.
#[derive(Debug, Clone)]
pub(super) struct Bracket {
    pub(super) format: &'static Format,
    pub(super) compaction_id: String,
    pub(super) checkpoint_id: String,
    pub(super) start_seq: u64,
    /// Where what follows the start stands: right behind it, unless others have appended meanwhile.
    pub(super) next_seq: u64,
    /// The open turn that owns the bracket, if one is open.
    pub(super) turn: Option<u64>,
    /// Unix epoch, in milliseconds.
    pub(super) time: i64,
    /// The hidden nodes, in surface order.
    pub(super) shadowed: Vec<u64>,
    /// Their host tokens.
    pub(super) shadowed_tokens: u64,
    /// What the log is to say of them, which dsh takes off its running estimate.
    pub(super) shadowed_figure: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct BracketData<'a> {
    compaction_id: &'a str,
    turn: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SummaryData<'a> {
    compaction_id: &'a str,
    summary: Vec<Document<'static>>,
    shadowed_range: SeqRange,
    shadowed_seqs: &'a [u64],
    shadowed_token_count: u64,
    provider: &'a str,
    model: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<UsageData>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct UsageData {
    input_tokens: u64,
    output_tokens: u64,
}

impl UsageData {
    /// What dsh can count with; a server may claim anything.
    fn of(usage: Usage) -> Option<Self> {
        let Usage { input_tokens, output_tokens } = usage;
        let is_sound = input_tokens.max(output_tokens) <= MAX_SAFE_INTEGER;
        is_sound.then_some(Self { input_tokens, output_tokens })
    }
}

/// First and last hidden node, by seq.
#[derive(Serialize)]
pub(super) struct SeqRange {
    pub(super) start: u64,
    pub(super) end: u64,
}

#[derive(Serialize)]
struct Message<'a> {
    id: &'a str,
    role: &'static str,
    content: &'a [Document<'static>],
    source: Document<'static>,
}

impl Bracket {
    pub(super) fn summary_seq(&self) -> u64 {
        self.next_seq
    }

    pub(super) fn checkpoint_seq(&self) -> u64 {
        self.next_seq + 1
    }

    pub(super) fn end_seq(&self) -> u64 {
        self.next_seq + 2
    }

    /// `compaction/start`: the lock.
    pub(super) fn start(&self) -> serde_json::Result<String> {
        self.bracket("compaction/start", self.start_seq, None)
    }

    /// Summary, checkpoint and end: what replaces the region.
    pub(super) fn commit(
        &self,
        summary: &Summary,
        checkpoint: &Checkpoint,
    ) -> serde_json::Result<Vec<String>> {
        Ok(vec![
            self.summary(summary)?,
            self.checkpoint(checkpoint)?,
            self.bracket("compaction/end", self.end_seq(), None)?,
        ])
    }

    /// `compaction/end` that says why nothing was replaced.
    pub(super) fn failure(&self, error: &str) -> serde_json::Result<String> {
        self.bracket("compaction/end", self.next_seq, Some(error))
    }

    fn bracket(&self, event_type: &str, seq: u64, error: Option<&str>) -> serde_json::Result<String> {
        let data = BracketData { compaction_id: &self.compaction_id, turn: self.turn, error };
        NewRecord::new(event_type, seq, self.time, data).to_text()
    }

    fn summary(&self, summary: &Summary) -> serde_json::Result<String> {
        let data = SummaryData {
            compaction_id: &self.compaction_id,
            summary: text_block(&summary.text).into_iter().collect(),
            shadowed_range: self.range(),
            shadowed_seqs: &self.shadowed,
            shadowed_token_count: self.shadowed_figure,
            provider: &summary.provider,
            model: &summary.model,
            max_tokens: summary.max_tokens,
            usage: summary.usage.and_then(UsageData::of),
        };
        NewRecord::new("compaction/summary", self.summary_seq(), self.time, data).to_text()
    }

    fn checkpoint(&self, checkpoint: &Checkpoint) -> serde_json::Result<String> {
        let fixed = self.format.checkpoint_source.iter().copied();
        let members = fixed.chain([("compactionId", self.compaction_id.as_str())]);
        let members: Vec<String> = members
            .map(|(member, value)| format!("{}:{}", json::quote(member), json::quote(value)))
            .collect();
        let message = Message {
            id: &self.checkpoint_id,
            role: "user",
            content: &checkpoint.content,
            source: Document::new(format!("{{{}}}", members.join(",")))?,
        };
        let sources = [self.start_seq, self.summary_seq()].into_iter().chain(self.shadowed.iter().copied());
        NewRecord {
            source_event_seqs: Some(sources.collect()),
            surface_op: Some(replacement(self.format, &self.range())?),
            ..NewRecord::new("user/message", self.checkpoint_seq(), self.time, message)
        }
        .to_text()
    }

    pub(super) fn range(&self) -> SeqRange {
        let edge = |seq: Option<&u64>| seq.copied().unwrap_or_default();
        SeqRange { start: edge(self.shadowed.first()), end: edge(self.shadowed.last()) }
    }
}

/// The `surfaceOp` of a message that takes the place of these nodes.
pub(super) fn replacement(format: &Format, range: &SeqRange) -> serde_json::Result<Document<'static>> {
    let [start, end] = format.replace_members;
    Document::new(format!("{{\"op\":\"replace\",\"{start}\":{},\"{end}\":{}}}", range.start, range.end))
}

/// An id that the same position of the same session always gets.
pub(super) fn derived_id(session_id: &str, seq: u64, what: &str) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in ["dshc", what, session_id] {
        hasher.update(part.as_bytes());
        hasher.update(&[0]);
    }
    hasher.update(&seq.to_le_bytes());
    let mut bytes = [0; 16];
    hasher.finalize_xof().fill(&mut bytes);
    Uuid::new_v8(bytes).to_string()
}
