//! Where the events that a session inherited from another one end (FORMAT §3, §9.3).

use crate::format::{Format, Seeded};
use crate::json;
use crate::log::{Event, Header};

/// A `session/end-seed` and what it marks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Marker {
    /// It was copied from the parent with the other inherited events.
    Copied,
    /// It stands right behind the inherited events.
    Boundary,
    /// The session itself was opened again here.
    Reopened,
}

/// The `session/end-seed` events of a log. dsh writes one whenever it opens a session, and one where it forks.
#[derive(Debug, Default)]
pub struct Seeds {
    /// Seqs, rising.
    markers: Vec<u64>,
    /// The last one that says that what stands before it was inherited.
    last_inherited: Option<u64>,
}

impl Marker {
    /// The word that reports use.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Copied => "copied",
            Self::Boundary => "boundary",
            Self::Reopened => "reopened",
        }
    }
}

impl Seeds {
    pub(super) fn marker(&mut self, event: &Event, format: &Format) {
        self.markers.push(event.seq);
        let is_inherited = || event.payload()?.get("inherited").map(json::is_true);
        if format.header.seeded == Seeded::Flag && is_inherited() == Some(true) {
            self.last_inherited = Some(event.seq);
        }
    }

    /// How many leading events were inherited; `None` if the log is no fork, or does not say where they end.
    #[must_use]
    pub fn inherited(&self, header: &Header) -> Option<u64> {
        header.seed_length.or(self.last_inherited.filter(|_| header.is_seeded))
    }

    /// The markers, each with what it marks.
    pub fn markers(&self, header: &Header) -> impl Iterator<Item = (u64, Marker)> {
        let inherited = self.inherited(header);
        let kind = move |seq: u64| match inherited.map(|inherited| seq.cmp(&inherited)) {
            Some(std::cmp::Ordering::Less) => Marker::Copied,
            Some(std::cmp::Ordering::Equal) => Marker::Boundary,
            Some(std::cmp::Ordering::Greater) | None => Marker::Reopened,
        };
        self.markers.iter().map(move |seq| (*seq, kind(*seq)))
    }

    /// Whether dsh refuses a log that ends here, since its boundary is not as the header has it (FORMAT §3).
    #[must_use]
    pub fn refuses(&self, header: &Header, format: &Format) -> bool {
        format.header.seeded == Seeded::Flag && header.is_seeded != self.last_inherited.is_some()
    }

    /// What is wrong with the boundary at the end of a log of `events` events: dsh refuses the log for it (FORMAT §3).
    #[must_use]
    pub fn problem(&self, header: &Header, format: &Format, events: u64) -> Option<String> {
        match (format.header.seeded, header.is_seeded, self.last_inherited) {
            (Seeded::Length, ..) => {
                let length = header.seed_length.filter(|length| *length > events)?;
                Some(format!("the header says that {length} events are inherited, and the log has {events}"))
            }
            (Seeded::Flag, true, None) => Some(
                "the header says that the session began with events of another one, and no session/end-seed marks \
                 where they end"
                    .into(),
            ),
            (Seeded::Flag, false, Some(seq)) => Some(format!(
                "session/end-seed {seq} ends inherited events, and the header says that there are none"
            )),
            (Seeded::Flag, true, Some(_)) | (Seeded::Flag, false, None) => None,
        }
    }
}
