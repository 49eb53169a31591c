//! What came of each log, a few lines each.

use crate::compact::{Outcome, Status};
use crate::report::printer::{BOLD, DIM, GREEN, RED, YELLOW, shown, shown_path};
use crate::wording::grouped;
use std::io::{self, Write};

/// Writes one outcome.
pub fn compact(outcome: &Outcome, out: &mut dyn Write) -> io::Result<()> {
    let style = match outcome.status {
        Status::Compacted | Status::Planned => GREEN,
        Status::NothingToDo => DIM,
        Status::Refused => YELLOW,
        Status::Failed | Status::Unreadable => RED,
    };
    let word = outcome.status.as_str().replace('_', " ");
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
        let last = appended.end_seq.unwrap_or(appended.start_seq);
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
