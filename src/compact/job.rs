//! One log and what is asked of it, from opening it to its last pass.

use super::objection::objection;
use super::occasion::{self, Limit, Occasion};
use super::open_log::{OpenLog, Trouble};
use super::outcome::{Outcome, Pass, Status};
use super::output::Copy;
use super::prune::{self, Pruned};
use super::{Options, Reason, Services, Stopped, Vouched, region};
use crate::guard::cancelled;
use crate::log::{LogReader, Source};
use crate::session::Session;
use crate::wording::grouped;
use std::collections::HashMap;
use std::path::Path;

/// Compacts the log at `path` as often as is asked for, telling `outcome` what is known on the way.
pub(super) fn run(
    path: &Path,
    output: Option<&Path>,
    options: &Options,
    services: &Services,
    outcome: &mut Outcome,
) -> Result<(), Stopped> {
    // A device may never end, and a pipe cannot be appended to. A directory is told as such where it is opened.
    let kind = path.metadata()?.file_type();
    if !kind.is_file() && !kind.is_dir() {
        return Err(std::io::Error::other("it is no file").into());
    }
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
        job.rehearse(path, outcome)?;
        let done = job.carry_out(&mut OpenLog::in_place(path, services.disk)?, outcome);
        return done.map_err(|stopped| match stopped {
            Stopped::Refused(reason) if outcome.bytes.1.is_some() => Stopped::Failed(reason),
            Stopped::Unreadable(error) if outcome.bytes.1.is_some() => {
                Stopped::Failed(Reason::unreadable(&error))
            }
            stopped => stopped,
        });
    };
    job.rehearse(path, outcome)?;
    let mut log = OpenLog::to_new_file(path, Copy::new(output, services.disk))?;
    let published = job.carry_out(&mut log, outcome).and_then(|()| log.publish());
    if published.is_ok() {
        outcome.output = Some(output.to_owned());
    } else {
        outcome.forget_what_was_written();
    }
    published
}

/// One log and what is asked of it.
pub(super) struct Job<'a> {
    pub(super) options: &'a Options,
    pub(super) services: &'a Services<'a>,
}

impl Job<'_> {
    /// Where something is written before the first region is chosen, it is tried first whether there is a region.
    fn rehearse(&self, path: &Path, outcome: &mut Outcome) -> Result<(), Stopped> {
        if !(self.options.vouched == Vouched::NoProcess || self.options.prune) {
            return Ok(());
        }
        let options = Options { is_dry_run: true, ..*self.options };
        let rehearsal = Job { options: &options, services: self.services };
        let mut tried = outcome.clone();
        match rehearsal.carry_out(&mut OpenLog::rehearsal(path)?, &mut tried) {
            Err(Stopped::Refused(reason)) => {
                *outcome = tried;
                Err(Stopped::Refused(reason))
            }
            _ => Ok(()),
        }
    }

    fn carry_out(&self, log: &mut OpenLog, outcome: &mut Outcome) -> Result<(), Stopped> {
        outcome.bytes.0 = log.old_length;
        outcome.starts_from(&log.folded.session);
        let done = self.mend_and_compact(log, outcome);
        outcome.bytes.1 = log.new_length();
        outcome.appended = log.appended.filter(|_| outcome.bytes.1.is_some());
        if done.is_err() {
            // What was made shorter, or compacted before, stays so.
            if !outcome.has_no_progress() {
                outcome.ends_with(&log.folded.session);
            }
            return done;
        }
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

    fn mend_and_compact(&self, log: &mut OpenLog, outcome: &mut Outcome) -> Result<(), Stopped> {
        if self.options.vouched == Vouched::NoProcess {
            log.mend(&mut outcome.mended)?;
        }
        if let Some(reason) = objection(&log.folded) {
            return Err(Stopped::Refused(reason));
        }
        if let Some(reason) = log.in_use(self.options) {
            return Err(Stopped::Refused(reason));
        }
        let Occasion::Pressure { limit, passes } = self.options.occasion else {
            self.prune(log, outcome)?;
            return self.passes(log, None, 1, outcome);
        };
        let limit = self.limit(limit, log, outcome)?;
        self.prune(log, outcome)?;
        self.passes(log, Some(limit), passes, outcome)
    }

    /// The limit that the session has reached, in host tokens.
    fn limit(&self, limit: Limit, log: &OpenLog, outcome: &mut Outcome) -> Result<u64, Stopped> {
        let session = &log.folded.session;
        let limit = limit.tokens(session, &mut outcome.notes);
        if let Some(tail) = self.options.choice.budget(session, &mut outcome.notes)
            && tail >= limit
        {
            let message = format!("a tail of {tail} tokens is not below the limit of {limit}");
            let help = "keep less of the tail, or raise the limit";
            return Err(Stopped::Refused(Reason::new("budget", message, help)));
        }
        let load = occasion::load(session);
        if load < limit {
            let (load, limit) = (grouped(load), grouped(limit));
            let why = format!("surface and request header hold {load} host tokens, below {limit}");
            return Err(Stopped::Nothing(why));
        }
        Ok(limit)
    }

    /// Makes oversized tool results before the tail shorter, if that was asked for.
    fn prune(&self, log: &mut OpenLog, outcome: &mut Outcome) -> Result<(), Stopped> {
        if !self.options.prune {
            return Ok(());
        }
        let session = &log.folded.session;
        let tail = region::tail(session, self.options, &mut outcome.notes);
        let pruning = prune::plan(session, 0..tail);
        let pruning = pruning.map_err(|error| Stopped::Refused(Reason::unencodable(&error)))?;
        if pruning.records.is_empty() {
            return Ok(());
        }
        self.begin_writing(log)?;
        let planned = session_after(&log.folded.session, &pruning.pruned);
        let added = log.append(&pruning.records).map_err(|trouble| log.stopped(trouble))?;
        if log.folded.session.surface.seqs() != planned {
            let problem = "the surface is not the planned one".to_owned();
            return Err(Stopped::Failed(log.reason(Trouble::ReadBack(added, problem))));
        }
        outcome.pruned = pruning.pruned;
        Ok(())
    }

    /// Compacts until the session is below the limit. What stops it behind a first success is a note.
    fn passes(
        &self,
        log: &mut OpenLog,
        limit: Option<u64>,
        passes: u32,
        outcome: &mut Outcome,
    ) -> Result<(), Stopped> {
        let is_over = |log: &OpenLog| limit.is_some_and(|limit| occasion::load(&log.folded.session) >= limit);
        let mut why = None;
        for _ in 0..passes {
            if limit.is_some() && !is_over(log) {
                break;
            }
            match self.pass(log, limit, outcome) {
                Ok(()) if self.only_plans() => return Ok(()),
                Ok(()) => {}
                Err(stopped @ Stopped::Failed(_)) if outcome.passes.iter().all(Pass::is_failed) => {
                    return Err(stopped);
                }
                Err(Stopped::Nothing(why)) if outcome.has_no_progress() => {
                    let session = &log.folded.session;
                    let told = limit.map(|limit| still_over(session, limit, Some(&why)));
                    return Err(Stopped::Nothing(told.unwrap_or(why)));
                }
                Err(stopped) if outcome.has_no_progress() || log.is_left_locked() => return Err(stopped),
                Err(stopped) => {
                    why = Some(told(stopped));
                    break;
                }
            }
        }
        match limit.filter(|_| is_over(log)) {
            Some(limit) => outcome.notes.push(still_over(&log.folded.session, limit, why.as_deref())),
            None => outcome.notes.extend(why),
        }
        Ok(())
    }

    /// One compaction.
    fn pass(&self, log: &mut OpenLog, limit: Option<u64>, outcome: &mut Outcome) -> Result<(), Stopped> {
        let mut pass = Pass::default();
        let done = self.attempt(log, limit, &mut pass, &mut outcome.notes);
        // A later attempt that came to nothing is told in a note.
        if done.is_ok() || outcome.passes.is_empty() {
            outcome.passes.push(pass);
        }
        done
    }

    /// From here on something will be written; each append insists that the log is still the one that was read.
    pub(super) fn begin_writing(&self, log: &mut OpenLog) -> Result<(), Stopped> {
        if self.services.watch.is_cancelled() {
            return Err(Stopped::Refused(cancelled()));
        }
        log.prepare()
    }

    /// Whether no summary is made: what would become of the session nobody knows.
    pub(super) fn only_plans(&self) -> bool {
        self.options.is_dry_run && !self.services.summarizer.is_free()
    }
}

/// The surface's seqs once results have been made shorter.
fn session_after(session: &Session, pruned: &[Pruned]) -> Vec<u64> {
    let replaced: HashMap<u64, u64> = pruned.iter().map(|one| (one.seq, one.replacement_seq)).collect();
    session.surface.seqs().iter().map(|seq| *replaced.get(seq).unwrap_or(seq)).collect()
}

/// What stopped a pass behind a first success.
fn told(stopped: Stopped) -> String {
    match stopped {
        Stopped::Nothing(why) => why,
        Stopped::Refused(reason) | Stopped::Failed(reason) => {
            format!("{}: {}", reason.code, reason.message)
        }
        Stopped::Unreadable(error) => error.to_string(),
    }
}

/// What is to be said of a session that stays under pressure.
fn still_over(session: &Session, limit: u64, why: Option<&str>) -> String {
    let [load, header, limit] = [occasion::load(session), session.header_tokens, limit].map(grouped);
    let why = why.map_or_else(String::new, |why| format!("; {why}"));
    format!(
        "still_over: surface and request header hold {load} host tokens, {header} of them the header's; the limit is {limit}{why}"
    )
}
