//! What came of each log, a few lines each; of many logs totals.

use super::totals::{self, End, MANY};
use crate::compact::{Outcome, Pass, Pruned, Status};
use crate::report::printer::{BOLD, DIM, GREEN, RED, YELLOW, shown, shown_path};
use crate::wording::{amount, grouped};
use anstyle::Style;
use std::io::{self, Write};

fn region(pass: &Pass, out: &mut dyn Write) -> io::Result<()> {
    let Some(region) = &pass.region else { return Ok(()) };
    let (start, end, nodes) = (region.start, region.end, region.seqs.len());
    writeln!(out, "  region {start}..{end}: {nodes} nodes, chosen by --{}", region.chosen_by)?;
    if let (Some(shadowed), Some(checkpoint)) = (pass.shadowed, pass.checkpoint) {
        writeln!(out, "  {} host tokens become {}", grouped(shadowed), grouped(checkpoint))?;
    }
    if let Some(exact) = pass.tokens.as_ref().filter(|_| pass.checkpoint.is_some()) {
        let figure = |tokens: Option<u64>| tokens.map_or_else(|| "?".to_owned(), grouped);
        let (shadowed, checkpoint) = (figure(exact.shadowed), figure(exact.checkpoint));
        writeln!(out, "  {shadowed} tokens of {} become {checkpoint}", exact.tokenizer)?;
    }
    let Some(summarizer) = pass.summarizer.as_ref().filter(|_| pass.checkpoint.is_some()) else {
        return Ok(());
    };
    if summarizer.kind != "stub" && summarizer.kind != "drop" {
        let calls = amount(summarizer.calls, "call");
        let (provider, model) = (shown(&summarizer.provider), shown(&summarizer.model));
        writeln!(out, "  summary by {model} ({provider}), {calls}")?;
    }
    // A drop names nothing, as it should.
    let recall = summarizer.recall.as_ref().filter(|recall| recall.of > 0 && summarizer.kind != "drop");
    if let Some(recall) = recall {
        writeln!(
            out,
            "  the summary names {} of {} paths, commands, errors, hashes and numbers",
            grouped(recall.found as u64),
            grouped(recall.of as u64)
        )?;
    }
    Ok(())
}

/// Host tokens of the results that were made shorter, before and after.
fn pruned(outcome: &Outcome) -> Option<(u64, u64)> {
    let sum = |of: fn(&Pruned) -> u64| outcome.pruned.iter().map(of).sum();
    (!outcome.pruned.is_empty()).then(|| (sum(|one| one.before), sum(|one| one.after)))
}

/// The statuses in the order in which totals tell them.
const STATUSES: [Status; 7] = [
    Status::Compacted,
    Status::Planned,
    Status::NothingToDo,
    Status::Refused,
    Status::Failed,
    Status::Unreadable,
    Status::Skipped,
];

/// Writes what came of a run, of which so many logs were not begun.
pub fn compact(
    outcomes: &[Outcome],
    not_begun: Option<usize>,
    is_verbose: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    // Of logs that an earlier run has done there is nothing new.
    let is_told = |outcome: &&Outcome| is_verbose || outcome.past.is_none();
    if is_verbose || outcomes.iter().filter(is_told).count() <= MANY {
        outcomes.iter().filter(is_told).try_for_each(|outcome| one(outcome, out))?;
    } else {
        totals::rows(outcomes.iter().map(end), out)?;
    }
    let not_begun = not_begun.unwrap_or_default();
    if outcomes.len() + not_begun <= 1 {
        return Ok(());
    }
    let count = |status| outcomes.iter().filter(|outcome| outcome.status == status).count();
    let parts = STATUSES.map(|status| (count(status), status.as_str()));
    let sum = |change: fn(&Outcome) -> (u64, u64)| totals::sum(outcomes.iter().map(change));
    let changes = [("host tokens", sum(Outcome::host_tokens_change)), ("bytes", sum(Outcome::bytes_change))];
    totals::sums(outcomes.len(), &[&parts[..], &[(not_begun, "not begun")]].concat(), &changes, out)
}

fn end(outcome: &Outcome) -> End<'_> {
    let rank = STATUSES.iter().zip(0..).find(|(status, _)| **status == outcome.status);
    End {
        status: (rank.map_or(u8::MAX, |(_, rank)| rank), outcome.status.as_str()),
        style: style(outcome.status),
        cause: outcome.reason.as_ref().map(|reason| reason.code),
        path: &outcome.path,
    }
}

fn style(status: Status) -> Style {
    match status {
        Status::Compacted | Status::Planned => GREEN,
        Status::NothingToDo | Status::Skipped => DIM,
        Status::Refused => YELLOW,
        Status::Failed | Status::Unreadable => RED,
    }
}

/// Writes one outcome.
fn one(outcome: &Outcome, out: &mut dyn Write) -> io::Result<()> {
    let style = style(outcome.status);
    let word = outcome.status.as_str().replace('_', " ");
    writeln!(out, "{style}{word}{style:#}  {BOLD}{}{BOLD:#}", shown_path(&outcome.path))?;
    if let Some((before, after)) = pruned(outcome) {
        let results = amount(outcome.pruned.len() as u64, "tool result");
        let (before, after) = (grouped(before), grouped(after));
        writeln!(out, "  {results} made shorter: {before} host tokens become {after}")?;
    }
    outcome.passes.iter().try_for_each(|pass| region(pass, out))?;
    let tokens = &outcome.host_tokens;
    if let Some(after) = tokens.after {
        writeln!(out, "  surface: {} → {} host tokens", grouped(tokens.before), grouped(after))?;
    }
    if let (Some((first, last)), (before, Some(after))) = (outcome.appended, outcome.bytes) {
        let seqs = if first == last { format!("seq {first}") } else { format!("seqs {first}..{last}") };
        writeln!(
            out,
            "  appended {seqs}, {} bytes{}",
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
