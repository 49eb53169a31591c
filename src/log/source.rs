//! Where a log's bytes come from, and in which container.

use super::input::{Input, Promised};
use super::lines::MAX_LINE;
use super::place::LogName;
use super::stop::Stop;
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

/// How a log's text is stored (FORMAT §2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Container {
    /// The text itself.
    Raw,
    /// Zstandard frames.
    Zstd,
}

/// From how many bytes on a log is read ahead, a quarter of them if it is compressed: for less, a thread costs more than
/// it saves.
const WORTH_A_THREAD: u64 = 1 << 16;

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
    reads_ahead: bool,
    /// Once asked, reading fails.
    pub(super) stop: Stop,
    pub(super) file: File,
}

impl Container {
    /// The word that reports use.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Raw => "raw",
            Self::Zstd => "zstd",
        }
    }
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

    /// When the file was last changed, whatever has become of its name.
    #[must_use]
    pub fn modified(&self) -> Option<std::time::SystemTime> {
        self.file.metadata().and_then(|meta| meta.modified()).ok()
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
        let stop = Stop::default();
        Ok(Self {
            path: path.to_owned(),
            container,
            bytes: meta.len(),
            content,
            stop,
            reads_ahead: true,
            file,
        })
    }

    /// Reads standard input to its end into an unnamed temporary file. What has no line feed for longer than any line is
    /// read is refused: it may have no end.
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
        spool_lines(input, &mut file, MAX_LINE)?;
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

    /// Whether a reader of a large compressed log decodes it in a thread of its own, ahead of what is asked for: by
    /// default it does, where there is more than one core. What is read is the same.
    #[must_use]
    pub fn read_ahead(self, wanted: bool) -> Self {
        Self { reads_ahead: wanted, ..self }
    }

    pub(super) fn is_worth_reading_ahead(&self, start: u64) -> bool {
        let worth = match self.container {
            Container::Raw => WORTH_A_THREAD,
            Container::Zstd => WORTH_A_THREAD / 4,
        };
        self.reads_ahead
            && self.bytes.saturating_sub(start) >= worth
            && std::thread::available_parallelism().is_ok_and(|cores| cores.get() > 1)
    }

    /// The same bytes once more.
    pub(super) fn again(&self) -> io::Result<Self> {
        Ok(Self { path: self.path.clone(), stop: self.stop.clone(), file: self.file.try_clone()?, ..*self })
    }

    /// Writes the bytes that count to `output`.
    pub fn copy_to(&self, output: &mut dyn Write) -> io::Result<()> {
        io::copy(&mut self.reader(0)?, output).map(|_| ())
    }

    /// The first bytes, up to `end`.
    pub fn read_head(&self, end: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.reader(0)?.take(end.min(self.bytes)).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// The bytes that count, from `start`.
    pub(super) fn reader(&self, start: u64) -> io::Result<Input> {
        Ok(Input::new(Promised::of(self, start)?))
    }
}

/// Copies `input` to its end, as long as a line feed comes every `longest` bytes. Compressed bytes have them by chance.
fn spool_lines(input: &mut dyn Read, output: &mut dyn Write, longest: usize) -> io::Result<()> {
    let mut room = vec![0; 1 << 16];
    let mut line = 0;
    loop {
        let count = match input.read(&mut room) {
            Ok(0) => return Ok(()),
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let bytes = &room[..count];
        output.write_all(bytes)?;
        line = memchr::memrchr(b'\n', bytes).map_or(line + count, |at| count - at - 1);
        if line > longest {
            let problem =
                format!("{line} bytes without a line feed, and more may follow: no log is like that");
            return Err(io::Error::new(io::ErrorKind::InvalidData, problem));
        }
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
    fn an_endless_line_is_refused_and_many_lines_are_not() {
        let longest = 1 << 20;
        let mut copy = Vec::new();
        let error = spool_lines(&mut io::repeat(0), &mut copy, longest).unwrap_err();
        assert!(error.to_string().contains("without a line feed"), "{error}");
        assert!(copy.len() < longest * 2, "{}", copy.len());

        let lines = [vec![b'x'; longest], b"\n".repeat(longest), vec![b'y'; longest]].concat();
        copy.clear();
        spool_lines(&mut &lines[..], &mut copy, longest).unwrap();
        assert_eq!(copy, lines);
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
