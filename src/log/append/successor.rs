//! A new file that takes a log's place: built beside it, made durable, then given its name. A crash at any moment leaves the
//! old file or the new one.
//!
//! dsh opens a log by its path for each append and closes it again, so that what it appends later goes to the new file. Only
//! an append that is under way in that moment still goes to the old one; [`Appender::succeed`] looks for that.

use super::{AppendError, Appender, Disk, Revision, read_from, stage};
use crate::log::Source;
use crate::log::layout::folder_of;
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Seek as _, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use tempfile::TempPath;

#[cfg(test)]
mod tests;

/// A new file beside a log, which is to take its place; gone when it is dropped before that.
pub struct Successor<'d> {
    file: File,
    path: TempPath,
    /// The log's own path: a link stays a link, and the file that it names is replaced.
    place: PathBuf,
    disk: &'d dyn Disk,
}

impl<'d> Successor<'d> {
    fn beside(place: PathBuf, disk: &'d dyn Disk) -> Result<Self, AppendError> {
        let prefix = prefix_of(&place);
        let made = tempfile::Builder::new().prefix(&prefix).tempfile_in(folder_of(&place));
        let (file, path) = made.map_err(stage("cannot create a file beside the log"))?.into_parts();
        Ok(Self { file, path, place, disk })
    }

    /// The folder that both files lie in.
    pub(super) fn folder(&self) -> &Path {
        folder_of(&self.place)
    }

    /// Makes all that was written durable, with the owner and the mode of `old`, and its time if `modified` names it.
    pub(super) fn complete(&mut self, old: &File, modified: Option<SystemTime>) -> Result<(), AppendError> {
        keep_owner_and_mode(old, &self.file).map_err(stage("cannot keep the log's permissions"))?;
        if let Some(modified) = modified {
            self.file.set_modified(modified).map_err(stage("cannot keep the log's time"))?;
        }
        self.disk.sync(&self.file).map_err(stage("cannot sync the new file"))?;
        let opened = OpenOptions::new().read(true).append(true).open(&self.path);
        self.file = opened.map_err(stage("cannot open the new file"))?;
        Ok(())
    }

    /// What was written, read back.
    pub fn source(&self) -> io::Result<Source> {
        Source::of(self.file.try_clone()?, &self.place)
    }
}

/// How the names of all successors of the log at `place` begin, and of no other's: file names may be too long to be part of
/// another.
fn prefix_of(place: &Path) -> String {
    let name = blake3::hash(place.file_name().unwrap_or_default().as_encoded_bytes()).to_hex();
    format!(".dshc-{}-", name.get(..16).unwrap_or_default())
}

/// Removes successors that never were: only who has locked the log makes any, and that is the caller.
fn remove_leftovers(place: &Path) {
    let prefix = prefix_of(place);
    let entries = std::fs::read_dir(folder_of(place)).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| entry.file_name().as_encoded_bytes().starts_with(prefix.as_bytes())) {
        // Nothing is wrong with a log that has one beside it.
        let _ = std::fs::remove_file(entry.path());
    }
}

/// Writes to its end, through the disk.
impl Write for Successor<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.disk.write(&mut self.file, bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A new file has taken the log's place.
#[derive(Debug)]
#[must_use]
pub struct Succeeded {
    unsynced: Option<AppendError>,
    has_new_owner: bool,
}

impl Succeeded {
    /// What is to be said of it.
    pub fn notes(&self) -> impl Iterator<Item = String> {
        let owner =
            "the new file has another owner: the system lets nobody but the super-user give files away";
        let unsynced = self.unsynced.as_ref();
        let unsynced =
            unsynced.map(|error| format!("{error}; a crash of the machine may bring the old file back"));
        self.has_new_owner.then(|| owner.to_owned()).into_iter().chain(unsynced)
    }
}

impl<'d> Appender<'d> {
    /// An empty file beside the log. What a run that was killed has left there is removed first.
    pub fn successor(&self) -> Result<Successor<'d>, AppendError> {
        let place = self.path.canonicalize().map_err(stage("cannot find the log"))?;
        remove_leftovers(&place);
        Successor::beside(place, self.disk)
    }

    /// Makes the successor durable. It has the log's owner as far as the system allows, its mode and its time: the text is
    /// the same, and no older or newer than it was.
    pub fn complete(&self, successor: &mut Successor) -> Result<(), AppendError> {
        successor.complete(&self.file, self.revision.modified)
    }

    /// Puts the successor in the log's place, if the log is still what was read. The caller has made it [complete](Self::complete)
    /// and held its text against the log's.
    ///
    /// Where another writer had opened the old file before and wrote to it by now, the old file gets its place back, with
    /// that and with what was appended to the new one.
    pub fn succeed(&mut self, successor: Successor) -> Result<Succeeded, AppendError> {
        let place = successor.place.clone();
        let (old, known) = self.exchange(successor)?;
        let unsynced =
            self.disk.sync_folder(folder_of(&place)).map_err(stage("cannot sync the folder")).err();
        if Revision::of(&old).is_ok_and(|now| now == known) {
            let has_new_owner = owner(&old) != owner(&self.file);
            return Ok(Succeeded { unsynced, has_new_owner });
        }
        self.put_back(&old, place).map_err(|error| {
            self.is_spoiled = true;
            AppendError::LeftBehind(error.to_string())
        })?;
        Err(AppendError::Overtaken)
    }

    /// Puts the successor in the log's place and appends to that from now on. Gives the old file, locked still, and what it
    /// was.
    pub(super) fn exchange(&mut self, successor: Successor) -> Result<(File, Revision), AppendError> {
        let Successor { file, path, place, .. } = successor;
        // Whoever opens the log from now on finds one of two locked files.
        file.try_lock().map_err(|error| stage("cannot lock the new file")(error.into()))?;
        let revision = Revision::of(&file).map_err(stage("cannot read the new file"))?;
        self.check_unchanged()?;
        self.disk.replace(&path, &place).map_err(stage("cannot put the new file in place"))?;
        // The name is gone, so there is nothing to remove.
        let _ = path.keep();
        self.last.clear();
        let old = std::mem::replace(&mut self.file, file);
        Ok((old, std::mem::replace(&mut self.revision, revision)))
    }

    /// Puts a copy of `old` at `place`, with what was appended to the file that lies there.
    fn put_back(&mut self, old: &File, place: PathBuf) -> Result<(), AppendError> {
        let ours = self.revision.length;
        self.adopt_growth()?;
        let mut copy = Successor::beside(place, self.disk)?;
        let behind = read_from(&self.file, ours).map_err(stage("cannot read what was appended"))?;
        copy_whole(old, &behind, &mut copy).map_err(stage("cannot write the old log anew"))?;
        let modified = old.metadata().and_then(|meta| meta.modified()).ok();
        copy.complete(old, modified)?;
        let folder = copy.folder().to_owned();
        let _new = self.exchange(copy)?;
        self.disk.sync_folder(&folder).map_err(stage("cannot sync the folder"))
    }
}

fn copy_whole(old: &File, behind: &[u8], copy: &mut Successor) -> io::Result<()> {
    let mut output = BufWriter::with_capacity(1 << 20, copy);
    let mut old = old;
    old.rewind()?;
    io::copy(&mut old, &mut output)?;
    output.write_all(behind)?;
    output.flush()
}

/// User and group of a file, where the system has them.
#[cfg(unix)]
fn owner(file: &File) -> Option<(u32, u32)> {
    use std::os::unix::fs::MetadataExt;
    file.metadata().ok().map(|meta| (meta.uid(), meta.gid()))
}

#[cfg(not(unix))]
fn owner(_file: &File) -> Option<(u32, u32)> {
    None
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
