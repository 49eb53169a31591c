//! What stood at the last seqs of a log, as far as a repeated seq is to be compared with it.
//!
//! Kept are a bounded number of the last records, and two figures over all: where the last event stands that dsh does not
//! write by itself, and where lines and seqs ran apart.

use super::closers;
use crate::json::{self, Raw};
use crate::log::{Body, Event, Record};
use std::borrow::Cow;
use std::collections::VecDeque;

/// How many records are kept, and how much of their payloads, in bytes.
const MOST: usize = 256;
const MOST_BYTES: usize = 1 << 20;

/// How many places are kept where seqs and lines ran apart.
const MOST_RUNS: usize = 4096;

/// The past of a log that a repeat may turn out to be another version of.
#[derive(Debug, Default)]
pub(super) struct Trail {
    records: VecDeque<Kept>,
    bytes: usize,
    /// First seq and first line of runs of records with one seq and one line each.
    runs: VecDeque<(u64, u64)>,
    next: Option<(u64, u64)>,
    /// The last event that dsh does not write by itself when it opens a session.
    last_work: Option<u64>,
    last_line: Option<u64>,
}

/// One record.
#[derive(Debug)]
struct Kept {
    first_seq: u64,
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
    data: Box<Raw>,
    markers: [Option<Box<Raw>>; 2],
}

/// A piece of the past, from some seq on to where the log had come.
#[derive(Debug)]
pub(super) struct Past {
    /// The lines, where they are known.
    pub first_line: Option<u64>,
    pub last_line: Option<u64>,
    /// Whether dsh wrote all of it by itself.
    pub is_synthetic: bool,
    /// What its records are, as far as they are kept.
    pub whats: Vec<String>,
}

impl Trail {
    /// Takes the next record of the one history.
    pub(super) fn push(&mut self, record: &Record) {
        let (first_seq, line) = (record.body.first_seq(), record.place.line);
        if let Some(line) = line {
            if self.next != Some((first_seq, line)) {
                self.runs.push_back((first_seq, line));
                if self.runs.len() > MOST_RUNS {
                    self.runs.pop_front();
                }
            }
            self.next = Some((first_seq + 1, line + 1));
        }
        self.last_line = line.or(self.last_line);
        if !closers::is_synthetic(&record.body) {
            self.last_work = Some(first_seq);
        }
        let body = match &record.body {
            Body::Event(event) if event.data.get().len() <= MOST_BYTES / 4 => {
                KeptBody::Event(KeptEvent::of(event))
            }
            other => KeptBody::Told(closers::told(other)),
        };
        let bytes = if let KeptBody::Event(event) = &body { event.bytes() } else { 0 };
        self.bytes += bytes;
        self.records.push_back(Kept { first_seq, body, bytes });
        while self.records.len() > MOST || self.bytes > MOST_BYTES {
            self.bytes -= self.records.pop_front().map_or(0, |kept| kept.bytes);
        }
    }

    /// Whether a record is the very one that stands at its seq, in what it means. Not where that one is not kept.
    pub(super) fn is_again(&self, record: &Record) -> bool {
        let Body::Event(event) = &record.body else { return false };
        let at = self.records.binary_search_by_key(&event.seq, |kept| kept.first_seq);
        let kept = at.ok().and_then(|at| self.records.get(at));
        kept.is_some_and(|kept| matches!(&kept.body, KeptBody::Event(kept) if kept.is(event)))
    }

    /// What stood from `seq` on.
    pub(super) fn since(&self, seq: u64) -> Past {
        let next_run = self.runs.partition_point(|(first, _)| *first <= seq);
        let run = next_run.checked_sub(1).and_then(|run| self.runs.get(run));
        // A packed row is one line, whichever of its events is meant.
        let last_of_run = self.runs.get(next_run).map(|(_, line)| line - 1).or(self.last_line);
        let first_line = run.map(|(first, line)| (line + (seq - first)).min(last_of_run.unwrap_or(u64::MAX)));
        let from = self.records.partition_point(|kept| kept.first_seq < seq);
        Past {
            first_line,
            last_line: self.last_line,
            is_synthetic: self.last_work.is_none_or(|work| work < seq),
            whats: self.records.range(from..).map(Kept::told).collect(),
        }
    }
}

impl Kept {
    fn told(&self) -> String {
        match &self.body {
            KeptBody::Told(what) => what.clone(),
            KeptBody::Event(event) => closers::told(&Body::Event(event.again(self.first_seq))),
        }
    }
}

impl KeptEvent {
    fn again(&self, seq: u64) -> Event<'_> {
        let [surface_op, source_event_seqs] = [0, 1].map(|at| self.markers.get(at)?.as_deref());
        Event {
            event_type: Cow::Borrowed(&self.event_type),
            seq,
            time: self.time,
            data: &self.data,
            ignorable: false,
            source_event_seqs,
            surface_op,
        }
    }

    fn of(event: &Event) -> Self {
        Self {
            event_type: event.event_type.to_string(),
            time: event.time,
            data: event.data.to_owned(),
            markers: [event.surface_op, event.source_event_seqs].map(|marker| marker.map(ToOwned::to_owned)),
        }
    }

    fn bytes(&self) -> usize {
        let markers = self.markers.iter().flatten().map(|marker| marker.get().len());
        self.data.get().len() + markers.sum::<usize>()
    }

    fn is(&self, event: &Event) -> bool {
        let means =
            |one: &Raw, other: &Raw| one.get() == other.get() || json::digest(one) == json::digest(other);
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

#[cfg(test)]
mod tests {
    use super::super::testing::event;
    use super::*;
    use crate::log::{Item, LogReader, Source};

    /// The trail of a log of these lines, and what it makes of the last of them.
    fn trail(lines: &[String]) -> (Trail, bool) {
        let header = super::super::testing::HEADER;
        let log = format!("{header}\n{}\n", lines.join("\n"));
        let mut reader = LogReader::open(&Source::of_bytes(log.as_bytes())).unwrap();
        let (mut trail, mut is_again) = (Trail::default(), false);
        while reader
            .next(|item| {
                if let Item::Record(record) = item {
                    is_again = trail.is_again(&record);
                    trail.push(&record);
                }
            })
            .unwrap()
            .is_some()
        {}
        (trail, is_again)
    }

    #[test]
    fn the_past_is_bounded_but_its_figures_are_not() {
        let todo = |seq: u64| event(seq, "todo/write", &format!("{{\"text\":\"{}\"}}", "x".repeat(8000)));
        let lines: Vec<String> = (0..1000).map(todo).chain([event(1000, "step/end", "{}")]).collect();
        let (trail, _) = trail(&lines);
        assert!(trail.records.len() < MOST && trail.bytes <= MOST_BYTES);
        let (far, near) = (trail.since(3), trail.since(1000));
        assert_eq!((far.first_line, far.last_line, far.is_synthetic), (Some(5), Some(1002), false));
        assert_eq!(
            (near.first_line, near.is_synthetic, near.whats),
            (Some(1002), true, vec!["step/end".to_owned()])
        );
    }

    #[test]
    fn a_packed_row_is_one_line() {
        let row = r#"{"type":"text-chunks","seq0":1,"time0":1,"data":{"turn":1,"step":1,"index":0,"dt":[1,1],"texts":["a","b","c"]}}"#;
        let todo = |seq: u64| event(seq, "todo/write", "{}");
        let (trail, _) = trail(&[todo(0), row.to_owned(), todo(4), todo(5)]);
        let lines = [0, 1, 3, 4, 5].map(|seq| trail.since(seq).first_line.unwrap());
        assert_eq!(lines, [2, 3, 3, 4, 5]);
    }

    #[test]
    fn a_record_is_compared_by_what_it_means() {
        let one = event(0, "todo/write", r#"{"a":1,"b":[1.0]}"#);
        for (other, is_again) in [
            (event(0, "todo/write", r#"{ "b": [1], "a": 1 }"#), true),
            (event(0, "todo/write", r#"{"a":2,"b":[1.0]}"#), false),
            (event(0, "plan/mode", r#"{"a":1,"b":[1.0]}"#), false),
            (one.replace("\"time\":0", "\"time\":1"), false),
        ] {
            assert_eq!(trail(&[one.clone(), other.clone()]).1, is_again, "{other}");
        }
    }
}
