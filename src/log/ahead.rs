//! A log's lines are cut in a thread of their own while those before are worked on.
//!
//! What goes from thread to thread is a block: whole lines and faults, in order, each with its place. A few blocks go
//! round and round, so memory stays bounded.

use super::cutter::Cutter;
use super::lines::{Line, Piece, Reached, Read, Values};
use super::{FaultKind, Place};
use crate::json::Tape;
use std::collections::VecDeque;
use std::io;
use std::ops::Range;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};

/// How many blocks there are.
const BLOCKS: usize = 3;

/// How many bytes of lines a block holds, about. A line that is longer has a block's end to itself.
const BLOCK: usize = 1 << 18;

/// How many the first block holds, so that work on it begins soon. Each one after it holds twice as many.
const FIRST_BLOCK: usize = 1 << 14;

/// How many lines and faults a block holds at most.
const MOST_CUTS: usize = 1 << 13;

/// The lines of a log, read ahead.
pub(super) struct Ahead {
    /// The block that is given out.
    block: Block,
    /// The line that was given last.
    given: Bytes,
    /// `None` once the thread has been let go.
    line: Option<Channels>,
    cutting: Option<JoinHandle<()>>,
    /// How the log ended, once it has, and where.
    end: Option<io::Result<()>>,
    end_reached: Reached,
    /// How far it has been given out.
    reached: Reached,
}

struct Channels {
    filled: Receiver<Filled>,
    empty: Sender<Block>,
}

/// Lines and faults in order.
#[derive(Default)]
struct Block {
    cuts: VecDeque<Cut>,
    /// The lines that are UTF-8.
    text: String,
    /// Those that are not.
    odd: Vec<u8>,
    /// The values of the lines that are JSON.
    tape: Tape,
    /// The buffer of a long line, which is not copied. It is the last of its block.
    long: Vec<u8>,
}

struct Cut {
    what: What,
    bytes: Bytes,
    /// How far the log has been given out with it.
    reached: Reached,
}

enum What {
    Line { place: Place, recovered: bool, empty_behind: u64, values: Option<Range<usize>> },
    Fault(FaultKind, Place),
}

/// Where a line's bytes stand in its block.
#[derive(Clone)]
enum Bytes {
    Text(Range<usize>),
    Odd(Range<usize>),
    Long(Range<usize>),
}

struct Filled {
    block: Block,
    /// How the log ends behind the block, if it does.
    end: Option<io::Result<()>>,
    /// How far the log has been cut.
    reached: Reached,
}

impl Ahead {
    /// Lets `cutter` cut in a thread of its own.
    pub(super) fn start(cutter: Cutter) -> io::Result<Self> {
        Self::with_blocks_of(BLOCK, cutter)
    }

    fn with_blocks_of(size: usize, cutter: Cutter) -> io::Result<Self> {
        let (filled, from_thread) = channel();
        let (empty, to_thread) = channel();
        // One is here already, to be given back like others. The channel's other end is still here too.
        for _ in 1..BLOCKS {
            _ = empty.send(Block::default());
        }
        let work = move || cut(cutter, size, &to_thread, &filled);
        let cutting = thread::Builder::new().name("lines".into()).spawn(work)?;
        Ok(Self {
            block: Block::default(),
            given: Bytes::Text(0..0),
            line: Some(Channels { filled: from_thread, empty }),
            cutting: Some(cutting),
            end: None,
            end_reached: Reached::default(),
            reached: Reached::default(),
        })
    }

    /// The next line or fault, `None` at the end. Behind an error there is nothing more.
    pub(super) fn next(&mut self) -> io::Result<Option<Piece<'_>>> {
        while self.block.cuts.is_empty() {
            if let Some(end) = &mut self.end {
                self.reached = self.end_reached;
                return std::mem::replace(end, Ok(())).map(|()| None);
            }
            self.take_block();
        }
        let Some(cut) = self.block.cuts.pop_front() else { return Ok(None) };
        (self.given, self.reached) = (cut.bytes, cut.reached);
        Ok(Some(match cut.what {
            What::Line { place, recovered, empty_behind, values } => {
                let text = match &self.given {
                    Bytes::Text(range) => self.block.text.get(range.clone()),
                    Bytes::Odd(_) | Bytes::Long(_) => None,
                };
                let values = match (values, text) {
                    (Some(place), _) => Values::On(&self.block.tape, (place.start, place.end)),
                    (None, Some(_)) => Values::None,
                    // It may be no UTF-8, and is read with U+FFFD.
                    (None, None) => Values::Unread,
                };
                let read = Read { text, values };
                Piece::Line(Line { bytes: self.given(), place, recovered, read, empty_behind })
            }
            What::Fault(kind, place) => Piece::Fault(kind, place),
        }))
    }

    /// How far the log has been given out.
    pub(super) fn reached(&self) -> Reached {
        self.reached
    }

    /// The line that was given last, until the next is asked for; behind the last line, the rest that is none.
    pub(super) fn given(&self) -> &[u8] {
        self.block.bytes(&self.given)
    }

    /// Gives the block back that is used up, and waits for the next.
    fn take_block(&mut self) {
        self.given = Bytes::Text(0..0);
        let mut used = std::mem::take(&mut self.block);
        used.clear();
        let Some(Channels { filled, empty }) = &self.line else { return };
        // A thread that has ended needs no more blocks.
        _ = empty.send(used);
        match filled.recv() {
            Ok(Filled { block, end, reached }) => {
                (self.block, self.end, self.end_reached) = (block, end, reached);
            }
            Err(_) => self.let_go(),
        }
    }

    /// Waits for the thread's end. If it panicked, so does this one, as if it had cut the lines itself.
    fn let_go(&mut self) {
        self.line = None;
        self.end.get_or_insert(Ok(()));
        if let Some(Err(panic)) = self.cutting.take().map(JoinHandle::join) {
            std::panic::resume_unwind(panic);
        }
    }
}

impl Drop for Ahead {
    fn drop(&mut self) {
        // Without its channels the thread ends at its next block.
        self.line = None;
        if let Some(cutting) = self.cutting.take() {
            // What it panicked about, nobody has asked for.
            _ = cutting.join();
        }
    }
}

/// The thread's work: fills blocks until the log ends or nobody wants them.
fn cut(mut cutter: Cutter, size: usize, empty: &Receiver<Block>, filled: &Sender<Filled>) {
    let mut idle: Vec<Block> = Vec::with_capacity(BLOCKS);
    let mut most = size.min(FIRST_BLOCK);
    loop {
        let Some(mut block) = idle.pop().or_else(|| empty.recv().ok()) else { return };
        let end = block.fill(&mut cutter, most, size).transpose();
        most = size.min(most * 2);
        let (has_ended, has_long) = (end.is_some(), !block.long.is_empty());
        if filled.send(Filled { block, end, reached: cutter.reached() }).is_err() || has_ended {
            return;
        }
        // Two long lines at once would take too much memory: all blocks must be back.
        while has_long && idle.len() < BLOCKS {
            let Ok(block) = empty.recv() else { return };
            idle.push(block);
        }
    }
}

impl Block {
    /// Fills the block from `cutter` until it holds `most` bytes; a line of `size` or more is not copied. Tells when the log ends.
    fn fill(&mut self, cutter: &mut Cutter, most: usize, size: usize) -> io::Result<Option<()>> {
        while self.bytes_held() < most && self.cuts.len() < MOST_CUTS {
            let (what, bytes) = match cutter.next()? {
                None => return Ok(Some(())),
                Some(Piece::Line(Line { place, recovered, empty_behind, .. })) => {
                    let (bytes, values) = self.take_line(cutter, size);
                    (What::Line { place, recovered, empty_behind, values }, bytes)
                }
                Some(Piece::Fault(kind, place)) => {
                    let has_rest = matches!(kind, FaultKind::TornTail { frame: false, .. });
                    let bytes = if has_rest { self.take_line(cutter, size).0 } else { Bytes::Text(0..0) };
                    (What::Fault(kind, place), bytes)
                }
            };
            self.cuts.push_back(Cut { what, bytes, reached: cutter.reached() });
        }
        Ok(None)
    }

    /// Takes the bytes over that `cutter` gave last, and reads their values if they are JSON.
    fn take_line(&mut self, cutter: &mut Cutter, size: usize) -> (Bytes, Option<Range<usize>>) {
        let Ok(line) = simdutf8::basic::from_utf8(cutter.given()) else {
            return (self.take_odd(cutter, size), None);
        };
        let values = self.tape.add(line);
        if line.len() >= size {
            return (Bytes::Long(cutter.give_away(&mut self.long)), values);
        }
        let start = self.text.len();
        self.text.push_str(line);
        (Bytes::Text(start..self.text.len()), values)
    }

    fn take_odd(&mut self, cutter: &mut Cutter, size: usize) -> Bytes {
        if cutter.given().len() >= size {
            return Bytes::Long(cutter.give_away(&mut self.long));
        }
        let start = self.odd.len();
        self.odd.extend_from_slice(cutter.given());
        Bytes::Odd(start..self.odd.len())
    }

    fn bytes_held(&self) -> usize {
        self.text.len() + self.odd.len() + self.long.len()
    }

    fn bytes(&self, bytes: &Bytes) -> &[u8] {
        let (held, range) = match bytes {
            Bytes::Text(range) => (self.text.as_bytes(), range),
            Bytes::Odd(range) => (&*self.odd, range),
            Bytes::Long(range) => (&*self.long, range),
        };
        held.get(range.clone()).unwrap_or_default()
    }

    /// Makes room for other lines. The buffer of a long line goes, and what its values took.
    fn clear(&mut self) {
        self.cuts.clear();
        self.text.clear();
        self.odd.clear();
        if self.long.is_empty() {
            self.tape.clear();
        } else {
            (self.long, self.tape) = (Vec::new(), Tape::default());
        }
    }
}

#[cfg(test)]
mod tests;
