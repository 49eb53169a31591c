//! How far a run is, on standard error while that is a terminal.
//!
//! The work only notes in a [`State`] what it is at; a thread of its own paints that a few times a second, so that no
//! work waits for a terminal. A run that ends at once paints nothing.

mod painter;
mod state;

use painter::Painter;
use state::State;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Who is told how far a run is.
#[derive(Debug)]
pub struct Progress {
    /// Nobody looks where it is `None`.
    shown: Option<Shown>,
}

#[derive(Debug)]
struct Shown {
    state: Arc<Mutex<State>>,
    painter: Mutex<Option<Painter>>,
}

impl Progress {
    pub(super) fn new(is_shown: bool) -> Self {
        let shown = || Shown { state: Arc::default(), painter: Mutex::default() };
        Self { shown: is_shown.then(shown) }
    }

    /// Nobody looks.
    #[must_use]
    pub fn hidden() -> Self {
        Self::new(false)
    }

    /// The work on so many logs is begun, which hold so many bytes together.
    pub fn begin(&self, logs: usize, bytes: u64) {
        if let Some(shown) = &self.shown {
            *lock(&shown.state) = State::new(logs, bytes, Instant::now());
            *lock(&shown.painter) = Painter::start(&shown.state);
        }
    }

    /// The work on a log of so many bytes is begun; it is done when the line is dropped.
    #[must_use]
    pub fn log(&self, path: &Path, bytes: u64) -> Line<'_> {
        let line = self.shown.as_ref().map(|shown| {
            let key = lock(&shown.state).log(path, bytes, Instant::now());
            (&*shown.state, key)
        });
        Line { line }
    }

    /// The run is over: its lines are taken away.
    pub fn end(&self) {
        if let Some(painter) = self.shown.as_ref().and_then(|shown| lock(&shown.painter).take()) {
            painter.stop();
        }
    }
}

/// The line of a log that is worked on.
#[derive(Debug)]
pub struct Line<'a> {
    line: Option<(&'a Mutex<State>, u64)>,
}

impl Line<'_> {
    /// A part of the work is begun.
    pub fn stage(&self, stage: &str) {
        if let Some((state, key)) = self.line {
            lock(state).stage(key, stage);
        }
    }

    /// So many tokens have come in since that.
    pub fn received(&self, tokens: u64) {
        if let Some((state, key)) = self.line {
            lock(state).received(key, tokens);
        }
    }
}

impl Drop for Line<'_> {
    fn drop(&mut self) {
        if let Some((state, key)) = self.line {
            lock(state).done(key);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
