//! Whether a process may have a log open, by how lately it was written to.

use super::Reason;
use crate::session::Session;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How long a log must have rested before it is taken to be idle.
const REST: Duration = Duration::from_secs(10);

/// The same inside a turn: a tool may run for hours in which nothing is written.
const REST_IN_TURN: Duration = Duration::from_hours(24);

const HELP: &str = "close the session in dsh, or say --assume-idle if nothing has it open";

/// Whether a process may have the log open: it was written to a moment ago, and not by the end of a compaction (FORMAT
/// §1.6). `modified` is its file's time.
pub(crate) fn in_use(session: &Session, modified: Option<SystemTime>) -> Option<Reason> {
    let is_fresh = session.last_type != "compaction/end" && has_changed_within(REST, session, modified);
    let message = "the log seems to be in use: its file and its last event are less than 10 seconds old";
    is_fresh.then(|| Reason::new("in_use", message, HELP))
}

/// Whether a process may be at work in the log's last turn. Who appends need not care, whoever else does; who puts another
/// file in the log's place must.
pub(crate) fn in_turn(session: &Session, modified: Option<SystemTime>) -> Option<Reason> {
    let turn = session.turns.open().filter(|_| has_changed_within(REST_IN_TURN, session, modified))?;
    let message =
        format!("turn {turn} is open, and the log's file and its last event are less than a day old");
    Some(Reason::new("in_use", message, HELP))
}

/// Whether both the file and the last event are younger than `rest`. A copy's file is younger than its events, and an event
/// says what the clock of another machine said.
fn has_changed_within(rest: Duration, session: &Session, modified: Option<SystemTime>) -> bool {
    let now = SystemTime::now();
    let is_fresh = |time: SystemTime| now.duration_since(time).map_or(true, |age| age < rest);
    let last = session.last_time.and_then(|time| u64::try_from(time).ok());
    let last = last.and_then(|time| UNIX_EPOCH.checked_add(Duration::from_millis(time)));
    modified.is_some_and(is_fresh) && last.is_some_and(is_fresh)
}
