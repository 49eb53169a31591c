//! The lines of a log's text, each with its place.

use super::ahead::Ahead;
use super::cutter::Cutter;
use super::{FaultKind, Place, Source};
use crate::json::Tape;
use std::io;

/// The longest line that is read: JavaScript's engine, and so dsh, takes no string of 512 MiB.
pub(super) const MAX_LINE: usize = 512 << 20;

/// A line, its line feed left out.
#[derive(Debug)]
pub(super) struct Line<'a> {
    pub bytes: &'a [u8],
    pub place: Place,
    /// The line was read from a frame that the file's end cuts off (FORMAT §2.3).
    pub recovered: bool,
    /// Its text and its values, where they have been read already.
    pub read: Read<'a>,
    /// Where the line is empty: how many empty ones right behind it were passed over.
    pub empty_behind: u64,
}

/// What is known of a line already.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Read<'a> {
    /// The line's text, which is UTF-8.
    pub text: Option<&'a str>,
    pub values: Values<'a>,
}

/// What is known of a line's values.
#[derive(Debug, Clone, Copy, Default)]
pub(super) enum Values<'a> {
    /// Nothing yet.
    #[default]
    Unread,
    /// The line is no JSON.
    None,
    /// The tape that they are on, and their place there.
    On(&'a Tape, (usize, usize)),
}

#[derive(Debug)]
pub(super) enum Piece<'a> {
    Line(Line<'a>),
    Fault(FaultKind, Place),
}

/// How far a log has been given out.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Reached {
    /// Offset in the decoded text.
    pub text: u64,
    /// Zstandard frames so far, damaged ones too.
    pub frames: u64,
}

/// A log's lines, and what is wrong between them.
pub(super) struct Lines {
    source: Source,
    from: From,
}

/// Who cuts the text.
enum From {
    /// Whoever asks for a line.
    Here(Box<Cutter>),
    /// A thread of its own.
    Ahead(Box<Ahead>),
}

impl Lines {
    /// The lines of a log from byte `start` of the file on, where a line (and a frame) must start. A large compressed
    /// log is read ahead, where the source allows it.
    pub(super) fn new(source: &Source, start: u64) -> io::Result<Self> {
        let cutter = Cutter::new(source, start)?;
        let from = if source.is_worth_reading_ahead(start) {
            From::Ahead(Box::new(Ahead::start(cutter)?))
        } else {
            From::Here(Box::new(cutter))
        };
        Ok(Self { source: source.again()?, from })
    }

    /// Where the lines come from.
    pub(super) fn source(&self) -> &Source {
        &self.source
    }

    /// The next line or fault, `None` at the end.
    pub(super) fn next(&mut self) -> io::Result<Option<Piece<'_>>> {
        match &mut self.from {
            From::Here(cutter) => cutter.next(),
            From::Ahead(ahead) => ahead.next(),
        }
    }

    /// Where in the decoded text what has been given ends.
    pub(super) fn given_end(&self) -> u64 {
        self.reached().text
    }

    /// Zstandard frames so far, damaged ones too.
    pub(super) fn frames(&self) -> u64 {
        self.reached().frames
    }

    fn reached(&self) -> Reached {
        match &self.from {
            From::Here(cutter) => cutter.reached(),
            From::Ahead(ahead) => ahead.reached(),
        }
    }

    /// The line that was given last, until the next is asked for; behind the last line, the rest that is none.
    pub(super) fn given(&self) -> &[u8] {
        match &self.from {
            From::Here(cutter) => cutter.given(),
            From::Ahead(ahead) => ahead.given(),
        }
    }
}
