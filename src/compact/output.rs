//! The new file that `-o` asks for: a copy of the log, published under its name only when it is whole.

use super::{Reason, Stopped};
use crate::log::append::Disk;
use crate::log::layout::folder_of;
use crate::log::place::LogName;
use crate::log::{Container, Source};
use std::fs::{self, File};
use std::io;
use std::path::Path;
use tempfile::NamedTempFile;

/// A copy of a log that is not published yet; gone when it is dropped.
pub(super) struct Copy<'a> {
    output: &'a Path,
    pub(super) disk: &'a dyn Disk,
    file: Option<NamedTempFile>,
}

impl<'a> Copy<'a> {
    /// A copy that will be called `output`; nothing is there yet.
    pub(super) fn new(output: &'a Path, disk: &'a dyn Disk) -> Self {
        Self { output, disk, file: None }
    }

    /// Copies the log beside the place of the output; the copy's path.
    pub(super) fn make(&mut self, source: &Source) -> Result<&Path, Stopped> {
        if let Some(ending) = other_ending(self.output, source.container) {
            let message = format!("{} promises by its name another container", self.output.display());
            let help = format!("give it the input's ending, {ending}");
            return Err(Stopped::Refused(Reason::new("output", message, help)));
        }
        let copy = copy_beside(source, self.output);
        let copy = copy.map_err(|error| Stopped::Refused(unwritable(self.output, &error)))?;
        Ok(self.file.insert(copy).path())
    }

    /// Gives the copy, if one was made, the input's permissions and its name, unless a file has that name by now.
    pub(super) fn publish(self, source: &Source) -> Result<(), Stopped> {
        let Some(copy) = self.file else { return Ok(()) };
        // By its path: mending puts another file into the copy's place.
        let prepared = source.permissions().and_then(|mode| fs::set_permissions(copy.path(), mode));
        let done = prepared.and_then(|()| Ok(copy.persist_noclobber(self.output)?));
        done.map_err(|error| Stopped::Failed(unwritable(self.output, &error)))?;
        // The file is there; that its name outlives a crash of the machine is worth trying, not failing for.
        let _ = File::open(folder_of(self.output)).and_then(|folder| folder.sync_all());
        Ok(())
    }
}

fn unwritable(output: &Path, error: &io::Error) -> Reason {
    let message = format!("cannot write {}: {error}", output.display());
    Reason::new("persistence", message, "check the folder, its permissions and the disk")
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

/// Copies a log into an unpublished file beside `output`.
fn copy_beside(source: &Source, output: &Path) -> io::Result<NamedTempFile> {
    let folder = folder_of(output);
    fs::create_dir_all(folder)?;
    let mut copy = tempfile::Builder::new().prefix(".dshc-").tempfile_in(folder)?;
    source.copy_to(&mut copy)?;
    copy.as_file().sync_all()?;
    Ok(copy)
}
