//! Logs as a table, then what they come to together.

use crate::report::printer::{BOLD, DIM, RED, YELLOW, shown_path};
use crate::report::times;
use crate::stats::{Figures, Inherited, Kinds, LogStats, Stats, Status, Total, share};
use crate::wording::{amount, grouped};
use comfy_table::{CellAlignment, Table, presets};
use indicatif::HumanBytes;
use std::io::{self, Write};

/// How many event types are told, unless more is asked for.
const MOST_TYPES: usize = 8;

/// Writes the logs and their sums.
pub fn stats(stats: &Stats, is_verbose: bool, out: &mut dyn Write) -> io::Result<()> {
    if !stats.logs.is_empty() {
        table(&stats.logs, out)?;
        if stats.untold() > 0 {
            writeln!(out, "{DIM}and {}{DIM:#}", amount(stats.untold(), "more log"))?;
        }
        writeln!(out)?;
    }
    totals(&stats.total, out)?;
    if let Some(not_begun) = stats.not_begun {
        writeln!(out, "{YELLOW}{}{YELLOW:#} not looked at", amount(not_begun as u64, "log"))?;
    }
    kinds("events", &stats.total.tally.by_type, is_verbose, out)?;
    kinds("deltas", &stats.total.tally.chunks.by_kind, is_verbose, out)
}

/// The columns of figures. Where a log is a fork, one for what was inherited stands behind them; the path comes last.
const COLUMNS: [&str; 9] =
    ["disk", "decoded", "frames", "events", "chunks", "nodes", "host", "compactions", "last activity"];

fn table(logs: &[LogStats], out: &mut dyn Write) -> io::Result<()> {
    let has_forks = logs.iter().any(|log| inherited(log).is_some());
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(COLUMNS.into_iter().chain(has_forks.then_some("inherited")).chain(["path"]));
    for log in logs {
        let part = has_forks.then(|| inherited(log).map(|part| HumanBytes(part.bytes).to_string()));
        table.add_row(cells(log).into_iter().chain(part.map(Option::unwrap_or_default)).chain([path(log)]));
    }
    for index in (0..COLUMNS.len() - 1).chain(has_forks.then_some(COLUMNS.len())) {
        if let Some(column) = table.column_mut(index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    for line in table.lines() {
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

fn inherited(log: &LogStats) -> Option<Inherited> {
    log.figures.as_ref().ok().and_then(|figures| figures.inherited)
}

fn path(log: &LogStats) -> String {
    let mark = match log.status() {
        Status::Counted => "",
        Status::Partial => " (damaged, in part)",
        Status::Unreadable => " (unreadable)",
    };
    format!("{}{mark}", shown_path(&log.path))
}

/// The cells of [`COLUMNS`].
fn cells(log: &LogStats) -> Vec<String> {
    let disk = log.disk.map_or_else(|| "?".to_owned(), |bytes| HumanBytes(bytes).to_string());
    let figures = log.figures.as_ref().map(figure_cells);
    std::iter::once(disk).chain(figures.unwrap_or_default()).collect()
}

fn figure_cells(figures: &Figures) -> [String; 8] {
    let tally = &figures.tally;
    [
        HumanBytes(figures.decoded).to_string(),
        figures.frames.map_or_else(|| "raw".to_owned(), grouped),
        grouped(tally.events),
        percent(share(tally.streamed_bytes(), figures.decoded)),
        grouped(figures.nodes),
        grouped(figures.host_tokens),
        compactions(figures),
        figures.last_time.map(times::in_utc).unwrap_or_default(),
    ]
}

/// `2`, `2, 1 failed, 1 open`: those that were done, and others if there are any.
fn compactions(figures: &Figures) -> String {
    let compactions = figures.tally.compactions;
    let others = [(compactions.failed, "failed"), (compactions.open, "open")];
    let others = others.into_iter().filter(|(count, _)| *count > 0);
    let told = others.map(|(count, word)| format!(", {} {word}", grouped(count)));
    std::iter::once(grouped(compactions.done)).chain(told).collect()
}

fn percent(share: Option<f64>) -> String {
    share.map(|share| format!("{:.0}%", share * 100.0)).unwrap_or_default()
}

fn totals(total: &Total, out: &mut dyn Write) -> io::Result<()> {
    let tally = &total.tally;
    let sizes = format!("{} on disk, {} decoded", HumanBytes(total.disk), HumanBytes(total.decoded));
    write!(out, "{BOLD}{}{BOLD:#}: {sizes}", amount(total.logs(), "log"))?;
    if total.frames > 0 {
        write!(out, " in {}", amount(total.frames, "frame"))?;
    }
    writeln!(out, "; {}", amount(tally.events, "event"))?;
    for (count, style, what) in [
        (total.partial, YELLOW, "damaged and counted up to the damage; `dshc verify` tells more"),
        (total.unreadable, RED, "unreadable"),
    ] {
        if count > 0 {
            writeln!(out, "{style}{}{style:#} {what}", amount(count, "log"))?;
        }
    }
    let chunks = percent(share(tally.streamed_bytes(), total.decoded));
    if tally.streamed_bytes() > 0 {
        writeln!(
            out,
            "streamed deltas: {chunks} of the decoded bytes; {} of the events",
            percent(tally.chunk_share())
        )?;
    }
    writeln!(
        out,
        "surface: {}, {} host tokens; request headers {}",
        amount(total.nodes, "node"),
        grouped(total.host_tokens),
        grouped(total.header_tokens)
    )?;
    if total.forks > 0 {
        let inherited = &total.inherited;
        writeln!(
            out,
            "inherited by {}: {}, {} decoded, {} host tokens of the surface",
            amount(total.forks, "fork"),
            amount(inherited.events, "event"),
            HumanBytes(inherited.bytes),
            grouped(inherited.host_tokens)
        )?;
    }
    let brackets = tally.compactions;
    if brackets.all() > 0 {
        writeln!(
            out,
            "compactions: {} done, {} failed, {} open",
            grouped(brackets.done),
            grouped(brackets.failed),
            grouped(brackets.open)
        )?;
    }
    Ok(())
}

fn kinds(what: &str, kinds: &Kinds, is_verbose: bool, out: &mut dyn Write) -> io::Result<()> {
    let counts = kinds.by_count();
    let most = if is_verbose { usize::MAX } else { MOST_TYPES };
    let mut told: Vec<String> = counts
        .iter()
        .take(most)
        .map(|(name, count)| format!("{} {}", grouped(*count), super::text::clip(name, 80)))
        .collect();
    let rest = counts.iter().skip(most).fold(kinds.others, |rest, (_, count)| rest.saturating_add(*count));
    if rest > 0 {
        told.push(format!("{} of other types", grouped(rest)));
    }
    if told.is_empty() {
        return Ok(());
    }
    writeln!(out, "{what}: {}", told.join(", "))
}
