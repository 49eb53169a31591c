//! The text of a log that nothing is wrong with, as it is decoded, in bounded memory.

use super::unpacked::Unpacked;
use super::zstd_text::{Part, Start};
use super::{FaultKind, Source};
use std::collections::VecDeque;
use std::io;

/// One part of a log's text.
#[derive(Debug, PartialEq, Eq)]
pub enum TextPart<'a> {
    /// A frame starts at this byte of the file. Raw logs have none.
    FrameStart(u64),
    /// Some of the text, at least one byte.
    Text(&'a [u8]),
}

/// Gives the text of a log part by part. Whatever is wrong with its container is an error.
pub struct SoundText {
    input: Unpacked,
    /// What was decoded last, and up to where it has been given.
    room: Vec<u8>,
    given: usize,
    /// The frames that start in the rest of it.
    starts: VecDeque<Start>,
}

impl SoundText {
    /// The text from byte `start` of the file on, where a frame must start if the log is compressed.
    pub fn of(source: &Source, start: u64) -> io::Result<Self> {
        Ok(Self { input: Unpacked::of(source, start)?, room: Vec::new(), given: 0, starts: VecDeque::new() })
    }

    /// The next part; `None` at the end.
    pub fn next_part(&mut self) -> io::Result<Option<TextPart<'_>>> {
        loop {
            if let Some(start) = self.starts.pop_front_if(|start| start.text <= self.given) {
                return Ok(Some(TextPart::FrameStart(start.at)));
            }
            if self.given < self.room.len() {
                let end = self.starts.front().map_or(self.room.len(), |start| start.text);
                let from = std::mem::replace(&mut self.given, end);
                return Ok(Some(TextPart::Text(self.room.get(from..end).unwrap_or_default())));
            }
            self.room.clear();
            self.given = 0;
            match self.input.next(&mut self.room)? {
                Part::FrameStart(at, _) => self.starts.push_back(Start { at, text: 0 }),
                Part::Frames(starts) => self.starts.extend(starts),
                Part::Text | Part::FrameEnd => {}
                Part::Fault(kind, at) => return Err(damaged(&kind, at)),
                Part::Torn(at) => return Err(damaged(&FaultKind::FrameData("it is torn".into()), at)),
                Part::End => return Ok(None),
            }
        }
    }
}

fn damaged(kind: &FaultKind, at: u64) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("byte {at}: {kind}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::append::zstd_frame;

    /// The text, and where frames start in it.
    fn read(bytes: &[u8]) -> io::Result<(Vec<u8>, Vec<u64>)> {
        let mut text = SoundText::of(&Source::of_bytes(bytes), 0)?;
        let (mut all, mut starts) = (Vec::new(), Vec::new());
        while let Some(part) = text.next_part()? {
            match part {
                TextPart::FrameStart(at) => starts.push(at),
                TextPart::Text(text) => all.extend_from_slice(text),
            }
        }
        Ok((all, starts))
    }

    #[test]
    fn all_text_is_given_with_the_starts_of_frames() {
        let long = "0123456789".repeat(50_000);
        let frames = ["{}\n", &long, "", "x\n"].map(|text| zstd_frame(text.as_bytes()).unwrap());
        let mut starts = vec![0];
        starts.extend(frames.iter().scan(0, |sum, frame| {
            *sum += frame.len() as u64;
            Some(*sum)
        }));
        starts.pop();
        let (text, found) = read(&frames.concat()).unwrap();
        assert_eq!((text, found), (format!("{{}}\n{long}x\n").into_bytes(), starts));
        assert_eq!(read(b"{}\nraw\n").unwrap(), (b"{}\nraw\n".to_vec(), vec![]));
    }

    #[test]
    fn whatever_is_wrong_is_an_error() {
        let log = [zstd_frame(b"{}\n").unwrap(), zstd_frame(b"x\n").unwrap()].concat();
        let mut flipped = log.clone();
        *flipped.last_mut().unwrap() ^= 1;
        let skippable = [&log[..], &[0x50, 0x2a, 0x4d, 0x18, 0, 0, 0, 0]].concat();
        for bytes in [&log[..log.len() - 1], &flipped, &skippable, &[&log[..], b"rest"].concat()] {
            assert_eq!(read(bytes).unwrap_err().kind(), io::ErrorKind::InvalidData);
        }
    }
}
