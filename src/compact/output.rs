//! The new file that `-o` asks for: a copy of the log, published under its name only when it is whole.

use crate::log::layout::folder_of;
use crate::log::place::LogName;
use crate::log::{Container, Source};
use std::fs::{self, File};
use std::io;
use std::path::Path;
use tempfile::NamedTempFile;

/// The ending that a name must have where it promises another container than the log's: dsh goes by the ending
/// of canonical names (FORMAT §1.3), and dshc takes every `.zstd` for compressed.
pub(super) fn other_ending(output: &Path, container: Container) -> Option<&'static str> {
    let name = output.file_name().unwrap_or_default().to_string_lossy();
    let is_named_zstd = output.extension().is_some_and(|extension| extension == "zstd");
    match container {
        Container::Raw if is_named_zstd => Some(".jsonl"),
        Container::Zstd if LogName::parse(&name).is_some_and(|name| !name.is_zstd) => Some(".jsonl.zstd"),
        _ => None,
    }
}

/// Copies a log into an unpublished file beside `output`.
pub(super) fn copy_beside(source: &Source, output: &Path) -> io::Result<NamedTempFile> {
    let folder = folder_of(output);
    fs::create_dir_all(folder)?;
    let mut copy = tempfile::Builder::new().prefix(".dshc-").tempfile_in(folder)?;
    source.copy_to(&mut copy)?;
    copy.as_file().sync_all()?;
    Ok(copy)
}

/// Gives the copy the input's permissions and its name, unless a file has that name by now.
pub(super) fn publish(copy: NamedTempFile, source: &Source, output: &Path) -> io::Result<()> {
    copy.as_file().set_permissions(fs::metadata(&source.path)?.permissions())?;
    copy.persist_noclobber(output).map_err(|error| error.error)?;
    // The file is there; that its name outlives a crash of the machine is worth trying, not failing for.
    let _ = File::open(folder_of(output)).and_then(|folder| folder.sync_all());
    Ok(())
}
