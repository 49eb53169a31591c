//! What stands between the work and the person at the terminal: Ctrl-C and the progress line.

use crate::report::Progress;
use crate::summarize::Watch;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Whether the user, or the system, wants the run to end.
#[derive(Debug, Clone, Default)]
pub(super) struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// From here on Ctrl-C, SIGTERM and SIGHUP ask the run to end instead of ending it.
    pub(super) fn listen() -> Result<Self, ctrlc::Error> {
        let interrupt = Self::default();
        let asked = interrupt.clone();
        ctrlc::set_handler(move || asked.0.store(true, Ordering::Relaxed))?;
        Ok(interrupt)
    }

    /// Whether it was asked to.
    pub(super) fn is_asked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Shows how far a summarizer is, and stops it when the user wants that.
pub(super) struct Watching<'a> {
    progress: &'a Progress,
    interrupt: &'a Interrupt,
    stage: Mutex<String>,
}

impl<'a> Watching<'a> {
    pub(super) fn new(progress: &'a Progress, interrupt: &'a Interrupt) -> Self {
        Self { progress, interrupt, stage: Mutex::default() }
    }
}

impl Watch for Watching<'_> {
    fn stage(&self, stage: &str) {
        self.progress.stage(stage);
        stage.clone_into(&mut self.stage.lock().unwrap_or_else(PoisonError::into_inner));
    }

    fn received(&self, tokens: u64) {
        self.progress.received(&self.stage.lock().unwrap_or_else(PoisonError::into_inner), tokens);
    }

    fn is_cancelled(&self) -> bool {
        self.interrupt.is_asked()
    }
}
