//! The wish that a run ends before all its work is done.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether a run is to end soon. Clones share the one answer, and it never changes back.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// From here on the run is to end.
    pub fn ask(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it is to end.
    #[must_use]
    pub fn is_asked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// An error where the run is to end: not of the kind that readers take for a reason to try again.
    pub(super) fn check(&self) -> io::Result<()> {
        if self.is_asked() { Err(io::Error::other("interrupted")) } else { Ok(()) }
    }
}
