//! Lines of which only the size is kept.

use super::Place;

/// A line that is longer than any that is read. Only its end tells whether it is one.
pub(super) struct Overlong {
    pub place: Place,
    /// Its bytes so far.
    pub bytes: u64,
    /// How many NULs they end with.
    pub nuls: u64,
}

impl Overlong {
    pub(super) fn add(&mut self, bytes: &[u8]) {
        let nuls = trailing_nuls(bytes);
        self.nuls = if nuls == bytes.len() as u64 { self.nuls + nuls } else { nuls };
        self.bytes += bytes.len() as u64;
    }
}

fn trailing_nuls(bytes: &[u8]) -> u64 {
    bytes.iter().rev().take_while(|byte| **byte == 0).count() as u64
}
