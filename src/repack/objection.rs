//! What forbids to put another file in a log's place, and what to do about it.

use crate::guard::{Objection, Reason};
use crate::session::Folded;
use std::fs::Metadata;

/// What is wrong with the log itself. All that dshc writes it must be able to prove, and it can prove nothing of a log that
/// it cannot read to the end.
pub(super) fn objection(folded: &Folded) -> Option<Reason> {
    let objection = Objection::of(folded)?;
    let help = match &objection {
        Objection::Damaged(_) => "`dshc verify` names all that is wrong with the log; mend it first",
        Objection::Unsupported(_) => {
            "dshc cannot tell the surface of a log with events that it does not know; look for a newer dshc"
        }
        Objection::Torn(_) => "open the session in dsh once, which cuts the torn bytes off",
        Objection::Seeds(_) => "dsh refuses the log; restore it from a copy",
        Objection::Held(_) => {
            "if dsh is running, wait for it; if it crashed, resume the session in dsh, which frees the lock"
        }
    };
    Some(Reason::new(objection.code(), objection.message(), help))
}

/// A file of several names would keep its old bytes under the others, and what is appended under one name would be missing
/// under the rest.
pub(super) fn hard_links(meta: &Metadata) -> Option<Reason> {
    let names = names(meta);
    (names > 1).then(|| {
        let message = format!("the file has {names} names (hard links), and only one would get the new file");
        Reason::new("hard_links", message, "write to another place with -o, or remove the other names")
    })
}

#[cfg(unix)]
fn names(meta: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::nlink(meta)
}

#[cfg(not(unix))]
fn names(_meta: &Metadata) -> u64 {
    1
}
