//! The bracket on the log: start, commit or failure, each appended, synced and read back.

use super::checkpoint::Checkpoint;
use super::open_log::{OpenLog, Trouble};
use super::outcome::Appended;
use super::placement::Placement;
use super::{Reason, Stopped};
use crate::log::append::AppendError;
use crate::session::LockState;
use crate::summarize::Summary;

#[cfg(test)]
mod tests;

/// How often a writer may get in between the last look at the log and an append.
const TRIES: u32 = 3;

/// A log that is being compacted.
pub(super) struct Transaction<'t, 'a> {
    log: &'t mut OpenLog<'a>,
    placement: Placement,
    /// Whether a model makes the summary, which takes time.
    is_live: bool,
}

impl<'t, 'a> Transaction<'t, 'a> {
    /// Appends `compaction/start`: from here on the session is locked.
    pub(super) fn begin(
        log: &'t mut OpenLog<'a>,
        mut placement: Placement,
        is_live: bool,
    ) -> Result<Self, Stopped> {
        placement.set_time(&log.folded.session, is_live);
        let start =
            placement.bracket.start().map_err(|error| Stopped::Refused(Reason::unencodable(&error)))?;
        let start_seq = placement.bracket.start_seq;
        let transaction = Self { log, placement, is_live };
        let added = match transaction.log.append(&[start]) {
            Ok(added) => added,
            Err(trouble) => {
                let is_gone = matches!(trouble, Trouble::Append(AppendError::Raced));
                let mut stopped = transaction.log.stopped(trouble);
                if let Stopped::Failed(reason) = &mut stopped
                    && transaction.log.is_spoiled()
                    && !is_gone
                {
                    reason.message =
                        format!("{}; compaction/start {start_seq} may be left open", reason.message);
                }
                return Err(stopped);
            }
        };
        match transaction.log.folded.session.lock() {
            LockState::Held(lock) if lock.start_seq == start_seq => Ok(transaction),
            _ => {
                let problem = "the bracket's start is not read back as a lock";
                Err(Stopped::Failed(transaction.log.reason(Trouble::ReadBack(added, problem.into()))))
            }
        }
    }

    /// What is in the log once the bracket's start is.
    pub(super) fn appended(&self) -> Appended {
        self.placement.appended()
    }

    /// Appends the records that replace the region, behind what other writers have appended meanwhile if the region is
    /// still what was summarized, and checks that the surface is the planned one.
    pub(super) fn commit(
        &mut self,
        summary: &Summary,
        checkpoint: &Checkpoint,
        appended: &mut Appended,
    ) -> Result<(), Reason> {
        for _ in 0..TRIES {
            self.meet_other_writers()?;
            self.placement.set_time(&self.log.folded.session, self.is_live);
            let records = self.placement.bracket.commit(summary, checkpoint);
            let records = records.map_err(|error| Reason::unencodable(&error))?;
            match self.try_commit(&records) {
                Err(Trouble::Append(AppendError::Changed(_))) => {}
                Err(trouble) => return Err(self.log.reason(trouble)),
                Ok(()) => {
                    let bracket = &self.placement.bracket;
                    appended.summary_seq = Some(bracket.summary_seq());
                    appended.checkpoint_seq = Some(bracket.checkpoint_seq());
                    appended.end_seq = Some(bracket.end_seq());
                    return Ok(());
                }
            }
        }
        Err(Reason::changed("another writer keeps appending to the log"))
    }

    fn try_commit(&mut self, records: &[String]) -> Result<(), Trouble> {
        let planned = self.placement.surface_after(&self.log.folded.session);
        let added = self.log.append(records)?;
        let session = &self.log.folded.session;
        if session.surface.seqs() == planned && session.lock() == LockState::Free {
            return Ok(());
        }
        Err(Trouble::ReadBack(added, "the surface is not the planned one".into()))
    }

    /// Takes in what others have appended since the bracket began; an error where the summary does not fit any more.
    fn meet_other_writers(&mut self) -> Result<(), Reason> {
        match self.log.catch_up() {
            Ok(false) => Ok(()),
            Ok(true) => {
                self.is_ours().map_err(Reason::changed)?;
                self.placement.fit(&self.log.folded.session).map_err(Reason::changed)
            }
            Err(error) => Err(Reason::of_append(&error)),
        }
    }

    /// Whether the bracket is still the one lock of a sound log, so that it may be closed (FORMAT §10.1).
    fn is_ours(&self) -> Result<(), String> {
        if let Some(damage) = self.log.damage() {
            return Err(format!("another writer has appended what cannot be read: {damage}"));
        }
        let start = self.placement.bracket.start_seq;
        match self.log.folded.session.lock() {
            LockState::Held(lock) if lock.start_seq == start && lock.earlier_seq.is_none() => {
                lock.crossing_seq.map_or(Ok(()), |seq| {
                    Err(format!(
                        "another writer has begun or ended a turn at seq {seq}, inside the compaction"
                    ))
                })
            }
            _ => Err(format!(
                "another writer has ended, voided or overlapped the compaction that began at seq {start}"
            )),
        }
    }

    /// Closes the bracket with the reason why nothing was replaced. An orphan that is left is named in it.
    pub(super) fn fail(mut self, mut reason: Reason, appended: &mut Appended) -> Reason {
        match self.close(&reason) {
            Ok(end_seq) => appended.end_seq = Some(end_seq),
            Err(_) if !self.log.may_be_left_locked(self.placement.bracket.start_seq) => {}
            Err(error) => {
                let start = self.placement.bracket.start_seq;
                let error = if error == reason.message { String::new() } else { format!(" ({error})") };
                reason.message = format!(
                    "{}; its bracket could not be closed{error}: compaction/start {start} is left open",
                    reason.message
                );
                reason.help = "`dshc verify` tells how the log ends; dsh frees the lock when it next opens the session, or `dshc compact --break-lock` if nothing has it open".into();
            }
        }
        reason
    }

    /// Appends `compaction/end` with the reason, at the log's end as it is now; its seq.
    fn close(&mut self, reason: &Reason) -> Result<u64, String> {
        let error = format!("{}: {}", reason.code, reason.message);
        for _ in 0..TRIES {
            if self.log.is_spoiled() {
                return Err("nothing more may be appended".into());
            }
            self.log.catch_up().map_err(|error| error.to_string())?;
            self.is_ours()?;
            self.placement.set_time(&self.log.folded.session, self.is_live);
            let bracket = &mut self.placement.bracket;
            bracket.next_seq = self.log.folded.session.events;
            let end = bracket.failure(&error).map_err(|error| error.to_string())?;
            match self.log.append(&[end]) {
                Ok(_) => return Ok(self.placement.bracket.next_seq),
                Err(Trouble::Append(AppendError::Changed(_))) => {}
                Err(trouble) => return Err(self.log.reason(trouble).message),
            }
        }
        Err("another writer keeps appending to the log".into())
    }
}
