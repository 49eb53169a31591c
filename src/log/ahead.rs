//! A log's lines are cut in a thread of their own while those before are worked on.
//!
//! What goes from thread to thread is a block: whole lines and faults, in order, each with its place. A few blocks go
//! round and round, so memory stays bounded.

use super::cutter::Cutter;
use super::lines::{Line, Piece};
use super::{FaultKind, Place};
use std::collections::VecDeque;
use std::io;
use std::ops::Range;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};

/// How many blocks there are.
const BLOCKS: usize = 3;

/// How many bytes of lines a block holds, about. A line that is longer has a block's end to itself.
const BLOCK: usize = 1 << 18;

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
    /// How the log ended, once it has.
    end: Option<io::Result<()>>,
}

struct Channels {
    filled: Receiver<Filled>,
    empty: Sender<Block>,
}

/// Lines and faults in order.
#[derive(Default)]
struct Block {
    cuts: VecDeque<Cut>,
    text: Vec<u8>,
    /// The buffer of a long line, which is not copied. It is the last of its block.
    long: Vec<u8>,
}

struct Cut {
    what: What,
    bytes: Bytes,
}

enum What {
    Line { place: Place, recovered: bool, empty_behind: u64 },
    Fault(FaultKind, Place),
}

/// Where a line's bytes stand in its block.
#[derive(Clone)]
enum Bytes {
    Text(Range<usize>),
    Long(Range<usize>),
}

struct Filled {
    block: Block,
    /// How the log ends behind the block, if it does.
    end: Option<io::Result<()>>,
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
        })
    }

    /// The next line or fault, `None` at the end. Behind an error there is nothing more.
    pub(super) fn next(&mut self) -> io::Result<Option<Piece<'_>>> {
        while self.block.cuts.is_empty() {
            if let Some(end) = &mut self.end {
                return std::mem::replace(end, Ok(())).map(|()| None);
            }
            self.take_block();
        }
        let Some(cut) = self.block.cuts.pop_front() else { return Ok(None) };
        self.given = cut.bytes;
        Ok(Some(match cut.what {
            What::Line { place, recovered, empty_behind } => {
                Piece::Line(Line { bytes: self.given(), place, recovered, empty_behind })
            }
            What::Fault(kind, place) => Piece::Fault(kind, place),
        }))
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
            Ok(Filled { block, end }) => (self.block, self.end) = (block, end),
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
    loop {
        let Some(mut block) = idle.pop().or_else(|| empty.recv().ok()) else { return };
        let end = block.fill(&mut cutter, size).transpose();
        let (has_ended, has_long) = (end.is_some(), !block.long.is_empty());
        if filled.send(Filled { block, end }).is_err() || has_ended {
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
    /// Fills the block from `cutter` until it holds `size` bytes. Tells when the log ends.
    fn fill(&mut self, cutter: &mut Cutter, size: usize) -> io::Result<Option<()>> {
        while self.text.len() < size && self.long.is_empty() && self.cuts.len() < MOST_CUTS {
            let (what, is_given) = match cutter.next()? {
                None => return Ok(Some(())),
                Some(Piece::Line(Line { place, recovered, empty_behind, .. })) => {
                    (What::Line { place, recovered, empty_behind }, true)
                }
                Some(Piece::Fault(kind, place)) => {
                    let has_rest = matches!(kind, FaultKind::TornTail { frame: false, .. });
                    (What::Fault(kind, place), has_rest)
                }
            };
            let bytes = if is_given { self.take_given(cutter, size) } else { Bytes::Text(0..0) };
            self.cuts.push_back(Cut { what, bytes });
        }
        Ok(None)
    }

    /// Takes the bytes over that `cutter` gave last.
    fn take_given(&mut self, cutter: &mut Cutter, size: usize) -> Bytes {
        if cutter.given().len() >= size {
            return Bytes::Long(cutter.give_away(&mut self.long));
        }
        let start = self.text.len();
        self.text.extend_from_slice(cutter.given());
        Bytes::Text(start..self.text.len())
    }

    fn bytes(&self, bytes: &Bytes) -> &[u8] {
        match bytes {
            Bytes::Text(range) => &self.text[range.clone()],
            Bytes::Long(range) => &self.long[range.clone()],
        }
    }

    /// Makes room for other lines. The buffer of a long line goes.
    fn clear(&mut self) {
        self.cuts.clear();
        self.text.clear();
        self.long = Vec::new();
    }
}

#[cfg(test)]
mod tests;
