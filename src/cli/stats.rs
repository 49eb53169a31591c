//! `dshc stats`.

use super::archive::Archive;
use super::crew::{Hands, Worked};
use super::{NO_OUTPUT, inputs, interrupted};
use crate::batch::{Ended, FoundLog};
use crate::exit::Exit;
use crate::log::Stop;
use crate::report::{Layout, Printer, Verbosity, csv, human, json, shown_path};
use crate::stats::{LogStats, SortBy, Stats as Run};
use crate::wording::amount;
use anyhow::{Context, Result};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  dshc stats                                       this user's sessions, the largest first
  dshc stats ARCHIVE --top 20 --sort tokens        the 20 logs that cost the model most
  dshc stats ARCHIVE --sort activity               what was worked on last
  dshc stats LOG -v                                every event type of one log
  dshc stats ARCHIVE --format csv > logs.csv       one row a log, for a spreadsheet or a database
  dshc stats ARCHIVE --format json | jq .summary   sums over all logs

Exit codes: 0 done, 1 a damaged log is counted up to its damage, 2 wrong usage,
3 a log cannot be read, 130 interrupted.";

/// How many notes are told, unless more is asked for.
const MOST_NOTES: usize = 20;

/// Tell how large logs are and what stands in them.
///
/// Reads only. For each log: bytes on disk and decoded, zstd frames, events by type, the share of streamed deltas,
/// nodes and host tokens of the surface, compactions, the time of the last event, and what a fork inherited from its
/// parent. A damaged log is counted up to its damage; a torn tail is left out and said so. A session that lies in its
/// directory in both encodings is counted once.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Stats {
    /// Logs, session directories, or folders of logs; "-" is standard input [default: dsh's own sessions].
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    // No journal: a report without the figures of logs that were measured before would be of no use.
    #[command(flatten)]
    archive: Archive,
    /// How to tell the figures: a table and sums, one JSON document, or comma-separated values with a row for each log.
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
    /// What to sort by: the greatest first, the latest activity first, paths from a to z. "size" is that on disk,
    /// "tokens" are the surface's host tokens, "chunks" the bytes that hold streamed deltas.
    #[arg(long, value_name = "FIGURE", default_value_t = SortBy::Size, value_parser = orders())]
    sort: SortBy,
    /// Tell the first N logs alone. The sums are those of all.
    #[arg(long, value_name = "N")]
    top: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Human,
    Json,
    Csv,
}

impl Stats {
    pub(super) fn run(self, jobs: usize, printer: Printer) -> Result<Exit> {
        let paths = inputs::or_default_root(self.archive.paths(self.paths)?)?;
        let found = self.archive.find(&paths).found;
        let Worked { ended, is_interrupted } =
            Hands::new(jobs).work(&found.logs, printer, |log, running| {
                let stats = measure(log, running.stop());
                // Of a log that was not read to its end nothing is known.
                (!running.is_cancelled()).then_some(stats)
            })?;
        let all = found.logs.len();
        let mut logs = Vec::with_capacity(all);
        for (log, ended) in found.logs.into_iter().zip(ended) {
            match ended {
                Ended::Done(stats) => logs.extend(stats),
                Ended::Panicked(why) => logs.push(LogStats::panicked(log.path, &why)),
                Ended::NotBegun => {}
            }
        }
        let not_begun = is_interrupted.then(|| all - logs.len());
        tell_errors(&logs, printer);
        let run = Run { not_begun, ..Run::of(logs, found.ignored, self.sort, self.top) };
        if self.format == Format::Human {
            tell_notes(&run, printer);
        }
        match self.format {
            Format::Human => {
                let is_verbose = printer.verbosity == Verbosity::Verbose;
                printer.print(Layout::Human, |out| human::stats(&run, is_verbose, out))
            }
            Format::Json => printer.print(Layout::Data, |out| json::stats(&run, self.archive.shard(), out)),
            Format::Csv => printer.print(Layout::Data, |out| csv::stats(&run, out)),
        }
        .context(NO_OUTPUT)?;
        if let Some(not_begun) = not_begun {
            printer.note(&interrupted(not_begun, all, "looked at"));
        }
        let exit = if is_interrupted { Exit::Interrupted } else { Exit::Done };
        Ok(exit.merge(run.exit))
    }
}

fn orders() -> impl TypedValueParser<Value = SortBy> {
    PossibleValuesParser::new(SortBy::ALL.map(SortBy::as_str)).try_map(|word| word.parse::<SortBy>())
}

/// The work on one log.
fn measure(log: &FoundLog, stop: &Stop) -> LogStats {
    let open = |path: &Path| inputs::open(path).map(|source| source.until(stop));
    let mut stats = LogStats::of(log.path.clone(), log.twin(), open);
    if log.is_flat() {
        stats.notes.insert(0, "it lies directly in a project directory, where dsh wants no log".into());
    }
    stats.notes.splice(0..0, log.older_told());
    stats
}

/// Says what cannot be read, whether or not the report tells of the log.
fn tell_errors(logs: &[LogStats], printer: Printer) {
    for log in logs {
        if let Err(error) = &log.figures {
            printer.error(&format!("{}: {error}", shown_path(&log.path)), Some(&error.help));
        }
    }
}

/// Says what is to be said of logs in a table, which has no room for it.
fn tell_notes(run: &Run, printer: Printer) {
    let most = if printer.verbosity == Verbosity::Verbose { usize::MAX } else { MOST_NOTES };
    let notes = run.logs.iter().flat_map(|log| log.notes.iter().map(move |note| (log, note)));
    let mut untold = 0_u64;
    for (index, (log, note)) in notes.enumerate() {
        if index < most {
            printer.note(&format!("{}: {note}", shown_path(&log.path)));
        } else {
            untold += 1;
        }
    }
    if untold > 0 {
        printer.note(&format!("{}; -v tells them", amount(untold, "more note")));
    }
}
