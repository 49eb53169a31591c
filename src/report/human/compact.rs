//! What came of each log, a few lines each.

use crate::compact::{Outcome, Pass, Status};
use crate::report::printer::{BOLD, DIM, GREEN, RED, YELLOW, shown, shown_path};
use crate::wording::grouped;
use std::io::{self, Write};

fn region(pass: &Pass, out: &mut dyn Write) -> io::Result<()> {
    let Some(region) = &pass.region else { return Ok(()) };
    let (start, end, nodes) = (region.start, region.end, region.seqs.len());
    writeln!(out, "  region {start}..{end}: {nodes} nodes, chosen by --{}", region.chosen_by)?;
    if let (Some(shadowed), Some(checkpoint)) = (pass.shadowed, pass.checkpoint) {
        writeln!(out, "  {} host tokens become {}", grouped(shadowed), grouped(checkpoint))?;
    }
    Ok(())
}

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
    outcome.passes.iter().try_for_each(|pass| region(pass, out))?;
    let tokens = &outcome.host_tokens;
    if let Some(after) = tokens.after {
        writeln!(out, "  surface: {} → {} host tokens", grouped(tokens.before), grouped(after))?;
    }
    if let (Some((first, last)), (before, Some(after))) = (outcome.appended(), outcome.bytes) {
        writeln!(
            out,
            "  appended seqs {first}..{last}, {} bytes{}",
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
