//! Many logs in one run: which ones the paths that a user gives stand for, each once and in a stable order.
//!
//! `cli/` calls this room; it knows names and places, and nothing of what a log holds.

use crate::log::place::LogName;
use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

/// The logs that `paths` stand for, each once, however often it is named.
#[must_use]
pub fn find(paths: &[PathBuf]) -> Found {
    let mut found = Found::default();
    for path in paths {
        find_one(path, &mut found);
    }
    let mut seen = HashSet::new();
    found.logs.retain(|log| seen.insert(log.path.canonicalize().unwrap_or_else(|_| log.path.clone())));
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
}

/// Finds the logs that `path` stands for: a file is a log whatever its name; of a directory and all below it,
/// the files with canonical names are, in each session directory the highest generation. What cannot be looked
/// at is taken for a log, so that opening it tells why.
fn find_one(path: &Path, found: &mut Found) {
    if path == Path::new("-") || !path.is_dir() {
        found.logs.push(FoundLog { path: path.to_owned(), below: None });
        return;
    }
    let below = |log: PathBuf| FoundLog { path: log, below: Some(path.to_owned()) };
    let mut folders: BTreeMap<PathBuf, Vec<(LogName, PathBuf)>> = BTreeMap::new();
    for entry in walkdir::WalkDir::new(path).follow_links(true).sort_by_file_name() {
        let entry = match entry {
            Ok(entry) if entry.file_type().is_dir() => continue,
            Ok(entry) => entry,
            Err(error) => {
                let hidden =
                    error.path().filter(|hidden| error.loop_ancestor().is_none() && may_hide_logs(hidden));
                found.logs.extend(hidden.map(|hidden| below(hidden.to_owned())));
                continue;
            }
        };
        let name = entry.file_name().to_string_lossy();
        match LogName::parse(&name) {
            Some(log) => {
                let folder = entry.path().parent().unwrap_or(path).to_owned();
                folders.entry(folder).or_default().push((log, entry.into_path()));
            }
            None if name.ends_with(".jsonl") || name.ends_with(".jsonl.zstd") => {
                found.ignored.push(entry.into_path());
            }
            None => {}
        }
    }
    for logs in folders.into_values() {
        let newest = logs.iter().map(|(name, _)| name.generation).max();
        for (name, log) in logs {
            if Some(name.generation) == newest {
                found.logs.push(below(log));
            } else {
                found.ignored.push(log);
            }
        }
    }
    found.ignored.sort();
}

/// Whether what the walk could not look at may be a log, or a folder that holds some. A link that leads nowhere
/// is neither, unless its name is a log's.
fn may_hide_logs(path: &Path) -> bool {
    let is_folder = path.symlink_metadata().is_ok_and(|meta| meta.is_dir());
    is_folder || path.file_name().is_some_and(|name| LogName::parse(&name.to_string_lossy()).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_folder_stands_for_the_highest_generation_of_each_session() {
        let root = tempfile::tempdir().unwrap();
        for file in [
            "p/b/session.jsonl",
            "p/a/session.v2.jsonl",
            "p/a/session.v10.jsonl",
            ".hid/c/session.jsonl.zstd",
            "p/a/note.jsonl",
            "p/a/x.txt",
        ] {
            let path = root.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let found = find(&[root.path().to_owned()]);
        let names = |paths: Vec<&PathBuf>| -> Vec<String> {
            paths.iter().map(|path| path.strip_prefix(root.path()).unwrap().display().to_string()).collect()
        };
        assert_eq!(
            names(found.logs.iter().map(|log| &log.path).collect()),
            [".hid/c/session.jsonl.zstd", "p/a/session.v10.jsonl", "p/b/session.jsonl"]
        );
        assert_eq!(names(found.ignored.iter().collect()), ["p/a/note.jsonl", "p/a/session.v2.jsonl"]);
    }

    #[test]
    fn a_log_that_is_named_twice_is_one() {
        let root = tempfile::tempdir().unwrap();
        let log = root.path().join("session.jsonl");
        fs::write(&log, "").unwrap();
        let found = find(&[log.clone(), root.path().to_owned(), root.path().join(".").join("session.jsonl")]);
        assert_eq!(found.logs, [FoundLog { path: log, below: None }]);
    }

    #[test]
    fn what_is_not_there_is_taken_for_a_log() {
        let root = tempfile::tempdir().unwrap();
        let nowhere = root.path().join("nowhere");
        assert_eq!(find(std::slice::from_ref(&nowhere)).logs, [FoundLog { path: nowhere, below: None }]);
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("nowhere", root.path().join("link")).unwrap();
            std::os::unix::fs::symlink("..", root.path().join("up")).unwrap();
            assert_eq!(find(&[root.path().to_owned()]), Found::default());
            std::os::unix::fs::symlink("nowhere", root.path().join("session.jsonl")).unwrap();
            assert_eq!(find(&[root.path().to_owned()]).logs.len(), 1);
        }
    }
}
