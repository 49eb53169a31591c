//! A log's text as it comes, whatever the container.

use super::source::SourceReader;
use super::zstd_text::{Part, ZstdText};
use super::{Container, Source};
use std::io::{self, BufRead};

pub(super) enum Unpacked {
    Raw(SourceReader),
    Zstd(Box<ZstdText<SourceReader>>),
}

impl Unpacked {
    /// The text from byte `start` of the file on, where a frame must start if the log is compressed.
    pub(super) fn of(source: &Source, start: u64) -> io::Result<Self> {
        let reader = source.reader(start)?;
        Ok(match source.container {
            Container::Raw => Self::Raw(reader),
            Container::Zstd => Self::Zstd(Box::new(ZstdText::new(reader, start)?)),
        })
    }

    /// Goes one part on; text is added to `out`. A raw log is text and then its end.
    pub(super) fn next(&mut self, out: &mut Vec<u8>) -> io::Result<Part> {
        match self {
            Self::Raw(input) => {
                let bytes = input.fill_buf()?;
                let length = bytes.len();
                out.extend_from_slice(bytes);
                input.consume(length);
                Ok(if length == 0 { Part::End } else { Part::Text })
            }
            Self::Zstd(input) => input.next(out),
        }
    }
}
