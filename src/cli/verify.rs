//! `dshc verify`.

use super::{Format, NO_OUTPUT, inputs};
use crate::batch;
use crate::check::{self, Severity};
use crate::exit::Exit;
use crate::format::NEWEST;
use crate::report::{Layout, Printer, Verbosity, human, json};
use crate::verify::{FileVerdict, Status, Verification};
use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  dshc verify                                   every session of this user's dsh
  dshc verify LOG --fail-on warning             for CI: a torn tail fails too
  dshc verify ARCHIVE -v                        the findings of every file
  dshc verify LOG --format json | jq .summary

Exit codes: 0 nothing at or above --fail-on, 1 findings, 2 wrong usage, 3 a log cannot be read.";

/// Check logs and name everything that is wrong with them.
///
/// Reads only, and reads on behind damage, so that one run names all of it: torn and damaged containers, lines
/// and numbers, broken rules of the surface, tool calls without a result and results without a call, compaction
/// brackets and locks; what dsh asks of the events of the newest format; names, generations and encodings below a
/// folder; and where dsh itself would refuse the log, or open it and delete sound events behind damage.
/// Exit code 1 tells of findings, 3 of logs that cannot be read at all.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Verify {
    /// Logs, session directories, or folders of logs; "-" is standard input [default: dsh's own sessions].
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// How to tell what was found.
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
    /// The least severity that makes the exit code 1.
    #[arg(long, value_enum, value_name = "SEVERITY", default_value_t = FailOn::Error)]
    fail_on: FailOn,
    /// Also list everything that an upgrade by dsh to this log format would refuse.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(..=NEWEST.version))]
    target_format: Option<u64>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum FailOn {
    Error,
    Warning,
}

impl Verify {
    pub(super) fn run(self, printer: Printer) -> Result<Exit> {
        let found = batch::find(&inputs::or_default_root(self.paths)?);
        let options = check::Options { target: self.target_format };
        let files =
            found.logs.into_iter().map(|log| FileVerdict::of(log.path, log.spot, options, inputs::open));
        let run = Verification::of(files.collect(), found.ignored);
        let is_verbose = printer.verbosity == Verbosity::Verbose;
        match self.format {
            Format::Human => printer.print(Layout::Human, |out| human::verify(&run, is_verbose, out)),
            Format::Json => printer.print(Layout::Data, |out| json::verify(&run, out)),
        }
        .context(NO_OUTPUT)?;
        let threshold = match self.fail_on {
            FailOn::Error => Severity::Error,
            FailOn::Warning => Severity::Warning,
        };
        Ok(run.files.iter().fold(Exit::Done, |exit, file| exit.merge(exit_of(file, threshold))))
    }
}

fn exit_of(file: &FileVerdict, threshold: Severity) -> Exit {
    match file.status() {
        Status::Unreadable => Exit::Unreadable,
        _ if file.worst().is_some_and(|worst| worst >= threshold) => Exit::Findings,
        _ => Exit::Done,
    }
}
