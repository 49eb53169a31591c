//! Disks that fail, and disks that others write to, for tests.

use super::append::Disk;
use std::cell::Cell;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Fails at its nth call; a failing write leaves half of its bytes. A dead disk fails at every later call too, as
/// if the process had been killed.
pub(crate) struct FailingDisk {
    calls: Cell<usize>,
    at: usize,
    is_dead_after: bool,
}

impl FailingDisk {
    pub(crate) fn at(call: usize, is_dead_after: bool) -> Self {
        Self { calls: Cell::new(0), at: call, is_dead_after }
    }

    fn call(&self) -> io::Result<()> {
        let call = self.calls.get();
        self.calls.set(call + 1);
        let fails = call == self.at || (self.is_dead_after && call > self.at);
        if fails { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
    }
}

impl Disk for FailingDisk {
    fn write(&self, file: &mut File, bytes: &[u8]) -> io::Result<()> {
        if let Err(error) = self.call() {
            if self.calls.get() == self.at + 1 {
                file.write_all(&bytes[..bytes.len() / 2])?;
            }
            return Err(error);
        }
        file.write_all(bytes)
    }

    fn sync(&self, _file: &File) -> io::Result<()> {
        self.call()
    }

    fn truncate(&self, file: &File, length: u64) -> io::Result<()> {
        self.call()?;
        file.set_len(length)
    }

    fn replace(&self, new: &Path, old: &Path) -> io::Result<()> {
        self.call()?;
        std::fs::rename(new, old)
    }

    fn sync_folder(&self, _folder: &Path) -> io::Result<()> {
        self.call()
    }
}

/// Lets another writer append one line right before or right behind the nth write.
pub(crate) struct RacingDisk {
    path: PathBuf,
    writes: Cell<usize>,
    at: usize,
    is_before: bool,
    line: Vec<u8>,
}

impl RacingDisk {
    pub(crate) const FOREIGN: &'static [u8] = b"foreign\n";

    pub(crate) fn new(path: &Path, at: usize, is_before: bool) -> Self {
        Self { path: path.to_owned(), writes: Cell::new(0), at, is_before, line: Self::FOREIGN.to_owned() }
    }

    /// The other writer's bytes.
    pub(crate) fn writing(self, line: Vec<u8>) -> Self {
        Self { line, ..self }
    }

    fn append(&self) -> io::Result<()> {
        OpenOptions::new().append(true).open(&self.path)?.write_all(&self.line)
    }
}

impl Disk for RacingDisk {
    fn write(&self, file: &mut File, bytes: &[u8]) -> io::Result<()> {
        let is_raced = self.writes.replace(self.writes.get() + 1) == self.at;
        if is_raced && self.is_before {
            self.append()?;
        }
        file.write_all(bytes)?;
        if is_raced && !self.is_before { self.append() } else { Ok(()) }
    }
}

/// Another writer that has the file open when a new one takes its place, and then writes a line to what it has open; with
/// `also`, it opens the new file too and writes that line to it.
pub(crate) struct LateDisk {
    open: File,
    line: Vec<u8>,
    also: Option<Vec<u8>>,
    is_done: Cell<bool>,
}

impl LateDisk {
    pub(crate) fn new(path: &Path, line: &[u8], also: Option<&[u8]>) -> Self {
        let open = OpenOptions::new().append(true).open(path).unwrap();
        Self { open, line: line.to_owned(), also: also.map(<[u8]>::to_owned), is_done: Cell::new(false) }
    }
}

impl Disk for LateDisk {
    fn replace(&self, new: &Path, old: &Path) -> io::Result<()> {
        std::fs::rename(new, old)?;
        if self.is_done.replace(true) {
            return Ok(());
        }
        (&self.open).write_all(&self.line)?;
        match &self.also {
            Some(line) => OpenOptions::new().append(true).open(old)?.write_all(line),
            None => Ok(()),
        }
    }
}
