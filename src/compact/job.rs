//! One log and what is asked of it, from opening it to its last pass.

use super::checkpoint::Checkpoint;
use super::occasion::{self, Occasion};
use super::open_log::OpenLog;
use super::outcome::{Outcome, Pass, Reason, Status, SummarizedBy};
use super::output::Copy;
use super::plan::Plan;
use super::transaction::Transaction;
use super::{Options, Services, Stopped};
use crate::log::{LogReader, Source};
use crate::summarize::{SummarizeError, Summary};
use std::path::Path;

/// Compacts the log at `path` as often as is asked for, telling `outcome` what is known on the way.
pub(super) fn run(
    path: &Path,
    output: Option<&Path>,
    options: &Options,
    services: &Services,
    outcome: &mut Outcome,
) -> Result<(), Stopped> {
    let job = Job { options, services };
    if options.is_dry_run {
        job.carry_out(&mut OpenLog::rehearsal(path)?, outcome)?;
        outcome.status = Status::Planned;
        return Ok(());
    }
    let Some(output) = output else {
        // Whether the log can be read at all is told before whether it may be written to.
        let source = Source::open(path)?;
        outcome.bytes.0 = source.bytes;
        outcome.knows(LogReader::open(&source)?.header());
        return job.carry_out(&mut OpenLog::in_place(path, services.disk)?, outcome);
    };
    let mut log = OpenLog::to_new_file(path, Copy::new(output, services.disk))?;
    let published = job.carry_out(&mut log, outcome).and_then(|()| log.publish());
    if published.is_ok() {
        outcome.output = Some(output.to_owned());
    } else {
        outcome.forget_what_was_written();
    }
    published
}

struct Job<'a> {
    options: &'a Options,
    services: &'a Services<'a>,
}

impl Job<'_> {
    fn carry_out(&self, log: &mut OpenLog, outcome: &mut Outcome) -> Result<(), Stopped> {
        outcome.bytes.0 = log.old_length;
        outcome.starts_from(&log.folded.session);
        let done = self.passes(log, outcome);
        outcome.bytes.1 = log.new_length();
        done?;
        if self.only_plans() {
            outcome.task = outcome.passes.last().and_then(|pass| pass.task).or(outcome.task);
        } else {
            outcome.ends_with(&log.folded.session);
        }
        if log.folded.has_crlf && outcome.bytes.1.is_some() {
            let note = "the log's lines end in CRLF, those that were appended in LF alone; dsh reads both";
            outcome.notes.push(note.into());
        }
        outcome.status = Status::Compacted;
        Ok(())
    }

    /// Whether no summary is made: what would become of the session nobody knows.
    fn only_plans(&self) -> bool {
        self.options.is_dry_run && !self.services.summarizer.is_free()
    }

    /// Compacts until the occasion is met. What stops it behind a first success is a note.
    fn passes(&self, log: &mut OpenLog, outcome: &mut Outcome) -> Result<(), Stopped> {
        let Occasion::Pressure { limit, passes } = self.options.occasion else {
            return self.pass(log, None, outcome);
        };
        let limit = limit.tokens(&log.folded.session, &mut outcome.notes);
        let load = occasion::load(&log.folded.session);
        if load < limit {
            return Err(Stopped::Nothing(format!(
                "surface and request header hold {load} host tokens, below {limit}"
            )));
        }
        if let Some(tail) = self.options.choice.budget(&log.folded.session, &mut outcome.notes)
            && tail >= limit
        {
            let message = format!("a tail of {tail} host tokens is not below the limit of {limit}");
            return Err(Stopped::Refused(Reason::new(
                "budget",
                message,
                "keep less of the tail, or raise the limit",
            )));
        }
        let mut why = None;
        for pass in 0..passes {
            match self.pass(log, Some(limit), outcome) {
                Ok(()) => {}
                Err(stopped) if pass == 0 => return Err(stopped),
                Err(stopped) => {
                    why = Some(stopped);
                    break;
                }
            }
            if self.only_plans() || occasion::load(&log.folded.session) < limit {
                return Ok(());
            }
        }
        outcome.notes.push(still_over(log, limit, why));
        Ok(())
    }

    /// One compaction.
    fn pass(&self, log: &mut OpenLog, limit: Option<u64>, outcome: &mut Outcome) -> Result<(), Stopped> {
        let mut pass = Pass::default();
        let done = self.attempt(log, limit, &mut pass, outcome);
        // A later attempt that came to nothing is told in a note.
        if done.is_ok() || outcome.passes.is_empty() {
            outcome.passes.push(pass);
        }
        done
    }

    fn attempt(
        &self,
        log: &mut OpenLog,
        limit: Option<u64>,
        pass: &mut Pass,
        outcome: &mut Outcome,
    ) -> Result<(), Stopped> {
        let mut plan = Plan::of(&log.folded, self.options, limit, pass, &mut outcome.notes)?;
        if log.seems_in_use(self.options) && outcome.passes.is_empty() {
            return Err(Stopped::Refused(Reason::new(
                "in_use",
                "the log seems to be in use: its file and its last event are less than 10 seconds old",
                "close the session in dsh, or say --assume-idle if nothing has it open",
            )));
        }
        let is_free = self.services.summarizer.is_free();
        let ready = if is_free {
            Some(self.summarize(&plan, pass).map_err(Stopped::Refused)?)
        } else {
            self.admit(&plan).map_err(Stopped::Refused)?;
            None
        };
        if self.only_plans() {
            return Ok(());
        }
        if self.services.watch.is_cancelled() {
            return Err(Stopped::Refused(cancelled()));
        }
        // From here on something will be written; each append insists that the log is still the one that was read.
        log.prepare(plan.bracket.format)?;
        let checkpoint = self.transact(&mut plan, ready, log, pass)?;
        pass.checkpoint = Some(checkpoint.host_tokens(plan.bracket.format));
        Ok(())
    }

    fn transact(
        &self,
        plan: &mut Plan,
        ready: Option<(Summary, Checkpoint)>,
        log: &mut OpenLog,
        pass: &mut Pass,
    ) -> Result<Checkpoint, Stopped> {
        let mut transaction = Transaction::begin(log, plan)?;
        let mut appended = transaction.appended();
        let made = match ready {
            Some(ready) => Ok(ready),
            None => self.summarize(transaction.plan(), pass),
        };
        let done = made.and_then(|(summary, checkpoint)| {
            if self.services.watch.is_cancelled() {
                return Err(cancelled());
            }
            transaction.commit(&summary, &checkpoint, &mut appended)?;
            Ok(checkpoint)
        });
        let done = done.map_err(|reason| Stopped::Failed(transaction.fail(reason, &mut appended)));
        if !self.options.is_dry_run {
            pass.appended = Some(appended);
        }
        done
    }

    fn admit(&self, plan: &Plan) -> Result<(), Reason> {
        let objection = |text: &str| plan.checkpoint(text).err().map(|reason| reason.message);
        let request = plan.request(&objection, self.services.watch);
        self.services.summarizer.admits(&request).map_err(reason_of)
    }

    fn summarize(&self, plan: &Plan, pass: &mut Pass) -> Result<(Summary, Checkpoint), Reason> {
        let objection = |text: &str| plan.checkpoint(text).err().map(|reason| reason.message);
        let request = plan.request(&objection, self.services.watch);
        let summary = self.services.summarizer.summarize(&request).map_err(reason_of)?;
        pass.summarizer = Some(SummarizedBy {
            kind: self.services.summarizer.kind(),
            provider: summary.provider.clone(),
            model: summary.model.clone(),
            calls: summary.calls,
            usage: summary.usage,
        });
        let checkpoint = plan.checkpoint(&summary.text)?;
        Ok((summary, checkpoint))
    }
}

fn reason_of(error: SummarizeError) -> Reason {
    match error {
        SummarizeError::Unfit { message, help } | SummarizeError::Failed { message, help } => {
            Reason::new("summary", message, help)
        }
        SummarizeError::Cancelled => cancelled(),
    }
}

fn cancelled() -> Reason {
    Reason::new("cancelled", "interrupted", "nothing was replaced; run it again when you like")
}

/// What is to be said of a session that stays under pressure.
fn still_over(log: &OpenLog, limit: u64, why: Option<Stopped>) -> String {
    let (load, header) = (occasion::load(&log.folded.session), log.folded.session.header_tokens);
    let why = match why {
        Some(Stopped::Nothing(why)) => format!("; {why}"),
        Some(Stopped::Refused(reason) | Stopped::Failed(reason)) => {
            format!("; another pass failed: {}: {}", reason.code, reason.message)
        }
        Some(Stopped::Unreadable(error)) => format!("; another pass failed: {error}"),
        None => String::new(),
    };
    format!(
        "still_over: surface and request header hold {load} host tokens, {header} of them the header's; the limit is {limit}{why}"
    )
}
