//! Compaction: which region, what takes its place, and the transaction that says so in the log.
//!
//! [`compact`] takes one log from its path to its [`Outcome`]. Only `cli/` calls it.

mod checkpoint;
mod outcome;
mod plan;
mod records;
mod region;
mod transaction;
mod transcript;

#[cfg(test)]
mod tests;

pub use outcome::{Appended, Cache, Committed, HostTokens, Outcome, Reason, Region, Status, SummarizedBy};
pub use plan::Retention;

use crate::log::append::{Appender, Disk};
use crate::log::place::LogName;
use crate::log::{Container, LogReader, OpenError, Source};
use crate::session::{self, Folded, Keep, Stop};
use crate::summarize::{Summarizer, Summary};
use checkpoint::Checkpoint;
use plan::Plan;
use std::fs::File;
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

/// Compacts the log at `path`: in place, or into a new file at `output`, whose folder is made if need be.
pub fn compact(
    path: &Path,
    output: Option<&Path>,
    options: &Options,
    summarizer: &dyn Summarizer,
    disk: &dyn Disk,
) -> Outcome {
    let outcome = Outcome::new(path.to_owned());
    let done = match output {
        _ if options.is_dry_run => read(path)
            .and_then(|(source, folded)| dry_run(&source, &folded, options, summarizer, outcome.clone())),
        None => in_place(path, options, summarizer, disk, outcome.clone()),
        Some(output) => into_new_file(path, output, options, summarizer, disk, outcome.clone()),
    };
    done.unwrap_or_else(|stop| match stop {
        Stopped::Unreadable(error) => {
            outcome.with(Status::Unreadable, Reason::new(error.code(), error.to_string(), error.help()))
        }
        Stopped::Refused(reason) => outcome.with(Status::Refused, reason),
        Stopped::Told(outcome) => *outcome,
    })
}

/// Why a log did not come to its end.
enum Stopped {
    Unreadable(OpenError),
    Refused(Reason),
    Told(Box<Outcome>),
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

impl From<Box<Outcome>> for Stopped {
    fn from(outcome: Box<Outcome>) -> Self {
        Self::Told(outcome)
    }
}

fn read(path: &Path) -> Result<(Source, Folded), Stopped> {
    let source = Source::open(path)?;
    let folded = fold(&source)?;
    Ok((source, folded))
}

fn fold(source: &Source) -> Result<Folded, Stopped> {
    let mut reader = LogReader::open(source)?;
    Ok(session::fold(&mut reader, Keep::Messages, Stop::default())?)
}

fn dry_run(
    source: &Source,
    folded: &Folded,
    options: &Options,
    summarizer: &dyn Summarizer,
    mut outcome: Outcome,
) -> Result<Outcome, Stopped> {
    outcome.bytes.0 = source.bytes;
    let (plan, mut outcome) = Plan::of(folded, options, outcome)?;
    outcome.status = Status::Planned;
    outcome.task = Some(plan.task_after);
    if summarizer.is_free() {
        let (_, checkpoint) = summarize(&plan, summarizer, &mut outcome)
            .map_err(|reason| Box::new(outcome.clone().with(Status::Refused, reason)))?;
        settle(&plan, &checkpoint, &mut outcome);
    }
    Ok(outcome)
}

fn in_place(
    path: &Path,
    options: &Options,
    summarizer: &dyn Summarizer,
    disk: &dyn Disk,
    mut outcome: Outcome,
) -> Result<Outcome, Stopped> {
    // Whether the log can be read at all is told before whether it may be written to.
    let source = Source::open(path)?;
    outcome.knows(LogReader::open(&source)?.header());
    outcome.bytes.0 = source.bytes;
    let mut appender = match Appender::open(path, disk) {
        Ok(appender) => appender,
        Err(error) => return Ok(outcome.with(Status::Refused, refusal(&error))),
    };
    let mut folded = fold(&appender.source()?)?;
    outcome.bytes.0 = appender.length();
    let (plan, outcome) = Plan::of(&folded, options, outcome)?;
    if !options.assume_idle && seems_in_use(&folded, appender.modified()) {
        let reason = Reason::new(
            "in_use",
            "the log was written to within the last 10 seconds and its last event ends no compaction",
            "close the session in dsh, or say --assume-idle if nothing has it open",
        );
        return Ok(outcome.with(Status::Refused, reason));
    }
    Ok(execute(&plan, &mut appender, &mut folded, summarizer, outcome))
}

fn into_new_file(
    path: &Path,
    output: &Path,
    options: &Options,
    summarizer: &dyn Summarizer,
    disk: &dyn Disk,
    mut outcome: Outcome,
) -> Result<Outcome, Stopped> {
    let (source, folded) = read(path)?;
    outcome.bytes.0 = source.bytes;
    if let Some(ending) = other_ending(output, source.container) {
        let message =
            format!("{} says by its name that it is stored otherwise than the input", output.display());
        let reason = Reason::new("output", message, format!("give it the input's ending, {ending}"));
        return Ok(outcome.with(Status::Refused, reason));
    }
    let (plan, outcome) = Plan::of(&folded, options, outcome)?;
    let unwritable = |error: io::Error| {
        let message = format!("cannot write {}: {error}", output.display());
        Reason::new("persistence", message, "check the folder, its permissions and the disk")
    };
    let copy = match copy_beside(&source, output) {
        Ok(copy) => copy,
        Err(error) => return Ok(outcome.with(Status::Refused, unwritable(error))),
    };
    let mut appender =
        Appender::open(copy.path(), disk).map_err(|error| Stopped::Refused(refusal(&error)))?;
    // The copy is folded again: the plan must be about the bytes that it is appended to.
    let mut folded = fold(&appender.source()?)?;
    let mut outcome = execute(&plan, &mut appender, &mut folded, summarizer, outcome);
    drop(appender);
    if outcome.status == Status::Compacted {
        let published = copy.persist_noclobber(output).map_err(|error| error.error);
        if let Err(error) = published.and_then(|_| sync_folder_of(output)) {
            outcome.appended = None;
            outcome.bytes.1 = None;
            return Ok(outcome.with(Status::Failed, unwritable(error)));
        }
        outcome.output = Some(output.to_owned());
    } else {
        outcome.bytes.1 = None;
    }
    Ok(outcome)
}

/// Carries a plan out. A free summary is made and judged before the first byte is written.
fn execute(
    plan: &Plan,
    appender: &mut Appender,
    folded: &mut Folded,
    summarizer: &dyn Summarizer,
    mut outcome: Outcome,
) -> Outcome {
    let ready = if summarizer.is_free() {
        match summarize(plan, summarizer, &mut outcome) {
            Ok(ready) => Some(ready),
            Err(reason) => return outcome.with(Status::Refused, reason),
        }
    } else {
        None
    };
    let result = transact(plan, appender, folded, summarizer, ready, &mut outcome);
    outcome.bytes.1 = (appender.length() != outcome.bytes.0).then(|| appender.length());
    match result {
        Ok(checkpoint) => {
            settle(plan, &checkpoint, &mut outcome);
            outcome.status = Status::Compacted;
            outcome.task = Some(folded.session.task_visibility());
            outcome
        }
        // What was refused on a file as it was is no failure.
        Err(reason) if outcome.appended.is_none() && reason.code == "changed" => {
            outcome.with(Status::Refused, reason)
        }
        Err(reason) => outcome.with(Status::Failed, reason),
    }
}

fn transact(
    plan: &Plan,
    appender: &mut Appender,
    folded: &mut Folded,
    summarizer: &dyn Summarizer,
    ready: Option<(Summary, Checkpoint)>,
    outcome: &mut Outcome,
) -> Result<Checkpoint, Reason> {
    let mut transaction = Transaction::begin(appender, folded, plan)?;
    outcome.appended = Some(Transaction::appended(plan, false));
    let made = match ready {
        Some(ready) => Ok(ready),
        None => summarize(plan, summarizer, outcome),
    };
    let done = made.and_then(|(summary, checkpoint)| {
        let records = plan.bracket.commit(&summary, &checkpoint).map_err(|error| unencodable(&error))?;
        transaction.commit(&records)?;
        Ok(checkpoint)
    });
    match done {
        Ok(checkpoint) => {
            outcome.appended = Some(Transaction::appended(plan, true));
            Ok(checkpoint)
        }
        Err(reason) => Err(transaction.fail(reason)),
    }
}

fn summarize(
    plan: &Plan,
    summarizer: &dyn Summarizer,
    outcome: &mut Outcome,
) -> Result<(Summary, Checkpoint), Reason> {
    let summary = summarizer.summarize(&plan.request());
    let summary = summary
        .map_err(|error| Reason::new("summary", error.message, "try again, or choose another summarizer"))?;
    outcome.summarizer = Some(SummarizedBy {
        kind: summarizer.kind(),
        provider: summary.provider.clone(),
        model: summary.model.clone(),
        calls: 1,
    });
    let checkpoint = plan.checkpoint(&summary)?;
    Ok((summary, checkpoint))
}

/// The figures that the checkpoint brings.
fn settle(plan: &Plan, checkpoint: &Checkpoint, outcome: &mut Outcome) {
    let price = checkpoint.host_tokens();
    let tokens = &mut outcome.host_tokens;
    tokens.checkpoint = Some(price);
    tokens.after = Some(tokens.before.saturating_sub(plan.bracket.shadowed_tokens).saturating_add(price));
}

/// A log that was just written to, by its file's time and by its last event's, may be open in dsh, which takes
/// no lock in format 0 (FORMAT §1.6).
fn seems_in_use(folded: &Folded, modified: Option<SystemTime>) -> bool {
    let session = &folded.session;
    let now = SystemTime::now();
    let is_fresh = |time: SystemTime| now.duration_since(time).map_or(true, |age| age < REST);
    let last = session.last_time.and_then(|time| u64::try_from(time).ok());
    let last = last.and_then(|time| UNIX_EPOCH.checked_add(Duration::from_millis(time)));
    session.last_type != "compaction/end" && modified.is_some_and(is_fresh) && last.is_some_and(is_fresh)
}

/// Copies a log into an unpublished file in the folder of `output`, with the same permissions.
fn copy_beside(source: &Source, output: &Path) -> io::Result<tempfile::NamedTempFile> {
    let folder = output.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    let mut copy = tempfile::Builder::new().prefix(".dshc-").suffix(&suffix(output)).tempfile_in(folder)?;
    source.copy_to(&mut copy)?;
    copy.as_file().set_permissions(std::fs::metadata(&source.path)?.permissions())?;
    copy.as_file().sync_all()?;
    Ok(copy)
}

/// The ending that a name must have where it promises another container than the log's: dsh goes by the ending
/// of canonical names (FORMAT §1.3), and dshc takes every `.zstd` for compressed.
fn other_ending(output: &Path, container: Container) -> Option<&'static str> {
    let is_canonical = output.file_name().and_then(|name| LogName::parse(&name.to_string_lossy())).is_some();
    let is_named_zstd = output.extension().is_some_and(|extension| extension == "zstd");
    match container {
        Container::Raw if is_named_zstd => Some(".jsonl"),
        Container::Zstd if is_canonical && !is_named_zstd => Some(".jsonl.zstd"),
        _ => None,
    }
}

/// Keeps the container's suffix, which tells how the copy is read.
fn suffix(output: &Path) -> String {
    if output.extension().is_some_and(|extension| extension == "zstd") {
        ".zstd.tmp".into()
    } else {
        ".tmp".into()
    }
}

fn sync_folder_of(path: &Path) -> io::Result<()> {
    match path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        Some(folder) => File::open(folder)?.sync_all(),
        None => File::open(".")?.sync_all(),
    }
}
