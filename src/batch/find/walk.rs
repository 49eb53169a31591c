//! One directory and all below it: the session directories, and what else looks like a log.

use super::FoundLog;
use crate::log::layout::{SessionFolder, Spot};
use crate::log::place::{self, LogName};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The files with canonical names in one folder.
type Generations = BTreeMap<LogName, PathBuf>;

/// Adds the logs at and below `named` to `logs`, in the order of their paths, and what is none to `ignored`.
pub(super) fn walk(named: &Path, logs: &mut Vec<FoundLog>, ignored: &mut Vec<PathBuf>) {
    let mut seen = Seen::look(named);
    let absolute = named.canonicalize().or_else(|_| std::path::absolute(named));
    let absolute = absolute.unwrap_or_else(|_| named.to_owned());
    // Links below the directory that was named stay as they are: dsh goes by the names that it lists.
    let absolute = |folder: &Path| absolute.join(folder.strip_prefix(named).unwrap_or(folder));

    let mut found = Vec::new();
    let mut add = |path, spot| found.push(FoundLog { path, below: Some(named.to_owned()), spot });
    let is_key = |folder: &Path| {
        absolute(folder).file_name().and_then(|name| name.to_str()).is_some_and(place::is_project_key)
    };
    let flat = seen.take_flat(is_key);
    let mut left = Vec::new();
    for (folder, generations) in seen.folders {
        if let Some((log, session)) = session(absolute(&folder), generations) {
            left.extend(session.older.iter().map(|(_, path)| path.clone()));
            add(log, Some(Spot::Session(session)));
        }
    }
    for file in flat {
        add(file, Some(Spot::Flat));
    }
    for path in seen.hidden {
        add(path, None);
    }
    found.sort_by(|left, right| left.path.cmp(&right.path));
    logs.append(&mut found);
    left.append(&mut seen.strays);
    left.sort();
    ignored.append(&mut left);
}

/// The log that stands for a session directory.
fn session(folder: PathBuf, mut generations: Generations) -> Option<(PathBuf, SessionFolder)> {
    let (mut name, mut log) = generations.pop_last()?;
    let raw = LogName { is_zstd: false, ..name };
    let twin = generations.remove(&raw).map(|raw_log| {
        name = raw;
        std::mem::replace(&mut log, raw_log)
    });
    let older = generations.into_iter().collect();
    Some((log, SessionFolder { path: folder, name, older, twin }))
}

/// What stands below a directory.
#[derive(Default)]
struct Seen {
    /// The folders that hold canonical names.
    folders: BTreeMap<PathBuf, Generations>,
    /// Other files whose names end as a log's does.
    strays: Vec<PathBuf>,
    /// What could not be looked at and may hold logs.
    hidden: Vec<PathBuf>,
}

impl Seen {
    fn look(named: &Path) -> Self {
        let mut seen = Self::default();
        for entry in walkdir::WalkDir::new(named).follow_links(true).sort_by_file_name() {
            match entry {
                Ok(entry) => {
                    let kind = entry.file_type();
                    if !kind.is_dir() || entry.depth() > 0 {
                        seen.take(entry.into_path(), kind.is_file());
                    }
                }
                Err(error) if error.loop_ancestor().is_some() => {}
                Err(error) => {
                    if let Some(path) = error.path().map(Path::to_owned) {
                        // A link that leads nowhere holds no logs.
                        let is_folder = path.symlink_metadata().is_ok_and(|meta| meta.is_dir());
                        if !seen.take(path.clone(), false) && is_folder {
                            seen.hidden.push(path);
                        }
                    }
                }
            }
        }
        seen
    }

    /// Takes a canonical name, or a file that looks like a log; false if it is neither.
    fn take(&mut self, path: PathBuf, is_file: bool) -> bool {
        let text = path.file_name().unwrap_or_default().to_string_lossy();
        if let Some(name) = LogName::parse(&text)
            && let Some(folder) = path.parent()
        {
            self.folders.entry(folder.to_owned()).or_default().insert(name, path);
            return true;
        }
        let is_stray = is_file && (text.ends_with(".jsonl") || text.ends_with(".jsonl.zstd"));
        if is_stray {
            self.strays.push(path);
        }
        is_stray
    }

    /// Takes out the files that lie directly in a project directory, which is one that holds session
    /// directories. A directory with both a log and such directories in it is a session's, unless its name is
    /// a project's.
    fn take_flat(&mut self, is_key: impl Fn(&Path) -> bool) -> Vec<PathBuf> {
        let projects: BTreeSet<PathBuf> = self.parents();
        let mut flat = Vec::new();
        self.folders.retain(|folder, generations| {
            let is_project = projects.contains(folder) && is_key(folder);
            if is_project {
                flat.extend(std::mem::take(generations).into_values());
            }
            !is_project
        });
        let projects = self.parents();
        let is_project = |folder: &Path| projects.contains(folder) && !self.folders.contains_key(folder);
        let (more, strays) = std::mem::take(&mut self.strays)
            .into_iter()
            .partition(|file| file.parent().is_some_and(is_project));
        self.strays = strays;
        flat.extend::<Vec<PathBuf>>(more);
        flat
    }

    fn parents(&self) -> BTreeSet<PathBuf> {
        self.folders.keys().filter_map(|folder| folder.parent()).map(Path::to_owned).collect()
    }
}
