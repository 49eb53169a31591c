//! How logs lie in a root: what stands beside a log that was found in a folder (FORMAT §1.1, §1.3).

use super::place::{self, Address, LogName};
use crate::format;
use crate::json::Text;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Where a log lies that was found in a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Spot {
    /// In a session directory, under a canonical name.
    Session(SessionFolder),
    /// Directly in a project directory, where dsh wants no files.
    Flat,
}

/// A session directory and the log in it that dsh would open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionFolder {
    /// The directory, absolute.
    pub path: PathBuf,
    /// What the log's name says: it is the highest generation here.
    pub name: LogName,
    /// Lower generations, of either encoding, from the lowest up.
    pub older: Vec<(LogName, PathBuf)>,
    /// The same generation in the other encoding.
    pub twin: Option<PathBuf>,
}

impl SessionFolder {
    /// The root: the session directory's grandparent.
    #[must_use]
    pub fn root(&self) -> Option<&Path> {
        self.path.parent()?.parent()
    }

    /// The project directory's name.
    #[must_use]
    pub fn project(&self) -> Option<&OsStr> {
        self.path.parent()?.file_name()
    }

    /// The session directory's name.
    #[must_use]
    pub fn session(&self) -> Option<&OsStr> {
        self.path.file_name()
    }

    /// The session that the directory's name stands for, if it stands for one.
    #[must_use]
    pub fn session_id(&self) -> Option<Text<'static>> {
        place::decode_segment(self.session()?.to_str()?)
    }

    /// Lets the twin of `log` stand for the session.
    pub fn take_twin(&mut self, log: &mut PathBuf) {
        if let Some(twin) = &mut self.twin {
            std::mem::swap(twin, log);
            self.name.is_zstd = !self.name.is_zstd;
        }
    }

    /// Whether `log` is the file at `address` in this root, by whatever links.
    #[must_use]
    pub fn is_at(&self, log: &Path, address: &Address) -> bool {
        let is_named = |name: Option<&OsStr>, wanted: &str| name.is_some_and(|name| name == wanted);
        if is_named(self.project(), &address.project) && is_named(self.session(), &address.session) {
            return true;
        }
        let (Some(root), Some(name)) = (self.root(), log.file_name()) else { return false };
        let addressed = root.join(&address.project).join(&address.session).join(name).canonicalize();
        addressed.is_ok_and(|addressed| log.canonicalize().is_ok_and(|log| log == addressed))
    }

    /// For people: that `log` was taken before older generations, if there are any.
    #[must_use]
    pub fn older_told(&self, log: &Path) -> Option<String> {
        let names: Vec<String> = self.older.iter().map(|(_, path)| file_name(path)).collect();
        if names.is_empty() {
            return None;
        }
        let mut told = format!(
            "{} is taken, the highest generation here; left alone: {}",
            file_name(log),
            names.join(", ")
        );
        let first = format::ALL[0];
        if self.older.iter().any(|(name, _)| name.generation == first.version) {
            told = format!("{told}; dsh {} knows that old name only and still reads it", first.releases);
        }
        Some(told)
    }
}

/// The highest generation beside `log`, if it is higher than the log's own: dsh opens that one (FORMAT §1.3).
#[must_use]
pub fn newer_beside(log: &Path) -> Option<PathBuf> {
    let own = LogName::of(log)?;
    let names =
        std::fs::read_dir(folder_of(log)).ok()?.filter_map(|entry| entry.ok().map(|entry| entry.path()));
    let newest = names.filter_map(|path| Some((LogName::of(&path)?, path))).max()?;
    (newest.0.generation > own.generation).then_some(newest.1)
}

/// The folder that a file lies in, by its path.
#[must_use]
pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The last part of a path, for people.
#[must_use]
pub fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}
