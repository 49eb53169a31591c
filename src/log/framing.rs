//! What is known of a zstd log's frames while its text is cut into lines.

use super::zstd_text::Reach;
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
    /// A later frame that the torn one swallows: it is damaged, not torn.
    pub(super) swallowed: Option<u64>,
    pub(super) is_torn: bool,
    /// The torn frame is damaged besides.
    pub(super) is_broken: bool,
    /// Where the walk over the frames began, or went on behind damage.
    walk_start: u64,
    /// How many bytes the walks before came to, and what they cost beside.
    walked: u64,
}

impl Frames {
    /// Those of a log from byte `start` of the file on, where one must start.
    pub(super) fn from(start: u64) -> Self {
        Self { has_header: start == 0, walk_start: start, ..Self::default() }
    }

    /// Takes note that a frame starts at byte `at` of the file, and at byte `text` of the text.
    pub(super) fn begin(&mut self, at: u64, text: u64) {
        self.begun += 1;
        self.last_start = Some(at);
        self.text_start = text;
        // Of those that start at the same byte of the text only the last has any.
        self.starts.pop_back_if(|(offset, ..)| *offset == text);
        self.starts.push_back((text, self.begun, at));
    }

    /// Finds out whether the frame that starts at byte `at` is the torn one. If its end is not in sight, only a walk
    /// over it tells, which decodes nothing.
    pub(super) fn look_at(&mut self, source: &Source, at: u64, reach: Reach) -> io::Result<()> {
        self.is_torn = match reach {
            Reach::Whole => false,
            Reach::Torn => true,
            Reach::Unknown => frames::is_torn(source, at)?,
        };
        self.swallowed = if self.is_torn { frames::start_behind(source, at)? } else { None };
        Ok(())
    }

    /// Of the frames that start behind byte `line` of the text, where a line starts that has no end yet, all but the last
    /// are forgotten: no other line starts in them.
    pub(super) fn forget_within(&mut self, line: u64) {
        while let Some(before_last) = self.starts.len().checked_sub(2)
            && self.starts.get(before_last).is_some_and(|(offset, ..)| *offset > line)
        {
            self.starts.remove(before_last);
        }
    }

    /// Takes note that the walk over the frames ends at byte `end` of the file.
    pub(super) fn walk_ended(&mut self, end: u64) {
        let bytes = end.saturating_sub(self.walk_start);
        self.walked = self.walked.saturating_add(bytes).saturating_add(RESTART);
    }

    /// Takes note that the walk goes on at byte `start`.
    pub(super) fn go_on_at(&mut self, start: u64) {
        self.walk_start = start;
        (self.broken_start, self.swallowed) = (None, None);
        (self.is_torn, self.is_broken) = (false, false);
    }

    /// Whether going on behind damage has cost as much as a log is worth.
    pub(super) fn have_cost_enough(&self, source: &Source) -> bool {
        let (each, beside) = WALKS;
        self.walked > source.bytes.saturating_mul(each).saturating_add(beside)
    }
}
