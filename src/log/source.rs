//! Where a log's bytes come from, and in which container.

use super::place::LogName;
use super::stop::Stop;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

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
    /// How the text is stored by the first bytes, whatever the name promises.
    content: Option<Container>,
    /// Once asked, reading fails.
    stop: Stop,
    pub(super) file: File,
}

impl Source {
    /// Opens the log at `path` for reading. What has a name that dsh gives to logs must be a file: opening a pipe waits
    /// for its other end, perhaps for ever.
    pub fn open(path: &Path) -> io::Result<Self> {
        if LogName::of(path).is_some() && path.metadata().is_ok_and(|meta| !meta.is_file() && !meta.is_dir())
        {
            return Err(io::Error::other("it is no file"));
        }
        Self::of(File::open(path)?, path)
    }

    /// The file's permissions, whatever has become of its name.
    pub fn permissions(&self) -> io::Result<std::fs::Permissions> {
        Ok(self.file.metadata()?.permissions())
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
        let content = match magic.as_slice() {
            [] => None,
            magic if super::frames::is_start(magic) => Some(Container::Zstd),
            [b'{', ..] => Some(Container::Raw),
            _ => None,
        };
        let container = if named_zstd { Container::Zstd } else { content.unwrap_or(Container::Raw) };
        Ok(Self { path: path.to_owned(), container, bytes: meta.len(), content, stop: Stop::default(), file })
    }

    /// Reads standard input to its end into an unnamed temporary file.
    pub fn stdin() -> io::Result<Self> {
        Self::spool(&mut io::stdin().lock(), Path::new("-"))
    }

    /// A log of these bytes, for tests.
    #[cfg(test)]
    pub(crate) fn of_bytes(bytes: &[u8]) -> Self {
        Self::spool(&mut &bytes[..], Path::new("log")).unwrap()
    }

    fn spool(input: &mut dyn Read, path: &Path) -> io::Result<Self> {
        let mut file = tempfile::tempfile()?;
        io::copy(input, &mut file)?;
        file.flush()?;
        Self::of(file, path)
    }

    /// The same bytes, which cannot be read on once the run is to end.
    #[must_use]
    pub fn until(self, stop: &Stop) -> Self {
        Self { stop: stop.clone(), ..self }
    }

    /// How the text is stored by the first bytes; `None` where they tell nothing.
    #[must_use]
    pub fn content(&self) -> Option<Container> {
        self.content
    }

    /// The same bytes once more.
    pub(super) fn again(&self) -> io::Result<Self> {
        Ok(Self { path: self.path.clone(), stop: self.stop.clone(), file: self.file.try_clone()?, ..*self })
    }

    /// Writes the bytes that count to `output`.
    pub fn copy_to(&self, output: &mut dyn Write) -> io::Result<()> {
        io::copy(&mut self.reader(0)?, output).map(|_| ())
    }

    /// The bytes that count, from `start`.
    pub(super) fn reader(&self, start: u64) -> io::Result<SourceReader> {
        let mut file = self.file.try_clone()?;
        file.seek(SeekFrom::Start(start))?;
        let left = self.bytes.saturating_sub(start);
        Ok(io::BufReader::with_capacity(1 << 16, Promised { file, left, stop: self.stop.clone() }))
    }
}

/// The bytes of a [`Source`] that count.
pub(super) type SourceReader = io::BufReader<Promised>;

/// So many bytes of a file. One that ends before has been cut while it was read, which is no damage of the log.
pub(super) struct Promised {
    file: File,
    left: u64,
    stop: Stop,
}

impl Read for Promised {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stop.check()?;
        let most = usize::try_from(self.left).unwrap_or(usize::MAX).min(buffer.len());
        let count = self.file.read(&mut buffer[..most])?;
        if count == 0 && most > 0 {
            let problem = format!("the file was cut while it was read: {} bytes of it are gone", self.left);
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, problem));
        }
        self.left -= count as u64;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(source: &Source) -> io::Result<usize> {
        let mut bytes = Vec::new();
        source.reader(0)?.read_to_end(&mut bytes)
    }

    #[test]
    fn a_directory_is_no_log() {
        let folder = tempfile::tempdir().unwrap();
        let error = Source::open(folder.path()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::IsADirectory);
    }

    #[test]
    fn nothing_is_read_once_the_run_is_to_end() {
        let stop = Stop::default();
        let source = Source::of_bytes(b"some text").until(&stop);
        let twin = source.again().unwrap();
        assert_eq!((read(&source).unwrap(), read(&twin).unwrap()), (9, 9));
        stop.ask();
        assert!(read(&source).is_err() && read(&twin).is_err());
    }

    #[test]
    fn bytes_are_counted_when_the_file_is_opened() {
        let file = tempfile::NamedTempFile::new().unwrap();
        file.as_file().set_len(1000).unwrap();
        let source = Source::open(file.path()).unwrap();
        file.as_file().set_len(2000).unwrap();
        assert_eq!(read(&source).unwrap(), 1000);
        file.as_file().set_len(900).unwrap();
        let error = read(&source).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
        assert!(error.to_string().contains("100 bytes of it are gone"), "{error}");
    }
}
