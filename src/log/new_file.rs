//! A file that has no name of its own yet: what `-o` asks for, published only when it is whole.

use super::Container;
use super::layout::folder_of;
use super::place::LogName;
use std::fs::{self, File, Permissions};
use std::io;
use std::path::Path;
use tempfile::NamedTempFile;

/// Why a new file cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum NewFileError {
    /// Its name promises another container than the log's.
    #[error("its name promises another container; the log's ends in {ending}")]
    OtherContainer {
        /// The ending that would fit.
        ending: &'static str,
    },
    /// The file system refused.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// A file that is not published yet; gone when it is dropped.
pub struct NewFile<'a> {
    output: &'a Path,
    file: NamedTempFile,
}

impl<'a> NewFile<'a> {
    /// An empty file that will be called `output` and hold a log in `container`. Until it is published there is nothing
    /// at that path, nor are the folders on the way made.
    pub fn beside(output: &'a Path, container: Container) -> Result<Self, NewFileError> {
        if let Some(ending) = other_ending(output, container) {
            return Err(NewFileError::OtherContainer { ending });
        }
        // What is renamed must lie in the file system that it is renamed in: that of the folders to be made.
        let folder = folder_of(output);
        let nearest = folder.ancestors().find(|above| above.symlink_metadata().is_ok());
        let nearest = nearest.unwrap_or(Path::new("."));
        let file = tempfile::Builder::new().prefix(".dshc-").tempfile_in(nearest)?;
        Ok(Self { output, file })
    }

    /// Where it lies meanwhile.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// The file itself.
    pub fn file(&mut self) -> &mut File {
        self.file.as_file_mut()
    }

    /// Gives what lies at [`NewFile::path`] its permissions and its name, unless a file has that name by now; its folder is
    /// made if need be. What was written to it has been synced.
    pub fn publish(self, permissions: Permissions) -> io::Result<()> {
        let folder = folder_of(self.output);
        fs::create_dir_all(folder)?;
        // By its path: mending puts another file into its place.
        fs::set_permissions(self.file.path(), permissions)?;
        self.file.persist_noclobber(self.output)?;
        // The file is there; that its name outlives a crash of the machine is worth trying, not failing for.
        let _ = File::open(folder).and_then(|folder| folder.sync_all());
        Ok(())
    }
}

/// The ending that a name must have where it promises another container than the log's: dsh goes by the ending
/// of canonical names (FORMAT §1.3), and dshc takes every `.zstd` for compressed.
fn other_ending(output: &Path, container: Container) -> Option<&'static str> {
    let name = output.file_name().unwrap_or_default().to_string_lossy();
    let is_named_zstd = output.extension().is_some_and(|extension| extension == "zstd");
    match container {
        Container::Raw if is_named_zstd => Some(".jsonl"),
        Container::Zstd if LogName::parse(&name).is_some_and(|name| !name.is_zstd) => Some(".jsonl.zstd"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn what_is_not_published_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("a/b/session.jsonl");
        drop(NewFile::beside(&output, Container::Raw).unwrap());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        let mut new = NewFile::beside(&output, Container::Raw).unwrap();
        new.file().write_all(b"text").unwrap();
        assert!(!folder.path().join("a").exists());
        let permissions = new.path().metadata().unwrap().permissions();
        new.publish(permissions).unwrap();
        assert_eq!(fs::read(&output).unwrap(), b"text");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_file_that_has_the_name_by_now_stays() {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("session.jsonl");
        let new = NewFile::beside(&output, Container::Raw).unwrap();
        fs::write(&output, "other").unwrap();
        let permissions = new.path().metadata().unwrap().permissions();
        assert!(new.publish(permissions).is_err());
        assert_eq!(fs::read_to_string(&output).unwrap(), "other");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn no_folder_is_made_where_a_file_stands() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("file"), "").unwrap();
        let output = folder.path().join("file/session.jsonl");
        assert!(matches!(NewFile::beside(&output, Container::Raw), Err(NewFileError::Io(_))));
    }
}
