//! The bytes of a log: plain lines, or zstd frames like those that dsh writes (FORMAT §2).

use std::io::{self, Write};
use zstd::stream::raw::{CParameter, Encoder, InBuffer, Operation, OutBuffer};

/// How the text is packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Packing {
    /// Not at all.
    Raw,
    /// In zstd frames; the header has one of its own.
    Zstd(Frames),
}

/// What a zstd frame holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Frames {
    /// What dsh appends at a time: about a turn.
    Dsh,
    /// All events.
    One,
    /// One record.
    Tiny,
}

/// A log that is being written. Nothing is kept but the text of the frame that is open, in one frame at most a mebibyte.
pub struct LogFile<W: Write> {
    out: W,
    frames: Option<(Frames, Encoder<'static>)>,
    open: Vec<u8>,
    packed: Vec<u8>,
    /// Bytes of text written so far.
    pub text_bytes: u64,
}

const SLICE: usize = 1 << 20;

impl<W: Write> LogFile<W> {
    /// Begins a log with its header line.
    pub fn begin(out: W, packing: Packing, header: &[u8]) -> io::Result<Self> {
        let frames = match packing {
            Packing::Raw => None,
            Packing::Zstd(frames) => Some((frames, encoder()?)),
        };
        let mut file = Self { out, frames, open: Vec::new(), packed: vec![0; SLICE], text_bytes: 0 };
        file.append(header);
        file.end_frame()?;
        Ok(file)
    }

    /// Adds one line with its LF.
    pub fn line(&mut self, line: &[u8]) -> io::Result<()> {
        self.append(line);
        match self.frames {
            Some((Frames::Tiny, _)) => self.end_frame(),
            Some((Frames::Dsh, _)) => Ok(()),
            _ if self.open.len() >= SLICE => self.pass_on(),
            _ => Ok(()),
        }
    }

    /// Ends what dsh appends at a time.
    pub fn end_batch(&mut self) -> io::Result<()> {
        if matches!(self.frames, Some((Frames::Dsh, _))) { self.end_frame() } else { Ok(()) }
    }

    /// Writes what is left. Returns the bytes of text, and what it was written to.
    pub fn finish(mut self) -> io::Result<(u64, W)> {
        if matches!(self.frames, Some((Frames::One, _))) || !self.open.is_empty() {
            self.end_frame()?;
        }
        self.out.flush()?;
        Ok((self.text_bytes, self.out))
    }

    fn append(&mut self, line: &[u8]) {
        self.open.extend_from_slice(line);
        self.text_bytes += line.len() as u64;
    }

    /// Hands the text that is kept to the encoder, or out as it is.
    fn pass_on(&mut self) -> io::Result<()> {
        let Some((_, encoder)) = &mut self.frames else {
            self.out.write_all(&self.open)?;
            self.open.clear();
            return Ok(());
        };
        let mut input = InBuffer::around(&self.open);
        while input.pos() < self.open.len() {
            let mut output = OutBuffer::around(&mut self.packed);
            encoder.run(&mut input, &mut output)?;
            self.out.write_all(output.as_slice())?;
        }
        self.open.clear();
        Ok(())
    }

    fn end_frame(&mut self) -> io::Result<()> {
        self.pass_on()?;
        let Some((_, encoder)) = &mut self.frames else { return Ok(()) };
        loop {
            let mut output = OutBuffer::around(&mut self.packed);
            let left = encoder.finish(&mut output, true)?;
            self.out.write_all(output.as_slice())?;
            if left == 0 {
                return encoder.reinit();
            }
        }
    }
}

/// dsh's own settings: level 3, a checksum, no content size (FORMAT §2.2).
fn encoder() -> io::Result<Encoder<'static>> {
    let mut encoder = Encoder::new(3)?;
    encoder.set_parameter(CParameter::ChecksumFlag(true))?;
    encoder.set_parameter(CParameter::ContentSizeFlag(false))?;
    Ok(encoder)
}
