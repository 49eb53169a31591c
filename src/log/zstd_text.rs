//! The text of a zstd log, frame by frame, in bounded memory.

use super::FaultKind;
use super::extent::{Extent, Frame};
use super::frames::{FrameCursor, Step};
use super::input::Input;
use std::io::{self, Cursor};
use zstd::zstd_safe::{DCtx, InBuffer, OutBuffer, ResetDirective, get_error_name};

/// How much text one call adds at most, but for a last frame's.
pub(super) const STEP: usize = 1 << 17;

/// The most text that a frame may have to be decoded at once.
const MOST_AT_ONCE: u64 = 1 << 20;

/// How many frames are decoded at once at most.
const MOST_FRAMES: usize = 1 << 12;

/// What one call of [`ZstdText::next`] came upon.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// A frame starts at this offset of the file.
    FrameStart(u64, Reach),
    /// Text was added.
    Text,
    /// The frame is whole and its checksum right.
    FrameEnd,
    /// At least one sound frame, and their text was added. The first that a reader gives stands alone.
    Frames(Vec<Start>),
    /// A frame is damaged; what was decoded of it has been added.
    Fault(FaultKind, u64),
    /// The file ends inside the frame at this offset; what could be decoded of it has been added.
    Torn(u64),
    /// No more text.
    End,
}

/// Where a frame starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Start {
    /// Offset in the file.
    pub at: u64,
    /// Offset in the text that was added.
    pub text: usize,
}

/// Whether the file's end cuts a frame off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    Whole,
    Torn,
    /// It is too long to see. Only a walk over it tells.
    Unknown,
}

/// Decodes the frames that a [`FrameCursor`] walks.
pub(super) struct ZstdText {
    cursor: FrameCursor<Input>,
    decoder: DCtx<'static>,
    frame_start: u64,
    /// How many frames may be decoded at once. The first stands alone.
    at_once: usize,
    /// The decoder said that the frame's data ends here.
    complete: bool,
    /// The decoder may hold text that found no room.
    undrained: bool,
    /// The frame's data is broken: its remaining bytes are passed over.
    broken: bool,
    /// Where the file ends inside a frame, once that is known and the decoder has been drained.
    torn: Option<u64>,
}

impl ZstdText {
    /// The text of `input`, whose first byte is the file's byte `offset`.
    pub(super) fn new(input: Input, offset: u64) -> io::Result<Self> {
        Ok(Self {
            cursor: FrameCursor::new(input, offset),
            decoder: DCtx::try_create().ok_or(io::ErrorKind::OutOfMemory)?,
            frame_start: 0,
            at_once: 1,
            complete: false,
            undrained: false,
            broken: false,
            torn: None,
        })
    }

    /// Offset in the file of the first byte that has not been used.
    pub(super) fn offset(&self) -> u64 {
        self.cursor.offset()
    }

    /// Goes one part on; text is added to `out`.
    pub(super) fn next(&mut self, out: &mut Vec<u8>) -> io::Result<Part> {
        loop {
            if self.undrained {
                match self.drain(out) {
                    Ok(0) => {}
                    Ok(_) => return Ok(Part::Text),
                    Err(fault) => return Ok(fault),
                }
            }
            if let Some(start) = self.torn {
                return Ok(Part::Torn(start));
            }
            let mut reach = Reach::Unknown;
            if self.cursor.is_between() {
                let extent = self.cursor.extent()?;
                // Behind a broken frame the next may stand within it: its start is told before its text is added.
                if let (Extent::Whole(frame), false) = (extent, self.broken) {
                    let starts = self.sound_frames(frame, out)?;
                    if !starts.is_empty() {
                        return Ok(Part::Frames(starts));
                    }
                }
                reach = match extent {
                    Extent::Whole(_) | Extent::Odd => Reach::Whole,
                    Extent::Beyond if self.cursor.sees_the_end() => Reach::Torn,
                    Extent::Beyond => Reach::Unknown,
                };
            }
            match self.cursor.step()? {
                Step::FrameStart(start) => {
                    self.decoder.reset(ResetDirective::SessionOnly).map_err(error)?;
                    (self.frame_start, self.complete, self.broken) = (start, false, false);
                    self.at_once = MOST_FRAMES;
                    return Ok(Part::FrameStart(start, reach));
                }
                Step::Bytes(bytes) if self.broken => {
                    let used = bytes.len();
                    self.cursor.consume(used);
                }
                Step::Bytes(bytes) => {
                    let before = out.len();
                    match decode(&mut self.decoder, bytes, out) {
                        Ok(step) => {
                            self.cursor.consume(step.used);
                            self.complete |= step.complete;
                            self.undrained = step.full;
                            // A decoder that neither takes nor gives anything has seen the frame's end already.
                            if step.used == 0 && out.len() == before {
                                return Ok(self.break_off("data goes on behind the frame's end"));
                            }
                            if out.len() > before {
                                return Ok(Part::Text);
                            }
                        }
                        Err(error) => return Ok(self.break_off(&error.to_string())),
                    }
                }
                Step::FrameEnd if self.broken => {}
                Step::FrameEnd if self.complete => return Ok(Part::FrameEnd),
                Step::FrameEnd => return Ok(self.break_off("data ends before the frame does")),
                Step::Torn(start) => {
                    self.torn = Some(start);
                    self.undrained = !self.broken && start == self.frame_start;
                }
                Step::Fault(kind, at) => return Ok(Part::Fault(kind, at)),
                Step::End => return Ok(Part::End),
            }
        }
    }

    /// Adds the text of `frame`, which comes next, and of those behind it, as long as they are whole and sound and more
    /// text is wanted. A frame that is not leaves nothing behind: it is decoded step by step, to tell what is wrong.
    fn sound_frames(&mut self, mut frame: Frame, out: &mut Vec<u8>) -> io::Result<Vec<Start>> {
        let before = out.len();
        let mut starts = Vec::new();
        while let Some(text) = frame.text.filter(|text| *text <= MOST_AT_ONCE) {
            let start = Start { at: self.cursor.offset(), text: out.len() - before };
            let room = usize::try_from(text).unwrap_or(usize::MAX);
            if !decode_whole(&mut self.decoder, self.cursor.seen(frame.length), room, out) {
                break;
            }
            starts.push(start);
            self.cursor.pass_over(frame.length);
            if starts.len() >= self.at_once || out.len() - before >= STEP {
                break;
            }
            match self.cursor.extent()? {
                Extent::Whole(next) => frame = next,
                Extent::Beyond | Extent::Odd => break,
            }
        }
        if !starts.is_empty() {
            self.at_once = MOST_FRAMES;
        }
        Ok(starts)
    }

    /// Takes text out of the decoder that had no room before.
    fn drain(&mut self, out: &mut Vec<u8>) -> Result<usize, Part> {
        let before = out.len();
        match decode(&mut self.decoder, &[], out) {
            Ok(step) => {
                self.complete |= step.complete;
                self.undrained = step.full;
                Ok(out.len() - before)
            }
            Err(error) => {
                self.undrained = false;
                Err(self.break_off(&error.to_string()))
            }
        }
    }

    fn break_off(&mut self, reason: &str) -> Part {
        self.broken = true;
        Part::Fault(FaultKind::FrameData(reason.to_owned()), self.frame_start)
    }
}

/// Decodes a whole frame to the end of `out`, at most `room` bytes; false, and nothing is added, if it is not sound.
fn decode_whole(decoder: &mut DCtx<'static>, frame: &[u8], room: usize, out: &mut Vec<u8>) -> bool {
    let before = out.len();
    out.reserve(room);
    let mut end = Cursor::new(&mut *out);
    end.set_position(before as u64);
    let is_sound = decoder.decompress(&mut end, frame).is_ok();
    if !is_sound {
        out.truncate(before);
    }
    is_sound
}

struct Decoded {
    used: usize,
    complete: bool,
    /// No room was left, so the decoder may hold more.
    full: bool,
}

/// Decodes `bytes`, or what the decoder holds, and adds to `out` at most [`STEP`] bytes.
fn decode(decoder: &mut DCtx<'static>, bytes: &[u8], out: &mut Vec<u8>) -> io::Result<Decoded> {
    let before = out.len();
    out.reserve(STEP);
    let mut input = InBuffer::around(bytes);
    let mut end = Cursor::new(&mut *out);
    end.set_position(before as u64);
    let mut output = OutBuffer::around(&mut end);
    let result = decoder.decompress_stream(&mut output, &mut input);
    let added = output.pos();
    let room = output.capacity();
    let complete = result.map_err(error)? == 0;
    Ok(Decoded { used: input.pos(), complete, full: added == room && !complete })
}

/// The library's own words for what it refuses. A block that is larger than its frame allows is called corrupt, or else too
/// large for a buffer, whose size depends on the frames before: here always the former.
fn error(code: usize) -> io::Error {
    match get_error_name(code) {
        "Destination buffer is too small" => io::Error::other("Data corruption detected"),
        name => io::Error::other(name),
    }
}
