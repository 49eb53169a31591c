//! What is known of a zstd log's frames while its text is cut into lines.

use super::{Source, frames};
use std::collections::VecDeque;
use std::io;

/// How many bytes may be walked again to go on behind damaged frames, for each byte of the file and beside those.
const WALKS: (u64, u64) = (16, 64 << 20);

/// What going on behind one damaged frame costs beside the walk, in bytes.
const RESTART: u64 = 64 << 10;

/// The frames of a zstd log as they come.
#[derive(Default)]
pub(super) struct Frames {
    /// Those that start in the buffer: offset in the text, number, offset in the file.
    pub(super) starts: VecDeque<(u64, u64, u64)>,
    /// The one in which the current line starts: number, offset in the file.
    pub(super) current: Option<(u64, u64)>,
    pub(super) begun: u64,
    /// Where the last one that has begun starts in the file.
    pub(super) last_start: Option<u64>,
    /// Where the text of that one starts.
    pub(super) text_start: u64,
    /// Where the last one starts, if its data is broken: then its length may be wrong too, and run over others.
    pub(super) broken_start: Option<u64>,
    /// Whether the first one is the file's first and must hold the header alone.
    pub(super) has_header: bool,
    pub(super) torn_start: Option<u64>,
    /// A later frame that the torn one swallows: it is damaged, not torn.
    pub(super) swallowed: Option<u64>,
    pub(super) is_torn: bool,
    /// The torn frame is damaged besides.
    pub(super) is_broken: bool,
    /// How many bytes have been walked so far, and what that cost beside.
    pub(super) walked: u64,
}

impl Frames {
    /// Looks ahead over the frames from byte `start` of the file on, where one must start: only a walk to the end tells
    /// whether the last frame is whole. It decodes nothing.
    pub(super) fn look_ahead(&mut self, source: &Source, start: u64) -> io::Result<()> {
        let walk = frames::walk(source.reader(start)?, start)?;
        self.torn_start = walk.torn;
        self.walked = self.walked.saturating_add(walk.end.saturating_sub(start)).saturating_add(RESTART);
        self.swallowed = match self.torn_start {
            Some(torn) => frames::start_behind(source, torn)?,
            None => None,
        };
        (self.is_torn, self.is_broken) = (false, false);
        Ok(())
    }

    /// Whether going on behind damage has cost as much as a log is worth.
    pub(super) fn have_cost_enough(&self, source: &Source) -> bool {
        let (each, beside) = WALKS;
        self.walked > source.bytes.saturating_mul(each).saturating_add(beside)
    }
}
