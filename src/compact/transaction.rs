//! The bracket on the log: start, commit or failure, each appended, synced and read back.

use super::outcome::{Appended, Committed, Reason};
use super::plan::Plan;
use crate::log::append::{Added, AppendError, Appender};
use crate::log::{Item, LogReader};
use crate::session::{Folded, LockState};

/// A log that is being compacted: its file and the session up to its end.
pub(super) struct Transaction<'a, 'd> {
    appender: &'a mut Appender<'d>,
    folded: &'a mut Folded,
    plan: &'a Plan,
}

impl<'a, 'd> Transaction<'a, 'd> {
    /// Appends `compaction/start`: from here on the session is locked.
    pub(super) fn begin(
        appender: &'a mut Appender<'d>,
        folded: &'a mut Folded,
        plan: &'a Plan,
    ) -> Result<Self, Reason> {
        let mut transaction = Self { appender, folded, plan };
        let start = plan.bracket.start().map_err(|error| unencodable(&error))?;
        transaction.append(&[start])?;
        match transaction.folded.session.lock() {
            LockState::Held(lock) if lock.start_seq == plan.bracket.start_seq => Ok(transaction),
            _ => Err(Reason::new("commit", "the bracket's start is not read back as a lock", HELP_REPORT)),
        }
    }

    /// What has been appended so far.
    pub(super) fn appended(plan: &Plan, is_committed: bool) -> Appended {
        let bracket = &plan.bracket;
        let commit = Committed {
            summary_seq: bracket.summary_seq(),
            checkpoint_seq: bracket.checkpoint_seq(),
            end_seq: bracket.end_seq(),
        };
        Appended {
            compaction_id: bracket.compaction_id.clone(),
            start_seq: bracket.start_seq,
            commit: is_committed.then_some(commit),
        }
    }

    /// Appends the records that replace the region, and checks that the surface is the planned one.
    pub(super) fn commit(&mut self, records: &[String]) -> Result<(), Reason> {
        let planned = self.plan.surface_after(&self.folded.session);
        let added = self.append(records)?;
        let session = &self.folded.session;
        let is_planned = session.surface.nodes().iter().map(|node| node.seq).eq(planned.iter().copied());
        if is_planned && session.lock() == LockState::Free {
            return Ok(());
        }
        Err(self.take_back(added, "the surface is not the planned one"))
    }

    /// Closes the bracket with the reason why nothing was replaced. An orphan that is left is named in it.
    pub(super) fn fail(self, mut reason: Reason) -> Reason {
        if self.appender.is_spoiled() {
            return reason;
        }
        let error = format!("{}: {}", reason.code, reason.message);
        let closed = match self.plan.bracket.failure(&error) {
            Ok(end) => self.appender.append(&[end]).map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        };
        if let Err(error) = closed {
            reason.message = format!(
                "{}; and its bracket could not be closed ({error}): compaction/start {} is left open",
                reason.message, self.plan.bracket.start_seq
            );
            reason.help = "resume the session in dsh, which frees the lock".into();
        }
        reason
    }

    /// Appends records, reads them back from the file and folds them.
    fn append(&mut self, records: &[String]) -> Result<Added, Reason> {
        let expected = self.folded.session.events + records.len() as u64;
        let added = self.appender.append(records).map_err(|error| refusal(&error))?;
        match self.read_back(added) {
            Ok(()) if self.folded.session.events == expected => Ok(added),
            Ok(()) => Err(self.take_back(added, "other records are read back than were written")),
            Err(problem) => Err(self.take_back(added, &problem)),
        }
    }

    fn read_back(&mut self, added: Added) -> Result<(), String> {
        let source = self.appender.source().map_err(|error| error.to_string())?;
        let session = &self.folded.session;
        let (header, format, next) = (session.header.clone(), session.format, session.events);
        let mut reader = LogReader::resume(&source, added.start, header, format, next)
            .map_err(|error| error.to_string())?;
        while reader
            .next(|item: Item| self.folded.take(item, None))
            .map_err(|error| error.to_string())?
            .is_some()
        {}
        match (&self.folded.damage, &self.folded.torn) {
            (Some(damage), _) => Err(damage.to_string()),
            (None, Some(torn)) => Err(torn.message.clone()),
            (None, None) => Ok(()),
        }
    }

    fn take_back(&mut self, added: Added, problem: &str) -> Reason {
        let message = match self.appender.take_back(added) {
            Ok(()) => format!("{problem}; what was appended has been cut off again"),
            Err(error) => format!("{problem}; what was appended stays: {error}"),
        };
        Reason::new("commit", message, HELP_REPORT)
    }
}

const HELP_REPORT: &str = "run `dshc verify` on the log, and report this";

/// An append that did not happen, as a reason.
pub(super) fn refusal(error: &AppendError) -> Reason {
    match error {
        AppendError::Locked => Reason::new("busy", error.to_string(), "wait for it to end"),
        AppendError::Changed(_) => {
            Reason::new("changed", error.to_string(), "close the session in dsh, then run dshc again")
        }
        AppendError::Io { .. } => {
            Reason::new("persistence", error.to_string(), "check the disk and the file's permissions")
        }
        AppendError::NotRolledBack { .. } => Reason::new(
            "persistence",
            error.to_string(),
            "open the session in dsh once: it cuts a torn tail off",
        ),
    }
}

pub(super) fn unencodable(error: &serde_json::Error) -> Reason {
    Reason::new("commit", error.to_string(), HELP_REPORT)
}
