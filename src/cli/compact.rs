//! `dshc compact`.

use super::archive::{Archive, JournalOption, Lot};
use super::crew::{Hands, Worked};
use super::errand::Errand;
use super::journaling::{self, Journaling};
use super::live_calls::LiveCalls;
use super::reasons::tell_reasons;
use super::summarizer::{SummarizerArgs, environment};
use super::targets::targets;
use super::{Format, NO_OUTPUT, UsageError, inputs, interrupted};
use crate::batch::journal::Kind;
use crate::batch::{Ended, Permits};
use crate::compact::{
    self, Counting, GateOptions, Limit, Occasion, Options, Outcome, Retention, Services, Status, Vouched,
};
use crate::exit::Exit;
use crate::guard;
use crate::log::append::RealDisk;
use crate::report::{Layout, Printer, Verbosity, human, json, shown_path};
use crate::summarize::Summarizer;
use anyhow::{Context, Result};
use clap::{ArgGroup, Args, ValueEnum};
use std::path::{Path, PathBuf};
use std::str::FromStr;

const EXAMPLES: &str = "\
Examples:
  dshc compact -n LOG --keep-turns 3             show what would be replaced, write nothing
  dshc compact LOG --keep-turns 3 -o NEW.jsonl   write the extended log to a new file
  dshc compact LOG --retain-tokens 20000         append to the log itself; close the session first
  dshc compact LOG --region 12..87               replace this span, both ends included
  dshc compact LOG --over-ratio 0.8              only if it would soon be too big for the model
  dshc compact LOG --summarizer openai           have DeepSeek summarize; its key is in DEEPSEEK_API_KEY
  dshc compact LOG --break-lock                  free a session that a crashed compaction has locked

Exit codes: 0 done or nothing to do, 2 wrong usage, 3 a log cannot be read,
4 refused before the first byte was written, 5 failed after that, 130 interrupted.";

/// The share of the context window that stays where nothing else is said.
const RETAIN_RATIO: f64 = 0.16;

/// Replace an old span of the surface by a summary, appended to the log.
///
/// What was said stays in the log; only what the model is shown changes. The recent tail stays word for word, a
/// tool call and its result stay together, and the first human prompt stays visible. Nothing is written to a log
/// that is damaged, that another writer holds, or whose region is not worth replacing.
///
/// Without --summarizer, the summary is made from the region's own text, without a model: the same region always
/// gives the same summary.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES, group = ArgGroup::new("pressure").args(["over", "over_ratio"]))]
#[expect(clippy::struct_excessive_bools, reason = "they are flags, each of its own")]
pub(super) struct Compact {
    /// Logs, session directories, or folders of logs.
    #[arg(required_unless_present = "files_from", value_name = "PATH")]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    archive: Archive,
    #[command(flatten)]
    journal: JournalOption,
    /// Only where surface and request header hold at least N host tokens; compact again while they still do.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), conflicts_with = "region", help_heading = "When")]
    over: Option<u64>,
    /// The same with a share of the context window; dsh itself compacts from 0.8 on.
    #[arg(long, value_name = "R", value_parser = share, conflicts_with = "region", help_heading = "When")]
    over_ratio: Option<f64>,
    /// Compact at most so many times while the surface is still over.
    #[arg(long, value_name = "N", default_value_t = 2, requires = "pressure", value_parser = clap::value_parser!(u32).range(1..=100), help_heading = "When")]
    passes: u32,
    /// Replace this span, named by the seqs of its first and last message (see `dshc replay`).
    #[arg(long, value_name = "A..B", conflicts_with_all = ["retain_tokens", "retain_ratio", "keep_turns"], help_heading = "What stays")]
    region: Option<Span>,
    /// Keep a tail of at least N host tokens [default with --over N: a fifth of that].
    #[arg(long, value_name = "N", allow_negative_numbers = true, conflicts_with_all = ["retain_ratio", "keep_turns"], help_heading = "What stays")]
    retain_tokens: Option<u64>,
    /// Keep a tail of this share of the context window [default: 0.16].
    #[arg(long, value_name = "R", value_parser = ratio, conflicts_with = "keep_turns", help_heading = "What stays")]
    retain_ratio: Option<f64>,
    /// Keep the last N turns.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), help_heading = "What stays")]
    keep_turns: Option<u64>,
    /// The model's context window in tokens, for ratios [default: the log's own, else 131072].
    #[arg(long, value_name = "N", conflicts_with = "region", value_parser = clap::value_parser!(u64).range(1..), help_heading = "What stays")]
    context_window: Option<u64>,
    /// What budgets are counted in: dsh's own estimate, or a tokenizer's exact count.
    #[arg(long, value_name = "host|o200k_base|cl100k_base", default_value_t = Counting::Host, hide_default_value = true, help_heading = "What stays")]
    tokenizer: Counting,
    /// First make tool results before the tail shorter that are longer than 8192 characters: their first 4096 and last
    /// 1024 stay. With --over that may be enough.
    #[arg(long, conflicts_with = "region", help_heading = "What takes its place")]
    prune: bool,
    /// What takes the place of the region.
    #[arg(long, value_enum, default_value_t = Strategy::Summary, help_heading = "What takes its place")]
    strategy: Strategy,
    /// Refuse a summary that names less than this share of the paths, commands, errors, hashes and numbers of the
    /// region's prompts, tool calls and errors.
    #[arg(long, value_name = "R", value_parser = recall, help_heading = "What takes its place")]
    min_recall: Option<f64>,
    /// Add those that a summary does not name to its last section, as far as there is room.
    #[arg(long, help_heading = "What takes its place")]
    complete_identifiers: bool,
    /// Choose the region as dsh does, and do not carry the first human prompt into the checkpoint.
    #[arg(long, help_heading = "What stays")]
    no_keep_task: bool,
    #[command(flatten)]
    summarizer: SummarizerArgs,
    /// Show the plan; write nothing.
    #[arg(short = 'n', long)]
    dry_run: bool,
    /// Write the extended log there and leave the input as it is: a new file, or a folder that mirrors the inputs.
    #[arg(short, long, value_name = "PATH")]
    output: Option<PathBuf>,
    /// Work on a log even if its file was changed, and its last event written, less than 10 seconds ago.
    #[arg(long)]
    assume_idle: bool,
    /// No process has the session: first cut off a torn tail and free a held lock, as dsh would when it next opens the
    /// session.
    #[arg(long)]
    break_lock: bool,
    /// How to tell what was done.
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Strategy {
    /// A summary of it.
    Summary,
    /// A note that says what was left out, and no summary.
    Drop,
}

fn recall(text: &str) -> Result<f64, String> {
    number(text, |value| (0.0..=1.0).contains(&value), "a share from 0 to 1")
}

/// A share that may be the whole.
fn share(text: &str) -> Result<f64, String> {
    number(text, |value| value > 0.0 && value <= 1.0, "a share above 0 and up to 1")
}

/// A share that leaves something.
fn ratio(text: &str) -> Result<f64, String> {
    number(text, |value| value > 0.0 && value < 1.0, "a share above 0 and below 1")
}

fn number(text: &str, is_sound: impl Fn(f64) -> bool, wanted: &str) -> Result<f64, String> {
    let value = text.parse().ok().filter(|value| is_sound(*value));
    value.ok_or_else(|| format!("{wanted} is wanted"))
}

/// `A..B`: first and last seq.
#[derive(Debug, Clone, Copy)]
struct Span {
    start: u64,
    end: u64,
}

impl FromStr for Span {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (start, end) =
            text.split_once("..").ok_or("two seqs with \"..\" between them are wanted, as in 3..41")?;
        let seq = |text: &str| text.parse().map_err(|_| format!("\"{text}\" is no seq"));
        Ok(Self { start: seq(start)?, end: seq(end)? })
    }
}

impl Compact {
    pub(super) fn run(mut self, jobs: usize, printer: Printer) -> Result<Exit> {
        let Lot { found, others } = self.archive.find(&self.archive.paths(std::mem::take(&mut self.paths))?);
        let (logs, others) = (inputs::sessions(found.logs), inputs::sessions(others));
        let count = logs.len() + others.len();
        if self.region.is_some() && count > 1 {
            return Err(UsageError::new(
                format!("--region is for one log, and {count} are there"),
                "name one log",
            )
            .into());
        }
        if logs.iter().any(|log| log.path == Path::new("-")) {
            return Err(UsageError::new("standard input cannot be appended to", "name a file").into());
        }
        let journal = self.journal.open(self.kind(), printer)?;
        let targets = targets(self.output.as_deref(), &logs, &others, journal.is_kept())?;
        let summarizer = match self.strategy {
            Strategy::Summary => self.summarizer.build(environment)?,
            Strategy::Drop => self.summarizer.none()?,
        };
        let options = self.options()?;
        if logs.is_empty() {
            printer.note("no log is there");
        }
        let calls = self.summarizer.calls_at_once();
        let is_live = !summarizer.is_free() && !options.is_dry_run;
        let hands = Hands::new(jobs).and_waiting(if is_live { calls } else { 0 });
        let calls = Permits::new(calls);
        let (spared, errands) = journal.spare(Errand::all(logs, targets), |errand| &errand.log);
        let Worked { ended, is_interrupted } = hands.work(&errands, printer, |errand, running| {
            let live = LiveCalls::new(&*summarizer, &calls, &hands.cores);
            let summarizer: &dyn Summarizer = if is_live { &live } else { &*summarizer };
            let services = Services { summarizer, disk: &RealDisk, watch: running };
            carry_out(errand, &journal, &options, &services)
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
        self.report(&outcomes, not_begun, printer)?;
        if let Some(not_begun) = not_begun {
            printer.note(&interrupted(not_begun, errands.len(), "begun"));
        }
        let exit = if is_interrupted { Exit::Interrupted } else { Exit::Done };
        let exit = exit.merge(journal.close(printer));
        Ok(outcomes.iter().fold(exit, |exit, outcome| exit.merge(exit_of(outcome.status))))
    }

    fn options(&self) -> Result<Options> {
        if self.strategy == Strategy::Drop && (self.min_recall.is_some() || self.complete_identifiers) {
            let message = "--min-recall and --complete-identifiers are for summaries, and none is wanted";
            return Err(UsageError::new(message, "leave them out, or --strategy drop").into());
        }
        let ratio = Retention::Ratio {
            ratio: self.retain_ratio.unwrap_or(RETAIN_RATIO),
            window: self.context_window,
        };
        let region = self.region.map(|span| Retention::Span { start: span.start, end: span.end });
        let named = region
            .or(self.retain_tokens.map(Retention::Tokens))
            .or(self.keep_turns.map(Retention::Turns))
            .or(self.retain_ratio.map(|_| ratio));
        let of_limit = self.over.map(|limit| Retention::Tokens(limit / 5));
        let choice = named.or(of_limit).unwrap_or(ratio);
        let occasion = self.occasion();
        if let Occasion::Pressure { limit, .. } = occasion
            && let Some(problem) = limit.conflict(choice)
        {
            return Err(UsageError::new(problem, "keep less of the tail (--retain-ratio, which is 0.16 where nothing is said, or --retain-tokens), or raise the limit").into());
        }
        Ok(Options {
            occasion,
            choice,
            keep_task: !self.no_keep_task,
            prune: self.prune,
            counting: self.tokenizer,
            gates: GateOptions {
                min_recall: self.min_recall,
                complete_identifiers: self.complete_identifiers,
            },
            is_dry_run: self.dry_run,
            vouched: match (self.break_lock, self.assume_idle) {
                (true, _) => Vouched::NoProcess,
                (false, true) => Vouched::Idle,
                (false, false) => Vouched::Nothing,
            },
        })
    }

    /// What the result depends on.
    fn kind(&self) -> Kind {
        let kind = Kind::of("compact")
            .changing_logs(!self.dry_run && self.output.is_none())
            .with("over", self.over)
            .with("over-ratio", self.over_ratio)
            .with("passes", Some(self.passes))
            .with("region", self.region.map(|span| format!("{}..{}", span.start, span.end)))
            .with("retain-tokens", self.retain_tokens)
            .with("retain-ratio", self.retain_ratio)
            .with("keep-turns", self.keep_turns)
            .with("context-window", self.context_window)
            .with("tokenizer", Some(self.tokenizer))
            .with("min-recall", self.min_recall)
            .with("output", self.output.as_ref().map(|output| output.display()))
            .with_flag("prune", self.prune)
            .with_flag("drop", self.strategy == Strategy::Drop)
            .with_flag("complete-identifiers", self.complete_identifiers)
            .with_flag("no-keep-task", self.no_keep_task)
            .with_flag("dry-run", self.dry_run)
            .with_flag("break-lock", self.break_lock);
        self.summarizer.tell(kind, environment)
    }

    fn occasion(&self) -> Occasion {
        let ratio = self.over_ratio.map(|ratio| Limit::Ratio { ratio, window: self.context_window });
        let limit = self.over.map(Limit::Tokens).or(ratio);
        limit.map_or(Occasion::Now, |limit| Occasion::Pressure { limit, passes: self.passes })
    }

    fn report(&self, outcomes: &[Outcome], not_begun: Option<usize>, printer: Printer) -> Result<()> {
        let is_verbose = printer.verbosity == Verbosity::Verbose;
        let written = match self.format {
            Format::Json => printer.print(Layout::Data, |out| {
                json::compact(outcomes, self.archive.scope(&self.journal), not_begun, out)
            }),
            Format::Human => {
                printer.print(Layout::Human, |out| human::compact(outcomes, not_begun, is_verbose, out))
            }
        };
        let reasons =
            outcomes.iter().filter_map(|outcome| Some((outcome.path.as_path(), outcome.reason.as_ref()?)));
        tell_reasons(reasons, "compacted", printer);
        let compacted = outcomes.iter().filter(|outcome| outcome.status == Status::Compacted).count();
        written
            .with_context(|| format!("{NO_OUTPUT} ({compacted} of {} logs were compacted)", outcomes.len()))
    }
}

/// What comes of a log; `None` if the run was to end before it was begun.
fn carry_out(
    errand: &Errand,
    journal: &Journaling,
    options: &Options,
    services: &Services,
) -> Option<Outcome> {
    let log = &errand.log;
    let before = journal.revision(log);
    let mut outcome = match (log.twin(), errand.taken_target()) {
        (Some(twin), _) => two_encodings(&log.path, twin),
        (None, Some(target)) if journal.is_kept() => {
            Outcome::refused(log.path.clone(), guard::written_before(&shown_path(target)))
        }
        (None, _) => compact::compact(&log.path, errand.target.as_deref(), options, services),
    };
    if outcome.was_not_begun() {
        return None;
    }
    if let Some(note) = log.older_told() {
        outcome.notes.insert(0, note);
    }
    let length = outcome.bytes.1.filter(|_| outcome.output.is_none());
    let revision = journaling::revision_after(&log.path, before, length);
    journal.note(&log.path, revision, &outcome.told(exit_of(outcome.status).code()));
    Some(outcome)
}

/// Which of two files dsh would go on with nobody can know, so neither is touched.
fn two_encodings(log: &Path, twin: &Path) -> Outcome {
    Outcome::refused(log.to_owned(), guard::two_encodings(&shown_path(twin), "compacted"))
}

fn exit_of(status: Status) -> Exit {
    match status {
        Status::Compacted | Status::Planned | Status::NothingToDo | Status::Skipped => Exit::Done,
        Status::Refused => Exit::Refused,
        Status::Failed => Exit::Failed,
        Status::Unreadable => Exit::Unreadable,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        _compact: Compact,
    }

    #[test]
    fn what_is_out_of_range_or_of_no_use_is_wrong_usage() {
        let is_taken =
            |words: &str| Line::try_parse_from(["dshc", "LOG"].into_iter().chain(words.split(' '))).is_ok();
        for words in [
            "--min-recall 0",
            "--min-recall 1",
            "--over-ratio 1 --passes 3",
            "--over 9 --passes 1",
            "--retain-ratio 0.99",
            "--region 7..7",
        ] {
            assert!(is_taken(words), "{words}");
        }
        for words in [
            "--min-recall 1.1",
            "--min-recall NaN",
            "--over-ratio 0",
            "--over-ratio x",
            "--over 0",
            "--over 9 --over-ratio 0.5",
            "--over 9 --region 1..2",
            "--over 9 --passes 0",
            "--passes 3",
            "--retain-ratio 1",
            "--region 7",
        ] {
            assert!(!is_taken(words), "{words}");
        }
    }
}
