//! Mending a torn tail as dsh does (FORMAT §2.3), so that no crash on the way costs an event.
//!
//! dsh cuts the torn frame off and then appends what it could read of it: a crash in between loses those records. Here a cut
//! is made in place only where it loses nothing. Else the whole new file is built beside the log and takes its name.

use super::{AppendError, Appender, Disk, encoder};
use crate::log::Source;
use crate::log::layout::folder_of;
use crate::log::tail::{self, TornTail};
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Read as _, Write};
use std::path::Path;
use tempfile::TempPath;

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
        // A link stays a link: the file that it names is replaced.
        let place = self.path.canonicalize().map_err(stage("cannot find the log"))?;
        let (file, path) = self.successor(source, start, &place)?;
        // Whoever opens the log from now on finds one of two locked files.
        file.try_lock().map_err(|error| stage("cannot lock the mended log")(error.into()))?;
        let length = file.metadata().map_err(stage("cannot read the mended log"))?.len();
        self.check_unchanged()?;
        self.disk.replace(&path, &place).map_err(stage("cannot put the mended log in place"))?;
        // The name is gone, so there is nothing to remove.
        let _ = path.keep();
        self.file = file;
        self.knows_up_to(length).map_err(stage("cannot read"))?;
        // Without this the machine may come up with the old file, and what will be appended to the new one is gone.
        self.disk.sync_folder(folder_of(&place)).map_err(stage("cannot sync the folder"))
    }

    /// Builds the new file beside `place`, makes it durable and holds it against the old one.
    fn successor(&self, source: &Source, start: u64, place: &Path) -> Result<(File, TempPath), AppendError> {
        let made = tempfile::Builder::new().prefix(".dshc-").tempfile_in(folder_of(place));
        let (mut new, path) = made.map_err(stage("cannot create a file beside the log"))?.into_parts();
        self.write_mended(source, start, &mut new).map_err(stage("cannot write the mended log"))?;
        keep_owner_and_mode(&self.file, &new).map_err(stage("cannot keep the log's permissions"))?;
        self.disk.sync(&new).map_err(stage("cannot sync the mended log"))?;
        let opened = OpenOptions::new().read(true).append(true).open(&path);
        let file = opened.map_err(stage("cannot open the mended log"))?;
        let reread = file.try_clone().and_then(|file| Source::of(file, &path));
        let is_mended = reread.and_then(|new| tail::is_mended(source, &new, start));
        if is_mended.map_err(stage("cannot read the mended log"))? {
            return Ok((file, path));
        }
        let problem = io::Error::other("it does not hold what was read from the torn one");
        Err(stage("cannot use the mended log")(problem))
    }

    fn write_mended(&self, source: &Source, start: u64, new: &mut File) -> io::Result<()> {
        let mut output = BufWriter::with_capacity(1 << 20, DiskWriter { disk: self.disk, file: new });
        io::copy(&mut source.reader(0)?.take(start), &mut output)?;
        let mut frame = encoder(output)?;
        tail::each_line(source, start, &mut |line| {
            frame.write_all(line)?;
            frame.write_all(b"\n")
        })?;
        frame.finish()?.flush()
    }
}

/// Writes through a [`Disk`].
struct DiskWriter<'a> {
    disk: &'a dyn Disk,
    file: &'a mut File,
}

impl Write for DiskWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.disk.write(self.file, bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn stage(stage: &'static str) -> impl Fn(io::Error) -> AppendError {
    move |error| AppendError::Io { stage, error }
}

/// Only the super-user may give files away, so the owner is kept where that is allowed.
fn keep_owner_and_mode(old: &File, new: &File) -> io::Result<()> {
    let meta = old.metadata()?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, fchown};
        let has_owner = fchown(new, Some(meta.uid()), Some(meta.gid())).is_ok();
        let _ = has_owner || fchown(new, None, Some(meta.gid())).is_ok();
    }
    new.set_permissions(meta.permissions())
}

#[cfg(test)]
mod tests;
