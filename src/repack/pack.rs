//! The new frames: independent, each with its checksum and its size, in bounded memory.

use super::layout::Layout;
use crate::log::{SoundText, Source, TextPart};
use crate::summarize::Watch;
use std::io::{self, Write};
use zstd::stream::raw::{CParameter, Encoder, InBuffer, Operation as _, OutBuffer};

/// The largest window that RFC 8878 (3.1.1.1.2) has every decoder support, in bytes. The stream decoders of zstd itself, and
/// so of node, take 128 MiB.
pub(super) const WINDOW: u64 = 1 << WINDOW_LOG;

const WINDOW_LOG: u32 = 23;

/// From this level on the encoder would take a larger window.
const FIRST_WITH_LARGER_WINDOW: i32 = 20;

/// How many bytes the encoder gives at once.
const ROOM: usize = 1 << 17;

/// Why the new frames were not made.
#[derive(Debug)]
pub(super) enum Stop {
    /// The log cannot be read any more.
    Read(io::Error),
    /// The new file cannot be written.
    Write(io::Error),
    /// The new file would not be smaller.
    NotSmaller,
    /// The user wants the run to end.
    Cancelled,
}

/// Writes the log's header frame, byte by byte, and the frames of `layout` behind it; their length in bytes.
pub(super) fn pack(
    source: &Source,
    layout: &Layout,
    level: i32,
    output: &mut dyn Write,
    watch: &dyn Watch,
) -> Result<u64, Stop> {
    let mut output = Output { file: output, written: 0, limit: source.bytes };
    output.write(&source.read_head(layout.body_start).map_err(Stop::Read)?)?;
    let mut packer = Packer::new(level).map_err(Stop::Write)?;
    let mut text = SoundText::of(source, layout.body_start).map_err(Stop::Read)?;
    let mut lengths = layout.lengths.iter();
    let mut left = 0;
    while let Some(part) = text.next_part().map_err(Stop::Read)? {
        let TextPart::Text(mut text) = part else { continue };
        if watch.is_cancelled() {
            return Err(Stop::Cancelled);
        }
        while !text.is_empty() {
            if left == 0 {
                left = *lengths.next().ok_or_else(changed)?;
                packer.begin(left).map_err(Stop::Write)?;
            }
            let most = usize::try_from(left).unwrap_or(usize::MAX).min(text.len());
            let (taken, rest) = text.split_at_checked(most).unwrap_or((text, &[]));
            packer.add(taken, &mut output)?;
            (left, text) = (left.saturating_sub(taken.len() as u64), rest);
            if left == 0 {
                packer.end(&mut output)?;
            }
        }
    }
    if left > 0 || lengths.next().is_some() {
        return Err(changed());
    }
    output.file.flush().map_err(Stop::Write)?;
    Ok(output.written)
}

fn changed() -> Stop {
    Stop::Read(io::Error::new(io::ErrorKind::InvalidData, "its text is another than a moment ago"))
}

/// Where the frames go, as long as they are fewer bytes than before.
struct Output<'a> {
    file: &'a mut dyn Write,
    written: u64,
    limit: u64,
}

impl Output<'_> {
    fn write(&mut self, bytes: &[u8]) -> Result<(), Stop> {
        self.written += bytes.len() as u64;
        if self.written >= self.limit {
            return Err(Stop::NotSmaller);
        }
        self.file.write_all(bytes).map_err(Stop::Write)
    }
}

/// Makes one frame after another with the same tables.
struct Packer {
    encoder: Encoder<'static>,
    room: Vec<u8>,
}

impl Packer {
    fn new(level: i32) -> io::Result<Self> {
        let mut encoder = Encoder::new(level)?;
        encoder.set_parameter(CParameter::ChecksumFlag(true))?;
        encoder.set_parameter(CParameter::ContentSizeFlag(true))?;
        if level >= FIRST_WITH_LARGER_WINDOW {
            encoder.set_parameter(CParameter::WindowLog(WINDOW_LOG))?;
        }
        Ok(Self { encoder, room: vec![0; ROOM] })
    }

    /// Begins a frame of so many bytes of text.
    fn begin(&mut self, length: u64) -> io::Result<()> {
        self.encoder.reinit()?;
        self.encoder.set_pledged_src_size(Some(length))
    }

    fn add(&mut self, text: &[u8], output: &mut Output) -> Result<(), Stop> {
        let mut input = InBuffer::around(text);
        while input.pos() < text.len() {
            let mut given = OutBuffer::around(&mut *self.room);
            self.encoder.run(&mut input, &mut given).map_err(Stop::Write)?;
            output.write(given.as_slice())?;
        }
        Ok(())
    }

    fn end(&mut self, output: &mut Output) -> Result<(), Stop> {
        loop {
            let mut given = OutBuffer::around(&mut *self.room);
            let left = self.encoder.finish(&mut given, true).map_err(Stop::Write)?;
            output.write(given.as_slice())?;
            if left == 0 {
                return Ok(());
            }
        }
    }
}
