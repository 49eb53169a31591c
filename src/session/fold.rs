//! Brings a log to the session that it stands for.

use super::{Keep, Session, Violation};
use crate::log::{Body, Fault, FaultKind, Item, LogReader, Place, Record};
use std::io;

/// How far to fold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stop {
    /// Stop right after this event.
    pub at: Option<u64>,
    /// Keep the nodes that this replacement hides.
    pub expand: Option<u64>,
}

/// A session and what was left out of it.
#[derive(Debug)]
pub struct Folded {
    /// The state after the last event, or the one asked for.
    pub session: Session,
    /// What is to be said of the end of the file, if it was torn. Records that could be read from it are in the session.
    pub torn: Option<String>,
    /// The damage that ended the fold, else the first, if the log is damaged.
    pub damage: Option<ReplayError>,
    /// Whether damage ended the fold.
    pub is_cut: bool,
    /// What may have cost events: the next record's number tells.
    doubtful: Option<ReplayError>,
    /// Sound events behind the damage that ended the fold, which are no part of the session.
    pub left_out: u64,
    /// Whether lines end in a carriage return too.
    pub has_crlf: bool,
}

/// Why a log cannot be folded to its end.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// The bytes or the numbering are damaged.
    #[error("{}", .0.kind)]
    Fault(Fault),
    /// An event breaks a rule.
    #[error("seq {seq}: {violation}")]
    Violation {
        /// The event.
        seq: u64,
        /// The rule.
        violation: Violation,
        /// Where the event stands.
        place: Place,
    },
}

impl ReplayError {
    /// Where it is.
    #[must_use]
    pub fn place(&self) -> Place {
        match self {
            Self::Fault(fault) => fault.place,
            Self::Violation { place, .. } => *place,
        }
    }

    /// Whether the log is sound, but not one that dshc may interpret (FORMAT §4.2).
    #[must_use]
    pub fn is_unsupported(&self) -> bool {
        matches!(
            self,
            Self::Violation { violation: Violation::UnknownType(_) | Violation::RetiredType(_), .. }
        )
    }

    /// The seq that it concerns.
    #[must_use]
    pub fn seq(&self) -> u64 {
        match self {
            Self::Fault(fault) => fault.seq,
            Self::Violation { seq, .. } => *seq,
        }
    }
}

/// Folds a log up to its end, up to `stop`, or up to its first damage, whichever comes first. Only I/O fails; what
/// is behind the damage is counted.
pub fn fold(reader: &mut LogReader, keep: Keep, stop: Stop) -> io::Result<Folded> {
    let session = Session::new(reader.header().clone(), reader.format(), keep);
    fold_into(session, reader, stop)
}

/// The same into a session that has taken no event yet.
pub fn fold_into(mut session: Session, reader: &mut LogReader, stop: Stop) -> io::Result<Folded> {
    if let Some(seq) = stop.expand {
        session.surface.want_expanded(seq);
    }
    let mut folded = Folded::new(session);
    while stop.at.is_none_or(|at| folded.session.events <= at) {
        if reader.next(|item| folded.take(item, stop.at))?.is_none() {
            break;
        }
    }
    folded.settle();
    folded.has_crlf = reader.crlf().is_some();
    Ok(folded)
}

impl Folded {
    /// The fold of a session that has taken no event yet.
    #[must_use]
    pub fn new(session: Session) -> Self {
        Self {
            session,
            torn: None,
            damage: None,
            is_cut: false,
            doubtful: None,
            left_out: 0,
            has_crlf: false,
        }
    }

    /// Takes the end of the log. Where nothing follows, nothing tells that no event was lost.
    pub fn settle(&mut self) {
        if let Some(doubtful) = self.doubtful.take() {
            self.cut(doubtful);
        }
    }

    /// Takes what a log gives next; at its end comes [`Folded::settle`]. Behind damage that cost events nothing more is folded.
    pub fn take(&mut self, item: Item, at: Option<u64>) {
        match item {
            Item::Fault(Fault { kind: kind @ FaultKind::TornTail { .. }, .. }) => {
                self.torn = Some(kind.to_string());
            }
            Item::Record(record) if self.is_cut => self.left_out += record.body.events(),
            Item::Record(record) if record.body.first_seq() != self.session.events => {
                self.is_cut = true;
                self.damage = self.doubtful.take().or(self.damage.take());
                // A record whose number is taken is the damage, and does not stand behind it.
                let is_behind = record.body.first_seq() > self.session.events;
                self.left_out += if is_behind { record.body.events() } else { 0 };
            }
            Item::Record(record) => {
                if !record.is_rescued
                    && let Some(harmless) = self.doubtful.take()
                {
                    self.damage.get_or_insert(harmless);
                }
                self.record(record, at);
            }
            Item::Fault(_) if self.is_cut => {}
            Item::Fault(fault) => {
                // A line of NULs alone may stand where a record was.
                let is_blank = matches!(&fault.kind, FaultKind::NulBlock(debris) if debris.count == 0);
                let is_harmless = fault.kind.loses_nothing() && !is_blank;
                let place = if is_harmless { &mut self.damage } else { &mut self.doubtful };
                place.get_or_insert(ReplayError::Fault(fault));
            }
        }
    }

    fn record(&mut self, record: Record, at: Option<u64>) {
        match record.body {
            Body::Event(event) => {
                if let Err(violation) = self.session.apply(&event) {
                    let place = record.place;
                    self.cut(ReplayError::Violation { seq: event.seq, violation, place });
                }
            }
            Body::Row(mut row) => {
                if let Some(at) = at {
                    row.members = row.members.min(at.saturating_sub(row.first_seq).saturating_add(1));
                }
                self.session.apply_row(&row);
            }
        }
    }

    fn cut(&mut self, damage: ReplayError) {
        self.damage = Some(damage);
        self.is_cut = true;
    }
}
