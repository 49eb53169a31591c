//! A region as the transcript that a summarizer gets.

mod placeholder;

#[cfg(test)]
mod tests;

use super::checkpoint::{CLOSING_TAG, OPENING_TAG, TASK_LABEL};
use crate::format::{Format, MessageKind};
use crate::json::{Object, Raw};
use crate::session::{MessageView, Node, Session, Task};
use crate::summarize::{Entry, Transcript};

/// The entries of `nodes` of `session`, whose messages must be kept.
pub(super) fn of(nodes: &[Node], session: &Session) -> Transcript {
    let task = session.task.as_ref();
    let mut entries = Vec::new();
    for node in nodes {
        let Some(message) = node.view() else { continue };
        match node.kind {
            MessageKind::User if node.is_checkpoint => checkpoint(node.seq, &message, task, &mut entries),
            MessageKind::User if message.is_human() => {
                entries.push(Entry::Human { seq: node.seq, text: joined(&message.content) });
            }
            MessageKind::User | MessageKind::System | MessageKind::Developer => {
                let source = source_name(&message);
                entries.push(Entry::Context { seq: node.seq, source, text: joined(&message.content) });
            }
            MessageKind::Assistant => assistant(node.seq, &message, &mut entries),
            MessageKind::ToolResult => tool_result(node, &message, session.format, &mut entries),
        }
    }
    Transcript { entries }
}

/// A checkpoint without its frame; a task that it carries is told apart from its summary.
fn checkpoint(seq: u64, message: &MessageView, task: Option<&Task>, entries: &mut Vec<Entry>) {
    let mut blocks = message.content.clone();
    if let Some((task, at)) = task.and_then(|task| Some((task, task.run_in(&blocks)?))) {
        let carried: Vec<Raw> = blocks.drain(at..at + task.content.len()).collect();
        entries.push(Entry::Human { seq: task.seq, text: joined(&carried) });
    }
    let texts = blocks.iter().filter_map(|block| block_text(*block));
    let summary: Vec<String> = texts
        .filter(|text| !text.ends_with(OPENING_TAG) && text != CLOSING_TAG && text != TASK_LABEL)
        .collect();
    entries.push(Entry::Checkpoint { seq, summary: summary.join("\n\n") });
}

fn assistant(seq: u64, message: &MessageView, entries: &mut Vec<Entry>) {
    for raw in &message.content {
        let Some(block) = Object::of(*raw) else { continue };
        let text = |key| block.text(key).unwrap_or_default().into_str().into_owned();
        match &*text("type") {
            "reasoning" => {}
            "tool-call" => entries.push(Entry::Call {
                seq,
                id: text("id"),
                tool: text("name"),
                arguments: text("arguments"),
            }),
            "text" => {
                let text = text("text");
                if !text.trim().is_empty() {
                    entries.push(Entry::Assistant { seq, text });
                }
            }
            _ => entries.push(Entry::Assistant { seq, text: placeholder::of(*raw) }),
        }
    }
}

fn tool_result(node: &Node, message: &MessageView, format: &Format, entries: &mut Vec<Entry>) {
    let answer = message.tool_result(format.tool_result);
    entries.push(Entry::Result {
        seq: node.seq,
        id: node.answers.clone().unwrap_or_default(),
        is_error: answer.as_ref().is_some_and(|answer| answer.is_error),
        text: answer.map_or_else(String::new, |answer| joined(&answer.content)),
    });
}

/// The texts of blocks, a placeholder for each that is none; reasoning is left out.
fn joined(blocks: &[Raw]) -> String {
    let is_reasoning =
        |block: Raw| Object::of(block).is_some_and(|block| block.has_text("type", "reasoning"));
    let blocks = blocks.iter().filter(|block| !is_reasoning(**block));
    let texts = blocks.map(|block| block_text(*block).unwrap_or_else(|| placeholder::of(*block)));
    texts.collect::<Vec<_>>().join("\n\n")
}

fn block_text(block: Raw) -> Option<String> {
    let block = Object::of(block)?;
    block.text("type").filter(|kind| *kind == *"text")?;
    Some(block.text("text")?.into_str().into_owned())
}

fn source_name(message: &MessageView) -> String {
    let kind = message.source_kind().into_str().into_owned();
    match message.source.text("plugin") {
        Some(plugin) => format!("{kind}:{}", plugin.to_str()),
        None => kind,
    }
}
