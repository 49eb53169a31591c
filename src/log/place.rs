//! Where logs lie and what they are called (FORMAT §1).

use std::path::PathBuf;

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
}
