//! What frees a session from the lock of a compaction whose process is gone (FORMAT §7.4, §10.1).

use super::closers::closers;
use super::pending::pending_calls;
use super::{MendError, Unlock};
use crate::log::{NewRecord, Source};
use crate::session::{Lock, LockState, Session};
use serde::Serialize;

/// What the log says of a compaction that was closed in its writer's stead.
const ERROR: &str = "the process that compacted is gone; its lock was broken by dshc";

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct EndData<'a> {
    compaction_id: &'a str,
    turn: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    source_command_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
}

#[derive(Serialize)]
struct Empty {}

/// The records that free the session from a held lock, and what they do in words; `None` where none is held.
///
/// Where a `compaction/end` is legal still, it is that end: with an error, or without one where the replacement stands.
/// Else dsh's own way: the closers of an open turn, and `session/end-seed`. The bracket stays without an end then, and no
/// later end is paired with it. `source` is the log of `session`, sound and up to its end; it is read once more only for
/// the closers.
pub fn unlock(session: &Session, source: &Source) -> Result<Option<Unlock>, MendError> {
    let LockState::Held(lock) = session.lock() else { return Ok(None) };
    if let Some(unlock) = end(session, &lock)? {
        return Ok(Some(unlock));
    }
    let pending = match session.turns.open() {
        Some(_) => pending_calls(source)?,
        None => Vec::new(),
    };
    let mut records = closers(session, &pending)?;
    let seq = session.events.saturating_add(records.len() as u64);
    let time = session.last_time.unwrap_or_default();
    records.push(NewRecord::new("session/end-seed", seq, time, Empty {}).to_text()?);
    let turn = session.turns.open().map_or_else(String::new, |turn| {
        let results = match pending.len() {
            0 => String::new(),
            1 => ", with a result for 1 call that has none".to_owned(),
            calls => format!(", with results for {calls} calls that have none"),
        };
        format!("turn {turn} ends as interrupted{results}, and ")
    });
    let start = lock.start_seq;
    let note = format!(
        "{turn}session/end-seed {seq} voids the lock of the compaction that starts at seq {start}, which no compaction/end \
         may close any more"
    );
    Ok(Some(Unlock { records, note }))
}

/// The `compaction/end` that closes the lock's bracket, where one is legal.
fn end(session: &Session, lock: &Lock) -> Result<Option<Unlock>, MendError> {
    let Some(compaction_id) = lock.compaction_id.as_deref().filter(|_| lock.is_closable) else {
        return Ok(None);
    };
    let is_done = lock.replacement_seq.is_some();
    let data = EndData {
        compaction_id,
        turn: lock.turn,
        source_command_id: lock.source_command_id.as_deref(),
        error: Some(ERROR).filter(|_| !is_done),
    };
    let (seq, start) = (session.events, lock.start_seq);
    let time = session.last_time.unwrap_or_default();
    let record = NewRecord::new("compaction/end", seq, time, data).to_text()?;
    let note = if is_done {
        format!(
            "compaction/end {seq} closes the compaction that starts at seq {start}: its checkpoint stands already"
        )
    } else {
        format!("compaction/end {seq} closes, with an error, the compaction that starts at seq {start}")
    };
    Ok(Some(Unlock { records: vec![record], note }))
}
