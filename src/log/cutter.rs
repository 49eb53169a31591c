//! A log's text is cut into lines, whatever the container.

use super::framing::Frames;
use super::lines::{Line, MAX_LINE, Piece, Reached, Read};
use super::overlong::Overlong;
use super::unpacked::Unpacked;
use super::zstd_text::Part;
use super::{Container, FaultKind, Place, Source, frames};
use std::collections::VecDeque;
use std::io;
use std::ops::Range;

/// Cuts a log's text into lines.
pub(super) struct Cutter {
    /// Where the bytes are, to go on behind what is no frame.
    source: Source,
    text: Unpacked,
    /// The text from the first byte that has not been given out.
    buffer: Vec<u8>,
    /// Where in `buffer` the next line starts.
    start: usize,
    /// Up to where `buffer` is known to hold no line feed.
    searched: usize,
    /// Offset in the decoded text of `buffer[0]`.
    buffer_offset: u64,
    line: u64,
    frames: Frames,
    pending: VecDeque<(FaultKind, Place)>,
    /// A line that is too long: its bytes are passed over as they come.
    overlong: Option<Overlong>,
    /// Where in `buffer` the last line that was given stands, until the next is asked for.
    given: Range<usize>,
    /// The first frame has been decoded; once its lines are given, it must turn out to be the header alone.
    header_is_due: bool,
    ended: bool,
}

impl Cutter {
    /// The lines of a log from byte `start` of the file on, where a line (and a frame) must start.
    pub(super) fn new(source: &Source, start: u64) -> io::Result<Self> {
        Ok(Self {
            source: source.again()?,
            text: Unpacked::of(source, start)?,
            buffer: Vec::new(),
            start: 0,
            searched: 0,
            buffer_offset: 0,
            line: 0,
            frames: Frames::from(start),
            pending: VecDeque::new(),
            overlong: None,
            given: 0..0,
            header_is_due: false,
            ended: false,
        })
    }

    /// The next line or fault, `None` at the end.
    pub(super) fn next(&mut self) -> io::Result<Option<Piece<'_>>> {
        let length = loop {
            if let Some((kind, place)) = self.pending.pop_front() {
                return Ok(Some(Piece::Fault(kind, place)));
            }
            if let Some(found) = memchr::memchr(b'\n', &self.buffer[self.searched..]) {
                let length = self.searched + found - self.start;
                if let Some(overlong) = self.overlong.take() {
                    self.pass_over(length + 1);
                    self.pending.push_back((FaultKind::LineTooLong, overlong.place));
                    continue;
                }
                break length;
            }
            self.searched = self.buffer.len();
            if self.ended {
                return Ok(None);
            }
            self.limit_line();
            self.read()?;
        };
        let place = self.place();
        let (from, to) = (self.start, self.start + length);
        self.start = to + 1;
        self.searched = self.start;
        self.given = from..to;
        let recovered = self.frames.is_torn;
        let empty_behind = if length == 0 { self.pass_over_empty_lines()? } else { 0 };
        Ok(Some(Piece::Line(Line {
            bytes: self.given(),
            place,
            recovered,
            read: Read::default(),
            empty_behind,
        })))
    }

    /// Passes over empty lines of the same frame at once: a file may hold hundreds of millions. Tells how many.
    fn pass_over_empty_lines(&mut self) -> io::Result<u64> {
        let mut lines = 0;
        while self.pending.is_empty() {
            let next_frame = self.frames.starts.front().map(|(offset, ..)| offset - self.buffer_offset);
            let end = next_frame.and_then(|at| usize::try_from(at).ok()).unwrap_or(self.buffer.len());
            let run = self.buffer[self.start..end].iter().take_while(|byte| **byte == b'\n').count();
            self.pass_over(run);
            lines += run as u64;
            self.line += run as u64;
            if self.start < end || next_frame.is_some() || self.ended {
                break;
            }
            self.read()?;
        }
        Ok(lines)
    }

    /// The line that was given last, until the next is asked for; behind the last line, the rest that is none.
    pub(super) fn given(&self) -> &[u8] {
        &self.buffer[self.given.clone()]
    }

    /// How far the log has been given out.
    pub(super) fn reached(&self) -> Reached {
        Reached { text: self.buffer_offset + self.start as u64, frames: self.frames.begun }
    }

    /// Gives the line that was given last away with the buffer that holds it, and takes `other` in its place.
    pub(super) fn give_away(&mut self, other: &mut Vec<u8>) -> Range<usize> {
        other.clear();
        other.extend_from_slice(&self.buffer[self.start..]);
        self.buffer_offset += self.start as u64;
        (self.start, self.searched) = (0, self.searched - self.start);
        std::mem::swap(&mut self.buffer, other);
        std::mem::take(&mut self.given)
    }

    /// The place of the line that starts at `start`; counts it.
    fn place(&mut self) -> Place {
        self.line += 1;
        let text_byte = self.buffer_offset + self.start as u64;
        while let Some(&(offset, number, at)) = self.frames.starts.front() {
            if offset > text_byte {
                break;
            }
            self.frames.current = Some((number, at));
            self.frames.starts.pop_front();
        }
        Place {
            line: Some(self.line),
            frame: self.frames.current.map(|(number, _)| number),
            byte: Some(self.frames.current.map_or(text_byte, |(_, at)| at)),
            text_byte: Some(text_byte),
        }
    }

    /// Drops the bytes of a line that is longer than any that is read.
    fn limit_line(&mut self) {
        let length = self.buffer.len() - self.start;
        if self.overlong.is_none() && length > MAX_LINE {
            self.overlong = Some(Overlong { place: self.place(), bytes: 0, nuls: 0 });
        }
        if let Some(overlong) = &mut self.overlong {
            overlong.add(&self.buffer[self.start..]);
            self.pass_over(length);
        }
    }

    fn pass_over(&mut self, length: usize) {
        self.start += length;
        self.searched = self.start;
    }

    /// Adds text to the buffer, having made room by dropping what was given out.
    fn read(&mut self) -> io::Result<()> {
        self.given = 0..0;
        self.buffer.drain(..self.start);
        self.buffer_offset += self.start as u64;
        self.searched -= self.start;
        self.start = 0;
        let line = self.overlong.as_ref().and_then(|overlong| overlong.place.text_byte);
        self.frames.forget_within(line.unwrap_or(self.buffer_offset));
        if std::mem::take(&mut self.header_is_due) {
            self.check_header_frame();
            return Ok(());
        }
        let text_end = self.text_end();
        let part = self.text.next(&mut self.buffer)?;
        if let Some(swallowed) = self.swallowed_before(&part)? {
            return self.go_on_behind(swallowed - 1);
        }
        if let Part::FrameStart(at, reach) = part {
            self.frames.look_at(&self.source, at, reach)?;
        }
        match self.take(part, text_end) {
            Some(damage) => self.go_on_behind(damage),
            None => Ok(()),
        }
    }

    /// Where a frame starts within the broken one that ends where `part` begins: another writer went on behind a torn
    /// frame, whose block sizes then run over what it wrote.
    fn swallowed_before(&mut self, part: &Part) -> io::Result<Option<u64>> {
        let at = match *part {
            Part::FrameStart(at, _) | Part::Torn(at) | Part::Fault(_, at) => at,
            Part::End => self.source.bytes,
            Part::Text | Part::FrameEnd | Part::Frames(_) => return Ok(None),
        };
        match self.frames.broken_start.take_if(|broken| *broken < at) {
            Some(broken) => frames::start_between(&self.source, broken, at),
            None => Ok(None),
        }
    }

    /// Goes on with the next frame behind the byte `damage`, where the walk over the frames cannot go on.
    fn go_on_behind(&mut self, damage: u64) -> io::Result<()> {
        let rest = self.source.bytes.saturating_sub(damage);
        self.frames.walk_ended(self.text.offset());
        if self.frames.have_cost_enough(&self.source) {
            let place = Place { byte: Some(damage), ..Place::default() };
            self.pending.push_back((FaultKind::Unread { bytes: rest }, place));
            self.ended = true;
            return Ok(());
        }
        if let Some(next) = frames::start_behind(&self.source, damage)? {
            self.frames.go_on_at(next);
            self.text = Unpacked::of(&self.source, next)?;
        } else {
            self.ended = true;
            if let Some((FaultKind::FrameMagic { rest: behind, .. }, _)) = self.pending.back_mut() {
                *behind = Some(rest);
            }
        }
        Ok(())
    }

    /// Takes what comes next, whose text starts at byte `text` of the text; tells the byte at which the walk over the
    /// frames broke down, if it did.
    fn take(&mut self, part: Part, text: u64) -> Option<u64> {
        match part {
            Part::FrameStart(at, _) => {
                if self.frames.is_torn {
                    self.unfinished_line();
                }
                self.frames.begin(at, self.text_end());
            }
            Part::FrameEnd if self.is_header_frame() => self.check_header_frame(),
            Part::FrameEnd | Part::Text => {}
            Part::Frames(starts) => {
                for start in starts {
                    self.frames.begin(start.at, text + start.text as u64);
                }
                self.header_is_due = self.is_header_frame();
            }
            // What a torn frame that swallows others decodes to is told of at its end.
            Part::Fault(FaultKind::FrameData(_), _)
                if self.frames.is_torn && self.frames.swallowed.is_some() => {}
            Part::Fault(FaultKind::FrameData(problem), at) if self.frames.is_torn => {
                self.broken_tail(problem, at);
            }
            Part::Fault(kind, at) => {
                if matches!(kind, FaultKind::FrameData(_) | FaultKind::FrameStructure(_)) {
                    self.drop_half_line();
                }
                let frame = match kind {
                    FaultKind::FrameMagic { .. } | FaultKind::SkippableFrame { .. } => None,
                    _ => {
                        // A frame that is refused for its header counts as one all the same.
                        self.frames.begun += u64::from(self.frames.last_start.replace(at) != Some(at));
                        Some(self.frames.begun)
                    }
                };
                let is_frame = self.frames.last_start == Some(at);
                let text_byte = if is_frame { self.frames.text_start } else { self.text_end() };
                let place = Place { frame, byte: Some(at), text_byte: Some(text_byte), line: None };
                if matches!(kind, FaultKind::FrameData(_)) {
                    self.frames.broken_start = Some(at);
                }
                let is_walk_over =
                    matches!(kind, FaultKind::FrameMagic { .. } | FaultKind::FrameStructure(_));
                self.pending.push_back((kind, place));
                return is_walk_over.then_some(at);
            }
            Part::Torn(_) if self.frames.is_broken => self.ended = true,
            Part::Torn(at) => match self.frames.swallowed {
                None => self.end(Some(at)),
                Some(later) => {
                    let problem = format!(
                        "by one of its block headers it runs past the end of the file, and over another frame that \
                         starts at byte {later}"
                    );
                    self.broken_tail(problem, at);
                    return Some(at);
                }
            },
            Part::End => self.end(None),
        }
        None
    }

    /// Reports that the torn frame is damaged besides.
    fn broken_tail(&mut self, problem: String, at: u64) {
        self.drop_half_line();
        self.frames.is_broken = true;
        let place = Place { frame: Some(self.frames.begun), byte: Some(at), ..Place::default() };
        let swallowed = self.frames.swallowed;
        self.pending.push_back((FaultKind::BrokenTail { problem, swallowed, recovered: 0 }, place));
    }

    /// The end of the file: what is left in the buffer is no whole line.
    fn end(&mut self, torn: Option<u64>) {
        self.ended = true;
        match (self.source.container, torn) {
            (Container::Zstd, Some(at)) => {
                if !self.frames.is_torn {
                    // Too little of the frame is there for its start to be one.
                    self.unfinished_line();
                    self.frames.begun += 1;
                }
                let place =
                    Place { frame: Some(self.frames.begun), byte: Some(at), line: None, text_byte: None };
                self.pending
                    .push_back((FaultKind::TornTail { bytes: 0, nuls: 0, frame: true, recovered: 0 }, place));
            }
            (Container::Zstd, None) => self.unfinished_line(),
            (Container::Raw, _) => {
                if let Some(Overlong { place, bytes, nuls }) = self.rest() {
                    let torn = FaultKind::TornTail { bytes, nuls, frame: false, recovered: 0 };
                    self.pending.push_back((torn, place));
                }
            }
        }
    }

    /// Reports text that whole frames leave without its line feed, and drops it.
    fn unfinished_line(&mut self) {
        if let Some(Overlong { place, bytes, .. }) = self.rest() {
            self.pending.push_back((FaultKind::UnfinishedLine { bytes }, place));
        }
    }

    /// Takes what stands behind the last line feed, if anything does.
    fn rest(&mut self) -> Option<Overlong> {
        let length = self.buffer.len() - self.start;
        let mut rest = match self.overlong.take() {
            Some(overlong) => overlong,
            None if length == 0 => return None,
            None => Overlong { place: self.place(), bytes: 0, nuls: 0 },
        };
        rest.add(&self.buffer[self.start..]);
        // Of a line that is too long, most has gone already.
        self.given = if rest.bytes == length as u64 { self.start..self.buffer.len() } else { 0..0 };
        self.pass_over(length);
        Some(rest)
    }

    /// Drops the line in whose middle a damaged frame breaks off, so that it is not joined with the next frame's text.
    fn drop_half_line(&mut self) {
        let line_feed = memchr::memrchr(b'\n', &self.buffer[self.searched..]);
        if line_feed.is_none() {
            self.overlong = None;
        }
        let end = line_feed.map_or(self.start, |at| self.searched + at + 1);
        self.buffer.truncate(end);
        self.searched = self.searched.min(end);
        // The line may span frames: those that start within it have no text left either.
        let text_end = self.text_end();
        while self.frames.starts.pop_back_if(|(offset, ..)| *offset > text_end).is_some() {}
    }

    fn text_end(&self) -> u64 {
        self.buffer_offset + self.buffer.len() as u64
    }

    /// Whether the frame that was read last is the file's first.
    fn is_header_frame(&self) -> bool {
        self.frames.has_header && self.frames.begun == 1
    }

    fn check_header_frame(&mut self) {
        if !self.is_one_line() {
            let place = Place { frame: Some(1), byte: Some(0), ..Place::default() };
            self.pending.push_back((FaultKind::HeaderFrame, place));
        }
    }

    /// Whether all text so far is one line with its line feed.
    fn is_one_line(&self) -> bool {
        let rest = &self.buffer[self.start..];
        match self.line {
            0 => memchr::memchr(b'\n', rest).is_some_and(|at| at + 1 == rest.len()),
            1 => rest.is_empty(),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests;
