//! The command line: one file a command, from what was typed to ready objects and on to a report.
//!
//! Only here do the library's errors become messages. Everything may be called from here; nothing calls it but
//! `main`.

mod archive;
mod compact;
mod crew;
mod errand;
mod fail_on;
mod inputs;
mod journaling;
mod live_calls;
mod merge_reports;
mod reasons;
mod repack;
mod replay;
mod rules;
mod stats;
mod summarizer;
mod targets;
mod verify;
mod watching;

use crate::exit::Exit;
use crate::report::{Printer, Verbosity};
use crate::wording::{amount, grouped};
use clap::{Args, ColorChoice, Parser, Subcommand, ValueEnum};
use std::num::NonZeroUsize;

/// Offline workbench for the session logs of DeepSeek Harness (dsh).
///
/// dsh keeps each session as an append-only log. What the model sees is a projection of it, the surface.
/// dshc shows the surface, checks logs, and compacts an old span of the surface: a summary takes its place and
/// the originals stay in the log. It makes compressed logs smaller, and works on folders of many logs. No text that was recorded is ever changed: dshc appends, as dsh does, or compresses the
/// same text anew.
#[derive(Debug, Parser)]
#[command(name = "dshc", version, max_term_width = 100, propagate_version = true)]
struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Args)]
struct Global {
    /// When to use colour; NO_COLOR is honoured.
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", help_heading = "Output")]
    color: ColorChoice,
    /// Say nothing but errors on standard error.
    #[arg(short, long, global = true, conflicts_with = "verbose", help_heading = "Output")]
    quiet: bool,
    /// Say more: of every log, however many there are, and all its findings, up to 1,000 of a rule and severity in each
    /// and then a sum.
    #[arg(short, long, global = true, help_heading = "Output")]
    verbose: bool,
    /// Show no progress, even on a terminal.
    #[arg(long, global = true, help_heading = "Output")]
    no_progress: bool,
    /// Work on N logs at once [default: as many as there are cores]. What comes out is the same for every N.
    #[arg(short, long, global = true, value_name = "N", help_heading = archive::MANY_LOGS)]
    jobs: Option<NonZeroUsize>,
}

#[derive(Debug, Subcommand)]
enum Command {
    Replay(replay::Replay),
    Verify(verify::Verify),
    Compact(Box<compact::Compact>),
    Repack(repack::Repack),
    Stats(stats::Stats),
    MergeReports(merge_reports::MergeReports),
}

/// Runs what the command line asks for.
#[must_use]
pub fn run() -> Exit {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Nobody is left to tell when the stream is closed.
            let _ = error.print();
            return if error.use_stderr() { Exit::Usage } else { Exit::Done };
        }
    };
    let printer = cli.global.printer();
    let jobs = crew::jobs(cli.global.jobs);
    let result = match cli.command {
        Command::Replay(command) => command.run(printer),
        Command::Verify(command) => command.run(jobs, printer),
        Command::Compact(command) => command.run(jobs, printer),
        Command::Repack(command) => command.run(jobs, printer),
        Command::MergeReports(command) => command.run(printer),
        Command::Stats(command) => command.run(jobs, printer),
    };
    result.unwrap_or_else(|error| tell(&error, printer))
}

impl Global {
    fn printer(&self) -> Printer {
        let verbosity = match (self.quiet, self.verbose) {
            (true, _) => Verbosity::Quiet,
            (_, true) => Verbosity::Verbose,
            _ => Verbosity::Normal,
        };
        let color = match self.color {
            ColorChoice::Auto => anstream::ColorChoice::Auto,
            ColorChoice::Always => anstream::ColorChoice::Always,
            ColorChoice::Never => anstream::ColorChoice::Never,
        };
        let printer = Printer::new(verbosity, color);
        if self.no_progress { printer.without_progress() } else { printer }
    }
}

/// How a report of many logs is laid out.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    Human,
    Json,
}

/// What went wrong when a report could not be written.
const NO_OUTPUT: &str = "cannot write to standard output";

/// That so many of a run's logs were not begun, or not `done`.
fn interrupted(not_begun: usize, logs: usize, done: &str) -> String {
    let (not_begun, logs) = (grouped(not_begun as u64), amount(logs as u64, "log"));
    format!("interrupted: {not_begun} of {logs} were not {done}")
}

/// Something that the caller must say differently.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
struct UsageError {
    message: String,
    help: String,
}

impl UsageError {
    fn new(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { message: message.into(), help: help.into() }
    }
}

/// Ends a run with an error that no file of its own caused.
fn tell(error: &anyhow::Error, printer: Printer) -> Exit {
    if let Some(usage) = error.downcast_ref::<UsageError>() {
        printer.error(&usage.message, Some(&usage.help));
        return Exit::Usage;
    }
    printer.error(&format!("{error:#}"), None);
    Exit::Unreadable
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        super::Cli::command().debug_assert();
    }

    #[test]
    fn only_what_is_about_many_logs_stands_there_in_the_help() {
        for command in super::Cli::command().get_subcommands() {
            for argument in command.get_arguments() {
                let is_there = argument.get_help_heading() == Some(super::archive::MANY_LOGS);
                let id = argument.get_id().as_str();
                let is_meant = ["files_from", "null", "shard", "journal"].contains(&id);
                assert_eq!(is_there, is_meant, "{} {id}", command.get_name());
            }
        }
    }
}
