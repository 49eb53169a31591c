//! What `dshc replay` shows: a session's surface as rows, with figures. The reports only lay it out.

use crate::json;
use crate::session::{Folded, Node, Pairing, Session, TaskVisibility};
use crate::tokens::Tokenizer;
use std::io::{self, Write};
use std::path::Path;

/// A session as it is shown.
#[derive(Debug)]
pub struct Replay<'a> {
    /// The log.
    pub path: &'a Path,
    /// The folded session.
    pub session: &'a Session,
    /// The surface, in the model's order.
    pub surface: Vec<Row<'a>>,
    /// Whether no call crosses the cut behind the last node.
    pub balanced_after: bool,
    /// What the wanted replacement hides, if it was asked for.
    pub expanded: Option<Vec<Row<'a>>>,
    /// The task's seq and how it is visible.
    pub task: Option<(u64, TaskVisibility)>,
    /// Exact tokens of the surface.
    pub tokens: Exact,
    /// blake3 of the model-visible messages, one a line.
    pub digest: String,
    /// Remarks for people.
    pub notes: Vec<String>,
}

/// An exact count of tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exact {
    /// No tokenizer was asked for.
    NotAsked,
    /// The tokenizer gave up on a text.
    Unknown,
    /// The count.
    Count(u64),
}

/// A node as it is shown.
#[derive(Debug)]
pub struct Row<'a> {
    /// The node.
    pub node: &'a Node,
    /// Its exact tokens.
    pub tokens: Exact,
    /// Whether no call crosses the cut before the node.
    pub balanced_before: bool,
}

impl<'a> Replay<'a> {
    /// Lays out a folded session whose messages were kept. `expand` names a replacement that [`crate::session::fold`] was
    /// told to keep the hidden nodes of.
    #[must_use]
    pub fn new(path: &'a Path, folded: &'a Folded, expand: bool, tokenizer: Option<&Tokenizer>) -> Self {
        let session = &folded.session;
        let pairing = session.pairing();
        let expanded = session.surface.expanded();
        let expanded =
            expand.then(|| rows(expanded, &Pairing::of(expanded, session.turns.open()), tokenizer));
        let surface = rows(session.surface.nodes(), &pairing, tokenizer);
        let mut notes: Vec<String> = folded.torn.iter().cloned().chain(passed_over(session)).collect();
        let tokens = sum(&surface, tokenizer);
        if tokens == Exact::Unknown {
            notes.push("the tokenizer gave up on a text; its count, and so the sum, is unknown".into());
        }
        let task = session.task.as_ref().map(|task| (task.seq, session.task_visibility()));
        Self {
            path,
            balanced_after: pairing.balanced_before.last().copied().unwrap_or(true),
            expanded,
            task,
            tokens,
            digest: digest(session.surface.nodes()),
            notes,
            surface,
            session,
        }
    }

    /// Writes the messages that the model sees, one a line, as they stand in the log (FORMAT §7.3).
    pub fn write_messages(&self, out: &mut dyn Write) -> io::Result<()> {
        write_messages(self.session.surface.nodes(), out)
    }
}

/// What dsh would refuse to read past, and was read past all the same.
fn passed_over(session: &Session) -> Vec<String> {
    let (version, known) = (session.header.version, session.format.version);
    let unknown_version = (version != known).then(|| {
        format!(
            "log format {version} is unknown; it is read by the rules of format {known}, which may not fit"
        )
    });
    let types = session.unknown.required.iter().map(|(event_type, (count, first))| {
        let event_type = json::quote(event_type);
        format!("{count} of event type {event_type} passed over, the first is seq {first}; what it means is unknown")
    });
    let others = Some(session.unknown.others).filter(|others| *others > 0);
    let others = others.map(|others| format!("{others} events of further unknown types passed over"));
    unknown_version.into_iter().chain(types).chain(others).collect()
}

fn rows<'a>(nodes: &'a [Node], pairing: &Pairing, tokenizer: Option<&Tokenizer>) -> Vec<Row<'a>> {
    let exact = |node: &Node| {
        let Some(tokenizer) = tokenizer else { return Exact::NotAsked };
        let count = node.view().and_then(|message| tokenizer.message(&message.content));
        count.map_or(Exact::Unknown, Exact::Count)
    };
    let balanced = pairing.balanced_before.iter().copied();
    nodes
        .iter()
        .zip(balanced)
        .map(|(node, balanced_before)| Row { node, tokens: exact(node), balanced_before })
        .collect()
}

fn sum(rows: &[Row], tokenizer: Option<&Tokenizer>) -> Exact {
    let add = |sum, row: &Row| match (sum, row.tokens) {
        (Exact::Count(sum), Exact::Count(count)) => Exact::Count(sum + count),
        _ => Exact::Unknown,
    };
    if tokenizer.is_some() { rows.iter().fold(Exact::Count(0), add) } else { Exact::NotAsked }
}

fn write_messages(nodes: &[Node], out: &mut dyn Write) -> io::Result<()> {
    for message in nodes.iter().filter(|node| node.is_visible).filter_map(Node::message) {
        out.write_all(message.get().as_bytes())?;
        out.write_all(b"\n")?;
    }
    Ok(())
}

/// blake3 of the messages that the model sees, one a line.
pub(crate) fn digest(nodes: &[Node]) -> String {
    let mut hasher = blake3::Hasher::new();
    // A hasher takes every byte.
    let _ = write_messages(nodes, &mut hasher);
    hasher.finalize().to_hex().to_string()
}
