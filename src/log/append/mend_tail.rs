//! Mending a torn tail as dsh does (FORMAT §2.3), so that no crash on the way costs an event.
//!
//! dsh cuts the torn frame off and then appends what it could read of it: a crash in between loses those records. Here a cut
//! is made in place only where it loses nothing. Else the whole new file is built beside the log and takes its name.

use super::successor::Successor;
use super::{AppendError, Appender, encoder, stage};
use crate::log::Source;
use crate::log::tail::{self, TornTail};
use std::io::{self, BufWriter, Read as _, Write};

/// A torn tail that is no longer there, or is to go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MendedTail {
    /// How many bytes it had.
    pub bytes: u64,
    /// How many records of a torn frame were kept, in a whole frame in its place.
    pub recovered: u64,
}

impl MendedTail {
    /// What [`Appender::mend_tail`] would make of the end of a log; `None` where it is not torn.
    pub fn of(source: &Source) -> io::Result<Option<Self>> {
        let tail = TornTail::of(source)?;
        Ok(tail
            .map(|tail| Self { bytes: source.bytes.saturating_sub(tail.start), recovered: tail.recovered }))
    }
}

impl Appender<'_> {
    /// Mends a torn tail, if the log has one; the bytes before it stay. The caller has locked the session, knows that no
    /// other process works in it, and that nothing else is wrong with the log.
    ///
    /// A torn line, and a torn frame of which nothing can be read, are cut off. Where records can be read from the frame, a
    /// new file with them in a frame of their own takes the log's place, and from then on is what this appender writes to;
    /// a hard link keeps the old file. On an error the log holds what it held, or is mended, and nothing more is appended.
    pub fn mend_tail(&mut self) -> Result<Option<MendedTail>, AppendError> {
        if self.is_spoiled {
            return Err(AppendError::Changed("nobody knows how it ends"));
        }
        self.check_unchanged()?;
        let source = self.source().map_err(stage("cannot read"))?;
        let Some(tail) = TornTail::of(&source).map_err(stage("cannot mend the torn tail"))? else {
            return Ok(None);
        };
        let bytes = self.revision.length.saturating_sub(tail.start);
        let done = if tail.recovered == 0 { self.cut(tail.start) } else { self.replace(&source, tail.start) };
        // Nothing may be appended behind a tail that may be torn still.
        self.is_spoiled |= done.is_err();
        self.last.clear();
        done.map(|()| Some(MendedTail { bytes, recovered: tail.recovered }))
    }

    fn cut(&mut self, start: u64) -> Result<(), AppendError> {
        self.disk.truncate(&self.file, start).map_err(stage("cannot cut off the torn tail"))?;
        self.knows_up_to(start).map_err(stage("cannot read"))
    }

    /// Puts a file whose torn frame, at byte `start`, is whole in the log's place.
    fn replace(&mut self, source: &Source, start: u64) -> Result<(), AppendError> {
        let mut new = self.successor()?;
        write_mended(source, start, &mut new).map_err(stage("cannot write the new file"))?;
        new.complete(&self.file, None)?;
        let is_mended = new.source().and_then(|new| tail::is_mended(source, &new, start));
        if !is_mended.map_err(stage("cannot read the new file"))? {
            let problem = io::Error::other("it does not hold what was read from the torn one");
            return Err(stage("cannot use the new file")(problem));
        }
        let folder = new.folder().to_owned();
        // Whoever has the old file is locked out as long as it is open here.
        let _old = self.exchange(new)?;
        // Without this the machine may come up with the old file, and what will be appended to the new one is gone.
        self.disk.sync_folder(&folder).map_err(stage("cannot sync the folder"))
    }
}

fn write_mended(source: &Source, start: u64, new: &mut Successor) -> io::Result<()> {
    let mut output = BufWriter::with_capacity(1 << 20, new);
    io::copy(&mut source.reader(0)?.take(start), &mut output)?;
    let mut frame = encoder(output)?;
    tail::each_line(source, start, &mut |line| {
        frame.write_all(line)?;
        frame.write_all(b"\n")
    })?;
    frame.finish()?.flush()
}

#[cfg(test)]
mod tests;
