//! `dshc verify`.

use super::archive::{Archive, JournalOption, Lot};
use super::crew::{Hands, Worked};
use super::fail_on::FailOn;
use super::journaling::Journaling;
use super::rules::{self, RuleOption, Subject};
use super::{NO_OUTPUT, UsageError, inputs, interrupted};
use crate::batch::journal::Kind;
use crate::batch::{self, Ended, FoundLog, Running};
use crate::check::{self, Rule, Settings, Severity};
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
  dshc verify ARCHIVE --journal FILE                a later run skips what is done and unchanged
  dshc verify ARCHIVE --shard 1/8 --format json     an eighth of the logs; see dshc merge-reports

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
    #[command(flatten)]
    archive: Archive,
    #[command(flatten)]
    journal: JournalOption,
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

impl Verify {
    pub(super) fn run(self, jobs: usize, printer: Printer) -> Result<Exit> {
        if let Some(code) = &self.explain {
            return self.explain(&rules::named(code)?, printer);
        }
        if self.list_rules {
            return self.list(&check::rules().collect::<Vec<_>>(), printer);
        }
        let settings = rules::settings(&self.rules)?;
        let paths = inputs::or_default_root(self.archive.paths(self.paths)?)?;
        let lot = self.archive.find(&paths);
        let options = check::Options { target: self.target_format };
        let threshold = self.fail_on.severity();
        let journal = self.journal.open(kind(options, &self.rules), printer)?;
        let way = Way { options, settings: &settings, threshold, journal: &journal };
        let mut run = way.verify(lot, jobs, printer)?;
        run.scope = self.archive.scope(&self.journal);
        print(&run, self.format, threshold, printer).context(NO_OUTPUT)?;
        if let Some(not_begun) = run.not_begun {
            let logs = run.files.len() - run.count(Status::Skipped) + not_begun;
            printer.note(&interrupted(not_begun, logs, "looked at"));
        }
        let exit = if run.not_begun.is_some() { Exit::Interrupted } else { Exit::Done };
        let exit = exit.merge(journal.close(printer));
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

/// How the logs of a run are checked.
struct Way<'a> {
    options: check::Options,
    settings: &'a Settings,
    threshold: Severity,
    journal: &'a Journaling,
}

impl Way<'_> {
    fn verify(&self, lot: Lot, jobs: usize, printer: Printer) -> Result<Verification> {
        let Lot { found, others } = lot;
        let (spared, logs) = self.journal.spare(found.logs, |log| log);
        let Worked { ended, is_interrupted } =
            Hands::new(jobs).work(&logs, printer, |log, running| self.check(log, running))?;
        let count = logs.len();
        let mut files = Vec::with_capacity(count + spared.len());
        for (log, ended) in logs.into_iter().zip(ended) {
            match ended {
                Ended::Done(verdict) => files.extend(verdict),
                Ended::Panicked(why) => files.push(FileVerdict::panicked(log.path, log.spot, &why)),
                Ended::NotBegun => {}
            }
        }
        let not_begun = is_interrupted.then(|| count - files.len());
        let seen = batch::glance(&spared, jobs, |(log, past)| {
            FileVerdict::spared(log.path.clone(), log.spot.clone(), past.clone(), inputs::open)
        });
        files.extend(spared.into_iter().zip(seen).map(|((log, _), seen)| {
            seen.unwrap_or_else(|why| FileVerdict::panicked(log.path, log.spot, &why))
        }));
        // Where a session lies there in two encodings, the other file may stand for it.
        files.sort_by(|left, right| left.path.cmp(&right.path));
        // A log that was named itself is judged alone.
        let others: Vec<FoundLog> = others.into_iter().filter(|log| log.spot.is_some()).collect();
        let others = batch::glance(&others, jobs, |log| {
            FileVerdict::glimpse(log.path.clone(), log.spot.clone(), self.options, inputs::open)
        });
        let others: Vec<FileVerdict> = others.into_iter().flatten().collect();
        let mut run = Verification { not_begun, ..Verification::among(&others, files, found.ignored) };
        run.apply(self.settings);
        Ok(run)
    }

    /// Checks a log; `None` if the run was to end before it was read to its end, for then nothing is known of it.
    fn check(&self, log: &FoundLog, running: &Running) -> Option<FileVerdict> {
        let revision = self.journal.revision(log);
        let open = |path: &Path| {
            let source = inputs::open(path)?;
            Ok(source.until(running.stop()).read_ahead(running.has_spare_core()))
        };
        let mut verdict = FileVerdict::of(log.path.clone(), log.spot.clone(), self.options, open);
        if running.is_cancelled() {
            return None;
        }
        self.settings.apply(&mut verdict.findings);
        let exit = exit_of(&verdict, self.threshold);
        self.journal.note(&log.path, revision, &verdict.outcome(exit.code()));
        Some(verdict)
    }
}

/// What findings depend on. Another dshc may know other rules.
fn kind(options: check::Options, rules: &[RuleOption]) -> Kind {
    let kind = Kind::of("verify").with("dshc", Some(env!("CARGO_PKG_VERSION")));
    let kind = kind.with("target-format", options.target);
    rules.iter().fold(kind, |kind, rule| kind.with("rule", Some(rule)))
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
