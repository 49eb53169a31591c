//! Where logs lie: names, session directories, and what a path that a user gives stands for (FORMAT §1).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What a canonical file name says about a log (FORMAT §1.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct LogName {
    /// The format version that the name promises.
    pub generation: u64,
    /// Whether the log is compressed.
    pub is_zstd: bool,
}

impl LogName {
    /// Reads a file name; `None` if it is not canonical.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        let (stem, is_zstd) = match name.strip_suffix(".zstd") {
            Some(stem) => (stem, true),
            None => (name, false),
        };
        let middle = stem.strip_prefix("session")?.strip_suffix(".jsonl")?;
        if middle.is_empty() {
            return Some(Self { generation: 0, is_zstd });
        }
        let digits = middle.strip_prefix(".v")?;
        let canonical = digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.starts_with('0');
        let generation = digits.parse().ok().filter(|_| canonical)?;
        Some(Self { generation, is_zstd })
    }
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
pub fn find(path: &Path, found: &mut Found) {
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

/// The root of a product installation: `$DSH_HOME/sessions`, else `~/.dsh/sessions`; an empty or blank
/// `DSH_HOME` counts as unset (FORMAT §1.1).
#[must_use]
pub fn default_root() -> Option<PathBuf> {
    let home = || std::env::home_dir().filter(|home| !home.as_os_str().is_empty());
    let named = std::env::var("DSH_HOME").ok().filter(|named| !named.trim().is_empty());
    let base = match named {
        Some(named) => match named.strip_prefix('~') {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => {
                home()?.join(rest.trim_start_matches('/'))
            }
            _ => PathBuf::from(named),
        },
        None => home()?.join(".dsh"),
    };
    Some(base.join("sessions"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn only_canonical_names_are_logs() {
        let name = |text: &str| LogName::parse(text).map(|name| (name.generation, name.is_zstd));
        assert_eq!(name("session.jsonl"), Some((0, false)));
        assert_eq!(name("session.jsonl.zstd"), Some((0, true)));
        assert_eq!(name("session.v12.jsonl.zstd"), Some((12, true)));
        for odd in [
            "session.v0.jsonl",
            "session.v03.jsonl",
            "Session.jsonl",
            "session.jsonl.tmp",
            "session.v+3.jsonl",
            "a.jsonl",
        ] {
            assert_eq!(name(odd), None, "{odd}");
        }
    }

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
        let mut found = Found::default();
        find(root.path(), &mut found);
        let names = |paths: Vec<&PathBuf>| -> Vec<String> {
            paths.iter().map(|path| path.strip_prefix(root.path()).unwrap().display().to_string()).collect()
        };
        assert_eq!(
            names(found.logs.iter().map(|log| &log.path).collect()),
            [".hid/c/session.jsonl.zstd", "p/a/session.v10.jsonl", "p/b/session.jsonl"]
        );
        assert_eq!(names(found.ignored.iter().collect()), ["p/a/note.jsonl", "p/a/session.v2.jsonl"]);
    }
}
