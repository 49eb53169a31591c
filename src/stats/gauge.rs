//! One pass over a log, which is folded and counted at once.

use super::inherited::Boundary;
use super::tally::Line;
use super::{Figures, Tally};
use crate::json;
use crate::log::{Item, LogReader, OpenError, Source};
use crate::session::{Folded, Keep, Session, Unknown};
use crate::wording::amount;
use std::io;

/// What stands in one log, and what is to be said of it.
pub(super) struct Measured {
    pub(super) figures: Figures,
    pub(super) notes: Vec<String>,
}

/// Reads a log to its end.
pub(super) fn measure(source: &Source) -> Result<Measured, OpenError> {
    let mut reader = LogReader::open(source)?;
    Ok(Gauge::new(&reader).read(&mut reader)?)
}

/// Counts the events that the fold takes, so that both tell of the same part of a damaged log.
struct Gauge {
    folded: Folded,
    tally: Tally,
    boundary: Boundary,
}

impl Gauge {
    fn new(reader: &LogReader) -> Self {
        let session = Session::new(reader.header().clone(), reader.format(), Keep::Figures);
        // What a type means need not be known to count its events.
        let folded = Folded::new(session.allowing(Unknown::AllAllowed));
        Self { folded, tally: Tally::default(), boundary: Boundary::default() }
    }

    fn read(mut self, reader: &mut LogReader) -> io::Result<Measured> {
        let mut start = reader.text_bytes();
        while let Some(counted) = reader.next(|item| self.take(item))? {
            let end = reader.text_bytes();
            if let Some(Counted { is_chunk }) = counted {
                self.tally.add_bytes(end.saturating_sub(start), is_chunk);
            }
            start = end;
        }
        self.folded.settle();
        Ok(self.finish(reader))
    }

    /// Counts what the log gives next, if the fold takes it.
    fn take(&mut self, item: Item) -> Option<Counted> {
        let line = match &item {
            Item::Record(record) => Some(Line::of(&record.body, self.folded.session.format)),
            Item::Fault(_) => None,
        };
        let before = self.folded.session.events;
        self.folded.take(item, None);
        let line = line.filter(|_| self.folded.session.events > before)?;
        self.boundary.watch(&self.folded.session, line.first_seq, &self.tally);
        self.tally.add(&line);
        Some(Counted { is_chunk: line.is_chunk() })
    }

    fn finish(self, reader: &LogReader) -> Measured {
        let notes = self.notes();
        let Self { folded, tally, boundary } = self;
        let session = folded.session;
        let figures = Figures {
            inherited: boundary.settle(&session, &tally),
            container: reader.container(),
            decoded: reader.text_bytes(),
            frames: reader.frames(),
            nodes: session.surface.nodes().len() as u64,
            host_tokens: session.surface.host_tokens(),
            header_tokens: session.header_tokens,
            context_window: session.context_window,
            last_time: session.last_time,
            is_cut: folded.is_cut,
            left_out: folded.left_out,
            header: session.header,
            tally,
        };
        Measured { figures, notes }
    }

    /// What keeps the figures from telling all of the log.
    fn notes(&self) -> Vec<String> {
        let Folded { session, torn, damage, is_cut, left_out, .. } = &self.folded;
        let mut notes: Vec<String> = torn.iter().cloned().collect();
        if let Some(damage) = damage {
            let place = damage.place();
            notes.push(if *is_cut {
                let (events, behind) = (amount(session.events, "event"), amount(*left_out, "sound event"));
                format!("{place}: {damage}; counted are the {events} before it, not the {behind} behind it")
            } else {
                format!("{place}: {damage}; no event is lost, and all are counted")
            });
        }
        notes.extend(session.unknown.required.iter().map(|(event_type, (count, first))| {
            let (events, event_type) = (amount(*count, "event"), json::quote(event_type));
            let known = format!("type {event_type} is unknown ({events}, the first at seq {first})");
            format!("{known}: counted, but what the surface would be with it is not known")
        }));
        let (header, format) = (&session.header, session.format);
        notes.extend(session.seeds.problem(header, format, session.events));
        notes
    }
}

/// A line that was counted.
struct Counted {
    is_chunk: bool,
}
