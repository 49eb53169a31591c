//! The lines of a log's text, each with its place, whatever the container.

use super::zstd_text::{Part, ZstdText};
use super::{Container, FaultKind, Place, Source, frames};
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Take};

/// The longest line that is read: JavaScript's engine, and so dsh, takes no string of 512 MiB.
pub(super) const MAX_LINE: usize = 512 << 20;

/// A line, its line feed left out.
#[derive(Debug)]
pub(super) struct Line<'a> {
    pub bytes: &'a [u8],
    pub place: Place,
    /// The line was read from a frame that the file's end cuts off (FORMAT §2.3).
    pub recovered: bool,
}

#[derive(Debug)]
pub(super) enum Piece<'a> {
    Line(Line<'a>),
    Fault(FaultKind, Place),
}

enum Text {
    Raw(BufReader<Take<File>>),
    Zstd(Box<ZstdText<BufReader<Take<File>>>>),
}

/// The frames of a zstd log as they come.
#[derive(Default)]
struct Frames {
    /// Those that start in the buffer: offset in the text, number, offset in the file.
    starts: VecDeque<(u64, u64, u64)>,
    /// The one in which the current line starts: number, offset in the file.
    current: Option<(u64, u64)>,
    begun: u64,
    /// Where the last one that has begun starts in the file.
    last_start: Option<u64>,
    /// Whether the first one is the file's first and must hold the header alone.
    has_header: bool,
    torn_start: Option<u64>,
    /// A later frame that the torn one swallows: it is damaged, not torn.
    swallowed: Option<u64>,
    is_torn: bool,
}

/// Cuts a log's text into lines.
pub(super) struct Lines {
    text: Text,
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
    /// A line that is too long: its bytes are passed over.
    overlong: bool,
    ended: bool,
}

impl Lines {
    /// The lines of a log from byte `start` of the file on, where a line (and a frame) must start.
    pub(super) fn new(source: &Source, start: u64) -> io::Result<Self> {
        let mut frames = Frames { has_header: start == 0, ..Frames::default() };
        let text = match source.container {
            Container::Raw => Text::Raw(source.reader(start)?),
            Container::Zstd => {
                // Only a walk to the end tells whether the last frame is whole; it decodes nothing.
                frames.torn_start = frames::torn_start(source.reader(start)?, start)?;
                if let Some(torn) = frames.torn_start {
                    let behind = torn + frames::MAGIC.len() as u64;
                    frames.swallowed = frames::next_start(source.reader(behind)?, behind)?;
                }
                Text::Zstd(Box::new(ZstdText::new(source.reader(start)?, start)?))
            }
        };
        Ok(Self {
            text,
            buffer: Vec::new(),
            start: 0,
            searched: 0,
            buffer_offset: 0,
            line: 0,
            frames,
            pending: VecDeque::new(),
            overlong: false,
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
                if self.overlong {
                    self.pass_over(length + 1);
                    self.overlong = false;
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
        Ok(Some(Piece::Line(Line { bytes: &self.buffer[from..to], place, recovered: self.frames.is_torn })))
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

    /// Reports a line once it is longer than any that is read, and drops its bytes as they come.
    fn limit_line(&mut self) {
        let length = self.buffer.len() - self.start;
        if !self.overlong && length > MAX_LINE {
            let place = self.place();
            self.pending.push_back((FaultKind::LineTooLong { limit: MAX_LINE }, place));
            self.overlong = true;
        }
        if self.overlong {
            self.pass_over(length);
        }
    }

    fn pass_over(&mut self, length: usize) {
        self.start += length;
        self.searched = self.start;
    }

    /// Adds text to the buffer, having made room by dropping what was given out.
    fn read(&mut self) -> io::Result<()> {
        self.buffer.drain(..self.start);
        self.buffer_offset += self.start as u64;
        self.searched -= self.start;
        self.start = 0;
        match &mut self.text {
            Text::Raw(input) => {
                let bytes = input.fill_buf()?;
                let length = bytes.len();
                self.buffer.extend_from_slice(bytes);
                input.consume(length);
                if length == 0 {
                    self.end(None);
                }
            }
            Text::Zstd(input) => {
                let part = input.next(&mut self.buffer)?;
                self.zstd_part(part);
            }
        }
        Ok(())
    }

    fn zstd_part(&mut self, part: Part) {
        match part {
            Part::Text => {}
            Part::FrameStart(at) => {
                self.frames.is_torn = self.frames.torn_start == Some(at);
                if self.frames.is_torn {
                    self.unfinished_line();
                }
                self.frames.begun += 1;
                self.frames.last_start = Some(at);
                self.frames.starts.push_back((self.text_end(), self.frames.begun, at));
            }
            Part::FrameEnd => {
                if self.frames.has_header && self.frames.begun == 1 && !self.is_one_line() {
                    let place = Place { frame: Some(1), byte: Some(0), ..Place::default() };
                    self.pending.push_back((FaultKind::HeaderFrame, place));
                }
            }
            // Nobody expects a torn frame to decode to its end; one that swallows others is told of at its end.
            Part::Fault(FaultKind::FrameData(_), _) if self.frames.is_torn => {}
            Part::Fault(kind, at) => {
                if matches!(kind, FaultKind::FrameData(_)) {
                    self.drop_half_line();
                }
                let is_begun = self.frames.last_start == Some(at);
                let frame = match kind {
                    FaultKind::FrameMagic { .. } | FaultKind::SkippableFrame { .. } => None,
                    _ => Some(self.frames.begun + u64::from(!is_begun)),
                };
                let place = Place { frame, byte: Some(at), text_byte: Some(self.text_end()), line: None };
                self.pending.push_back((kind, place));
            }
            Part::Torn(at) => match self.frames.swallowed {
                None => self.end(Some(at)),
                Some(later) => {
                    let problem = format!(
                        "one of its block headers is damaged: by them it runs past the end of the file, and over \
                         another frame that starts at byte {later}"
                    );
                    self.drop_half_line();
                    let place = Place { frame: Some(self.frames.begun), byte: Some(at), ..Place::default() };
                    self.pending.push_back((FaultKind::FrameData(problem), place));
                    self.ended = true;
                }
            },
            Part::End => self.end(None),
        }
    }

    /// The end of the file: what is left in the buffer is no whole line.
    fn end(&mut self, torn: Option<u64>) {
        self.ended = true;
        match (&self.text, torn) {
            (Text::Zstd(_), Some(at)) => {
                if !self.frames.is_torn {
                    // Too little of the frame is there for its start to be one.
                    self.unfinished_line();
                    self.frames.begun += 1;
                }
                let place =
                    Place { frame: Some(self.frames.begun), byte: Some(at), line: None, text_byte: None };
                self.pending.push_back((FaultKind::TornTail { bytes: 0, frame: true, recovered: 0 }, place));
            }
            (Text::Zstd(_), None) => self.unfinished_line(),
            (Text::Raw(_), _) => {
                let bytes = (self.buffer.len() - self.start) as u64;
                if bytes > 0 {
                    let place = self.place();
                    self.pending
                        .push_back((FaultKind::TornTail { bytes, frame: false, recovered: 0 }, place));
                }
            }
        }
    }

    /// Reports text that whole frames leave without its line feed, and drops it.
    fn unfinished_line(&mut self) {
        let bytes = self.buffer.len() - self.start;
        if bytes > 0 && !self.overlong {
            let place = self.place();
            self.pending.push_back((FaultKind::UnfinishedLine { bytes: bytes as u64 }, place));
            self.pass_over(bytes);
        }
    }

    /// Drops the line in whose middle a damaged frame breaks off, so that it is not joined with the next frame's text.
    fn drop_half_line(&mut self) {
        let line_feed = memchr::memrchr(b'\n', &self.buffer[self.searched..]);
        let end = line_feed.map_or(self.start, |at| self.searched + at + 1);
        self.buffer.truncate(end);
        self.searched = self.searched.min(end);
    }

    fn text_end(&self) -> u64 {
        self.buffer_offset + self.buffer.len() as u64
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
