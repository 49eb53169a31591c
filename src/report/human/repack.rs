//! What came of each log, and what all of them together have saved.

use crate::repack::{Outcome, Status};
use crate::report::printer::{BOLD, DIM, GREEN, RED, YELLOW, shown, shown_path};
use crate::wording::{amount, grouped};
use std::io::{self, Write};
use std::path::PathBuf;

/// Writes the outcomes of a run.
pub fn repack(outcomes: &[Outcome], ignored: &[PathBuf], out: &mut dyn Write) -> io::Result<()> {
    // Of logs that an earlier run has done there is nothing new.
    outcomes.iter().filter(|outcome| outcome.past.is_none()).try_for_each(|outcome| one(outcome, out))?;
    for path in ignored {
        writeln!(out, "{DIM}ignored  {}{DIM:#}", shown_path(path))?;
    }
    if outcomes.len() > 1 {
        totals(outcomes, out)?;
    }
    if outcomes.iter().any(is_smaller) {
        let told = "repacking makes a log smaller and keeps its text; compaction makes it longer and shortens what the model sees";
        writeln!(out, "{DIM}{told}{DIM:#}")?;
    }
    Ok(())
}

fn is_smaller(outcome: &Outcome) -> bool {
    matches!(outcome.status, Status::Repacked | Status::Planned)
}

fn one(outcome: &Outcome, out: &mut dyn Write) -> io::Result<()> {
    let style = match outcome.status {
        Status::Repacked | Status::Planned => GREEN,
        Status::NothingToDo | Status::Skipped => DIM,
        Status::Refused => YELLOW,
        Status::Failed | Status::Unreadable => RED,
    };
    let word = outcome.status.as_str().replace('_', " ");
    writeln!(out, "{style}{word}{style:#}  {BOLD}{}{BOLD:#}", shown_path(&outcome.path))?;
    if let (before, Some(after)) = outcome.bytes {
        let output = outcome.output.as_ref();
        let output = output.map_or_else(String::new, |output| format!(", in {}", shown_path(output)));
        writeln!(out, "  {}{output}", change(before, after))?;
    }
    if let Some((before, Some(after))) = outcome.frames {
        let text = outcome
            .text_bytes
            .map_or_else(String::new, |text| format!(" of {} bytes of text", grouped(text)));
        writeln!(out, "  {} → {}{text}", grouped(before), amount(after, "frame"))?;
    }
    for note in &outcome.notes {
        writeln!(out, "  {DIM}note{DIM:#}: {}", shown(note))?;
    }
    Ok(())
}

fn totals(outcomes: &[Outcome], out: &mut dyn Write) -> io::Result<()> {
    let counts = [
        Status::Repacked,
        Status::Planned,
        Status::NothingToDo,
        Status::Refused,
        Status::Failed,
        Status::Unreadable,
        Status::Skipped,
    ]
    .map(|status| (status, outcomes.iter().filter(|outcome| outcome.status == status).count()));
    let counts: Vec<String> = counts
        .into_iter()
        .filter(|(_, count)| *count > 0)
        .map(|(status, count)| format!("{} {}", grouped(count as u64), status.as_str().replace('_', " ")))
        .collect();
    let sum = |of: fn(&Outcome) -> u64| outcomes.iter().map(of).fold(0_u64, u64::saturating_add);
    let before = sum(|outcome| outcome.bytes.0);
    let after = sum(|outcome| outcome.bytes.1.unwrap_or(outcome.bytes.0));
    let logs = amount(outcomes.len() as u64, "log");
    writeln!(out, "{logs}: {}; {}", counts.join(", "), change(before, after))
}

/// `1,000 → 250 bytes (25.0 %)`.
fn change(before: u64, after: u64) -> String {
    let permille = u128::from(after) * 1000 / u128::from(before.max(1));
    format!("{} → {} bytes ({}.{} %)", grouped(before), grouped(after), permille / 10, permille % 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_told_in_percent() {
        assert_eq!(change(2000, 250), "2,000 → 250 bytes (12.5 %)");
        assert_eq!(change(0, 0), "0 → 0 bytes (0.0 %)");
        assert_eq!(change(u64::MAX, u64::MAX).split_once('(').unwrap().1, "100.0 %)");
    }
}
