//! `dshc verify`.

use super::crew::{Hands, Worked};
use super::rules::{self, RuleOption, Subject};
use super::{NO_OUTPUT, UsageError, inputs, interrupted};
use crate::batch::{self, Ended};
use crate::check::{self, Rule, Severity};
use crate::exit::Exit;
use crate::format::NEWEST;
use crate::report::{self, Layout, Printer, Verbosity, human, json};
use crate::verify::{FileVerdict, Status, Verification};
use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  dshc verify                                       every session of this user's dsh
  dshc verify LOG --fail-on warning                 for CI: a torn tail fails too
  dshc verify ARCHIVE -v                            the findings of every file, not only totals
  dshc verify LOG --rule crlf=off --rule pairing=warning
                                                    a rule off, a family of rules weighed anew
  dshc verify --explain torn-tail                   what a rule means and what to do
  dshc verify LOG --target-format 4                 would a newer dsh take over the session?
  dshc verify LOGS --format github                  in a GitHub workflow: annotations
  dshc verify LOGS --format sarif > dshc.sarif      for code scanning
  dshc verify LOGS --format junit > dshc.xml        for GitLab, Jenkins and other CI systems
  dshc verify LOG --format json | jq .summary

Exit codes: 0 nothing at or above --fail-on, 1 findings, 2 wrong usage, 3 a log cannot be read,
130 interrupted.";

/// Check logs and name everything that is wrong with them.
///
/// Reads only, and reads on behind damage, so that one run names all of it: torn and damaged containers, lines
/// and numbers; broken rules of the surface; tool calls without a result and results without a call; turns, steps
/// and whatever else must fit together; compaction brackets and locks, and checkpoints that say too little; event
/// types and sources that the format does not have; names, generations and encodings below a folder; and where dsh
/// itself would refuse the log, or open it and delete sound events behind damage. Each is an error, a warning or a
/// note, with its place and what to do; --explain tells more.
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
    /// The least severity that makes the exit code 1, or fails a case of a JUnit report.
    #[arg(long, value_enum, value_name = "SEVERITY", default_value_t = FailOn::Error)]
    fail_on: FailOn,
    /// Also list everything that the upgrades by which dsh brings a log to this format would refuse, each as an error.
    #[arg(long, value_name = "N", value_parser = target_format)]
    target_format: Option<u64>,
    /// What becomes of a rule's findings: off, note, warning or error; of a family's, if CODE is one. May be given
    /// several times; the last one that names a rule counts.
    #[arg(long = "rule", value_name = "CODE=SEVERITY")]
    rules: Vec<RuleOption>,
    /// Show the page of a rule: what it means, why it matters, how it comes about and what to do. Of a family, list
    /// its rules.
    #[arg(long, value_name = "CODE", conflicts_with_all = ["paths", "list_rules", "rules"])]
    explain: Option<String>,
    /// List all rules by family: code, default severity, family, and what a breach is. Those of the family "opening"
    /// cannot be set.
    #[arg(long, conflicts_with_all = ["paths", "rules"])]
    list_rules: bool,
}

/// How a report is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people: by file, at most ten findings of a rule and severity in each; totals for more than 20 files. -v
    /// shows all that any format has: the first 1,000 of a rule and severity in a log, and the sum of the others.
    Human,
    /// One document, of the schema dshc.verify/1.
    Json,
    /// SARIF 2.1.0, for code scanning: at most 5,000 results, the gravest, as many as GitHub shows; how many are left
    /// out is said.
    Sarif,
    /// JUnit XML: a suite for each log, a case for each rule with findings, of which it tells at most ten of a severity
    /// without -v.
    Junit,
    /// Commands of a GitHub workflow: an annotation for each finding, at most ten of a rule and severity without -v.
    /// GitHub shows ten errors, ten warnings and ten notices of a step.
    Github,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum FailOn {
    Error,
    Warning,
}

impl Verify {
    pub(super) fn run(self, jobs: usize, printer: Printer) -> Result<Exit> {
        if let Some(code) = &self.explain {
            return self.explain(&rules::named(code)?, printer);
        }
        if self.list_rules {
            return self.list(&check::rules().collect::<Vec<_>>(), printer);
        }
        let settings = rules::settings(&self.rules)?;
        let found = batch::find(&inputs::or_default_root(self.paths)?);
        let options = check::Options { target: self.target_format };
        let Worked { ended, is_interrupted } =
            Hands::new(jobs).work(&found.logs, printer, |log, running| {
                let open = |path: &Path| inputs::open(path).map(|source| source.until(running.stop()));
                let verdict = FileVerdict::of(log.path.clone(), log.spot.clone(), options, open);
                // Of a log that was not read to its end nothing is known.
                (!running.is_cancelled()).then_some(verdict)
            })?;
        let logs = found.logs.len();
        let mut files = Vec::with_capacity(logs);
        for (log, ended) in found.logs.into_iter().zip(ended) {
            match ended {
                Ended::Done(verdict) => files.extend(verdict),
                Ended::Panicked(why) => files.push(FileVerdict::panicked(log.path, log.spot, &why)),
                Ended::NotBegun => {}
            }
        }
        let not_begun = is_interrupted.then(|| logs - files.len());
        let mut run = Verification { not_begun, ..Verification::of(files, found.ignored) };
        run.apply(&settings);
        let threshold = match self.fail_on {
            FailOn::Error => Severity::Error,
            FailOn::Warning => Severity::Warning,
        };
        print(&run, self.format, threshold, printer).context(NO_OUTPUT)?;
        if let Some(not_begun) = not_begun {
            printer.note(&interrupted(not_begun, logs, "looked at"));
        }
        let exit = if is_interrupted { Exit::Interrupted } else { Exit::Done };
        Ok(run.files.iter().fold(exit, |exit, file| exit.merge(exit_of(file, threshold))))
    }

    fn explain(&self, subject: &Subject, printer: Printer) -> Result<Exit> {
        let rule = match subject {
            Subject::Family(rules) => return self.list(rules, printer),
            Subject::Rule(rule) => *rule,
        };
        match self.format {
            Format::Human => printer.print(Layout::Human, |out| human::rule(rule, printer.width(), out)),
            Format::Json => printer.print(Layout::Data, |out| json::rules(&[rule], out)),
            _ => return Err(no_rules()),
        }
        .context(NO_OUTPUT)?;
        Ok(Exit::Done)
    }

    fn list(&self, rules: &[&Rule], printer: Printer) -> Result<Exit> {
        match self.format {
            Format::Human => printer.print(Layout::Human, |out| human::rules(rules, out)),
            Format::Json => printer.print(Layout::Data, |out| json::rules(rules, out)),
            _ => return Err(no_rules()),
        }
        .context(NO_OUTPUT)?;
        Ok(Exit::Done)
    }
}

/// A format that upgrades lead to: 1 to that of the newest dsh.
fn target_format(text: &str) -> Result<u64, String> {
    let version = text.parse().ok().filter(|version| (1..=NEWEST.version).contains(version));
    version.ok_or_else(|| format!("want the number of a format to upgrade to, 1 to {}", NEWEST.version))
}

fn no_rules() -> anyhow::Error {
    UsageError::new(
        "rules are shown in the formats human and json alone",
        "leave --format out, or use --format json",
    )
    .into()
}

fn print(run: &Verification, format: Format, threshold: Severity, printer: Printer) -> std::io::Result<()> {
    let is_verbose = printer.verbosity == Verbosity::Verbose;
    match format {
        Format::Human => printer.print(Layout::Human, |out| human::verify(run, is_verbose, out)),
        Format::Json => printer.print(Layout::Data, |out| json::verify(run, out)),
        Format::Sarif => printer.print(Layout::Data, |out| report::sarif(run, out)),
        Format::Junit => printer.print(Layout::Data, |out| report::junit(run, threshold, is_verbose, out)),
        Format::Github => printer.print(Layout::Data, |out| report::github(run, is_verbose, out)),
    }?;
    // These go to a file or a page of their own; what stays in the job's log should say how it went.
    if matches!(format, Format::Sarif | Format::Junit | Format::Github) {
        printer.note(&report::summary(run));
    }
    if let (Format::Sarif, Some(left_out)) = (format, report::sarif_left_out(run)) {
        printer.note(&left_out);
    }
    Ok(())
}

fn exit_of(file: &FileVerdict, threshold: Severity) -> Exit {
    match file.status() {
        Status::Unreadable => Exit::Unreadable,
        _ if file.worst().is_some_and(|worst| worst >= threshold) => Exit::Findings,
        _ => Exit::Done,
    }
}
