//! What forbids any work on a log, whatever is asked for.

use crate::format::Seeded;
use crate::session::{Folded, Lock, LockState, Owner, ReplayError};

/// What forbids any work on a log.
pub(crate) enum Objection<'a> {
    /// Its bytes, numbers or surface are damaged.
    Damaged(&'a ReplayError),
    /// It holds an event that dshc may not interpret.
    Unsupported(&'a ReplayError),
    /// Its end is torn.
    Torn(&'a str),
    /// What it says of the events that it inherited does not fit (FORMAT §3).
    Seeds(String),
    /// A compaction holds its lock.
    Held(Lock),
}

impl<'a> Objection<'a> {
    /// What forbids work on the log, if anything does.
    pub(crate) fn of(folded: &'a Folded) -> Option<Self> {
        if let Some(damage) = &folded.damage {
            let is_unsupported = damage.is_unsupported();
            return Some(if is_unsupported { Self::Unsupported(damage) } else { Self::Damaged(damage) });
        }
        if let Some(torn) = &folded.torn {
            return Some(Self::Torn(torn));
        }
        let session = &folded.session;
        if session.format.header.seeded == Seeded::Flag
            && let Some(problem) = session.seeds.problem(&session.header, session.format, session.events)
        {
            return Some(Self::Seeds(problem));
        }
        match session.lock() {
            LockState::Held(lock) => Some(Self::Held(lock)),
            LockState::Free | LockState::Stale(_) => None,
        }
    }

    /// The code of the reason.
    pub(crate) fn code(&self) -> &'static str {
        match self {
            Self::Damaged(_) | Self::Torn(_) | Self::Seeds(_) => "damaged",
            Self::Unsupported(_) => "unsupported",
            Self::Held(_) => "busy",
        }
    }

    /// What is in the way.
    pub(crate) fn message(&self) -> String {
        match self {
            Self::Damaged(damage) | Self::Unsupported(damage) => {
                let line = damage.place().line.map_or_else(String::new, |line| format!("line {line}: "));
                format!("{line}{damage}")
            }
            Self::Torn(torn) => (*torn).to_owned(),
            Self::Seeds(problem) => problem.clone(),
            Self::Held(lock) => held(lock),
        }
    }
}

fn held(lock: &Lock) -> String {
    let turn = lock.turn;
    let state = match (lock.owner, turn) {
        (Owner::Open, _) => format!("turn {}, which owns it, is open", turn.unwrap_or_default()),
        (Owner::Ended, _) => format!("turn {}, which owns it, has ended", turn.unwrap_or_default()),
        (Owner::None, Some(turn)) => format!("turn {turn}, which is to own it, never was"),
        (Owner::None, None) => "no turn owns it".into(),
    };
    let id = lock.compaction_id.as_ref().map_or_else(String::new, |id| format!(" ({id})"));
    format!("a compaction is under way since seq {}{id}: {state}", lock.start_seq)
}
