//! The new file that `-o` asks for: a copy of the log, published under its name only when it is whole.

use super::{Reason, Stopped};
use crate::log::append::Disk;
use crate::log::{NewFile, NewFileError, Source};
use std::path::Path;

/// A copy of a log that is not published yet; gone when it is dropped.
pub(super) struct Copy<'a> {
    output: &'a Path,
    pub(super) disk: &'a dyn Disk,
    file: Option<NewFile<'a>>,
}

impl<'a> Copy<'a> {
    /// A copy that will be called `output`; nothing is there yet.
    pub(super) fn new(output: &'a Path, disk: &'a dyn Disk) -> Self {
        Self { output, disk, file: None }
    }

    /// Copies the log beside the place of the output; the copy's path.
    pub(super) fn make(&mut self, source: &Source) -> Result<&Path, Stopped> {
        let copy = copy_beside(source, self.output);
        let copy = copy.map_err(|error| Stopped::Refused(Reason::of_new_file(self.output, &error)))?;
        Ok(self.file.insert(copy).path())
    }

    /// Gives the copy, if one was made, the input's permissions and its name, unless a file has that name by now.
    pub(super) fn publish(self, source: &Source) -> Result<(), Stopped> {
        let Some(copy) = self.file else { return Ok(()) };
        let done = source.permissions().and_then(|permissions| copy.publish(permissions));
        done.map_err(|error| Stopped::Failed(Reason::of_new_file(self.output, &error.into())))
    }
}

/// Copies a log into an unpublished file beside `output`.
fn copy_beside<'a>(source: &Source, output: &'a Path) -> Result<NewFile<'a>, NewFileError> {
    let mut copy = NewFile::beside(output, source.container)?;
    source.copy_to(copy.file())?;
    copy.file().sync_all()?;
    Ok(copy)
}
