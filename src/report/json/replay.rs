//! `dshc.replay/1`.

use super::LockJson;
use crate::replay::{Exact, Replay, Row};
use serde::Serialize;
use serde_json::Value;
use std::io::{self, Write};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Document<'a> {
    schema: &'static str,
    path: String,
    session: SessionJson<'a>,
    events: u64,
    replace_generation: u64,
    open_turn: Option<u64>,
    lock: LockJson<'a>,
    surface: Vec<NodeJson<'a>>,
    balanced_after: bool,
    host_tokens: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    tokens: Option<Value>,
    header: HeaderJson,
    #[serde(skip_serializing_if = "Option::is_none")]
    context_window: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    task: Option<TaskJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expanded: Option<Vec<NodeJson<'a>>>,
    digest: &'a str,
    notes: &'a [String],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SessionJson<'a> {
    id: &'a str,
    version: u64,
    created_at: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    cwd: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent_session: Option<&'a str>,
    seeded: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    inherited_events: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    seed_markers: Vec<SeedMarkerJson>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct NodeJson<'a> {
    seq: u64,
    r#type: &'a str,
    role: &'a str,
    source: &'a str,
    host_tokens: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    tokens: Option<Value>,
    balanced_before: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    replaces: Option<&'a [u64]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    checkpoint: Option<bool>,
}

/// A `session/end-seed` and what it marks.
#[derive(Serialize)]
struct SeedMarkerJson {
    seq: u64,
    is: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct HeaderJson {
    host_tokens: u64,
}

#[derive(Serialize)]
struct TaskJson {
    seq: u64,
    visible: &'static str,
}

/// Writes the document of one session.
pub fn replay(replay: &Replay, out: &mut dyn Write) -> io::Result<()> {
    let session = replay.session;
    let header = &session.header;
    let lock = session.lock();
    let document = Document {
        schema: "dshc.replay/1",
        path: replay.path.display().to_string(),
        session: SessionJson {
            id: &header.id,
            version: header.version,
            created_at: header.created_at,
            cwd: header.cwd.as_deref(),
            parent_session: header.parent_session.as_deref(),
            seeded: header.is_seeded,
            inherited_events: session.seeds.inherited(header),
            seed_markers: session
                .seeds
                .markers(header)
                .map(|(seq, marker)| SeedMarkerJson { seq, is: marker.as_str() })
                .collect(),
        },
        events: session.events,
        replace_generation: session.surface.replace_generation,
        open_turn: session.turns.open(),
        lock: LockJson::of(&lock),
        surface: replay.surface.iter().map(node).collect(),
        balanced_after: replay.balanced_after,
        host_tokens: session.surface.host_tokens(),
        tokens: exact(replay.tokens),
        header: HeaderJson { host_tokens: session.header_tokens },
        context_window: session.context_window,
        task: replay.task.map(|(seq, visible)| TaskJson { seq, visible: visible.as_str() }),
        expanded: replay.expanded.as_ref().map(|rows| rows.iter().map(node).collect()),
        digest: &replay.digest,
        notes: &replay.notes,
    };
    super::write(&document, out)
}

fn node<'a>(row: &Row<'a>) -> NodeJson<'a> {
    let node = row.node;
    NodeJson {
        seq: node.seq,
        r#type: node.event_type,
        role: node.role,
        source: &node.source_kind,
        host_tokens: node.host_tokens,
        tokens: exact(row.tokens),
        balanced_before: row.balanced_before,
        replaces: (!node.replaces.is_empty()).then_some(&node.replaces),
        checkpoint: node.is_checkpoint.then_some(true),
    }
}

/// A count, null where the tokenizer gave up, nothing where none was asked for.
fn exact(tokens: Exact) -> Option<Value> {
    match tokens {
        Exact::NotAsked => None,
        Exact::Unknown => Some(Value::Null),
        Exact::Count(count) => Some(count.into()),
    }
}
