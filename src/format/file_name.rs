//! How the log of each version is called, but for `.jsonl` and `.zstd` (FORMAT §1.3). Later versions than are known keep
//! to it, so that their logs are told from rubbish.

use crate::json::MAX_SAFE_INTEGER;

/// What every name starts with, and all of the first version's.
const STEM: &str = "session";

/// The name of the log of `version`: `session`, `session.v3`.
#[must_use]
pub fn file_stem(version: u64) -> String {
    if version == 0 { STEM.to_owned() } else { format!("{STEM}.v{version}") }
}

/// The version that a name promises; `None` if it is not spelt as dsh spells it.
#[must_use]
pub fn version_of_stem(stem: &str) -> Option<u64> {
    let rest = stem.strip_prefix(STEM)?;
    if rest.is_empty() {
        return Some(0);
    }
    let digits = rest.strip_prefix(".v")?;
    let is_canonical = digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.starts_with('0');
    digits.parse().ok().filter(|version| is_canonical && *version <= MAX_SAFE_INTEGER)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_versions_go_both_ways() {
        for version in [0, 1, 4, 12, MAX_SAFE_INTEGER] {
            assert_eq!(version_of_stem(&file_stem(version)), Some(version));
        }
        for odd in
            ["session.v0", "session.v03", "session.v+3", "session.v", "session.3", "sessions", "Session"]
        {
            assert_eq!(version_of_stem(odd), None, "{odd}");
        }
    }
}
