//! `dshc merge-reports`.

use super::fail_on::FailOn;
use super::{NO_OUTPUT, UsageError};
use crate::exit::Exit;
use crate::merge::{self, Report};
use crate::report::{Layout, Printer, human, json, shown_path};
use crate::wording::short_list;
use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use std::fs;
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  dshc merge-reports shard-*.json > run.json     the report that one run would have given
  dshc merge-reports shard-*.json --format human its totals
  dshc merge-reports shard-*.json --partial      though some shards have not ended

Exit codes: what the run would have ended with; 2 wrong usage: also reports that are not of one run,
3 a file that cannot be read or is no report.";

/// Join the JSON reports of a run's shards into the report of the run.
///
/// The reports are those of `--format json --shard K/N`, or of runs over different logs that were not shared out. What
/// comes out is, byte for byte, what one run over all logs gives, in whatever order the reports are named. The exit
/// code, too, is that of the run.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct MergeReports {
    /// JSON reports, one of each shard.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Join what is there, though shards are missing; the report then tells which.
    #[arg(long)]
    partial: bool,
    /// The least severity that makes the exit code 1, for reports of `verify`.
    #[arg(long, value_enum, value_name = "SEVERITY", default_value_t = FailOn::Error)]
    fail_on: FailOn,
    /// What to write.
    // The one command whose default is not for people: a report is what it makes.
    #[arg(long, value_enum, default_value_t = Format::Json)]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// The report of the run.
    Json,
    /// Its totals, for people.
    Human,
}

impl MergeReports {
    pub(super) fn run(self, printer: Printer) -> Result<Exit> {
        let texts = self.files.iter().map(|file| read(file)).collect::<Result<Vec<_>>>()?;
        let mut reports = Vec::with_capacity(texts.len());
        for (file, text) in self.files.iter().zip(&texts) {
            reports.push(Report::parse(file.clone(), text).with_context(|| shown_path(file))?);
        }
        let count = reports.len();
        let merged = merge::merge(reports, self.partial)
            .map_err(|misfit| UsageError::new(misfit.to_string(), misfit.help()))?;
        let exit = merged.exit(self.fail_on.severity())?;
        match self.format {
            Format::Json => printer.print(Layout::Data, |out| json::merged(&merged, out)),
            Format::Human => printer.print(Layout::Human, |out| human::merged(&merged, count, out)),
        }
        .context(NO_OUTPUT)?;
        if let Some(partial) = &merged.partial {
            let missing = short_list(partial.missing.iter());
            printer.note(&format!("of {} shards these are missing: {missing}", partial.of));
        }
        Ok(exit)
    }
}

fn read(file: &Path) -> Result<String> {
    fs::read_to_string(file).with_context(|| format!("cannot read {}", shown_path(file)))
}
