//! What dsh itself cuts and appends when it opens a log whose writer is gone: a torn tail is cut off (FORMAT §2.3), a lock
//! that nobody holds is freed (FORMAT §7.4, §9.3, §10.1).
//!
//! `compact/` calls [`open_for_work`]. The caller vouches that no process has the session.

mod closers;
mod pending;
mod unlock;

#[cfg(test)]
mod tests;

use crate::log::OpenError;
use crate::log::append::{AppendError, Appender, MendedTail};
use crate::session::{Folded, LockState};
pub use unlock::unlock;

/// What was mended, and what is still to be appended.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Mended {
    /// The torn tail that is gone.
    pub tail: Option<MendedTail>,
    /// What frees the session from its lock.
    pub unlock: Option<Unlock>,
}

/// Records that free a session from a lock.
#[derive(Debug, PartialEq, Eq)]
pub struct Unlock {
    /// One JSON text each; they go behind the log in one append, or not at all.
    pub records: Vec<String>,
    /// What they do, in words that hold once they are appended.
    pub note: String,
}

/// Why a log cannot be mended.
#[derive(Debug, thiserror::Error)]
pub enum MendError {
    /// Something else than its end is wrong with it.
    #[error("the log is damaged otherwise than by a torn tail: {0}")]
    Damaged(String),
    /// The file cannot be changed.
    #[error(transparent)]
    Append(#[from] AppendError),
    /// The log cannot be read once more.
    #[error(transparent)]
    Read(#[from] OpenError),
    /// A record cannot be spelt.
    #[error("cannot spell a record: {0}")]
    Encode(#[from] serde_json::Error),
}

/// Mends what keeps a log from being worked on: cuts a torn tail off at once, and tells what frees a held lock, which the
/// caller appends. `folded` is the log of `appender` up to its end; afterwards it tells of no torn tail. Where there is
/// something to mend, dsh is kept out of the session first; else nothing is touched.
///
/// A log that is damaged otherwise is refused. On an error of the file the appender takes no more.
pub fn open_for_work(appender: &mut Appender, folded: &mut Folded) -> Result<Mended, MendError> {
    if let Some(damage) = &folded.damage {
        return Err(MendError::Damaged(damage.to_string()));
    }
    let is_held = matches!(folded.session.lock(), LockState::Held(_));
    if folded.torn.is_none() && !is_held {
        return Ok(Mended::default());
    }
    appender.lock_session(folded.session.format)?;
    let tail = match folded.torn {
        Some(_) => Some(appender.mend_tail()?.ok_or(AppendError::Changed("its end is not torn any more"))?),
        None => None,
    };
    folded.torn = None;
    let source = appender.source().map_err(OpenError::from)?;
    Ok(Mended { tail, unlock: unlock(&folded.session, &source)? })
}

/// The mended tail in words.
#[must_use]
pub fn tail_note(tail: &MendedTail) -> String {
    let bytes = match tail.bytes {
        1 => "a torn tail of 1 byte is cut off".to_owned(),
        bytes => format!("a torn tail of {bytes} bytes is cut off"),
    };
    match tail.recovered {
        0 => bytes,
        1 => format!("{bytes}; 1 record in it is whole and stands in a frame of its own"),
        records => format!("{bytes}; {records} records in it are whole and stand in a frame of their own"),
    }
}
