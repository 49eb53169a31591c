//! What stood at the last seqs of a history, as far as a repeated seq is to be compared with it and a branch told.
//!
//! Kept are a bounded number of the last records, and figures over all: the runs of lines and seqs, and where the first and
//! the last event stand that dsh does not write by itself.

use super::closers::{self, Turn};
use crate::json::{self, Raw};
use crate::log::{Body, Event, Record};
use std::borrow::Cow;
use std::collections::VecDeque;

#[cfg(test)]
mod tests;

/// How many records are kept, and how much of their payloads, in bytes.
const MOST: usize = 256;
const MOST_BYTES: usize = 1 << 20;

/// How many runs are kept.
const MOST_RUNS: usize = 4096;

/// The past of a history, or of a branch of it.
#[derive(Debug, Default)]
pub(super) struct Trail {
    records: VecDeque<Piece>,
    bytes: usize,
    runs: VecDeque<Run>,
    /// Whether the first runs are no longer kept.
    is_cut: bool,
    /// The first and the last event that dsh does not write by itself when it opens a session.
    work: Option<(u64, u64)>,
    /// Whether a turn is open, where the records tell.
    is_in_turn: Option<bool>,
}

/// Records one behind the other, by their seqs (to before the second) and their lines (to the second): events one a line,
/// or one packed row.
#[derive(Debug, Clone, Copy)]
struct Run {
    seqs: (u64, u64),
    lines: Option<(u64, u64)>,
}

/// One record, as it is kept.
#[derive(Debug)]
pub(super) struct Piece {
    pub first_seq: u64,
    pub events: u64,
    line: Option<u64>,
    is_work: bool,
    turn: Turn,
    body: KeptBody,
    bytes: usize,
}

#[derive(Debug)]
enum KeptBody {
    Event(KeptEvent),
    /// What it was, where it is not kept word for word.
    Told(String),
}

/// An event word for word.
#[derive(Debug)]
struct KeptEvent {
    event_type: String,
    time: i64,
    data: Box<str>,
    markers: [Option<Box<str>>; 2],
}

impl Trail {
    /// Takes the next record.
    pub(super) fn push(&mut self, piece: Piece) {
        let seqs = (piece.first_seq, piece.first_seq.saturating_add(piece.events));
        let lines = piece.line.map(|line| (line, line));
        match self.runs.back_mut() {
            Some(run) if run.goes_on_with(&piece) => {
                (run.seqs.1, run.lines) = (seqs.1, run.lines.zip(lines).map(|(run, piece)| (run.0, piece.1)));
            }
            _ => self.runs.push_back(Run { seqs, lines }),
        }
        if self.runs.len() > MOST_RUNS {
            self.runs.pop_front();
            self.is_cut = true;
        }
        if piece.is_work {
            self.work = Some((self.work.map_or(seqs.0, |(first, _)| first), seqs.0));
        }
        self.is_in_turn = match piece.turn {
            Turn::Starts | Turn::Within => Some(true),
            Turn::Ends => Some(false),
            Turn::Any => self.is_in_turn,
        };
        self.bytes += piece.bytes;
        self.records.push_back(piece);
        while self.records.len() > MOST || self.bytes > MOST_BYTES {
            self.bytes -= self.records.pop_front().map_or(0, |kept| kept.bytes);
        }
    }

    /// Takes a record that belongs before the last one, though its line is the next.
    pub(super) fn push_before_last(&mut self, piece: Piece) {
        let (run, last) = (self.runs.pop_back(), self.records.pop_back());
        self.bytes -= last.as_ref().map_or(0, |last| last.bytes);
        self.push(piece);
        self.bytes += last.as_ref().map_or(0, |last| last.bytes);
        self.runs.extend(run);
        self.records.extend(last);
    }

    /// Whether a record is the very one that stands at its seq, in what it means. Not where that one is not kept.
    pub(super) fn is_again(&self, record: &Record) -> bool {
        let Body::Event(event) = &record.body else { return false };
        let at = self.records.binary_search_by_key(&event.seq, |kept| kept.first_seq);
        let kept = at.ok().and_then(|at| self.records.get(at));
        kept.is_some_and(|kept| matches!(&kept.body, KeptBody::Event(kept) if kept.is(event)))
    }

    /// Whether a record of this part in a turn may stand next. Where nothing speaks against it, it may.
    pub(super) fn may_go_on_with(&self, turn: Turn) -> bool {
        match turn {
            Turn::Starts => self.is_in_turn != Some(true),
            Turn::Within | Turn::Ends => self.is_in_turn != Some(false),
            Turn::Any => true,
        }
    }

    pub(super) fn is_in_turn(&self) -> bool {
        self.is_in_turn == Some(true)
    }

    /// Gives up the words of records: they are compared with nothing any more.
    pub(super) fn forget_words(&mut self) {
        self.records.iter_mut().for_each(Piece::forget_words);
        self.bytes = 0;
    }

    /// Where the record begins that holds `seq`: before it in a packed row, which no history can have a part of.
    pub(super) fn start_of(&self, seq: u64) -> u64 {
        let run = self.runs.iter().find(|run| run.seqs.0 < seq && seq < run.seqs.1);
        run.filter(|run| run.is_row()).map_or(seq, |run| run.seqs.0)
    }

    /// Parts what stands from `seq` on from what stands before it. No record holds both.
    pub(super) fn split_off(&mut self, seq: u64) -> Self {
        let at = self.runs.partition_point(|run| run.seqs.1 <= seq);
        let mut runs = self.runs.split_off(at);
        if let Some(run) = runs.front_mut().filter(|run| run.seqs.0 < seq) {
            let lines = run.seqs.1 - seq;
            let cut = run.lines.map(|(_, last)| (last + 1).saturating_sub(lines));
            let before = run.lines.zip(cut).map(|((first, _), cut)| (first, cut.saturating_sub(1)));
            self.runs.push_back(Run { seqs: (run.seqs.0, seq), lines: before });
            *run = Run {
                seqs: (seq, run.seqs.1),
                lines: run.lines.zip(cut).map(|((_, last), cut)| (cut, last)),
            };
        }
        let records = self.records.split_off(self.records.partition_point(|kept| kept.first_seq < seq));
        let works = |records: &VecDeque<Piece>| {
            let works: Vec<u64> =
                records.iter().filter(|kept| kept.is_work).map(|kept| kept.first_seq).collect();
            works.first().copied().zip(works.last().copied())
        };
        // Where records are not kept, the most is taken: that all of them are work.
        let is_kept = !self.records.is_empty() || records.front().is_some_and(|kept| kept.first_seq == seq);
        let first = works(&records).filter(|_| is_kept).map_or(seq, |(first, _)| first);
        let work = self.work.filter(|(_, last)| *last >= seq).map(|(_, last)| (first, last));
        let last = works(&self.records).map_or(seq.saturating_sub(1), |(_, last)| last);
        self.work = self.work.filter(|(first, _)| *first < seq).map(|(first, _)| (first, last));
        let bytes = records.iter().map(|kept| kept.bytes).sum();
        self.bytes -= bytes;
        // The first part is cut short of its first runs; the second only where it is all that is left.
        let is_cut = self.is_cut && self.runs.is_empty();
        Self { records, bytes, runs, is_cut, work, is_in_turn: self.is_in_turn.take() }
    }

    /// Whether dsh wrote all of it by itself.
    pub(super) fn is_synthetic(&self) -> bool {
        self.work.is_none()
    }

    /// The lines, in stretches. Without the first where those are not known.
    pub(super) fn lines(&self) -> (bool, Vec<(u64, u64)>) {
        let mut lines: Vec<(u64, u64)> = Vec::new();
        for (first, last) in self.runs.iter().filter_map(|run| run.lines) {
            match lines.last_mut() {
                Some(stretch) if first == stretch.1 || first == stretch.1 + 1 => stretch.1 = last,
                _ => lines.push((first, last)),
            }
        }
        (!self.is_cut, lines)
    }

    /// The seqs that are missing between `first` and before `next`, each stretch to before its second.
    pub(super) fn missing(&self, first: u64, next: u64) -> impl Iterator<Item = (u64, u64)> {
        let start = if self.is_cut { self.runs.front().map_or(first, |run| run.seqs.0) } else { first };
        let ends = std::iter::once(start).chain(self.runs.iter().map(|run| run.seqs.1));
        ends.zip(self.runs.iter().map(|run| run.seqs.0).chain([next])).filter(|(end, next)| end < next)
    }

    /// The seqs that are there, from the first to the last.
    pub(super) fn seqs(&self) -> Option<(u64, u64)> {
        let (first, last) = (self.runs.front()?, self.runs.back()?);
        Some((first.seqs.0, last.seqs.1.saturating_sub(1)))
    }

    /// How many records there are, as far as is known.
    pub(super) fn count(&self) -> u64 {
        self.runs.iter().map(|run| if run.is_row() { 1 } else { run.seqs.1 - run.seqs.0 }).sum()
    }

    /// What the first records are that are kept.
    pub(super) fn told(&self, most: usize) -> Vec<String> {
        self.records.iter().take(most).map(Piece::told).collect()
    }
}

impl Run {
    /// Whether a record stands right behind, one event on the next line.
    fn goes_on_with(&self, piece: &Piece) -> bool {
        let next_line = self.lines.map(|(_, last)| last + 1);
        piece.events == 1 && !self.is_row() && piece.first_seq == self.seqs.1 && piece.line == next_line
    }

    /// Whether it is a packed row of several events.
    fn is_row(&self) -> bool {
        let lines = self.lines.map_or(1, |(first, last)| last.saturating_sub(first) + 1);
        self.seqs.1 - self.seqs.0 > lines
    }
}

impl Piece {
    /// A record word for word, if it is not too long.
    pub(super) fn of(record: &Record) -> Self {
        match &record.body {
            Body::Event(event) if event.data.get().len() <= MOST_BYTES / 4 => {
                Self::with(record, KeptBody::Event(KeptEvent::of(event)))
            }
            _ => Self::in_words(record),
        }
    }

    /// A record that is compared with nothing, as what it was.
    pub(super) fn in_words(record: &Record) -> Self {
        Self::with(record, KeptBody::Told(closers::told(&record.body)))
    }

    fn with(record: &Record, body: KeptBody) -> Self {
        Self {
            first_seq: record.body.first_seq(),
            events: record.body.events(),
            line: record.place.line,
            is_work: !closers::is_synthetic(&record.body),
            turn: closers::turn(&record.body),
            bytes: if let KeptBody::Event(event) = &body { event.bytes() } else { 0 },
            body,
        }
    }

    /// A whole record in a damaged line, of which no more than the seq is known.
    pub(super) fn beside_damage(seq: u64, line: Option<u64>) -> Self {
        Self {
            first_seq: seq,
            events: 1,
            line,
            is_work: true,
            turn: Turn::Any,
            body: KeptBody::Told("a record in a damaged line".to_owned()),
            bytes: 0,
        }
    }

    pub(super) fn turn(&self) -> Turn {
        self.turn
    }

    pub(super) fn line(&self) -> Option<u64> {
        self.line
    }

    fn forget_words(&mut self) {
        (self.body, self.bytes) = (KeptBody::Told(self.told()), 0);
    }

    fn told(&self) -> String {
        match &self.body {
            KeptBody::Told(what) => what.clone(),
            KeptBody::Event(event) => event.told(self.first_seq),
        }
    }
}

impl KeptEvent {
    /// What it was, in a few words.
    fn told(&self, seq: u64) -> String {
        let Ok(data) = json::parse(&self.data) else { return self.event_type.clone() };
        closers::told(&Body::Event(Event {
            event_type: Cow::Borrowed(&self.event_type),
            seq,
            time: self.time,
            data: data.raw(),
            ignorable: false,
            source_event_seqs: None,
            surface_op: None,
        }))
    }

    fn of(event: &Event) -> Self {
        Self {
            event_type: event.event_type.to_string(),
            time: event.time,
            data: event.data.get().into(),
            markers: [event.surface_op, event.source_event_seqs]
                .map(|marker| marker.map(|marker| marker.get().into())),
        }
    }

    fn bytes(&self) -> usize {
        let markers = self.markers.iter().flatten().map(|marker| marker.len());
        self.data.len() + markers.sum::<usize>()
    }

    fn is(&self, event: &Event) -> bool {
        let means = |one: &str, other: Raw| {
            one == other.get()
                || json::parse(one).is_ok_and(|one| json::digest(one.raw()) == json::digest(other))
        };
        let markers = self.markers.iter().zip([event.surface_op, event.source_event_seqs]);
        self.event_type == event.event_type
            && self.time == event.time
            && markers.into_iter().all(|(kept, marker)| match (kept, marker) {
                (Some(kept), Some(marker)) => means(kept, marker),
                (None, None) => true,
                _ => false,
            })
            && means(&self.data, event.data)
    }
}
