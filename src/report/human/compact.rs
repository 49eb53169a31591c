//! What came of each log, a few lines each.

use super::text::grouped;
use crate::compact::{Outcome, Status};
use crate::report::printer::{BOLD, DIM, GREEN, RED, YELLOW, shown, shown_path};
use std::io::{self, Write};

/// Writes one outcome.
pub fn compact(outcome: &Outcome, out: &mut dyn Write) -> io::Result<()> {
    let (style, word) = match outcome.status {
        Status::Compacted => (GREEN, "compacted"),
        Status::Planned => (GREEN, "planned"),
        Status::NothingToDo => (DIM, "nothing to do"),
        Status::Refused => (YELLOW, "refused"),
        Status::Failed => (RED, "failed"),
        Status::Unreadable => (RED, "unreadable"),
    };
    writeln!(out, "{style}{word}{style:#}  {BOLD}{}{BOLD:#}", shown_path(&outcome.path))?;
    if let Some(region) = &outcome.region {
        let (start, end, nodes) = (region.start, region.end, region.seqs.len());
        writeln!(out, "  region {start}..{end}: {nodes} nodes, chosen by --{}", region.chosen_by)?;
    }
    let tokens = &outcome.host_tokens;
    if let (Some(shadowed), Some(checkpoint)) = (tokens.shadowed, tokens.checkpoint) {
        writeln!(out, "  {} host tokens become {}", grouped(shadowed), grouped(checkpoint))?;
    }
    if let Some(after) = tokens.after {
        writeln!(out, "  surface: {} → {} host tokens", grouped(tokens.before), grouped(after))?;
    }
    if let (Some(appended), (before, Some(after))) = (&outcome.appended, outcome.bytes) {
        let last = appended.commit.map_or(appended.start_seq + 1, |commit| commit.end_seq);
        writeln!(
            out,
            "  appended seqs {}..{last}, {} bytes{}",
            appended.start_seq,
            grouped(after.saturating_sub(before)),
            outcome.output.as_ref().map_or_else(String::new, |output| format!(", to {}", shown_path(output)))
        )?;
    }
    if let Some(task) = outcome.task {
        writeln!(out, "  task: {}", task.as_str())?;
    }
    for note in &outcome.notes {
        writeln!(out, "  {DIM}note{DIM:#}: {}", shown(note))?;
    }
    Ok(())
}
