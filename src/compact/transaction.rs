//! The bracket on the log: start, commit or failure, each appended, synced and read back.

use super::outcome::{Appended, Reason};
use super::plan::Plan;
use super::{OpenLog, Stopped, fold};
use crate::log::append::AppendError;
use crate::log::{Item, LogReader};
use crate::session::LockState;

/// A log that is being compacted.
pub(super) struct Transaction<'a, 'd> {
    log: &'a mut OpenLog<'d>,
    plan: &'a Plan,
}

impl<'a, 'd> Transaction<'a, 'd> {
    /// Appends `compaction/start`: from here on the session is locked.
    pub(super) fn begin(log: &'a mut OpenLog<'d>, plan: &'a Plan) -> Result<Self, Stopped> {
        let mut transaction = Self { log, plan };
        let start = plan.bracket.start().map_err(|error| Stopped::Refused(unencodable(&error)))?;
        let added = match transaction.append(&[start]) {
            Ok(added) => added,
            Err(Trouble::Append(error @ AppendError::Changed(_))) => return Err(error.into()),
            Err(trouble) => {
                let mut reason = transaction.reason(trouble);
                if transaction.log.appender.is_spoiled() {
                    let start = plan.bracket.start_seq;
                    reason.message = format!("{}; compaction/start {start} may be left open", reason.message);
                }
                return Err(Stopped::Failed(reason));
            }
        };
        match transaction.log.folded.session.lock() {
            LockState::Held(lock) if lock.start_seq == plan.bracket.start_seq => Ok(transaction),
            _ => {
                let problem = "the bracket's start is not read back as a lock";
                Err(Stopped::Failed(transaction.take_back(added, problem)))
            }
        }
    }

    /// Appends the records that replace the region, and checks that the surface is the planned one.
    pub(super) fn commit(&mut self, records: &[String], appended: &mut Appended) -> Result<(), Reason> {
        let planned = self.plan.surface_after(&self.log.folded.session);
        match self.append(records) {
            Ok(added) => {
                let session = &self.log.folded.session;
                if session.surface.seqs() != planned || session.lock() != LockState::Free {
                    return Err(self.take_back(added, "the surface is not the planned one"));
                }
            }
            // The whole commit stands, so the region is replaced, whatever came behind it.
            Err(Trouble::Append(AppendError::Followed)) => {}
            Err(trouble) => return Err(self.reason(trouble)),
        }
        let bracket = &self.plan.bracket;
        appended.summary_seq = Some(bracket.summary_seq());
        appended.checkpoint_seq = Some(bracket.checkpoint_seq());
        appended.end_seq = Some(bracket.end_seq());
        Ok(())
    }

    /// Closes the bracket with the reason why nothing was replaced. An orphan that is left is named in it.
    pub(super) fn fail(mut self, mut reason: Reason, appended: &mut Appended) -> Reason {
        let error = format!("{}: {}", reason.code, reason.message);
        let closed = if self.log.appender.is_spoiled() {
            Err("nothing more may be appended".to_owned())
        } else {
            let end = self.plan.bracket.failure(&error).map_err(|error| error.to_string());
            end.and_then(|end| self.append(&[end]).map_err(|trouble| self.reason(trouble).message))
        };
        match closed {
            Ok(_) => appended.end_seq = Some(self.plan.bracket.summary_seq()),
            Err(error) => {
                let start = self.plan.bracket.start_seq;
                reason.message = format!(
                    "{}; its bracket could not be closed ({error}): compaction/start {start} is left open",
                    reason.message
                );
                reason.help =
                    "`dshc verify` tells how the log ends; dsh frees the lock when it next opens the session"
                        .into();
            }
        }
        reason
    }

    /// Appends records, reads them back from the file and folds them; tells the byte from which on they stand.
    fn append(&mut self, records: &[String]) -> Result<u64, Trouble> {
        let expected = self.log.folded.session.events + records.len() as u64;
        let start = self.log.appender.append(records).map_err(Trouble::Append)?;
        match self.read_back(start) {
            Ok(()) if self.log.folded.session.events == expected => Ok(start),
            Ok(()) => Err(Trouble::ReadBack(start, "other records are read back than were written".into())),
            Err(problem) => Err(Trouble::ReadBack(start, problem)),
        }
    }

    fn read_back(&mut self, start: u64) -> Result<(), String> {
        let source = self.log.appender.source().map_err(|error| error.to_string())?;
        let session = &self.log.folded.session;
        let (header, format, next) = (session.header.clone(), session.format, session.events);
        let reader = LogReader::resume(&source, start, header, format, next);
        let mut reader = reader.map_err(|error| error.to_string())?;
        let mut take = |item: Item| self.log.folded.take(item, None);
        while reader.next(&mut take).map_err(|error| error.to_string())?.is_some() {}
        self.log.folded.settle();
        match (&self.log.folded.damage, &self.log.folded.torn) {
            (Some(damage), _) => Err(damage.to_string()),
            (None, Some(torn)) => Err(torn.clone()),
            (None, None) => Ok(()),
        }
    }

    fn reason(&mut self, trouble: Trouble) -> Reason {
        match trouble {
            Trouble::Append(error) => refusal(&error),
            Trouble::ReadBack(start, problem) => self.take_back(start, &problem),
        }
    }

    /// Cuts off what was appended, from byte `start` on, and brings the session back to what the file says.
    fn take_back(&mut self, start: u64, problem: &str) -> Reason {
        let taken_back = self.log.appender.take_back(start).map_err(|error| error.to_string());
        let refolded = taken_back.and_then(|()| {
            let source = self.log.appender.source().map_err(|error| error.to_string())?;
            fold(&source).map_err(|error| error.to_string())
        });
        let message = match refolded {
            Ok(folded) => {
                self.log.folded = folded;
                format!("{problem}; what was appended has been cut off again")
            }
            Err(error) => format!("{problem}; what was appended stays: {error}"),
        };
        Reason::new("commit", message, HELP_REPORT)
    }
}

/// What went wrong with an append.
enum Trouble {
    Append(AppendError),
    /// What was appended, from this byte on, is read back as something else.
    ReadBack(u64, String),
}

const HELP_REPORT: &str = "run `dshc verify` on the log, and report this";

/// An append that did not happen, as a reason.
pub(super) fn refusal(error: &AppendError) -> Reason {
    let (code, help) = match error {
        AppendError::Locked => ("busy", "wait for it to end"),
        AppendError::SessionLocked => ("in_use", "close the session in dsh, then run dshc again"),
        AppendError::Changed(_) | AppendError::Raced | AppendError::Followed => {
            ("changed", "close the session in dsh, then run dshc again")
        }
        AppendError::Io { .. } => ("persistence", "check the disk and the file's permissions"),
        AppendError::NotTakenBack { .. } => (
            "persistence",
            "`dshc verify` tells how the log ends; dsh mends it when it next opens the session",
        ),
    };
    Reason::new(code, error.to_string(), help)
}

pub(super) fn unencodable(error: &serde_json::Error) -> Reason {
    Reason::new("commit", error.to_string(), HELP_REPORT)
}
