//! Compaction: which region, what takes its place, and the transaction that says so in the log.
//!
//! [`compact`] takes one log from its path to its [`Outcome`]. Only `cli/` calls it.

mod checkpoint;
mod outcome;
mod output;
mod plan;
#[cfg_attr(not(test), expect(dead_code, reason = "`--prune` is not wired yet"))]
mod prune;
mod records;
mod region;
mod transaction;
mod transcript;

#[cfg(test)]
mod tests;

pub use outcome::{Appended, Cache, HostTokens, Outcome, Reason, Region, Status, SummarizedBy};
pub use region::Retention;

use crate::log::append::{AppendError, Appender, Disk};
use crate::log::{LogReader, OpenError, Source, layout};
use crate::session::{self, Folded, Keep, Stop};
use crate::summarize::{SummarizeError, Summarizer, Summary, Watch};
use checkpoint::Checkpoint;
use plan::Plan;
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use transaction::{Transaction, refusal, unencodable};

/// How long a log must have rested before it is taken to be idle.
const REST: Duration = Duration::from_secs(10);

/// What is asked of a compaction.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// What of the surface stays.
    pub choice: Retention,
    /// Whether the task must stay visible.
    pub keep_task: bool,
    /// Plan only.
    pub is_dry_run: bool,
    /// Take a log that was written to a moment ago as one that nobody has open.
    pub assume_idle: bool,
}

/// What a compaction works with.
#[derive(Clone, Copy)]
pub struct Services<'a> {
    /// Who makes summaries.
    pub summarizer: &'a dyn Summarizer,
    /// The calls that change a file.
    pub disk: &'a dyn Disk,
    /// Who is told how far it is, and says whether to go on.
    pub watch: &'a dyn Watch,
}

/// Compacts the log at `path`: in place, or into a new file at `output`, whose folder is made if need be.
#[must_use]
pub fn compact(path: &Path, output: Option<&Path>, options: &Options, services: &Services) -> Outcome {
    let mut outcome = Outcome::new(path.to_owned());
    outcome.notes.extend(layout::newer_beside(path).map(|newer| {
        let newer = layout::file_name(&newer);
        format!("{newer} lies beside the log, and dsh opens that one: it will not see what is appended here")
    }));
    let job = Job { path, options, services };
    let done = match output {
        _ if options.is_dry_run => job.dry_run(&mut outcome),
        None => job.in_place(&mut outcome),
        Some(output) => job.to_new_file(output, &mut outcome),
    };
    match done {
        Ok(()) => {}
        Err(Stopped::Nothing(why)) => outcome.notes.push(why),
        Err(Stopped::Refused(reason)) => outcome.stop(Status::Refused, reason),
        Err(Stopped::Failed(reason)) => outcome.stop(Status::Failed, reason),
        Err(Stopped::Unreadable(error)) => {
            let reason = Reason::new(error.code(), error.to_string(), error.help());
            outcome.stop(Status::Unreadable, reason);
        }
    }
    outcome
}

/// Why a log did not come to its end.
enum Stopped {
    /// Everything on the surface stays, and why.
    Nothing(String),
    /// Before the first byte was written.
    Refused(Reason),
    /// After something was written.
    Failed(Reason),
    Unreadable(OpenError),
}

impl From<OpenError> for Stopped {
    fn from(error: OpenError) -> Self {
        Self::Unreadable(error)
    }
}

impl From<io::Error> for Stopped {
    fn from(error: io::Error) -> Self {
        Self::Unreadable(error.into())
    }
}

impl From<AppendError> for Stopped {
    fn from(error: AppendError) -> Self {
        Self::Refused(refusal(&error))
    }
}

/// One log and what is asked of it.
struct Job<'a> {
    path: &'a Path,
    options: &'a Options,
    services: &'a Services<'a>,
}

impl Job<'_> {
    fn dry_run(&self, outcome: &mut Outcome) -> Result<(), Stopped> {
        let (_, plan) = self.read_and_plan(outcome)?;
        if let Some((_, checkpoint)) = self.summarize_if_free(&plan, outcome)? {
            settle(&plan, &checkpoint, outcome);
        }
        outcome.status = Status::Planned;
        outcome.task = Some(plan.task_after);
        Ok(())
    }

    fn in_place(&self, outcome: &mut Outcome) -> Result<(), Stopped> {
        // Whether the log can be read at all is told before whether it may be written to.
        let source = Source::open(self.path)?;
        outcome.bytes.0 = source.bytes;
        outcome.knows(LogReader::open(&source)?.header());
        let mut log = OpenLog::open(self.path, self.services.disk)?;
        outcome.bytes.0 = log.appender.length();
        let plan = Plan::of(&log.folded, self.options, outcome)?;
        if !self.options.assume_idle && seems_in_use(&log) {
            return Err(Stopped::Refused(Reason::new(
                "in_use",
                "the log seems to be in use: its file and its last event are less than 10 seconds old",
                "close the session in dsh, or say --assume-idle if nothing has it open",
            )));
        }
        let ready = self.summarize_if_free(&plan, outcome)?;
        // From here on something will be written; each append insists that the log is still the one that was read.
        log.appender.lock_session(plan.bracket.format)?;
        self.execute(&plan, ready, &mut log, outcome)
    }

    fn to_new_file(&self, output: &Path, outcome: &mut Outcome) -> Result<(), Stopped> {
        let (source, plan) = self.read_and_plan(outcome)?;
        if let Some(ending) = output::other_ending(output, source.container) {
            let message = format!("{} promises by its name another container", output.display());
            let help = format!("give it the input's ending, {ending}");
            return Err(Stopped::Refused(Reason::new("output", message, help)));
        }
        let ready = self.summarize_if_free(&plan, outcome)?;
        let unwritable = |error: io::Error| {
            let message = format!("cannot write {}: {error}", output.display());
            Reason::new("persistence", message, "check the folder, its permissions and the disk")
        };
        let copy =
            output::copy_beside(&source, output).map_err(|error| Stopped::Refused(unwritable(error)))?;
        let mut log = OpenLog::open(copy.path(), self.services.disk)?;
        let done = self.execute(&plan, ready, &mut log, outcome);
        drop(log);
        let published = done.and_then(|()| {
            output::publish(copy, &source, output).map_err(|error| Stopped::Failed(unwritable(error)))
        });
        if published.is_ok() {
            outcome.output = Some(output.to_owned());
        } else {
            // The copy is gone, and all that was appended to it.
            (outcome.appended, outcome.bytes.1, outcome.host_tokens.after) = (None, None, None);
        }
        published
    }

    fn read_and_plan(&self, outcome: &mut Outcome) -> Result<(Source, Plan), Stopped> {
        let source = Source::open(self.path)?;
        outcome.bytes.0 = source.bytes;
        let folded = fold(&source)?;
        let plan = Plan::of(&folded, self.options, outcome)?;
        Ok((source, plan))
    }

    /// A free summary is made and judged before the first byte is written.
    fn summarize_if_free(
        &self,
        plan: &Plan,
        outcome: &mut Outcome,
    ) -> Result<Option<(Summary, Checkpoint)>, Stopped> {
        let is_free = self.services.summarizer.is_free();
        is_free.then(|| self.summarize(plan, outcome)).transpose().map_err(Stopped::Refused)
    }

    fn summarize(&self, plan: &Plan, outcome: &mut Outcome) -> Result<(Summary, Checkpoint), Reason> {
        let objection = |text: &str| plan.checkpoint(text).err().map(|reason| reason.message);
        let summary = self.services.summarizer.summarize(&plan.request(&objection, self.services.watch));
        let summary = summary.map_err(|error| match error {
            SummarizeError::Unfit { message, help } | SummarizeError::Failed { message, help } => {
                Reason::new("summary", message, help)
            }
            SummarizeError::Cancelled => {
                Reason::new("cancelled", "interrupted", "run it again when you like")
            }
        })?;
        outcome.summarizer = Some(SummarizedBy {
            kind: self.services.summarizer.kind(),
            provider: summary.provider.clone(),
            model: summary.model.clone(),
            calls: summary.calls,
        });
        let checkpoint = plan.checkpoint(&summary.text)?;
        Ok((summary, checkpoint))
    }

    /// Carries a plan out: the bracket's start, a summary if it is not `ready`, the commit.
    fn execute(
        &self,
        plan: &Plan,
        ready: Option<(Summary, Checkpoint)>,
        log: &mut OpenLog,
        outcome: &mut Outcome,
    ) -> Result<(), Stopped> {
        let before = log.appender.length();
        let done = self.transact(plan, ready, log, outcome);
        outcome.bytes.1 = Some(log.appender.length()).filter(|after| *after != before);
        let checkpoint = done?;
        settle(plan, &checkpoint, outcome);
        if log.folded.has_crlf {
            let note = "the log's lines end in CRLF, those that were appended in LF alone; dsh reads both";
            outcome.notes.push(note.into());
        }
        outcome.status = Status::Compacted;
        outcome.task = Some(log.folded.session.task_visibility());
        Ok(())
    }

    fn transact(
        &self,
        plan: &Plan,
        ready: Option<(Summary, Checkpoint)>,
        log: &mut OpenLog,
        outcome: &mut Outcome,
    ) -> Result<Checkpoint, Stopped> {
        let mut transaction = Transaction::begin(log, plan)?;
        let mut bracket_seqs = plan.appended();
        let made = ready.map_or_else(|| self.summarize(plan, outcome), Ok);
        let done = made.and_then(|(summary, checkpoint)| {
            let records = plan.bracket.commit(&summary, &checkpoint).map_err(|error| unencodable(&error))?;
            transaction.commit(&records, &mut bracket_seqs)?;
            Ok(checkpoint)
        });
        let done = done.map_err(|reason| Stopped::Failed(transaction.fail(reason, &mut bracket_seqs)));
        outcome.appended = Some(bracket_seqs);
        done
    }
}

/// A log that may be appended to, and the session up to its end.
struct OpenLog<'d> {
    appender: Appender<'d>,
    folded: Folded,
}

impl<'d> OpenLog<'d> {
    fn open(path: &Path, disk: &'d dyn Disk) -> Result<Self, Stopped> {
        let appender = Appender::open(path, disk)?;
        let folded = fold(&appender.source()?)?;
        Ok(Self { appender, folded })
    }
}

fn fold(source: &Source) -> Result<Folded, OpenError> {
    let mut reader = LogReader::open(source)?;
    Ok(session::fold(&mut reader, Keep::Messages, Stop::default())?)
}

/// The figures that the checkpoint brings.
fn settle(plan: &Plan, checkpoint: &Checkpoint, outcome: &mut Outcome) {
    let price = checkpoint.host_tokens(plan.bracket.format);
    let tokens = &mut outcome.host_tokens;
    tokens.checkpoint = Some(price);
    tokens.after = Some(tokens.before.saturating_sub(plan.bracket.shadowed_tokens).saturating_add(price));
}

/// A log that was just written to, by its file's time and by its last event's, may be open in a dsh that takes no
/// lock (FORMAT §1.6).
fn seems_in_use(log: &OpenLog) -> bool {
    let (session, modified) = (&log.folded.session, log.appender.modified());
    let now = SystemTime::now();
    let is_fresh = |time: SystemTime| now.duration_since(time).map_or(true, |age| age < REST);
    let last = session.last_time.and_then(|time| u64::try_from(time).ok());
    let last = last.and_then(|time| UNIX_EPOCH.checked_add(Duration::from_millis(time)));
    session.last_type != "compaction/end" && modified.is_some_and(is_fresh) && last.is_some_and(is_fresh)
}
