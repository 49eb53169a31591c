//! The bytes of a log's file, front to back, through a window that can be looked at before anything is used.

use super::Source;
use super::stop::Stop;
use std::fs::File;
use std::io::{self, BufRead, Read};

/// How many bytes the window holds at first, and at most.
const WINDOW: (usize, usize) = (1 << 16, 1 << 18);

/// So many bytes of a file from some byte on. One that ends before has been cut while it was read, which is no damage
/// of the log.
pub(super) struct Promised {
    file: File,
    /// Offset in the file of the next byte. The place that the operating system keeps is shared between copies of a
    /// handle, so none counts on it.
    offset: u64,
    left: u64,
    stop: Stop,
}

impl Promised {
    /// The bytes of `source` that count, from byte `start` on.
    pub(super) fn of(source: &Source, start: u64) -> io::Result<Self> {
        let left = source.bytes.saturating_sub(start);
        Ok(Self { file: source.file.try_clone()?, offset: start, left, stop: source.stop.clone() })
    }

    /// Offset in the file of the next byte.
    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    /// Adds at most `most` bytes to `out`; tells how many, none only at the end.
    pub(super) fn add_to(&mut self, out: &mut Vec<u8>, most: usize) -> io::Result<usize> {
        let before = out.len();
        out.resize(before + self.most(most), 0);
        let read = self.read(&mut out[before..]);
        out.truncate(before + *read.as_ref().unwrap_or(&0));
        read
    }

    /// How many of `wanted` bytes there can be.
    fn most(&self, wanted: usize) -> usize {
        usize::try_from(self.left).unwrap_or(usize::MAX).min(wanted)
    }
}

impl Read for Promised {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        self.stop.check()?;
        let most = self.most(room.len());
        let count = read_at(&self.file, &mut room[..most], self.offset)?;
        if count == 0 && most > 0 {
            let problem = format!("the file was cut while it was read: {} bytes of it are gone", self.left);
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, problem));
        }
        self.offset += count as u64;
        self.left -= count as u64;
        Ok(count)
    }
}

#[cfg(unix)]
fn read_at(file: &File, room: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, room, offset)
}

#[cfg(windows)]
fn read_at(file: &File, room: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, room, offset)
}

/// A reader that shows what is to come.
pub(super) struct Input {
    promised: Promised,
    room: Vec<u8>,
    /// What has been read and not been used: from here to there in `room`.
    from: usize,
    to: usize,
}

impl Input {
    pub(super) fn new(promised: Promised) -> Self {
        // A small log pays for no large window.
        let size = promised.most(WINDOW.0).max(1);
        Self { promised, room: vec![0; size], from: 0, to: 0 }
    }

    /// The bytes that are in the window.
    pub(super) fn seen(&self) -> &[u8] {
        &self.room[self.from..self.to]
    }

    /// Whether nothing stands behind the window.
    pub(super) fn sees_the_end(&self) -> bool {
        self.promised.left == 0
    }

    /// Fills the window, having made it larger if it is full; tells whether bytes came in. There are none at the end,
    /// nor when the window is as large as it gets.
    pub(super) fn see_more(&mut self) -> io::Result<bool> {
        if self.from > 0 {
            self.room.copy_within(self.from..self.to, 0);
            (self.from, self.to) = (0, self.to - self.from);
        } else if self.to == self.room.len() {
            let larger = self.to + self.promised.most((self.to).min(WINDOW.1 - self.to));
            self.room.resize(larger, 0);
        }
        let before = self.to;
        while self.to < self.room.len() && !self.sees_the_end() {
            self.to += self.promised.read(&mut self.room[self.to..])?;
        }
        Ok(self.to > before)
    }
}

impl Read for Input {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(room)?;
        self.consume(count);
        Ok(count)
    }
}

impl BufRead for Input {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.from == self.to {
            (self.from, self.to) = (0, 0);
            self.to = self.promised.read(&mut self.room)?;
        }
        Ok(self.seen())
    }

    fn consume(&mut self, count: usize) {
        self.from = self.to.min(self.from + count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_moves_on_over_all_bytes() {
        let bytes: Vec<u8> = (0..WINDOW.1 * 2 + 77).map(|at| u8::try_from(at % 251).unwrap()).collect();
        let source = Source::of_bytes(&bytes);
        let mut input = Input::new(Promised::of(&source, 5).unwrap());
        assert!(input.seen().is_empty() && !input.sees_the_end());
        for length in [WINDOW.0, WINDOW.0 * 2, WINDOW.1] {
            assert!(input.see_more().unwrap());
            assert_eq!(input.seen(), &bytes[5..5 + length]);
        }
        assert!(!input.see_more().unwrap(), "as large as it gets");
        let mut at = 5;
        loop {
            input.consume(1000);
            at += 1000;
            if !input.see_more().unwrap() {
                break;
            }
            assert_eq!(input.seen(), &bytes[at..bytes.len().min(at + WINDOW.1)]);
        }
        assert!(input.sees_the_end());
        assert_eq!(input.seen(), &bytes[at..]);
    }

    #[test]
    fn two_readers_of_a_file_do_not_move_each_other() {
        let bytes = vec![7; WINDOW.1 * 2];
        let source = Source::of_bytes(&bytes);
        let mut first = Promised::of(&source, 0).unwrap();
        let mut one = Vec::new();
        assert_eq!(first.add_to(&mut one, 10).unwrap(), 10);
        io::copy(&mut Promised::of(&source, 100).unwrap(), &mut io::sink()).unwrap();
        while first.add_to(&mut one, WINDOW.1).unwrap() > 0 {}
        assert_eq!(one, bytes);
    }
}
