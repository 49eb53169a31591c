//! The records of a log, front to back.

use super::debris::{self, Patience, Whole};
use super::fault::Content;
use super::lines::{Lines, Piece, Values};
use super::text::{self, Decoded};
use super::{
    Body, Container, Event, Fault, FaultKind, Header, Item, OpenError, PackedRow, Place, Record, Source,
    UnknownVersion, rows,
};
use crate::format::{Format, ScanCheck, Stream};
use crate::json::{self, Object, Tape};
use std::borrow::Cow;
use std::collections::VecDeque;
use std::io;
use std::ops::Range;

/// Reads a log's records in one pass.
pub struct LogReader {
    lines: Lines,
    /// The values of the line that is being read.
    tape: Tape,
    header: Header,
    format: &'static Format,
    /// Members of the header line that its format does not have.
    extra_members: Vec<String>,
    /// The seq that belongs next.
    next_seq: u64,
    /// Records stood on lines that could not be read, so seqs may be missing here.
    gap_explained: bool,
    /// A line of the torn frame does not continue the log: dsh takes no record of the frame behind it (FORMAT §2.3).
    torn_ends: bool,
    /// Records of the torn frame that continue the log, before the first line that does not.
    recovered: u64,
    /// The fault that stands before the first line.
    first_fault: Option<Fault>,
    /// Records of the last line that follow the line's fault.
    behind_fault: Option<Behind>,
    /// With lines that are no JSON.
    patience: Patience,
    /// Lines that end in a carriage return, and the first of them.
    crlf: (u64, Place),
}

/// Records of a line that stand behind its fault.
struct Behind {
    /// The line's text, where it is not what the line's bytes are.
    text: Option<String>,
    ranges: VecDeque<Range<usize>>,
    place: Place,
    is_rescued: bool,
    invalid_utf8: Option<u64>,
}

const BOM: &[u8] = "\u{feff}".as_bytes();

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
        let (mut first_fault, mut crlf) = (None, (0, Place::default()));
        let (header, format, extra_members) = loop {
            match lines.next()? {
                Some(Piece::Line(line)) if line.recovered => return Err(OpenError::NoHeader("frame")),
                Some(Piece::Line(line)) => {
                    let bytes = line.bytes.strip_prefix(BOM).unwrap_or(line.bytes);
                    if bytes.len() < line.bytes.len() {
                        first_fault.get_or_insert(Fault { kind: FaultKind::Bom, place: line.place, seq: 0 });
                    }
                    if bytes.last() == Some(&b'\r') {
                        crlf = (1, line.place);
                    }
                    let text = text::decode(bytes)
                        .ok_or_else(|| OpenError::NotALog(FaultKind::LineTooLong.to_string()))?;
                    let (header, format) = Header::parse(&text.text, unknown)?;
                    break (header, format, Header::extra_members(&text.text, format));
                }
                Some(Piece::Fault(FaultKind::TornTail { frame, .. }, _)) => {
                    return Err(OpenError::NoHeader(if frame { "frame" } else { "line" }));
                }
                // Of those before the header only the first is told: dsh comes no farther.
                Some(Piece::Fault(kind @ FaultKind::SkippableFrame { .. }, place)) => {
                    first_fault.get_or_insert(Fault { kind, place, seq: 0 });
                }
                Some(Piece::Fault(kind, _)) => return Err(OpenError::NotALog(kind.to_string())),
                None => return Err(OpenError::NoHeader("frame")),
            }
        };
        Ok(Self { extra_members, first_fault, crlf, ..Self::over(lines, header, format, 0) })
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
        Ok(Self::over(Lines::new(source, start)?, header, format, next_seq))
    }

    fn over(lines: Lines, header: Header, format: &'static Format, next_seq: u64) -> Self {
        Self {
            lines,
            tape: Tape::default(),
            header,
            format,
            extra_members: Vec::new(),
            next_seq,
            gap_explained: false,
            torn_ends: false,
            recovered: 0,
            first_fault: None,
            behind_fault: None,
            patience: Patience::default(),
            crlf: (0, Place::default()),
        }
    }

    /// The header.
    #[must_use]
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Members of the header line that its format does not have, and that its readers may pass over.
    #[must_use]
    pub fn extra_header_members(&self) -> &[String] {
        &self.extra_members
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

    /// Bytes of the decoded text up to the end of what was given last, the header included.
    #[must_use]
    pub fn text_bytes(&self) -> u64 {
        self.lines.given_end()
    }

    /// Zstandard frames so far, damaged ones too; `None` for a raw log.
    #[must_use]
    pub fn frames(&self) -> Option<u64> {
        (self.container() == Container::Zstd).then(|| self.lines.frames())
    }

    /// How the log's text is stored.
    #[must_use]
    pub fn container(&self) -> Container {
        self.lines.source().container
    }

    /// How many lines so far end in a carriage return before the line feed, and the first of them. JSON takes it
    /// for white space.
    #[must_use]
    pub fn crlf(&self) -> Option<(u64, Place)> {
        Some(self.crlf).filter(|(count, _)| *count > 0)
    }

    /// Gives the next record or fault to `visit`; `None` at the end of the log. A record borrows the line that
    /// is being read, so it lives for the call alone.
    pub fn next<R>(&mut self, visit: impl FnOnce(Item) -> R) -> io::Result<Option<R>> {
        if let Some(fault) = self.first_fault.take() {
            return Ok(Some(visit(Item::Fault(fault))));
        }
        if let Some(behind) = self.behind_fault.take() {
            return Ok(Some(self.record_behind(behind, visit)));
        }
        let (kind, place) = match self.lines.next()? {
            None => return Ok(None),
            Some(Piece::Fault(kind, place)) => (kind, place),
            Some(Piece::Line(line)) => {
                let (place, recovered, empty_behind) = (line.place, line.recovered, line.empty_behind);
                if line.bytes.last() == Some(&b'\r') {
                    self.crlf.1 = if self.crlf.0 == 0 { place } else { self.crlf.1 };
                    self.crlf.0 += 1;
                }
                let decoded = line.read.text.map(Decoded::of).or_else(|| text::decode(line.bytes));
                let invalid_utf8 = decoded.as_ref().and_then(|decoded| decoded.first_bad);
                let invalid_utf8 = invalid_utf8.map(|bad| place.text_byte.unwrap_or(0) + bad as u64);
                let (next, patience) = ((self.next_seq, self.gap_explained), &mut self.patience);
                let values = (line.read.values, &mut self.tape);
                match take_line(decoded.as_ref(), values, self.format, next, patience) {
                    Ok(body) => {
                        (self.next_seq, self.gap_explained) = (body.first_seq() + body.events(), false);
                        self.recovered += u64::from(recovered && !self.torn_ends);
                        let record = Record { body, place, is_rescued: false, invalid_utf8 };
                        return Ok(Some(visit(Item::Record(record))));
                    }
                    Err(Broken { kind: FaultKind::BlankLine { .. }, .. }) => {
                        self.torn_ends |= recovered;
                        (FaultKind::BlankLine { lines: 1 + empty_behind }, place)
                    }
                    Err(Broken { kind, ranges, is_rescued }) => {
                        self.torn_ends |= recovered;
                        if !ranges.is_empty() {
                            let text = decoded.and_then(|Decoded { text, .. }| match text {
                                Cow::Owned(text) => Some(text),
                                Cow::Borrowed(_) => None,
                            });
                            self.behind_fault =
                                Some(Behind { text, ranges, place, is_rescued, invalid_utf8 });
                        }
                        (kind, place)
                    }
                }
            }
        };
        let fault = Fault { kind: self.complete(kind, place), place, seq: self.next_seq };
        Ok(Some(visit(Item::Fault(fault))))
    }

    /// Gives the next of the records that stand behind their line's fault.
    fn record_behind<R>(&mut self, mut behind: Behind, visit: impl FnOnce(Item) -> R) -> R {
        let (place, is_rescued, invalid_utf8) = (behind.place, behind.is_rescued, behind.invalid_utf8);
        let range = behind.ranges.pop_front().unwrap_or_default();
        let text = match &behind.text {
            Some(text) => &text[range],
            None => std::str::from_utf8(&self.lines.given()[range]).unwrap_or_default(),
        };
        let given = match parse_line(text, &mut self.tape, self.format, self.next_seq) {
            Ok(body) => {
                self.next_seq = body.first_seq() + body.events();
                self.gap_explained &= is_rescued;
                visit(Item::Record(Record { body, place, is_rescued, invalid_utf8 }))
            }
            // It was read before, so this does not come about.
            Err(kind) => visit(Item::Fault(Fault { kind, place, seq: self.next_seq })),
        };
        self.behind_fault = Some(behind).filter(|behind| !behind.ranges.is_empty());
        given
    }

    /// Whether a line is the very record that continues the log.
    fn is_next_record(&self, line: &[u8]) -> bool {
        let Some(line) = text::decode(line) else { return false };
        parse_line(&line.text, &mut Tape::default(), self.format, self.next_seq)
            .is_ok_and(|body| sequence_fault(self.next_seq, &body, false).is_none())
    }

    /// Adds what only the whole log tells, and notes where a fault may have cost records.
    fn complete(&mut self, kind: FaultKind, place: Place) -> FaultKind {
        match kind {
            FaultKind::TornTail { frame: true, nuls, .. } => {
                let end = self.lines.source().bytes;
                let bytes = end.saturating_sub(place.byte.unwrap_or(end));
                return FaultKind::TornTail { bytes, nuls, frame: true, recovered: self.recovered };
            }
            FaultKind::TornTail { frame: false, bytes, nuls, .. } => {
                let recovered = u64::from(self.is_next_record(self.lines.given()));
                return FaultKind::TornTail { bytes, nuls, frame: false, recovered };
            }
            // Nothing could be read of it, whatever it was: a torn tail like others.
            FaultKind::BrokenTail { swallowed: None, .. } if self.recovered == 0 && !self.torn_ends => {
                return self
                    .complete(FaultKind::TornTail { bytes: 0, nuls: 0, frame: true, recovered: 0 }, place);
            }
            FaultKind::BrokenTail { problem, swallowed, .. } => {
                (self.gap_explained, self.torn_ends) = (true, false);
                let recovered = std::mem::take(&mut self.recovered);
                return FaultKind::BrokenTail { problem, swallowed, recovered };
            }
            _ => {}
        }
        self.gap_explained |= !kind.loses_nothing();
        kind
    }
}

/// A line that is not the record that belongs there.
struct Broken {
    kind: FaultKind,
    /// Where records stand in its text that are given all the same.
    ranges: VecDeque<Range<usize>>,
    /// Whether they share the line with something else.
    is_rescued: bool,
}

impl From<FaultKind> for Broken {
    fn from(kind: FaultKind) -> Self {
        Self { kind, ranges: VecDeque::new(), is_rescued: false }
    }
}

/// Reads a line that should continue the numbering, by the seq that belongs there and whether a gap is explained.
fn take_line<'a>(
    decoded: Option<&'a Decoded>,
    values: (Values<'a>, &'a mut Tape),
    format: &Format,
    (expected, gap_explained): (u64, bool),
    patience: &mut Patience,
) -> Result<Body<'a>, Broken> {
    let text = &*decoded.ok_or(FaultKind::LineTooLong)?.text;
    match read_line(text, values, format, expected) {
        Ok(body) => match sequence_fault(expected, &body, gap_explained) {
            None => Ok(body),
            Some(kind) => {
                Err(Broken { ranges: VecDeque::from([Range { start: 0, end: text.len() }]), ..kind.into() })
            }
        },
        Err(FaultKind::NotJson(error)) => {
            let (debris, records) = debris::search(text, format, expected, patience);
            let is_fused = debris.count > 1 || debris.count == 1 && debris.stub + debris.boms > 0;
            let kind = match (is_fused, debris.nuls) {
                (true, _) => FaultKind::FusedRecords(Box::new(debris)),
                (false, 1..) => FaultKind::NulBlock(Box::new(debris)),
                (false, 0) => return Err(FaultKind::NotJson(error).into()),
            };
            let ranges = records.into_iter().map(|Whole { range, .. }| range).collect();
            Err(Broken { kind, ranges, is_rescued: true })
        }
        Err(kind) => Err(kind.into()),
    }
}

/// Reads one line as an event or a packed row; `expected` is the seq that belongs there.
pub(super) fn parse_line<'a>(
    line: &'a str,
    tape: &'a mut Tape,
    format: &Format,
    expected: u64,
) -> Result<Body<'a>, FaultKind> {
    read_line(line, (Values::Unread, tape), format, expected)
}

fn read_line<'a>(
    line: &'a str,
    values: (Values<'a>, &'a mut Tape),
    format: &Format,
    expected: u64,
) -> Result<Body<'a>, FaultKind> {
    if line.bytes().all(|byte| byte.is_ascii_whitespace()) {
        return Err(FaultKind::BlankLine { lines: 1 });
    }
    let is_checked_later = !format.checks_with_scan(ScanCheck::Envelope);
    let (known, tape) = values;
    let value = match known {
        Values::On(tape, (start, end)) => Ok(tape.value(start..end, line)),
        Values::None => Err(Tape::problem(line)),
        Values::Unread => tape.read(line),
    };
    let value = value.map_err(|error| {
        // The parser was given one line, and so calls every line the first.
        FaultKind::NotJson(error.to_string().replace(" at line 1 column ", " at column "))
    })?;
    let record = Object::of(value).ok_or_else(|| {
        // `null` makes the scan itself of format 0 fail; other values have no seq and so end it.
        let is_null = is_checked_later && json::is_null(value);
        FaultKind::Envelope {
            reason: "it is no object".into(),
            is_taken: is_null,
            ends_turn: is_null,
            content: Content::Other,
        }
    })?;
    let tag = (format.stream == Stream::Rows).then(|| record.text("type")).flatten();
    match tag.and_then(|kind| rows::tag(&kind.to_str())) {
        Some(tag) => PackedRow::parse(tag, &record, format)
            .map(Body::Row)
            .map_err(|reason| FaultKind::Row { tag, reason }),
        None => Event::parse(&record, format).map(Body::Event).map_err(|reason| {
            let content = Event::content_of(&record, format);
            let is_header = content == Content::Header;
            FaultKind::Envelope {
                reason: if is_header { "it is a header line".into() } else { reason },
                is_taken: is_checked_later && record.count("seq") == Some(expected),
                ends_turn: is_checked_later && record.has_text("type", "turn/end"),
                content,
            }
        }),
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
mod tests;
