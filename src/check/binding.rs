//! What binds the events of a bracket: its ids and its owner turn (FORMAT §10.1).

use super::wording::{owned, quoted};
use crate::format::Format;
use crate::json::{self, Object};
use std::fmt;

/// The ids that bind a bracket's events.
#[derive(Debug)]
pub(super) struct Ids {
    pub compaction: Id,
    command: Id,
}

/// One of the ids as it stands in an event.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Id {
    Text(String),
    Absent,
    Invalid,
}

/// The `turn` of a start or an end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    Turn(u64),
    NoTurn,
    Invalid,
}

impl Ids {
    /// The ids of a bracket's event, or of a checkpoint's source. A compaction id must be there, unless readers of the
    /// format add it to what development builds wrote without (FORMAT §8.1).
    pub(super) fn of(object: Option<&Object>, format: &Format) -> Self {
        let compaction = match Id::of(object, "compactionId") {
            Id::Absent if !format.converts_old_payloads => Id::Invalid,
            id => id,
        };
        Self { compaction, command: Id::of(object, "sourceCommandId") }
    }

    /// The members that are not what they must be.
    pub(super) fn invalid(&self) -> impl Iterator<Item = &'static str> + use<> {
        let is_invalid = |(key, id): (&'static str, &Id)| (*id == Id::Invalid).then_some(key);
        let found = self.members().map(is_invalid);
        found.into_iter().flatten()
    }

    /// The members that are not those of the bracket's start: what was found, what the start has. What is invalid
    /// is told as that alone.
    pub(super) fn differences<'a>(
        &'a self,
        start: &'a Self,
    ) -> impl Iterator<Item = (&'static str, &'a Id, &'a Id)> {
        let both = self.members().into_iter().zip(start.members());
        both.filter(|((key, found), (_, expected))| {
            let is_added = *key == "compactionId" && **found == Id::Absent;
            !is_added && ![*found, *expected].contains(&&Id::Invalid) && found != expected
        })
        .map(|((key, found), (_, expected))| (key, found, expected))
    }

    fn members(&self) -> [(&'static str, &Id); 2] {
        [("compactionId", &self.compaction), ("sourceCommandId", &self.command)]
    }
}

impl Id {
    fn of(object: Option<&Object>, key: &str) -> Self {
        match object.and_then(|object| object.get(key)) {
            None => Self::Absent,
            Some(raw) => {
                json::text(raw).filter(|id| !id.is_empty()).map_or(Self::Invalid, |id| Self::Text(owned(id)))
            }
        }
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Text(id) => f.write_str(&quoted(id)),
            Self::Absent | Self::Invalid => f.write_str("none"),
        }
    }
}

impl Owner {
    /// The turn that a start or an end names.
    pub(super) fn of(data: Option<&Object>) -> Self {
        match data.and_then(|data| data.get("turn")) {
            Some(raw) if json::is_null(raw) => Self::NoTurn,
            Some(raw) => json::count(raw).map_or(Self::Invalid, Self::Turn),
            None => Self::Invalid,
        }
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Turn(turn) => write!(f, "turn {turn}"),
            Self::NoTurn => f.write_str("no turn"),
            Self::Invalid => f.write_str("a turn that is no number"),
        }
    }
}
