//! The structure of a zstd log: where frames start and end, without decoding them (FORMAT §2.2).

use super::extent::{self, Block, Descriptor, Extent};
use super::input::Input;
use super::{FaultKind, Source};
use std::io::{self, BufRead, Read as _};

/// The first bytes of every frame.
pub(super) const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// One step through the container.
#[derive(Debug)]
pub(super) enum Step<'a> {
    /// A frame starts at this offset of the file; its bytes follow.
    FrameStart(u64),
    /// Some of the frame's bytes, at least one. [`FrameCursor::consume`] those that were used.
    Bytes(&'a [u8]),
    /// The frame is whole.
    FrameEnd,
    /// The file ends inside the frame that starts at this offset.
    Torn(u64),
    /// Something that is no frame stands at this offset. The walk goes on behind a skippable frame, else it
    /// has ended.
    Fault(FaultKind, u64),
    /// The file ends where a frame ends.
    End,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Between,
    /// So many bytes of the current part are left.
    Part(Part, u64),
    Ended,
}

/// The parts of a frame, in order. A part's length is known before it is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// Magic number, descriptor and the rest of the frame header.
    Header,
    BlockHeader,
    BlockBody {
        last: bool,
    },
    Checksum,
}

/// Walks the frames of a log and hands out their bytes.
#[derive(Debug)]
pub(super) struct FrameCursor<R> {
    input: R,
    /// Offset in the file of the next byte.
    offset: u64,
    frame_start: u64,
    has_checksum: bool,
    state: State,
    /// Bytes that were looked at before they could be handed out: at most a frame header.
    held: Vec<u8>,
    held_used: usize,
}

impl<R: BufRead> FrameCursor<R> {
    /// A cursor over `input`, whose first byte is the file's byte `offset`.
    pub(super) fn new(input: R, offset: u64) -> Self {
        Self {
            input,
            offset,
            frame_start: 0,
            has_checksum: false,
            state: State::Between,
            held: Vec::with_capacity(18),
            held_used: 0,
        }
    }

    /// The next step. After `Bytes` the same step comes again with what was not consumed.
    pub(super) fn step(&mut self) -> io::Result<Step<'_>> {
        match self.state {
            State::Between => self.frame_start(),
            State::Ended => Ok(Step::End),
            State::Part(part, 0) => self.part_end(part),
            State::Part(part, left) => self.part_bytes(part, left),
        }
    }

    /// Tells that `count` bytes of the last `Bytes` were used.
    pub(super) fn consume(&mut self, count: usize) {
        if self.held_used < self.held.len() {
            self.held_used += count;
        } else {
            self.input.consume(count);
            self.offset += count as u64;
        }
        if let State::Part(_, left) = &mut self.state {
            *left = left.saturating_sub(count as u64);
        }
    }

    fn frame_start(&mut self) -> io::Result<Step<'_>> {
        let start = self.offset;
        if !self.hold(5)? {
            self.state = State::Ended;
            return Ok(match self.held.first_chunk::<4>() {
                Some(&found) if is_skippable(found) => {
                    Step::Fault(FaultKind::SkippableFrame { bytes: 4 }, start)
                }
                Some(&found) if found != MAGIC => {
                    let nuls = if found == [0; 4] { 4 } else { 0 };
                    Step::Fault(FaultKind::FrameMagic { found, nuls, is_end: nuls > 0, rest: None }, start)
                }
                _ if self.held.is_empty() => Step::End,
                _ => Step::Torn(start),
            });
        }
        let found = [self.held[0], self.held[1], self.held[2], self.held[3]];
        if is_skippable(found) {
            return self.skip(start);
        }
        if found != MAGIC {
            self.state = State::Ended;
            let (nuls, is_end) = if found == [0; 4] { self.count_nuls()? } else { (0, false) };
            return Ok(Step::Fault(FaultKind::FrameMagic { found, nuls, is_end, rest: None }, start));
        }
        let descriptor = Descriptor(self.held[4]);
        if descriptor.is_reserved() {
            self.state = State::Ended;
            return Ok(Step::Fault(FaultKind::FrameStructure("a reserved header bit set"), start));
        }
        self.has_checksum = descriptor.has_checksum();
        self.frame_start = start;
        self.state = State::Part(Part::Header, descriptor.header_bytes() as u64);
        Ok(Step::FrameStart(start))
    }

    /// How many NUL bytes stand here, the held ones first, and whether the file ends with them.
    fn count_nuls(&mut self) -> io::Result<(u64, bool)> {
        let held = self.held.iter().take_while(|byte| **byte == 0).count();
        let mut nuls = held as u64;
        if held < self.held.len() {
            return Ok((nuls, false));
        }
        loop {
            let bytes = self.input.fill_buf()?;
            let (length, run) = (bytes.len(), bytes.iter().take_while(|byte| **byte == 0).count());
            nuls += run as u64;
            if run < length || length == 0 {
                return Ok((nuls, length == 0));
            }
            self.input.consume(length);
        }
    }

    fn skip(&mut self, start: u64) -> io::Result<Step<'_>> {
        let whole = self.hold(8)?;
        let size = self
            .held
            .get(4..8)
            .map_or(0, |size| u64::from(u32::from_le_bytes([size[0], size[1], size[2], size[3]])));
        self.held.clear();
        let skipped = io::copy(&mut (&mut self.input).take(size), &mut io::sink())?;
        self.offset += skipped;
        if !whole || skipped < size {
            self.state = State::Ended;
        }
        Ok(Step::Fault(FaultKind::SkippableFrame { bytes: self.offset - start }, start))
    }

    fn part_bytes(&mut self, part: Part, left: u64) -> io::Result<Step<'_>> {
        // A block header is read ahead: it tells how long the block is. No decoder is given what is reserved.
        if part == Part::BlockHeader && self.held_used >= self.held.len() {
            if !self.hold(3)? {
                self.state = State::Ended;
                return Ok(Step::Torn(self.frame_start));
            }
            if self.block().is_reserved() {
                self.state = State::Ended;
                let kind = FaultKind::FrameStructure("a reserved block type");
                return Ok(Step::Fault(kind, self.frame_start));
            }
        }
        if self.held_used < self.held.len() {
            let rest = self.held.len() - self.held_used;
            let take = rest.min(usize::try_from(left).unwrap_or(rest));
            return Ok(Step::Bytes(&self.held[self.held_used..self.held_used + take]));
        }
        if self.input.fill_buf()?.is_empty() {
            self.state = State::Ended;
            return Ok(Step::Torn(self.frame_start));
        }
        let available = self.input.fill_buf()?;
        let take = available.len().min(usize::try_from(left).unwrap_or(available.len()));
        Ok(Step::Bytes(&available[..take]))
    }

    fn part_end(&mut self, part: Part) -> io::Result<Step<'_>> {
        self.state = match part {
            Part::BlockHeader => {
                let block = self.block();
                State::Part(Part::BlockBody { last: block.is_last() }, block.body().into())
            }
            Part::Header | Part::BlockBody { last: false } => State::Part(Part::BlockHeader, 3),
            Part::BlockBody { last: true } if self.has_checksum => State::Part(Part::Checksum, 4),
            Part::BlockBody { last: true } | Part::Checksum => {
                self.state = State::Between;
                return Ok(Step::FrameEnd);
            }
        };
        self.held.clear();
        self.held_used = 0;
        self.step()
    }

    /// The block whose header is held.
    fn block(&self) -> Block {
        Block::of([self.held[0], self.held[1], self.held[2]])
    }

    /// Reads up to `count` bytes into `held`; false if the file ends before.
    fn hold(&mut self, count: usize) -> io::Result<bool> {
        if self.held_used >= self.held.len() {
            self.held.clear();
            self.held_used = 0;
        }
        while self.held.len() < count {
            let available = self.input.fill_buf()?;
            if available.is_empty() {
                return Ok(false);
            }
            let take = available.len().min(count - self.held.len());
            self.held.extend_from_slice(&available[..take]);
            self.input.consume(take);
            self.offset += take as u64;
        }
        Ok(true)
    }
}

impl FrameCursor<Input> {
    /// Whether a frame, or the end, comes next.
    pub(super) fn is_between(&self) -> bool {
        self.state == State::Between
    }

    /// Offset in the file of what comes next.
    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    /// Looks at the frame that comes next as far as the input's window reaches.
    pub(super) fn extent(&mut self) -> io::Result<Extent> {
        let extent = extent::of(self.input.seen());
        if extent == Extent::Beyond && self.input.see_more()? {
            return Ok(extent::of(self.input.seen()));
        }
        Ok(extent)
    }

    /// Whether nothing stands behind the window.
    pub(super) fn sees_the_end(&self) -> bool {
        self.input.sees_the_end()
    }

    /// The next bytes in the window, at most `length`.
    pub(super) fn seen(&self, length: usize) -> &[u8] {
        let seen = self.input.seen();
        seen.get(..length).unwrap_or(seen)
    }

    /// Passes over a whole frame in the window.
    pub(super) fn pass_over(&mut self, length: usize) {
        self.input.consume(length);
        self.offset += length as u64;
    }
}

/// What a walk over frames came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Walk {
    /// Where the torn frame starts, if the file ends inside one.
    pub torn: Option<u64>,
    /// How far it went.
    pub end: u64,
}

/// Walks `input`, whose first byte is the file's byte `offset`, up to its end or to what is no frame.
pub(super) fn walk(input: impl BufRead, offset: u64) -> io::Result<Walk> {
    let mut cursor = FrameCursor::new(input, offset);
    loop {
        let used = match cursor.step()? {
            Step::Bytes(bytes) => bytes.len(),
            Step::Torn(start) => return Ok(Walk { torn: Some(start), end: cursor.offset }),
            Step::End => return Ok(Walk { torn: None, end: cursor.offset }),
            Step::FrameStart(_) | Step::FrameEnd | Step::Fault(..) => 0,
        };
        cursor.consume(used);
    }
}

/// Whether the file's end cuts off the frame that starts at byte `start`.
pub(super) fn is_torn(source: &Source, start: u64) -> io::Result<bool> {
    let mut cursor = FrameCursor::new(source.reader(start)?, start);
    loop {
        let used = match cursor.step()? {
            Step::FrameStart(_) => 0,
            Step::Bytes(bytes) => bytes.len(),
            Step::Torn(_) => return Ok(true),
            Step::FrameEnd | Step::Fault(..) | Step::End => return Ok(false),
        };
        cursor.consume(used);
    }
}

/// Where the first frame starts behind that of the byte `start`, whatever its own bytes say of its length.
pub(super) fn start_behind(source: &Source, start: u64) -> io::Result<Option<u64>> {
    let behind = start + 1;
    next_start(source.reader(behind)?, behind)
}

/// Where the first frame starts behind that of the byte `start` and before the byte `end`.
pub(super) fn start_between(source: &Source, start: u64, end: u64) -> io::Result<Option<u64>> {
    let behind = start + 1;
    // The last one's first bytes may stand across the end.
    let length = end.saturating_sub(behind).saturating_add(MAGIC.len() as u64 - 1);
    let stretch = source.reader(behind)?.take(length);
    next_start(stretch, behind)
}

/// Where the next frame's first bytes stand in `input`, whose first byte is the file's byte `offset`.
///
/// A torn frame that holds another frame's start was not cut off by the end of the file: one of its block headers is
/// damaged and swallows what follows.
fn next_start(mut input: impl BufRead, offset: u64) -> io::Result<Option<u64>> {
    let finder = memchr::memmem::Finder::new(&MAGIC);
    let mut window: Vec<u8> = Vec::new();
    let mut window_start = offset;
    loop {
        let bytes = input.fill_buf()?;
        if bytes.is_empty() {
            return Ok(None);
        }
        let count = bytes.len();
        window.extend_from_slice(bytes);
        input.consume(count);
        if let Some(found) = finder.find(&window) {
            return Ok(Some(window_start + found as u64));
        }
        // The first bytes may stand across two reads.
        let done = window.len().saturating_sub(MAGIC.len() - 1);
        window.drain(..done);
        window_start += done as u64;
    }
}

/// Whether a file with these first bytes is made of frames.
pub(super) fn is_start(bytes: &[u8]) -> bool {
    bytes.first_chunk::<4>().is_some_and(|magic| *magic == MAGIC || is_skippable(*magic))
}

fn is_skippable(magic: [u8; 4]) -> bool {
    magic[0] & 0xf0 == 0x50 && magic[1..] == [0x2a, 0x4d, 0x18]
}

#[cfg(test)]
mod tests;
