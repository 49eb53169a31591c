//! The text of a zstd log, frame by frame, in bounded memory.

use super::FaultKind;
use super::frames::{FrameCursor, Step};
use std::io::{self, BufRead};
use zstd::stream::raw::{Decoder, InBuffer, Operation as _, OutBuffer};

/// How much text one call adds at most.
const STEP: usize = 1 << 17;

/// What one call of [`ZstdText::next`] came upon.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// A frame starts at this offset of the file.
    FrameStart(u64),
    /// Text was added.
    Text,
    /// The frame is whole and its checksum right.
    FrameEnd,
    /// A frame is damaged; what was decoded of it has been added.
    Fault(FaultKind, u64),
    /// The file ends inside the frame at this offset; what could be decoded of it has been added.
    Torn(u64),
    /// No more text.
    End,
}

/// Decodes the frames that a [`FrameCursor`] walks.
pub(super) struct ZstdText<R> {
    cursor: FrameCursor<R>,
    decoder: Decoder<'static>,
    /// Where the decoder writes, [`STEP`] bytes.
    room: Vec<u8>,
    frame_start: u64,
    /// The decoder said that the frame's data ends here.
    complete: bool,
    /// The decoder may hold text that found no room.
    undrained: bool,
    /// The frame's data is broken: its remaining bytes are passed over.
    broken: bool,
    /// Where the file ends inside a frame, once that is known and the decoder has been drained.
    torn: Option<u64>,
}

impl<R: BufRead> ZstdText<R> {
    /// The text of `input`, whose first byte is the file's byte `offset`.
    pub(super) fn new(input: R, offset: u64) -> io::Result<Self> {
        Ok(Self {
            cursor: FrameCursor::new(input, offset),
            decoder: Decoder::new()?,
            room: vec![0; STEP],
            frame_start: 0,
            complete: false,
            undrained: false,
            broken: false,
            torn: None,
        })
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
            match self.cursor.step()? {
                Step::FrameStart(start) => {
                    self.decoder.reinit()?;
                    (self.frame_start, self.complete, self.broken) = (start, false, false);
                    return Ok(Part::FrameStart(start));
                }
                Step::Bytes(bytes) if self.broken => {
                    let used = bytes.len();
                    self.cursor.consume(used);
                }
                Step::Bytes(bytes) => {
                    let before = out.len();
                    let result = decode(&mut self.decoder, bytes, &mut self.room, out);
                    match result {
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

    /// Takes text out of the decoder that had no room before.
    fn drain(&mut self, out: &mut Vec<u8>) -> Result<usize, Part> {
        let before = out.len();
        match decode(&mut self.decoder, &[], &mut self.room, out) {
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

struct Decoded {
    used: usize,
    complete: bool,
    /// No room was left, so the decoder may hold more.
    full: bool,
}

/// Decodes `bytes`, or what the decoder holds, and adds to `out` as much as `room` takes.
fn decode(
    decoder: &mut Decoder<'static>,
    bytes: &[u8],
    room: &mut [u8],
    out: &mut Vec<u8>,
) -> io::Result<Decoded> {
    let mut input = InBuffer::around(bytes);
    let mut output = OutBuffer::around(&mut *room);
    let result = decoder.run(&mut input, &mut output);
    let (used, end) = (input.pos(), output.pos());
    out.extend_from_slice(&room[..end]);
    let complete = result? == 0;
    Ok(Decoded { used, complete, full: end == room.len() && !complete })
}
