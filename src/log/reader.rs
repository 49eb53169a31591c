//! The records of a log, front to back.

use super::lines::{Line, Lines, Piece};
use super::{Event, Fault, FaultKind, Header, OpenError, PackedRow, Place, Source, UnknownVersion, rows};
use crate::format::{Format, Stream};
use crate::json::{self, Object};
use std::borrow::Cow;
use std::io;

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

/// Reads a log's records in one pass.
pub struct LogReader {
    lines: Lines,
    header: Header,
    format: &'static Format,
    file_bytes: u64,
    /// The seq that belongs next.
    next_seq: u64,
    /// Records stood on lines that could not be read, so seqs may be missing here.
    gap_explained: bool,
    /// A record of the torn frame does not continue the log: dsh drops it and all behind it (FORMAT §2.3).
    torn_rest: bool,
    /// Records that could be read from the torn frame.
    recovered: u64,
    /// The record behind a sequence fault, as its line's text.
    behind_fault: Option<(String, Place)>,
}

impl LogReader {
    /// Reads the header. A log of a version that dshc does not know is refused.
    pub fn open(source: &Source) -> Result<Self, OpenError> {
        Self::open_with(source, UnknownVersion::Refuse)
    }

    /// Reads the header.
    pub fn open_with(source: &Source, unknown: UnknownVersion) -> Result<Self, OpenError> {
        if source.bytes == 0 {
            return Err(OpenError::Empty);
        }
        let mut lines = Lines::new(source, 0)?;
        let (header, format) = match lines.next()? {
            Some(Piece::Line(line)) if line.recovered => return Err(OpenError::NoHeader("frame")),
            Some(Piece::Line(line)) => Header::parse(&String::from_utf8_lossy(line.bytes), unknown)?,
            Some(Piece::Fault(FaultKind::TornTail { frame, .. }, _)) => {
                return Err(OpenError::NoHeader(if frame { "frame" } else { "line" }));
            }
            Some(Piece::Fault(kind, _)) => return Err(OpenError::NotALog(kind.to_string())),
            None => return Err(OpenError::NoHeader("frame")),
        };
        Ok(Self::over(lines, source, header, format, 0))
    }

    /// Reads on from byte `start` of the file, where records were appended to a log of `header`; the first of
    /// them must have seq `next_seq`.
    pub fn resume(
        source: &Source,
        start: u64,
        header: Header,
        format: &'static Format,
        next_seq: u64,
    ) -> io::Result<Self> {
        Ok(Self::over(Lines::new(source, start)?, source, header, format, next_seq))
    }

    fn over(lines: Lines, source: &Source, header: Header, format: &'static Format, next_seq: u64) -> Self {
        Self {
            lines,
            header,
            format,
            file_bytes: source.bytes,
            next_seq,
            gap_explained: false,
            torn_rest: false,
            recovered: 0,
            behind_fault: None,
        }
    }

    /// The header.
    #[must_use]
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The facts of the log's format version.
    #[must_use]
    pub fn format(&self) -> &'static Format {
        self.format
    }

    /// Events so far, by the numbers of the records.
    #[must_use]
    pub fn events(&self) -> u64 {
        self.next_seq
    }

    /// Gives the next record or fault to `visit`; `None` at the end of the log. A record borrows the line that
    /// is being read, so it lives for the call alone.
    pub fn next<R>(&mut self, visit: impl FnOnce(Item) -> R) -> io::Result<Option<R>> {
        if let Some((text, place)) = self.behind_fault.take()
            && let Ok(body) = parse_line(&text, self.format)
        {
            (self.next_seq, self.gap_explained) = (body.first_seq() + body.events(), false);
            return Ok(Some(visit(Item::Record(Record { body, place }))));
        }
        loop {
            let (kind, place) = match self.lines.next()? {
                None => return Ok(None),
                Some(Piece::Line(_)) if self.torn_rest => continue,
                Some(Piece::Fault(kind, place)) => (kind, place),
                Some(Piece::Line(Line { bytes, place, recovered })) => {
                    let text = text_of(bytes);
                    let kind = match parse_line(&text, self.format) {
                        Ok(body) => match sequence_fault(self.next_seq, &body, self.gap_explained) {
                            None => {
                                (self.next_seq, self.gap_explained) =
                                    (body.first_seq() + body.events(), false);
                                self.recovered += u64::from(recovered);
                                return Ok(Some(visit(Item::Record(Record { body, place }))));
                            }
                            Some(kind) => {
                                if !recovered {
                                    self.behind_fault = Some((text.to_string(), place));
                                }
                                kind
                            }
                        },
                        Err(kind) => {
                            self.gap_explained |= kind != FaultKind::BlankLine;
                            kind
                        }
                    };
                    if recovered {
                        self.torn_rest = true;
                        continue;
                    }
                    (kind, place)
                }
            };
            let seq = self.next_seq;
            let kind = self.complete(kind, place);
            return Ok(Some(visit(Item::Fault(Fault { kind, place, seq }))));
        }
    }

    /// Adds what only the whole log tells, and notes where a fault may have cost records.
    fn complete(&mut self, kind: FaultKind, place: Place) -> FaultKind {
        match kind {
            FaultKind::TornTail { frame: true, .. } => {
                let bytes = self.file_bytes.saturating_sub(place.byte.unwrap_or(self.file_bytes));
                FaultKind::TornTail { bytes, frame: true, recovered: self.recovered }
            }
            FaultKind::FrameData(_) | FaultKind::UnfinishedLine { .. } | FaultKind::LineTooLong { .. } => {
                self.gap_explained = true;
                kind
            }
            other => other,
        }
    }
}

/// A line's text, U+FFFD for bytes that are no UTF-8, as the official reader has it (FORMAT §0.4).
fn text_of(bytes: &[u8]) -> Cow<'_, str> {
    // Nearly every line is sound, and checking is faster than looking for what to replace.
    std::str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed)
}

/// Reads one line as an event or a packed row.
fn parse_line<'a>(line: &'a str, format: &Format) -> Result<Body<'a>, FaultKind> {
    if line.bytes().all(|byte| byte.is_ascii_whitespace()) {
        return Err(FaultKind::BlankLine);
    }
    let record = Object::parse(line).map_err(|error| match json::parse(line) {
        Ok(_) => FaultKind::Envelope("it is no object".into()),
        Err(_) => FaultKind::NotJson(error.to_string()),
    })?;
    let tag = record
        .text("type")
        .and_then(|kind| rows::tag(&kind.to_str()))
        .filter(|_| format.stream == Stream::Rows);
    match tag {
        Some(tag) => PackedRow::parse(tag, &record, format)
            .map(Body::Row)
            .map_err(|reason| FaultKind::Row { tag, reason }),
        None => Event::parse(&record, format).map(Body::Event).map_err(FaultKind::Envelope),
    }
}

/// Whether a record continues the numbering. Where lines could not be read, seqs may be missing.
fn sequence_fault(expected: u64, body: &Body, gap_explained: bool) -> Option<FaultKind> {
    let found = body.first_seq();
    match found.cmp(&expected) {
        std::cmp::Ordering::Equal => None,
        std::cmp::Ordering::Greater if gap_explained => None,
        std::cmp::Ordering::Greater => Some(FaultKind::SeqGap { expected, found }),
        std::cmp::Ordering::Less => Some(FaultKind::SeqRepeat { expected, found, members: body.events() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::append::zstd_frame;
    use std::io::Write;

    const HEADER: &str = r#"{"type":"session","version":0,"id":"s","createdAt":1,"delegationDepth":0}"#;

    fn event(seq: u64) -> String {
        format!(r#"{{"type":"todo/write","seq":{seq},"time":{seq},"data":{{"todos":[]}}}}"#)
    }

    fn frame(text: &str) -> Vec<u8> {
        zstd_frame(text.as_bytes()).unwrap()
    }

    /// The seqs that a log gives, a text for each fault in its place.
    fn read(bytes: &[u8]) -> Vec<String> {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        let source = Source::of(file, std::path::Path::new("log")).unwrap();
        let mut reader = match LogReader::open(&source) {
            Ok(reader) => reader,
            Err(error) => return vec![error.code().to_owned()],
        };
        let mut out = Vec::new();
        while let Some(text) = reader
            .next(|item| match item {
                Item::Record(record) => record.body.first_seq().to_string(),
                Item::Fault(fault) => {
                    let name = format!("{:?}", fault.kind);
                    let name = name.split([' ', '(']).next().unwrap().to_owned();
                    format!("{name}@{}", fault.place.line.or(fault.place.frame).unwrap_or(0))
                }
            })
            .unwrap()
        {
            out.push(text);
        }
        out
    }

    fn raw(lines: &[&str]) -> Vec<String> {
        read(lines.join("\n").as_bytes())
    }

    #[test]
    fn raw_logs_give_their_records_and_faults() {
        let [e0, e1, e2, e4] = [0, 1, 2, 4].map(event);
        assert_eq!(raw(&[HEADER, &e0, &e1, ""]), ["0", "1"]);
        assert_eq!(raw(&[HEADER, &e0, &e1]), ["0", "TornTail@3"]);
        assert_eq!(raw(&[HEADER, &e0, "{", &e2, ""]), ["0", "NotJson@3", "2"]);
        assert_eq!(raw(&[HEADER, &e0, "", &e1, ""]), ["0", "BlankLine@3", "1"]);
        assert_eq!(raw(&[HEADER, &e0, &e1, &e2, &e4, ""]), ["0", "1", "2", "SeqGap@5", "4"]);
        assert_eq!(raw(&[HEADER, &e0, &e1, &e1, &e2, ""]), ["0", "1", "SeqRepeat@4", "1", "2"]);
        assert_eq!(raw(&[HEADER, "[]", "{}", &e2, ""]), ["Envelope@2", "Envelope@3", "2"]);
    }

    #[test]
    fn logs_without_a_header_are_told_apart() {
        assert_eq!(read(b""), ["empty-file"]);
        assert_eq!(read(b"{"), ["no-header"]);
        assert_eq!(read(b"hello\n"), ["not-a-log"]);
        assert_eq!(read(HEADER.as_bytes()), ["no-header"]);
        assert_eq!(raw(&[&HEADER.replace(":0,", ":77,"), ""]), ["unsupported-format"]);
        assert_eq!(read(&frame(HEADER)), ["not-a-log"]);
        assert_eq!(read(&frame(&format!("{HEADER}\n"))[..20]), ["no-header"]);
        assert!(raw(&[HEADER, ""]).is_empty());
    }

    #[test]
    fn lines_may_span_frames_but_must_end_in_one() {
        let (head, body) = (frame(&format!("{HEADER}\n")), event(0) + "\n");
        let (left, right) = body.split_at(20);
        let log = [head.clone(), frame(left), frame(right)].concat();
        assert_eq!(read(&log), ["0"]);
        let log = [head.clone(), frame(""), frame(&event(0))].concat();
        assert_eq!(read(&log), ["UnfinishedLine@2"]);
        let log = [frame(&format!("{HEADER}\n{body}")), frame(&(event(1) + "\n"))].concat();
        assert_eq!(read(&log), ["0", "HeaderFrame@1", "1"]);
    }

    #[test]
    fn a_torn_frame_gives_its_whole_records() {
        let head = frame(&format!("{HEADER}\n{}", ""));
        let first = frame(&(event(0) + "\n"));
        let second = frame(&format!("{}\n{}\n", event(1), event(2)));
        let whole = [head, first, second].concat();
        for cut in 1..=4 {
            assert_eq!(read(&whole[..whole.len() - cut]), ["0", "1", "2", "TornTail@3"], "cut {cut}");
        }
        assert_eq!(read(&whole[..whole.len() - 30]), ["0", "TornTail@3"]);
        // A record that does not continue the log ends the recovery in silence.
        let odd = frame(&format!("{}\n{}\n{}\n", event(1), event(7), event(8)));
        let log = [&whole[..whole.len()], &odd[..odd.len() - 4]].concat();
        assert_eq!(read(&log), ["0", "1", "2", "TornTail@4"]);
    }

    #[test]
    fn a_bad_checksum_is_no_torn_tail() {
        let head = frame(&format!("{HEADER}\n"));
        let mut middle = frame(&(event(0) + "\n"));
        *middle.last_mut().unwrap() ^= 1;
        let log = [head, middle, frame(&(event(1) + "\n"))].concat();
        assert_eq!(read(&log), ["0", "FrameData@2", "1"]);
    }

    #[test]
    fn a_broken_frame_does_not_cost_the_next_ones_first_record() {
        // Two blocks, so that the first one is decoded before the second turns out to be broken.
        let filler: String = (0..200_000_u32)
            .map(|n| char::from(b'a' + (n.wrapping_mul(2_654_435_761) >> 27) as u8 % 26))
            .collect();
        let two_blocks = event(0).replace("\"todos\":[]", &format!("\"todos\":[],\"x\":\"{filler}\""));
        let mut broken = frame(&(two_blocks + "\n"));
        let length = broken.len();
        broken[length - 200..length - 20].fill(0xaa);
        let log = [frame(&format!("{HEADER}\n")), broken, frame(&(event(1) + "\n"))].concat();
        assert_eq!(read(&log), ["FrameData@2", "1"]);
    }

    #[test]
    fn a_frame_that_swallows_others_is_damaged_not_torn() {
        let frames = [frame(&format!("{HEADER}\n")), frame(&(event(0) + "\n")), frame(&(event(1) + "\n"))];
        let mut log = frames.concat();
        // The block header behind the second frame's six header bytes: a block of two MiB.
        let header = frames[0].len() + 6;
        log[header + 2] = 0xff;
        assert_eq!(read(&log), ["FrameData@2"]);
    }

    proptest::proptest! {
        #[test]
        fn no_bytes_make_the_reader_panic(
            cut in 0usize..400, flips in proptest::collection::vec((0usize..400, 0u8..=255), 0..6), zstd: bool,
        ) {
            let text = format!("{HEADER}\n{}\n{}\n{}\n", event(0), event(1), event(2));
            let mut log = if zstd {
                [frame(&format!("{HEADER}\n")), frame(&text[HEADER.len() + 1..])].concat()
            } else {
                text.into_bytes()
            };
            for (at, byte) in flips {
                let length = log.len();
                log[at % length] = byte;
            }
            log.truncate(cut);
            read(&log);
        }
    }
}
