//! Where the frames of a log are cut: at ends of lines, and as seldom as is good for readers.

use super::pack::WINDOW;
use crate::log::{FrameHeader, SoundText, Source, TextPart};
use std::io;

/// How many bytes of text a frame holds at least, but for the last one.
///
/// Two windows: a frame begins without anything to refer back to, which costs less than 1 % of a log that goes on for many of
/// them. dsh decodes a frame into one piece of memory, waits for nothing else meanwhile, and can go on before none that is
/// damaged: so one frame for a whole log, of whatever size, is too large.
pub const FRAME_TEXT: u64 = 16 << 20;

/// The text of a log, as it is cut now and as it is to be cut.
#[derive(Debug)]
pub(super) struct Layout {
    /// blake3 of all text.
    pub(super) hash: blake3::Hash,
    /// Length of all text.
    pub(super) text_bytes: u64,
    /// How many frames there are.
    pub(super) frames: u64,
    /// The byte of the file at which the first frame behind the header's starts.
    pub(super) body_start: u64,
    /// How much text each of the new frames behind the header's is to hold.
    pub(super) lengths: Vec<u64>,
    /// Where the frames behind the header's start, if they hold just what the new ones are to.
    alike: Option<Vec<u64>>,
}

impl Layout {
    /// Reads the text of a compressed log that nothing is wrong with, and cuts it into frames of at least `frame_text` bytes.
    pub(super) fn of(source: &Source, frame_text: u64) -> io::Result<Self> {
        let mut text = SoundText::of(source, 0)?;
        let mut hasher = blake3::Hasher::new();
        let mut cutter = Cutter { frame_text, open: 0, lengths: Vec::new() };
        let (mut frames, mut text_bytes, mut body_start) = (0_u64, 0_u64, source.bytes);
        let mut alike = Some(Vec::new());
        while let Some(part) = text.next_part()? {
            match part {
                TextPart::FrameStart(at) => {
                    frames += 1;
                    if frames == 2 {
                        body_start = at;
                    }
                    alike = alike.filter(|_| cutter.open == 0);
                    if let Some(starts) = alike.as_mut().filter(|_| frames > 1) {
                        starts.push(at);
                    }
                }
                TextPart::Text(text) => {
                    hasher.update(text);
                    text_bytes += text.len() as u64;
                    if frames > 1 {
                        cutter.take(text);
                    }
                }
            }
        }
        let lengths = cutter.end();
        let alike = alike.filter(|starts| starts.len() == lengths.len());
        Ok(Self { hash: hasher.finalize(), text_bytes, frames, body_start, lengths, alike })
    }

    /// Whether the log is cut as it is to be, and each frame says its size, has a checksum and a window that every reader
    /// takes. At which level it was compressed nobody can tell.
    pub(super) fn is_packed(&self, source: &Source) -> io::Result<bool> {
        let Some(starts) = &self.alike else { return Ok(false) };
        for (start, length) in starts.iter().zip(&self.lengths) {
            let is_ours = FrameHeader::at(source, *start)?.is_some_and(|header| {
                header.content_size == Some(*length) && header.has_checksum && header.window <= WINDOW
            });
            if !is_ours {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Cuts text as it comes.
struct Cutter {
    frame_text: u64,
    /// How much text stands behind the last cut.
    open: u64,
    lengths: Vec<u64>,
}

impl Cutter {
    fn take(&mut self, mut text: &[u8]) {
        loop {
            // A frame may end with the first line that ends at or behind the byte that fills it.
            let missing = self.frame_text.saturating_sub(self.open).saturating_sub(1);
            let from = usize::try_from(missing).unwrap_or(usize::MAX);
            let end =
                text.get(from..).and_then(|rest| memchr::memchr(b'\n', rest)).map(|found| from + found + 1);
            let Some((filled, rest)) = end.and_then(|end| text.split_at_checked(end)) else {
                self.open += text.len() as u64;
                return;
            };
            self.lengths.push(self.open + filled.len() as u64);
            (self.open, text) = (0, rest);
        }
    }

    fn end(mut self) -> Vec<u64> {
        self.lengths.extend(Some(self.open).filter(|open| *open > 0));
        self.lengths
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::append::zstd_frame;

    fn log(frames: &[&str]) -> Source {
        let frames = frames.iter().map(|text| zstd_frame(text.as_bytes()).unwrap());
        Source::of_bytes(&frames.collect::<Vec<_>>().concat())
    }

    #[test]
    fn frames_end_with_the_line_that_fills_them() {
        let log = log(&["{}\n", "aaa\nbb\nccccccccc\nd", "\n", "", "e\nffff\n", "g\n"]);
        let lengths = |frame_text| Layout::of(&log, frame_text).unwrap().lengths;
        assert_eq!(lengths(1), [4, 3, 10, 2, 2, 5, 2]);
        assert_eq!(lengths(4), [4, 13, 4, 5, 2]);
        assert_eq!(lengths(5), [7, 10, 9, 2]);
        assert_eq!(lengths(28), [28]);
        assert_eq!(lengths(FRAME_TEXT), [28]);
        let layout = Layout::of(&log, 4).unwrap();
        assert_eq!((layout.frames, layout.text_bytes), (6, 31));
        let all = b"{}\naaa\nbb\nccccccccc\nd\ne\nffff\ng\n";
        assert_eq!(layout.hash, blake3::hash(all));
        assert!(layout.alike.is_none() && !layout.is_packed(&log).unwrap());
    }

    #[test]
    fn a_log_without_events_has_nothing_to_cut() {
        let log = log(&["{}\n"]);
        let layout = Layout::of(&log, 1).unwrap();
        assert_eq!((layout.lengths.len(), layout.frames, layout.body_start), (0, 1, log.bytes));
    }

    #[test]
    fn the_right_cuts_alone_make_no_packed_log() {
        let log = log(&["{}\n", "aaa\n", "bbbb\n", "c\n"]);
        let layout = Layout::of(&log, 4).unwrap();
        assert_eq!(layout.lengths, [4, 5, 2]);
        assert!(layout.alike.is_some(), "cut so already");
        assert!(!layout.is_packed(&log).unwrap(), "dsh's frames do not say their size");
        assert!(Layout::of(&log, 3).unwrap().alike.is_some());
        assert!(Layout::of(&log, 5).unwrap().alike.is_none());
    }
}
