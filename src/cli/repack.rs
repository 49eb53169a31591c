//! `dshc repack`.

use super::archive::{Archive, JournalOption, Lot};
use super::crew::{Hands, Worked};
use super::errand::Errand;
use super::journaling::{self, Journaling};
use super::reasons::tell_reasons;
use super::targets::targets;
use super::{Format, NO_OUTPUT, UsageError, inputs, interrupted};
use crate::batch::Ended;
use crate::batch::journal::Kind;
use crate::exit::Exit;
use crate::guard;
use crate::log::append::RealDisk;
use crate::repack::{self, LEVELS, Options, Outcome, Services, Status, Target};
use crate::report::{Layout, Printer, Verbosity, human, json, shown_path};
use anyhow::{Context, Result};
use clap::{ArgGroup, Args};
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  dshc repack -n ~/.dsh/sessions         tell what would be saved, to the byte; write nothing
  dshc repack ~/.dsh/sessions -o PACKED  write smaller copies below a new folder
  dshc repack ARCHIVE --in-place         put the smaller logs in place of the old ones

Exit codes: 0 done or nothing to do, 2 wrong usage, 3 a log cannot be read,
4 refused before the first byte was written, 5 failed after that, 130 interrupted.";

/// Rewrite compressed logs into fewer bytes; the text stays the same, byte for byte.
///
/// dsh writes one small frame for each append. Large frames, compressed harder, hold the same lines in a fraction of the
/// bytes, and dsh reads them as before. `dshc compact` makes a log longer, for it appends and takes nothing away; repack is
/// what makes it smaller.
///
/// The header keeps its own frame. Before the new file gets a name it is read back from the disk: its text and its surface
/// must be those of the log. A log that is torn, damaged, locked or in use is left alone and named. Logs that are not
/// compressed have nothing to gain.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES, group = ArgGroup::new("where").args(["output", "in_place"]))]
pub(super) struct Repack {
    /// Logs, session directories, or folders of logs.
    #[arg(required_unless_present = "files_from", value_name = "PATH")]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    archive: Archive,
    #[command(flatten)]
    journal: JournalOption,
    /// How hard to compress, from 1 to 22 [default: 19, and logs with large frames are left as they are].
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(i32).range(level_range()))]
    level: Option<i32>,
    /// Write the smaller log there and leave the input as it is: a new file, or a folder that mirrors the inputs. Nothing is
    /// written for a log that would not become smaller.
    #[arg(short, long, value_name = "PATH")]
    output: Option<PathBuf>,
    /// Put the smaller log in the place of the old one. Mode and time are kept, the owner where the system allows it; access
    /// lists and extended attributes are not.
    #[arg(long)]
    in_place: bool,
    /// Compress to nowhere and tell what would be saved: the figures are exact.
    #[arg(short = 'n', long)]
    dry_run: bool,
    /// Replace a log even if its file and its last event are less than 10 seconds old, or, inside a turn, less than a day.
    #[arg(long)]
    assume_idle: bool,
    /// How to tell what was done.
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
}

fn level_range() -> std::ops::RangeInclusive<i64> {
    i64::from(*LEVELS.start())..=i64::from(*LEVELS.end())
}

impl Repack {
    pub(super) fn run(mut self, jobs: usize, printer: Printer) -> Result<Exit> {
        if self.output.is_none() && !self.in_place && !self.dry_run {
            let help =
                "say -o PATH for new files, --in-place to replace the logs, or -n to see what it would save";
            return Err(UsageError::new("where is the result to go?", help).into());
        }
        let paths = self.archive.paths(std::mem::take(&mut self.paths))?;
        let Lot { found, others } = self.archive.find(&paths);
        let (logs, others) = (inputs::sessions(found.logs), inputs::sessions(others));
        if logs.iter().any(|log| log.path == Path::new("-")) {
            return Err(UsageError::new("standard input cannot be repacked", "name a file").into());
        }
        let journal = self.journal.open(self.kind(), printer)?;
        let targets = targets(self.output.as_deref(), &logs, &others, journal.is_kept())?;
        if logs.is_empty() {
            printer.note("no log is there");
        }
        let (spared, errands) = journal.spare(Errand::all(logs, targets), |errand| &errand.log);
        let Worked { ended, is_interrupted } =
            Hands::new(jobs).work(&errands, printer, |errand, running| {
                self.carry_out(errand, &journal, &Services { disk: &RealDisk, watch: running })
            })?;
        let mut outcomes = Vec::with_capacity(errands.len());
        for (errand, ended) in errands.iter().zip(ended) {
            match ended {
                Ended::Done(outcome) => outcomes.extend(outcome),
                Ended::Panicked(why) => outcomes.push(Outcome::panicked(errand.log.path.clone(), &why)),
                Ended::NotBegun => {}
            }
        }
        let not_begun = is_interrupted.then(|| errands.len() - outcomes.len());
        journaling::tell_spared(spared.len(), printer);
        outcomes.extend(spared.into_iter().map(|(errand, past)| Outcome::spared(errand.log.path, past)));
        outcomes.sort_by(|left, right| left.path.cmp(&right.path));
        self.report(&outcomes, &found.ignored, not_begun, printer)?;
        if let Some(not_begun) = not_begun {
            printer.note(&interrupted(not_begun, errands.len(), "begun"));
        }
        let exit = if is_interrupted { Exit::Interrupted } else { Exit::Done };
        let exit = exit.merge(journal.close(printer));
        Ok(outcomes.iter().fold(exit, |exit, outcome| exit.merge(outcome.exit())))
    }

    /// What the result depends on.
    fn kind(&self) -> Kind {
        Kind::of("repack")
            .changing_logs(self.in_place && !self.dry_run)
            .with("level", self.level)
            .with("output", self.output.as_ref().map(|output| output.display()))
            .with_flag("in-place", self.in_place)
            .with_flag("dry-run", self.dry_run)
    }

    /// What comes of a log; `None` if the run was to end before it was begun.
    fn carry_out(&self, errand: &Errand, journal: &Journaling, services: &Services) -> Option<Outcome> {
        let log = &errand.log;
        let before = journal.revision(log);
        let options = Options { level: self.level, is_idle: self.assume_idle, ..Options::default() };
        let mut outcome = match (log.twin(), errand.taken_target()) {
            (Some(twin), _) => {
                Outcome::refused(log.path.clone(), guard::two_encodings(&shown_path(twin), "repacked"))
            }
            (None, Some(target)) if journal.is_kept() => {
                Outcome::refused(log.path.clone(), guard::written_before(&shown_path(target)))
            }
            (None, _) => repack::repack(&log.path, self.target(errand.target.as_deref()), &options, services),
        };
        if outcome.was_not_begun() {
            return None;
        }
        outcome.notes.splice(..0, log.older_told());
        let length =
            outcome.bytes.1.filter(|_| outcome.status == Status::Repacked && outcome.output.is_none());
        let revision = journaling::revision_after(&log.path, before, length);
        journal.note(&log.path, revision, &outcome.told());
        Some(outcome)
    }

    fn target<'a>(&self, output: Option<&'a Path>) -> Target<'a> {
        match output {
            _ if self.dry_run => Target::Nowhere,
            Some(output) => Target::File(output),
            None => Target::InPlace,
        }
    }

    fn report(
        &self,
        outcomes: &[Outcome],
        ignored: &[PathBuf],
        not_begun: Option<usize>,
        printer: Printer,
    ) -> Result<()> {
        let scope = self.archive.scope(&self.journal);
        let is_verbose = printer.verbosity == Verbosity::Verbose;
        let written = match self.format {
            Format::Json => {
                printer.print(Layout::Data, |out| json::repack(outcomes, ignored, scope, not_begun, out))
            }
            Format::Human => printer
                .print(Layout::Human, |out| human::repack(outcomes, ignored, not_begun, is_verbose, out)),
        };
        let reasons =
            outcomes.iter().filter_map(|outcome| Some((outcome.path.as_path(), outcome.reason.as_ref()?)));
        tell_reasons(reasons, "repacked", printer);
        let repacked = outcomes.iter().filter(|outcome| outcome.status == Status::Repacked).count();
        written.with_context(|| format!("{NO_OUTPUT} ({repacked} of {} logs were repacked)", outcomes.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        _repack: Repack,
    }

    #[test]
    fn levels_and_places_are_checked() {
        let is_taken =
            |words: &str| Line::try_parse_from(["dshc", "LOG"].into_iter().chain(words.split(' '))).is_ok();
        for words in ["--level 1 -n", "--level 22 --in-place", "-n -o NEW", "-n --in-place"] {
            assert!(is_taken(words), "{words}");
        }
        for words in ["--level 0", "--level 23", "--level -1", "--level high", "-o NEW --in-place"] {
            assert!(!is_taken(words), "{words}");
        }
    }
}
