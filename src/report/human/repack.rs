//! What came of each log, and what all of them together have saved; of many logs totals.

use super::totals::{self, End, MANY};
use crate::repack::{Outcome, Status};
use crate::report::printer::{BOLD, DIM, GREEN, RED, YELLOW, shown, shown_path};
use crate::wording::{amount, grouped};
use anstyle::Style;
use std::io::{self, Write};
use std::path::PathBuf;

/// Writes what came of a run, of which so many logs were not begun.
pub fn repack(
    outcomes: &[Outcome],
    ignored: &[PathBuf],
    not_begun: Option<usize>,
    is_verbose: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    // Of logs that an earlier run has done there is nothing new.
    let is_told = |outcome: &&Outcome| is_verbose || outcome.past.is_none();
    if is_verbose || outcomes.iter().filter(is_told).count() <= MANY {
        outcomes.iter().filter(is_told).try_for_each(|outcome| one(outcome, out))?;
        for path in ignored {
            writeln!(out, "{DIM}ignored  {}{DIM:#}", shown_path(path))?;
        }
    } else {
        totals::rows(outcomes.iter().map(end), out)?;
    }
    let not_begun = not_begun.unwrap_or_default();
    if outcomes.len() + not_begun > 1 {
        sums(outcomes, ignored, not_begun, out)?;
    }
    if outcomes.iter().any(|outcome| matches!(outcome.status, Status::Repacked | Status::Planned)) {
        let told = "repacking makes a log smaller and keeps its text; compaction makes it longer and shortens what the model sees";
        writeln!(out, "{DIM}{told}{DIM:#}")?;
    }
    Ok(())
}

fn sums(outcomes: &[Outcome], ignored: &[PathBuf], not_begun: usize, out: &mut dyn Write) -> io::Result<()> {
    let count = |status| outcomes.iter().filter(|outcome| outcome.status == status).count();
    let mut parts = Status::ALL.map(|status| (count(status), status.as_str())).to_vec();
    parts.extend([(not_begun, "not begun"), (ignored.len(), "ignored")]);
    let bytes = totals::sum(outcomes.iter().map(Outcome::bytes_change));
    totals::sums(outcomes.len(), &parts, &[("bytes", bytes)], out)
}

fn end(outcome: &Outcome) -> End<'_> {
    let rank = Status::ALL.iter().zip(0..).find(|(status, _)| **status == outcome.status);
    End {
        status: (rank.map_or(u8::MAX, |(_, rank)| rank), outcome.status.as_str()),
        style: style(outcome.status),
        cause: outcome.reason.as_ref().map(|reason| reason.code),
        path: &outcome.path,
    }
}

fn style(status: Status) -> Style {
    match status {
        Status::Repacked | Status::Planned => GREEN,
        Status::NothingToDo | Status::Skipped => DIM,
        Status::Refused => YELLOW,
        Status::Failed | Status::Unreadable => RED,
    }
}

fn one(outcome: &Outcome, out: &mut dyn Write) -> io::Result<()> {
    let style = style(outcome.status);
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
