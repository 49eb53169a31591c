//! A list of paths in a file, as `find` and the like write it.

use std::path::PathBuf;

/// What stands between two paths of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Separator {
    /// A line feed. Carriage returns before it and blank lines do not count.
    Line,
    /// A NUL byte, which no path can hold.
    Nul,
}

/// A path that this platform cannot spell.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("its entry {entry} is not UTF-8, as paths are here")]
pub struct NoPath {
    /// Which entry of the list it is, from 1; blank ones count.
    pub entry: usize,
}

/// The paths of a list, in its order. None of them is standard input: `-` is a file of that name.
pub fn paths(list: &[u8], separator: Separator) -> Result<Vec<PathBuf>, NoPath> {
    let byte = match separator {
        Separator::Line => b'\n',
        Separator::Nul => 0,
    };
    let mut paths = Vec::new();
    for (index, entry) in list.split(|found| *found == byte).enumerate() {
        let entry = match separator {
            Separator::Line if entry.iter().all(u8::is_ascii_whitespace) => continue,
            Separator::Line => entry.strip_suffix(b"\r").unwrap_or(entry),
            Separator::Nul if entry.is_empty() => continue,
            Separator::Nul => entry,
        };
        let entry = if entry == b"-" { b"./-" } else { entry };
        paths.push(path(entry).ok_or(NoPath { entry: index + 1 })?);
    }
    Ok(paths)
}

#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "elsewhere a path is a text")]
fn path(entry: &[u8]) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStrExt;
    Some(std::ffi::OsStr::from_bytes(entry).into())
}

#[cfg(not(unix))]
fn path(entry: &[u8]) -> Option<PathBuf> {
    std::str::from_utf8(entry).ok().map(PathBuf::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(list: &[u8]) -> Vec<PathBuf> {
        paths(list, Separator::Line).unwrap()
    }

    #[test]
    fn lines_are_paths_and_blank_ones_are_none() {
        assert_eq!(lines(b"a/b\n\n  \n c \r\nd"), ["a/b", " c ", "d"].map(PathBuf::from));
        assert!(lines(b"\n\r\n").is_empty());
        assert_eq!(lines(b"-\n"), [PathBuf::from("./-")]);
    }

    #[test]
    fn a_path_may_hold_line_feeds_where_nuls_stand_between() {
        let found = paths(b"a\nb\r\0\0 \0c\0", Separator::Nul).unwrap();
        assert_eq!(found, ["a\nb\r", " ", "c"].map(PathBuf::from));
    }

    #[cfg(unix)]
    #[test]
    fn a_path_need_not_be_utf_8() {
        use std::os::unix::ffi::OsStrExt;
        let found = lines(b"a\xff\n");
        assert_eq!(found[0].as_os_str().as_bytes(), b"a\xff");
    }
}
