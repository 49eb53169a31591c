//! A log's text as it comes, whatever the container.

use super::input::{Input, Promised};
use super::zstd_text::{Part, STEP, ZstdText};
use super::{Container, Source};
use std::io;

pub(super) enum Unpacked {
    Raw(Promised),
    Zstd(Box<ZstdText>),
}

impl Unpacked {
    /// The text from byte `start` of the file on, where a frame must start if the log is compressed.
    pub(super) fn of(source: &Source, start: u64) -> io::Result<Self> {
        let bytes = Promised::of(source, start)?;
        Ok(match source.container {
            Container::Raw => Self::Raw(bytes),
            Container::Zstd => Self::Zstd(Box::new(ZstdText::new(Input::new(bytes), start)?)),
        })
    }

    /// Offset in the file of the first byte that has not been used.
    pub(super) fn offset(&self) -> u64 {
        match self {
            Self::Raw(bytes) => bytes.offset(),
            Self::Zstd(text) => text.offset(),
        }
    }

    /// Goes one part on; text is added to `out`. A raw log is text and then its end.
    pub(super) fn next(&mut self, out: &mut Vec<u8>) -> io::Result<Part> {
        match self {
            Self::Raw(bytes) => Ok(if bytes.add_to(out, STEP)? == 0 { Part::End } else { Part::Text }),
            Self::Zstd(text) => text.next(out),
        }
    }
}
