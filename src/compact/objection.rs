//! What to do about that which forbids every compaction of a log.

use crate::guard::{Objection, Reason};
use crate::session::{Folded, Owner};

/// What forbids every compaction of the log, whatever the region.
pub(super) fn objection(folded: &Folded) -> Option<Reason> {
    let objection = Objection::of(folded)?;
    let help = match &objection {
        Objection::Damaged(_) => "`dshc verify` names all that is wrong with the log",
        Objection::Unsupported(_) => {
            "only what wrote the event knows what it means: compact the session there"
        }
        Objection::Torn(_) => {
            "open the session in dsh once, which cuts the torn bytes off, or say --break-lock if nothing has it open"
        }
        Objection::Seeds(_) => "dsh refuses the log; restore it from a copy",
        Objection::Held(lock) => match lock.owner {
            Owner::Ended => {
                "it can no longer be closed; resume the session in dsh, which writes session/end-seed and so frees it, or say --break-lock if nothing has the session open"
            }
            Owner::Open | Owner::None => {
                "if dsh is running, wait for it; if it crashed, resume the session in dsh, which frees the lock, or say --break-lock"
            }
        },
    };
    Some(Reason::new(objection.code(), objection.message(), help))
}
