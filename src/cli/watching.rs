//! What stands between the work and the person at the terminal: Ctrl-C, and what is told of the work.

use crate::batch::Running;
use crate::exit::Exit;
use crate::log::Stop;
use crate::summarize::Watch;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Signals that come so soon after the first are the same wish: a shell, a terminal that closes and a service manager
/// each send more than one.
const ONE_WISH: Duration = Duration::from_millis(500);

/// Whether the user, or the system, wants the run to end.
#[derive(Debug, Default)]
pub(super) struct Interrupt {
    stop: Stop,
    is_over: Arc<AtomicBool>,
}

impl Interrupt {
    /// From here on Ctrl-C, SIGTERM and SIGHUP ask the run to end instead of ending it. A second one ends it at once.
    pub(super) fn listen() -> Result<Self, ctrlc::Error> {
        let interrupt = Self::default();
        let (stop, is_over) = (interrupt.stop.clone(), Arc::clone(&interrupt.is_over));
        let first = Mutex::new(None);
        ctrlc::set_handler(move || {
            let mut first = first.lock().unwrap_or_else(PoisonError::into_inner);
            if is_over.load(Ordering::Relaxed) || is_second(&mut first, Instant::now()) {
                end_at_once();
            }
            stop.ask();
        })?;
        Ok(interrupt)
    }

    /// The wish, for the work.
    pub(super) fn stop(&self) -> &Stop {
        &self.stop
    }

    /// The work is over: from here on there is nothing to bring to an end, and a signal ends the run. Whether the work
    /// was asked to end.
    pub(super) fn work_is_over(&self) -> bool {
        self.is_over.store(true, Ordering::Relaxed);
        self.stop.is_asked()
    }
}

/// Whether a signal that comes `now` is another wish than the first one.
fn is_second(first: &mut Option<Instant>, now: Instant) -> bool {
    now.saturating_duration_since(*first.get_or_insert(now)) > ONE_WISH
}

#[expect(clippy::exit, reason = "who presses Ctrl-C twice waits for nothing more")]
fn end_at_once() {
    std::process::exit(Exit::Interrupted.code().into());
}

impl Watch for Running<'_> {
    fn stage(&self, stage: &str) {
        self.stage(stage);
    }

    fn received(&self, tokens: u64) {
        self.received(tokens);
    }

    fn is_cancelled(&self) -> bool {
        self.is_cancelled()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_that_come_together_are_one_wish() {
        let start = Instant::now();
        let mut first = None;
        let at = |millis| start + Duration::from_millis(millis);
        assert_eq!(
            [0, 5, 500, 501].map(|millis| is_second(&mut first, at(millis))),
            [false, false, false, true]
        );
    }
}
