//! Which logs the paths that a user gives stand for, each once and in a stable order.

mod walk;

use crate::log::layout::Spot;
use crate::log::place::LogName;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// The logs that `paths` stand for, each once, however often it is named.
///
/// A file is a log, whatever its name. Of a directory and all below it, the files with canonical names are,
/// in each session directory the highest generation; files directly in a project directory are told, too, for
/// dsh refuses them. What cannot be looked at, and a directory with a log's name, is taken for a log, so that
/// opening it tells why it is none.
#[must_use]
pub fn find(paths: &[PathBuf]) -> Found {
    let mut found = Found::default();
    let mut logs = Vec::new();
    for path in paths {
        let is_folder = path != Path::new("-") && path.is_dir();
        if !is_folder || LogName::of(path).is_some() {
            logs.push(FoundLog { path: path.clone(), below: None, spot: None });
        }
        if is_folder {
            walk::walk(path, &mut logs, &mut found.ignored);
        }
    }
    found.logs = each_once(logs);
    found.logs.sort_by(|left, right| left.path.cmp(&right.path));
    found.ignored.sort();
    found.ignored.dedup();
    found
}

/// What the paths that a user gave stand for, in a stable order.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// The logs, each with the directory that the user named if it was found below one.
    pub logs: Vec<FoundLog>,
    /// Files that look like logs but have no canonical name, and generations that a higher one hides.
    pub ignored: Vec<PathBuf>,
}

/// A log and how it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundLog {
    /// The file.
    pub path: PathBuf,
    /// The directory below which it was found; `None` if the file itself was named.
    pub below: Option<PathBuf>,
    /// Where it lies, if a directory around it was named; `None` too for what the walk could not look at.
    pub spot: Option<Spot>,
}

impl FoundLog {
    /// Whether it was found where dsh wants no log, and was not named itself.
    #[must_use]
    pub fn is_flat(&self) -> bool {
        self.below.is_some() && self.spot == Some(Spot::Flat)
    }

    /// The same session in the other encoding, where the log itself was not named.
    #[must_use]
    pub fn twin(&self) -> Option<&Path> {
        match &self.spot {
            Some(Spot::Session(folder)) if self.below.is_some() => folder.twin.as_deref(),
            _ => None,
        }
    }

    /// For people: that the log was taken before older generations, if it was.
    #[must_use]
    pub fn older_told(&self) -> Option<String> {
        match &self.spot {
            Some(Spot::Session(folder)) if self.below.is_some() => folder.older_told(&self.path),
            _ => None,
        }
    }
}

/// Drops what was found again. A log that is named itself, and found in a directory too, keeps the name that
/// it was given first and learns where it lies.
fn each_once(logs: Vec<FoundLog>) -> Vec<FoundLog> {
    let file = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let mut kept: Vec<FoundLog> = Vec::with_capacity(logs.len());
    let mut seen: HashMap<PathBuf, usize> = HashMap::new();
    for mut log in logs {
        let path = file(&log.path);
        let twin = match &log.spot {
            Some(Spot::Session(folder)) => folder.twin.as_deref().map(file),
            _ => None,
        };
        let by_path = seen.get(&path).copied();
        let earlier = by_path.or_else(|| twin.as_ref().and_then(|twin| seen.get(twin).copied()));
        let Some(index) = earlier else {
            seen.extend([Some(path), twin].into_iter().flatten().map(|file| (file, kept.len())));
            kept.push(log);
            continue;
        };
        let Some(known) = kept.get_mut(index).filter(|known| known.spot.is_none()) else { continue };
        if let (None, Some(Spot::Session(folder))) = (by_path, &mut log.spot) {
            // It is the twin that was named.
            folder.take_twin(&mut log.path);
        }
        known.spot = log.spot;
    }
    kept
}

#[cfg(test)]
mod tests;
