//! The one way in which bytes are added to a log: guarded, whole or not at all, old bytes untouched
//! (FORMAT §1.5, §2.4).

use super::session_lock::SessionLock;
use super::{Container, Source};
use crate::format::Format;
use std::fs::{File, Metadata, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

mod mend_tail;
mod successor;
#[cfg(test)]
mod tests;

pub use mend_tail::MendedTail;
pub use successor::{Succeeded, Successor};

/// How many of the last bytes tell one state of a file from another.
const TAIL: u64 = 4096;

/// Why a log cannot be written to.
#[derive(Debug, thiserror::Error)]
pub enum AppendError {
    /// Another dshc has the log.
    #[error("another dshc is writing to this log")]
    Locked,
    /// Another process has the session open for writing.
    #[error("another process holds session.lock: dsh has the session open")]
    SessionLocked,
    /// The file is not the one that was read.
    #[error("the file has changed since it was read: {0}")]
    Changed(&'static str),
    /// The file system refused; the file has its old length again.
    #[error("{stage}: {error}")]
    Io {
        /// What was being done.
        stage: &'static str,
        /// What the file system said.
        error: io::Error,
    },
    /// Something went wrong, and what was added could not be taken back. Nothing more will be appended.
    #[error("{problem}; what was added could not be taken back")]
    NotTakenBack {
        /// What went wrong.
        problem: String,
    },
    /// Another writer appended between the last look at the file and the write; the file holds none of ours.
    #[error("another writer appended at the same moment; what dshc wrote has been cut off again")]
    Raced,
    /// Another writer wrote to the old file in the moment in which a new one took its place.
    #[error(
        "another writer appended at the same moment; the old file, with what it wrote, has its place again"
    )]
    Overtaken,
    /// The same, and what it wrote stands in neither file that has a name.
    #[error("another writer appended to the old file when a new one took its place, and that is lost: {0}")]
    LeftBehind(String),
}

fn stage(stage: &'static str) -> impl Fn(io::Error) -> AppendError {
    move |error| AppendError::Io { stage, error }
}

/// The calls that change a file. Tests put a failing one in its place.
pub trait Disk {
    /// Writes all of `bytes` at the end of `file`.
    fn write(&self, file: &mut File, bytes: &[u8]) -> io::Result<()> {
        file.write_all(bytes)
    }
    /// Makes what was written durable.
    fn sync(&self, file: &File) -> io::Result<()> {
        file.sync_all()
    }
    /// Cuts the file back.
    fn truncate(&self, file: &File, length: u64) -> io::Result<()> {
        file.set_len(length)?;
        file.sync_all()
    }
    /// Gives the file at `new` the name of the one at `old`, which loses it.
    fn replace(&self, new: &Path, old: &Path) -> io::Result<()> {
        std::fs::rename(new, old)
    }
    /// Makes the names in a folder durable, where the system can.
    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
    }
}

/// The file system as it is.
#[derive(Debug, Clone, Copy, Default)]
pub struct RealDisk;

impl Disk for RealDisk {}

/// What identifies one state of a file.
#[derive(Debug, PartialEq, Eq)]
struct Revision {
    identity: Identity,
    length: u64,
    modified: Option<SystemTime>,
    tail: Vec<u8>,
}

/// A log that is locked against every other dshc, and may be appended to as long as nobody else changes it.
pub struct Appender<'d> {
    file: File,
    path: PathBuf,
    container: Container,
    revision: Revision,
    disk: &'d dyn Disk,
    /// The bytes of the last append.
    last: Vec<u8>,
    /// Nobody knows how the file ends, or what is in it: nothing more is appended.
    is_spoiled: bool,
    session_lock: Option<SessionLock>,
}

impl<'d> Appender<'d> {
    /// Opens and locks the log at `path`. What is read from now on through [`Appender::source`] is what every
    /// append will insist on.
    pub fn open(path: &Path, disk: &'d dyn Disk) -> Result<Self, AppendError> {
        let file = OpenOptions::new()
            .read(true)
            .append(true)
            .open(path)
            .map_err(stage("cannot open for writing"))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(AppendError::Locked),
            Err(TryLockError::Error(error)) => return Err(stage("cannot lock")(error)),
        }
        let source =
            file.try_clone().and_then(|file| Source::of(file, path)).map_err(stage("cannot read"))?;
        let revision = Revision::of(&file).map_err(stage("cannot read"))?;
        Ok(Self {
            file,
            path: path.to_owned(),
            container: source.container,
            revision,
            disk,
            last: Vec::new(),
            is_spoiled: false,
            session_lock: None,
        })
    }

    /// Keeps dsh out of the session, if its writers of this format have a lock; to be asked for before the first append.
    pub fn lock_session(&mut self, format: &Format) -> Result<(), AppendError> {
        if format.has_session_lock && self.session_lock.is_none() {
            self.session_lock = Some(SessionLock::take(&self.path)?);
        }
        Ok(())
    }

    /// The log's bytes up to the end that this appender knows.
    pub fn source(&self) -> io::Result<Source> {
        let mut source = Source::of(self.file.try_clone()?, &self.path)?;
        source.bytes = self.revision.length;
        Ok(source)
    }

    /// When the file was last changed.
    #[must_use]
    pub fn modified(&self) -> Option<SystemTime> {
        self.revision.modified
    }

    /// Length of the file, in bytes.
    #[must_use]
    pub fn length(&self) -> u64 {
        self.revision.length
    }

    /// Whether nothing more is appended: another writer interfered, a failed append is still there, or the caller
    /// [gave up](Self::give_up).
    #[must_use]
    pub fn is_spoiled(&self) -> bool {
        self.is_spoiled
    }

    /// Adds `records`, one JSON text each, as lines (raw) or as one frame (zstd), and makes them durable. Tells the byte
    /// from which on they stand. On an error the file holds none of them, unless the error says otherwise.
    pub fn append(&mut self, records: &[String]) -> Result<u64, AppendError> {
        if self.is_spoiled {
            return Err(AppendError::Changed("nobody knows how it ends"));
        }
        let encoded = encode(self.container, records);
        let bytes = encoded.map_err(|error| AppendError::Io { stage: "cannot encode", error })?;
        self.check_unchanged()?;
        let start = self.revision.length;
        let written = self.disk.write(&mut self.file, &bytes).map_err(|error| ("cannot write", error));
        let done = written.and_then(|()| self.disk.sync(&self.file).map_err(|error| ("cannot sync", error)));
        if let Err((stage, error)) = done {
            return Err(self.roll_back(&bytes, stage, error));
        }
        self.settle(start, bytes)
    }

    /// Looks at what stands behind the old end now that `bytes` were written there.
    fn settle(&mut self, start: u64, bytes: Vec<u8>) -> Result<u64, AppendError> {
        let spoil = |problem: &str| AppendError::NotTakenBack { problem: problem.to_owned() };
        let Ok(added) = read_from(&self.file, start) else {
            self.is_spoiled = true;
            return Err(spoil("cannot read back"));
        };
        if added.starts_with(&bytes) {
            // What another writer has appended behind is growth like any other.
            self.knows_up_to(start + bytes.len() as u64).map_err(|_| spoil("cannot read back"))?;
            self.last = bytes;
            return Ok(start);
        }
        // Another writer got in between the check and the write. Ours goes, if it stands last.
        self.is_spoiled = true;
        let ours_start = start + (added.len().saturating_sub(bytes.len())) as u64;
        if added.ends_with(&bytes) && self.disk.truncate(&self.file, ours_start).is_ok() {
            return Err(AppendError::Raced);
        }
        Err(spoil("another writer appended at the same moment"))
    }

    /// Cuts the last append, from byte `start` on, off again, while the file still ends with it.
    pub fn take_back(&mut self, start: u64) -> Result<(), AppendError> {
        let stage = |error| AppendError::Io { stage: "cannot take back", error };
        if read_from(&self.file, start).map_err(stage)? != self.last {
            return Err(AppendError::Changed("another writer appended behind"));
        }
        self.disk.truncate(&self.file, start).map_err(stage)?;
        self.knows_up_to(start).map_err(stage)
    }

    /// Appends nothing more: what the file holds is not known any more.
    pub fn give_up(&mut self) {
        self.is_spoiled = true;
    }

    /// Takes what another writer has appended meanwhile for part of the log, if the file is otherwise as it was; tells
    /// the byte from which on it stands.
    pub fn adopt_growth(&mut self) -> Result<Option<u64>, AppendError> {
        let stage = |error| AppendError::Io { stage: "cannot check the file", error };
        self.check_identity()?;
        let start = self.revision.length;
        let length = self.file.metadata().map_err(stage)?.len();
        if length <= start {
            return self.check_unchanged().map(|()| None);
        }
        let mut tail = read_from(&self.file, start.saturating_sub(TAIL)).map_err(stage)?;
        tail.truncate(self.revision.tail.len());
        if tail != self.revision.tail {
            return Err(AppendError::Changed("bytes that had been read are other ones now"));
        }
        self.knows_up_to(length).map_err(stage)?;
        Ok(Some(start))
    }

    /// Takes the file as it is up to byte `length`: what anyone may have appended behind has not been looked at.
    fn knows_up_to(&mut self, length: u64) -> io::Result<()> {
        let revision = Revision::up_to(&self.file, length);
        self.is_spoiled |= revision.is_err();
        self.revision = revision?;
        Ok(())
    }

    fn check_identity(&self) -> Result<(), AppendError> {
        let at_path = match std::fs::metadata(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(AppendError::Changed("it is gone"));
            }
            at_path => at_path.map_err(|error| AppendError::Io { stage: "cannot check the file", error })?,
        };
        if identity(&at_path) != self.revision.identity {
            return Err(AppendError::Changed("another file has taken its place"));
        }
        Ok(())
    }

    fn check_unchanged(&self) -> Result<(), AppendError> {
        let stage = |error| AppendError::Io { stage: "cannot check the file", error };
        self.check_identity()?;
        let now = Revision::of(&self.file).map_err(stage)?;
        if now.length != self.revision.length {
            return Err(AppendError::Changed("its length is another"));
        }
        if now != self.revision {
            return Err(AppendError::Changed("it was written to"));
        }
        Ok(())
    }

    /// Takes back what a failed append may have left, if all behind the old end is ours.
    fn roll_back(&mut self, bytes: &[u8], stage: &'static str, error: io::Error) -> AppendError {
        let start = self.revision.length;
        let is_ours = read_from(&self.file, start).is_ok_and(|added| bytes.starts_with(&added));
        let taken_back = is_ours && self.disk.truncate(&self.file, start).is_ok();
        if taken_back && self.knows_up_to(start).is_ok() {
            return AppendError::Io { stage, error };
        }
        self.is_spoiled = true;
        AppendError::NotTakenBack { problem: format!("{stage}: {error}") }
    }
}

impl Revision {
    fn of(file: &File) -> io::Result<Self> {
        Self::up_to(file, file.metadata()?.len())
    }

    /// As if the file ended at byte `length`.
    fn up_to(file: &File, length: u64) -> io::Result<Self> {
        let meta = file.metadata()?;
        let start = length.saturating_sub(TAIL);
        let mut file = file;
        file.seek(SeekFrom::Start(start))?;
        let mut tail = Vec::new();
        file.take(length - start).read_to_end(&mut tail)?;
        Ok(Self { identity: identity(&meta), length, modified: meta.modified().ok(), tail })
    }
}

/// All bytes from `start`.
fn read_from(file: &File, start: u64) -> io::Result<Vec<u8>> {
    let mut file = file;
    file.seek(SeekFrom::Start(start))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Which file it is, whatever its name, where the system tells: device and inode.
pub(super) type Identity = Option<(u64, u64)>;

#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "other systems have no such identity")]
pub(super) fn identity(meta: &Metadata) -> Identity {
    use std::os::unix::fs::MetadataExt;
    Some((meta.dev(), meta.ino()))
}

#[cfg(not(unix))]
pub(super) fn identity(_meta: &Metadata) -> Identity {
    None
}

/// Records as the container takes them: whole lines, or one independent frame with a checksum.
fn encode(container: Container, records: &[String]) -> io::Result<Vec<u8>> {
    let mut text = records.join("\n");
    text.push('\n');
    match container {
        Container::Raw => Ok(text.into_bytes()),
        Container::Zstd => zstd_frame(text.as_bytes()),
    }
}

/// An independent frame with a checksum and no content size, as dsh writes it (FORMAT §2.2).
pub fn zstd_frame(text: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = encoder(Vec::new())?;
    encoder.write_all(text)?;
    encoder.finish()
}

fn encoder<W: Write>(output: W) -> io::Result<zstd::Encoder<'static, W>> {
    let mut encoder = zstd::Encoder::new(output, 3)?;
    encoder.include_checksum(true)?;
    Ok(encoder)
}
