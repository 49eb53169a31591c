//! The report of a run whose shards were merged.

use crate::merge::Merged;
use std::io::{self, Write};

/// Writes the document of the run, as the run itself would have.
pub fn merged(merged: &Merged, out: &mut dyn Write) -> io::Result<()> {
    super::write(merged, out)
}
