//! The surface as a table.

use super::text::{clip, first_words};
use crate::format::MessageKind;
use crate::replay::{Exact, Replay, Row};
use crate::report::printer::{BOLD, DIM, YELLOW};
use crate::session::{LockState, Session, TaskVisibility};
use crate::wording::{grouped, short_list};
use comfy_table::{CellAlignment, Table, presets};
use std::io::{self, Write};

/// Columns left for the first words of a message.
const WORDS: usize = 60;

/// Writes a surface, its totals, and what else there is to know about the session.
pub fn replay(replay: &Replay, out: &mut dyn Write) -> io::Result<()> {
    let session = replay.session;
    writeln!(
        out,
        "{BOLD}session {}{BOLD:#}  format {}, {} events",
        clip(&session.header.id, 80),
        session.header.version,
        grouped(session.events)
    )?;
    table(&replay.surface, out)?;
    if let Some(expanded) = &replay.expanded {
        writeln!(out, "\n{BOLD}hidden{BOLD:#}")?;
        table(expanded, out)?;
    }
    writeln!(out)?;
    totals(replay, out)
}

fn table(rows: &[Row], out: &mut dyn Write) -> io::Result<()> {
    let has_tokens = rows.iter().any(|row| row.tokens != Exact::NotAsked);
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    let mut head = vec!["pos", "seq", "kind", "host"];
    if has_tokens {
        head.push("exact");
    }
    head.extend(["cut", "first words"]);
    table.set_header(head);
    for (position, row) in rows.iter().enumerate() {
        let mut cells =
            vec![position.to_string(), row.node.seq.to_string(), kind(row), grouped(row.node.host_tokens)];
        if has_tokens {
            cells.push(match row.tokens {
                Exact::Count(count) => grouped(count),
                Exact::Unknown | Exact::NotAsked => "?".into(),
            });
        }
        cells.push(if row.balanced_before { "ok" } else { "·" }.into());
        cells.push(row.node.view().map(|message| first_words(&message, WORDS)).unwrap_or_default());
        table.add_row(cells);
    }
    for index in [0, 1, 3].into_iter().chain(has_tokens.then_some(4)) {
        if let Some(column) = table.column_mut(index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    for line in table.lines() {
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

fn kind(row: &Row) -> String {
    let node = row.node;
    let name = match node.kind {
        _ if node.is_checkpoint => "checkpoint",
        MessageKind::User if node.source_kind == "user" => "human",
        MessageKind::User => "context",
        MessageKind::Assistant if !node.is_visible => "assistant (empty)",
        MessageKind::Assistant => "assistant",
        MessageKind::ToolResult => "result",
        MessageKind::System if node.is_visible => "system",
        MessageKind::System => "system (empty)",
        MessageKind::Developer => "developer",
    };
    match (node.calls.len(), node.replaces.len()) {
        (0, 0) => name.to_owned(),
        (0, hidden) => format!("{name} for {hidden}"),
        (1, _) => format!("{name}, 1 call"),
        (calls, _) => format!("{name}, {calls} calls"),
    }
}

/// Where inherited events end, and which seed markers stand for what.
fn seeds(session: &Session, out: &mut dyn Write) -> io::Result<()> {
    let header = &session.header;
    if !header.is_seeded {
        return Ok(());
    }
    match session.seeds.inherited(header) {
        Some(0) => write!(out, "forked, with no events")?,
        Some(inherited) => write!(out, "forked: seqs 0..{} are inherited", inherited - 1)?,
        None => write!(out, "forked, and nothing tells which events are inherited")?,
    }
    if let Some(parent) = &header.parent_session {
        write!(out, " from {}", clip(parent, 80))?;
    }
    let markers: Vec<String> =
        session.seeds.markers(header).map(|(seq, marker)| format!("{seq} ({})", marker.as_str())).collect();
    if !markers.is_empty() {
        write!(out, "; seed markers: {}", short_list(markers.iter()))?;
    }
    writeln!(out)
}

fn totals(replay: &Replay, out: &mut dyn Write) -> io::Result<()> {
    let session = replay.session;
    let host = grouped(session.surface.host_tokens());
    let nodes = replay.surface.len();
    write!(out, "{BOLD}{nodes} nodes, {host} host tokens{BOLD:#}")?;
    match replay.tokens {
        Exact::Count(exact) => write!(out, ", {} exact tokens", grouped(exact))?,
        Exact::Unknown => write!(out, ", exact tokens unknown")?,
        Exact::NotAsked => {}
    }
    write!(out, "; request header {} host tokens", grouped(session.header_tokens))?;
    if let Some(window) = session.context_window {
        write!(out, "; context window {}", grouped(window))?;
    }
    writeln!(out)?;
    seeds(session, out)?;
    if session.surface.replace_generation > 0 {
        writeln!(out, "replaced {} times", session.surface.replace_generation)?;
    }
    if let Some(turn) = session.turns.open() {
        let step = session.turns.open_step().map_or_else(String::new, |step| format!(", in step {step}"));
        writeln!(out, "turn {turn} is open{step}")?;
    }
    let lock = match session.lock() {
        LockState::Free => String::new(),
        LockState::Held(lock) => {
            format!("{YELLOW}compaction lock held{YELLOW:#} since seq {}\n", lock.start_seq)
        }
        LockState::Stale(lock) => format!("{DIM}stale compaction lock of seq {}{DIM:#}\n", lock.start_seq),
    };
    write!(out, "{lock}")?;
    match replay.task {
        None | Some((_, TaskVisibility::None)) => writeln!(out, "no human prompt"),
        Some((seq, TaskVisibility::Node)) => writeln!(out, "task: seq {seq}, on the surface"),
        Some((seq, TaskVisibility::Carried)) => writeln!(out, "task: seq {seq}, carried by a checkpoint"),
        Some((seq, TaskVisibility::Lost)) => {
            writeln!(out, "{YELLOW}task: seq {seq}, no longer visible{YELLOW:#}")
        }
    }
}
