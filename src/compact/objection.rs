//! What forbids every compaction of a log, whatever the region.

use super::outcome::Reason;
use crate::format::Seeded;
use crate::session::{Folded, LockState, Owner};

/// What forbids every compaction of the log.
pub(super) fn objection(folded: &Folded) -> Option<Reason> {
    if let Some(damage) = &folded.damage {
        let line = damage.place().line.map_or_else(String::new, |line| format!("line {line}: "));
        let (code, help) = if damage.is_unsupported() {
            ("unsupported", "only what wrote the event knows what it means: compact the session there")
        } else {
            ("damaged", "`dshc verify` names all that is wrong with the log")
        };
        return Some(Reason::new(code, format!("{line}{damage}"), help));
    }
    if let Some(torn) = &folded.torn {
        return Some(Reason::new(
            "damaged",
            torn.clone(),
            "open the session in dsh once, which cuts the torn bytes off, or say --break-lock if nothing has it open",
        ));
    }
    let session = &folded.session;
    if session.format.header.seeded == Seeded::Flag
        && let Some(problem) = session.seeds.problem(&session.header, session.format, session.events)
    {
        return Some(Reason::new("damaged", problem, "dsh refuses the log; restore it from a copy"));
    }
    let LockState::Held(lock) = folded.session.lock() else { return None };
    let (state, help) = match lock.owner {
        Owner::Open => (
            format!("turn {}, which owns it, is open", lock.turn.unwrap_or_default()),
            "if dsh is running, wait for it; if it crashed, resume the session in dsh, which frees the lock, or say --break-lock",
        ),
        Owner::Ended => (
            format!("turn {}, which owns it, has ended", lock.turn.unwrap_or_default()),
            "it can no longer be closed; resume the session in dsh, which writes session/end-seed and so frees it, or say --break-lock if nothing has the session open",
        ),
        Owner::None => (
            match lock.turn {
                Some(turn) => format!("turn {turn}, which is to own it, never was"),
                None => "no turn owns it".into(),
            },
            "if dsh is running, wait for it; if it crashed, resume the session in dsh, which frees the lock, or say --break-lock",
        ),
    };
    let id = lock.compaction_id.map_or_else(String::new, |id| format!(" ({id})"));
    let message = format!("a compaction is under way since seq {}{id}: {state}", lock.start_seq);
    Some(Reason::new("busy", message, help))
}
