//! A disk that fails, for tests.

use super::append::Disk;
use std::cell::Cell;
use std::fs::File;
use std::io::{self, Write};

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
}
