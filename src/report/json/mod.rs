//! Reports for programs: one JSON document a run, its schema named first.

mod change;
mod compact;
mod merged;
mod repack;
mod replay;
mod rules;
mod stats;
mod verify;

pub use compact::compact;
pub use merged::merged;
pub use repack::repack;
pub use replay::replay;
pub use rules::rules;
pub use stats::stats;
pub use verify::verify;

use crate::batch::Shard;
use crate::batch::journal::Past;
use serde::Serialize;
use std::io::{self, Write};
use std::path::Path;

/// Writes a document on one line.
fn write(document: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer(&mut *out, document)?;
    out.write_all(b"\n")
}

/// The share of a run that a report tells of.
#[derive(Serialize)]
struct ShardJson {
    index: u32,
    of: u32,
}

impl ShardJson {
    fn of(shard: Shard) -> Self {
        Self { index: shard.index(), of: shard.of() }
    }
}

/// A log that an earlier run has done, and the status that it had then.
#[derive(Serialize)]
struct SkippedJson<'a> {
    path: String,
    status: &'static str,
    outcome: &'a str,
}

impl<'a> SkippedJson<'a> {
    fn of(path: &Path, past: &'a Past) -> Self {
        Self { path: path.display().to_string(), status: "skipped", outcome: &past.status }
    }
}

/// A lock as reports show it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LockJson<'a> {
    state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    start_seq: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    compaction_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    turn: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    owner: Option<&'static str>,
}

impl<'a> LockJson<'a> {
    fn of(lock: &'a crate::session::LockState) -> Self {
        use crate::session::{LockState, Owner};
        let (state, lock) = match lock {
            LockState::Free => ("free", None),
            LockState::Held(lock) => ("held", Some(lock)),
            LockState::Stale(lock) => ("stale", Some(lock)),
        };
        Self {
            state,
            start_seq: lock.map(|lock| lock.start_seq),
            compaction_id: lock.and_then(|lock| lock.compaction_id.as_deref()),
            turn: lock.and_then(|lock| lock.turn),
            owner: lock.map(|lock| match lock.owner {
                Owner::Open => "open",
                Owner::Ended => "ended",
                Owner::None => "none",
            }),
        }
    }
}
