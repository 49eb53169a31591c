//! Compaction brackets: the lock that an unmatched `compaction/start` is (FORMAT §7.4, §10.1).

use super::Turns;
use crate::json::{self, Object};
use crate::log::Event;

/// The compaction lock of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LockState {
    /// No bracket is open.
    Free,
    /// A bracket is open: dsh answers "busy" to every further compaction.
    Held(Lock),
    /// A bracket was never closed, but a later `session/end-seed` proves that its owner is gone.
    Stale(Lock),
}

/// An unmatched `compaction/start`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lock {
    /// The start's seq.
    pub start_seq: u64,
    /// Its compaction id.
    pub compaction_id: Option<String>,
    /// The command that asked for it.
    pub source_command_id: Option<String>,
    /// The turn that it names.
    pub turn: Option<u64>,
    /// Whether its `turn` is a number or null, as it must be.
    pub is_turn_valid: bool,
    /// What has become of that turn.
    pub owner: Owner,
    /// The start of an earlier bracket that had neither ended nor been voided when this one started.
    pub earlier_seq: Option<u64>,
    /// The first turn boundary behind the start: from there on no end may close the bracket (FORMAT §10.1).
    pub crossing_seq: Option<u64>,
    /// The bracket's `compaction/summary`.
    pub summary_seq: Option<u64>,
    /// The replacement that followed the summary.
    pub replacement_seq: Option<u64>,
    /// Whether a `compaction/end` with its ids and its turn may still close it (FORMAT §10.1).
    pub is_closable: bool,
}

/// What has become of the turn that owns a lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    /// It is open still.
    Open,
    /// It has ended.
    Ended,
    /// There is none: the start names no turn, or one that never was.
    None,
}

/// The newest bracket, matched or not.
#[derive(Debug, Default)]
pub(super) struct Brackets {
    open: Option<Open>,
    is_stale: bool,
}

#[derive(Debug)]
struct Open {
    start_seq: u64,
    compaction_id: Option<String>,
    source_command_id: Option<String>,
    has_valid_ids: bool,
    turn: Option<u64>,
    is_turn_valid: bool,
    earlier_seq: Option<u64>,
    crossing_seq: Option<u64>,
    summary_seq: Option<u64>,
    replacement_seq: Option<u64>,
}

impl Brackets {
    pub(super) fn apply(&mut self, event: &Event) {
        match &*event.event_type {
            "compaction/start" => {
                let data = event.payload();
                let text = |key| data.as_ref().and_then(|data| data.text(key));
                let turn = data.as_ref().and_then(|data| data.get("turn"));
                let number = turn.and_then(json::count);
                let earlier = self.open.take().filter(|_| !self.is_stale);
                self.open = Some(Open {
                    start_seq: event.seq,
                    compaction_id: text("compactionId").map(|id| id.into_str().into_owned()),
                    source_command_id: text("sourceCommandId").map(|id| id.into_str().into_owned()),
                    has_valid_ids: data.as_ref().is_some_and(has_valid_ids),
                    turn: number,
                    is_turn_valid: number.is_some() || turn.is_some_and(json::is_null),
                    earlier_seq: earlier.map(|earlier| earlier.start_seq),
                    crossing_seq: None,
                    summary_seq: None,
                    replacement_seq: None,
                });
                self.is_stale = false;
            }
            "compaction/summary" => {
                if let Some(open) = &mut self.open {
                    open.summary_seq.get_or_insert(event.seq);
                }
            }
            _ => self.open = None,
        }
    }

    /// The message right behind a summary took its span's place.
    pub(super) fn replaced(&mut self, seq: u64) {
        if let Some(open) = &mut self.open
            && open.summary_seq.is_some_and(|summary| summary + 1 == seq)
        {
            open.replacement_seq = Some(seq);
        }
    }

    /// A turn starts or ends at `seq`.
    pub(super) fn turn_boundary(&mut self, seq: u64) {
        if let Some(open) = &mut self.open {
            open.crossing_seq.get_or_insert(seq);
        }
    }

    pub(super) fn end_seed(&mut self) {
        self.is_stale = self.open.is_some();
    }

    pub(super) fn lock(&self, turns: &Turns) -> LockState {
        let Some(open) = &self.open else { return LockState::Free };
        // With the start's turn open, or none at its start, an end stands where it must as long as no boundary came.
        let is_owner_at_work = open.is_turn_valid && turns.open() == open.turn;
        let is_first = open.earlier_seq.is_none() && open.crossing_seq.is_none();
        let lock = Lock {
            start_seq: open.start_seq,
            compaction_id: open.compaction_id.clone(),
            source_command_id: open.source_command_id.clone(),
            is_closable: !self.is_stale && is_first && is_owner_at_work && open.has_valid_ids,
            turn: open.turn,
            is_turn_valid: open.is_turn_valid,
            earlier_seq: open.earlier_seq,
            crossing_seq: open.crossing_seq,
            owner: match open.turn {
                Some(turn) if turns.open() == Some(turn) => Owner::Open,
                Some(turn) if turns.has_started(turn) => Owner::Ended,
                _ => Owner::None,
            },
            summary_seq: open.summary_seq,
            replacement_seq: open.replacement_seq,
        };
        if self.is_stale { LockState::Stale(lock) } else { LockState::Held(lock) }
    }
}

/// Whether an end can repeat the ids of a start: they are no empty strings, and no half surrogate pair is in them.
fn has_valid_ids(data: &Object) -> bool {
    let is_valid = |key| data.name(key).is_some_and(|id| std::str::from_utf8(id.as_bytes()).is_ok());
    is_valid("compactionId") && (data.get("sourceCommandId").is_none() || is_valid("sourceCommandId"))
}
