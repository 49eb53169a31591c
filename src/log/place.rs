//! Where logs lie and what they are called (FORMAT §1).
//!
//! Ids and working directories are JavaScript strings, which may hold half surrogate pairs, and dsh escapes
//! them code unit by code unit. So they come and go here as [`Text`], which keeps such halves; the names are
//! plain ASCII.

use crate::format;
use crate::json::Text;
use std::fmt::{self, Write};
use std::path::{Path, PathBuf};

#[cfg(test)]
mod tests;

/// The project directory of sessions without a working directory.
const NO_CWD: &str = "_no-cwd";

/// How much of a working directory a project directory's name holds, in bytes.
const LONGEST_KEY: usize = 251;

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
        let generation = format::version_of_stem(stem.strip_suffix(".jsonl")?)?;
        Some(Self { generation, is_zstd })
    }

    /// Reads the file name of a path.
    #[must_use]
    pub fn of(path: &Path) -> Option<Self> {
        Self::parse(path.file_name()?.to_str()?)
    }
}

impl fmt::Display for LogName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let zstd = if self.is_zstd { ".zstd" } else { "" };
        write!(f, "{}.jsonl{zstd}", format::file_stem(self.generation))
    }
}

/// Where a log belongs below its root, by the id and the working directory in its header (FORMAT §1.1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// The project directory's name.
    pub project: String,
    /// The session directory's name. Two sessions have the same one only if they have the same id.
    pub session: String,
}

impl Address {
    /// The address of a session; `None` if its id or its working directory is empty, which names no place.
    #[must_use]
    pub fn of(id: &Text, cwd: Option<&Text>) -> Option<Self> {
        let project = cwd.map_or_else(|| Some(NO_CWD.to_owned()), project_key)?;
        Some(Self { project, session: encode_segment(id)? })
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.project, self.session)
    }
}

/// The directory name that stands for a session id; `None` for the empty id (FORMAT §1.2).
#[must_use]
pub fn encode_segment(id: &Text) -> Option<String> {
    if id.is_empty() {
        return None;
    }
    // These two would name other directories.
    if *id == *"." || *id == *".." {
        return Some("~002E".repeat(id.as_bytes().len()));
    }
    let mut name = String::new();
    for unit in id.to_utf16() {
        push_unit(unit, &mut name);
    }
    Some(name)
}

/// The session id that a directory name stands for; `None` if [`encode_segment`] gives that name to no id.
#[must_use]
pub fn decode_segment(name: &str) -> Option<Text<'static>> {
    let mut units = Vec::with_capacity(name.len());
    let mut rest = name.chars();
    while let Some(character) = rest.next() {
        units.push(match character {
            '~' => {
                let digits = rest.as_str().get(..4)?;
                rest = rest.as_str().get(4..)?.chars();
                u16::from_str_radix(digits, 16).ok()?
            }
            other => u16::try_from(u32::from(other)).ok()?,
        });
    }
    let id = Text::from_utf16(&units);
    (encode_segment(&id)? == name).then_some(id)
}

/// The name of the directory that holds the sessions of a working directory, of whichever platform; `None`
/// for the empty path (FORMAT §1.2). Several paths may share one.
#[must_use]
pub fn project_key(cwd: &Text) -> Option<String> {
    if cwd.is_empty() {
        return None;
    }
    let mut slug = String::new();
    let mut is_in_run = false;
    for unit in cwd.to_utf16() {
        let is_separator = [b'/', b'\\', b':'].map(u16::from).contains(&unit);
        match (is_separator, is_in_run) {
            (true, false) => slug.push('-'),
            (true, true) => {}
            (false, _) => push_unit(unit, &mut slug),
        }
        is_in_run = is_separator;
    }
    let slug = match slug.trim_start_matches('-') {
        "" => "root",
        slug => slug.get(..LONGEST_KEY).unwrap_or(slug),
    };
    Some(format!("--{slug}--"))
}

/// Whether dsh may have made a directory of this name for a project: `--…--`, or the one of sessions without
/// a working directory.
#[must_use]
pub fn is_project_key(name: &str) -> bool {
    let slug = name.strip_prefix("--").and_then(|rest| rest.strip_suffix("--"));
    name == NO_CWD
        || slug.is_some_and(|slug| {
            (1..=LONGEST_KEY).contains(&slug.len())
                && !slug.starts_with('-')
                && slug.bytes().all(|byte| byte == b'~' || is_literal(byte))
        })
}

/// Adds a code unit as it stands in names: itself, or `~` and its four hex digits.
fn push_unit(unit: u16, name: &mut String) {
    match u8::try_from(unit) {
        Ok(byte) if is_literal(byte) => name.push(char::from(byte)),
        // A string takes every write.
        _ => _ = write!(name, "~{unit:04X}"),
    }
}

fn is_literal(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-')
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
