//! What a log gives, one line at a time.

use super::{Event, Fault, PackedRow, Place};

/// What stands next in a log.
#[derive(Debug)]
pub enum Item<'a> {
    /// A record that continues the numbering, or that a sequence fault was just given for.
    Record(Record<'a>),
    /// Something that dsh would not have written. The reader goes on behind it.
    Fault(Fault),
}

/// One line of a log and where it stands.
#[derive(Debug)]
pub struct Record<'a> {
    /// What the line holds.
    pub body: Body<'a>,
    /// Where it stands.
    pub place: Place,
    /// Whether the line holds more than the record, so that dsh does not read it; its fault came before.
    pub is_rescued: bool,
    /// Offset in the decoded text of the line's first byte that is no UTF-8 and was read as U+FFFD.
    pub invalid_utf8: Option<u64>,
}

/// What a line holds.
#[derive(Debug)]
pub enum Body<'a> {
    /// One event.
    Event(Event<'a>),
    /// A run of streamed deltas.
    Row(PackedRow),
}

impl Body<'_> {
    /// Seq of the first event.
    #[must_use]
    pub fn first_seq(&self) -> u64 {
        match self {
            Self::Event(event) => event.seq,
            Self::Row(row) => row.first_seq,
        }
    }

    /// How many events the line stands for.
    #[must_use]
    pub fn events(&self) -> u64 {
        match self {
            Self::Event(_) => 1,
            Self::Row(row) => row.members,
        }
    }
}
