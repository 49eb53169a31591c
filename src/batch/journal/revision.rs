//! Whether a file is still the one that was worked on.

use serde::{Deserialize, Serialize};
use std::io;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// A file's length, and when it was last changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Revision {
    /// Its length.
    pub bytes: u64,
    /// Its modification time: Unix epoch, in nanoseconds, as a text since such numbers are too large for JavaScript.
    pub modified: String,
}

impl Revision {
    /// That of the file at `path`.
    pub fn of(path: &Path) -> io::Result<Self> {
        let meta = path.metadata()?;
        Ok(Self { bytes: meta.len(), modified: nanoseconds(meta.modified()?) })
    }
}

fn nanoseconds(time: SystemTime) -> String {
    match time.duration_since(UNIX_EPOCH) {
        Ok(after) => after.as_nanos().to_string(),
        Err(before) => format!("-{}", before.duration().as_nanos()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn times_before_the_epoch_are_times() {
        assert_eq!(
            nanoseconds(UNIX_EPOCH + Duration::from_nanos(1_780_000_000_000_000_007)),
            "1780000000000000007"
        );
        assert_eq!(nanoseconds(UNIX_EPOCH - Duration::from_nanos(5)), "-5");
    }
}
