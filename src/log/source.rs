//! Where a log's bytes come from, and in which container.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// How a log's text is stored (FORMAT §2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Container {
    /// The text itself.
    Raw,
    /// Zstandard frames.
    Zstd,
}

/// An open log: a file, and how many of its bytes are read. Bytes that a writer adds meanwhile are not seen.
#[derive(Debug)]
pub struct Source {
    /// The path as the user gave it, `-` for standard input.
    pub path: PathBuf,
    /// How the text is stored.
    pub container: Container,
    /// The bytes that count.
    pub bytes: u64,
    pub(super) file: File,
}

impl Source {
    /// Opens the log at `path` for reading.
    pub fn open(path: &Path) -> io::Result<Self> {
        Self::of(File::open(path)?, path)
    }

    /// Takes a file that is open already. Its name or else its first bytes tell the container.
    pub fn of(mut file: File, path: &Path) -> io::Result<Self> {
        let meta = file.metadata()?;
        if meta.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        if !meta.is_file() {
            // A pipe or a device cannot be read twice.
            return Self::spool(&mut file, path);
        }
        file.rewind()?;
        let mut magic = Vec::with_capacity(4);
        (&file).take(4).read_to_end(&mut magic)?;
        let named_zstd = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("zstd"));
        let container =
            if named_zstd || magic == super::frames::MAGIC { Container::Zstd } else { Container::Raw };
        Ok(Self { path: path.to_owned(), container, bytes: meta.len(), file })
    }

    /// Reads standard input to its end into an unnamed temporary file.
    pub fn stdin() -> io::Result<Self> {
        Self::spool(&mut io::stdin().lock(), Path::new("-"))
    }

    fn spool(input: &mut dyn Read, path: &Path) -> io::Result<Self> {
        let mut file = tempfile::tempfile()?;
        io::copy(input, &mut file)?;
        file.flush()?;
        Self::of(file, path)
    }

    /// When the file was last changed, if the file system tells.
    #[must_use]
    pub fn modified(&self) -> Option<SystemTime> {
        self.file.metadata().ok()?.modified().ok()
    }

    /// Writes the bytes that count to `output`.
    pub fn copy_to(&self, output: &mut dyn Write) -> io::Result<()> {
        let copied = io::copy(&mut self.reader(0)?, output)?;
        if copied == self.bytes { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }

    /// The bytes that count, from `start`.
    pub(super) fn reader(&self, start: u64) -> io::Result<io::BufReader<io::Take<File>>> {
        let mut file = self.file.try_clone()?;
        file.seek(SeekFrom::Start(start))?;
        Ok(io::BufReader::with_capacity(1 << 16, file.take(self.bytes.saturating_sub(start))))
    }
}
