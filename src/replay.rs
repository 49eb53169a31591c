//! What `dshc replay` shows: a session's surface as rows, with figures. The reports only lay it out.

use crate::session::{Folded, LockState, Node, Pairing, Session, TaskVisibility};
use crate::tokens::Tokenizer;
use std::io::{self, Write};
use std::path::PathBuf;

/// A session as it is shown.
#[derive(Debug)]
pub struct Replay {
    /// The log.
    pub path: PathBuf,
    /// The folded session.
    pub session: Session,
    /// The surface, in the model's order.
    pub surface: Vec<Row>,
    /// Whether no call crosses the cut behind the last node.
    pub balanced_after: bool,
    /// What the wanted replacement hides, if it was asked for.
    pub expanded: Option<Vec<Row>>,
    /// The compaction lock.
    pub lock: LockState,
    /// The task's seq and how it is visible.
    pub task: Option<(u64, TaskVisibility)>,
    /// Host tokens of the surface (FORMAT §7.5).
    pub host_tokens: u64,
    /// Exact tokens of the surface; the inner `None`: the tokenizer gave up somewhere.
    pub tokens: Option<Option<u64>>,
    /// blake3 of the model-visible messages, one a line.
    pub digest: String,
    /// Remarks for people.
    pub notes: Vec<String>,
}

/// A node as it is shown.
#[derive(Debug)]
pub struct Row {
    /// The node.
    pub node: Node,
    /// Exact tokens, if a tokenizer was asked for; the inner `None`: it gave up.
    pub tokens: Option<Option<u64>>,
    /// Whether no call crosses the cut before the node.
    pub balanced_before: bool,
}

impl Replay {
    /// Lays out a folded session whose messages were kept. `expand` names a replacement that [`crate::session::fold`] was
    /// told to keep the hidden nodes of.
    #[must_use]
    pub fn new(path: PathBuf, folded: Folded, expand: bool, tokenizer: Option<&Tokenizer>) -> Self {
        let Folded { session, torn, .. } = folded;
        let pairing = session.pairing();
        let expanded = session.surface.expanded();
        let expanded =
            expand.then(|| rows(expanded, &Pairing::of(expanded, session.turns.open()), tokenizer));
        let surface = rows(session.surface.nodes(), &pairing, tokenizer);
        let mut notes = Vec::new();
        if let Some(torn) = torn {
            notes.push(torn.message);
        }
        let tokens = tokenizer.map(|_| sum(&surface));
        if tokens == Some(None) {
            notes.push("the tokenizer gave up on a text; its count, and so the sum, is unknown".into());
        }
        let task = session.task.as_ref().map(|task| task.seq).zip(session.task_visibility());
        Self {
            path,
            balanced_after: pairing.balanced_before.last().copied().unwrap_or(true),
            expanded,
            lock: session.lock(),
            task,
            host_tokens: session.surface.host_tokens(),
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

fn rows(nodes: &[Node], pairing: &Pairing, tokenizer: Option<&Tokenizer>) -> Vec<Row> {
    let exact = |node: &Node| {
        tokenizer.map(|tokenizer| node.view().and_then(|message| tokenizer.message(&message.content)))
    };
    let balanced = pairing.balanced_before.iter().copied();
    nodes
        .iter()
        .zip(balanced)
        .map(|(node, balanced_before)| Row { node: node.clone(), tokens: exact(node), balanced_before })
        .collect()
}

fn sum(rows: &[Row]) -> Option<u64> {
    rows.iter().map(|row| row.tokens.flatten()).sum()
}

fn write_messages(nodes: &[Node], out: &mut dyn Write) -> io::Result<()> {
    for message in nodes.iter().filter(|node| node.is_visible).filter_map(|node| node.message.as_ref()) {
        out.write_all(message.get().as_bytes())?;
        out.write_all(b"\n")?;
    }
    Ok(())
}

fn digest(nodes: &[Node]) -> String {
    let mut hasher = blake3::Hasher::new();
    // A hasher takes every byte.
    let _ = write_messages(nodes, &mut hasher);
    hasher.finalize().to_hex().to_string()
}
