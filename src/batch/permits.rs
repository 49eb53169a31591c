//! So many at once, and no more: cores that work, calls that wait for a model.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long who waits for a permit goes without asking whether it is still wanted.
const PATIENCE: Duration = Duration::from_millis(50);

/// A number of permits, each held by one thread at a time.
#[derive(Debug)]
pub struct Permits {
    /// Below zero while who wants to end goes on without one.
    free: Mutex<isize>,
    given_back: Condvar,
}

impl Permits {
    /// So many permits, one at least.
    #[must_use]
    pub fn new(count: usize) -> Self {
        let count = isize::try_from(count.max(1)).unwrap_or(isize::MAX);
        Self { free: Mutex::new(count), given_back: Condvar::new() }
    }

    /// Waits for a permit; `None` where it is no longer wanted.
    pub fn take(&self, is_cancelled: &dyn Fn() -> bool) -> Option<Permit<'_>> {
        self.wait(is_cancelled).then(|| Permit { permits: self })
    }

    /// Gives back a permit that this thread holds until what is returned is dropped, which waits for one again. Where
    /// `is_cancelled` it does not wait, so that the thread can bring to an end what it is at.
    pub fn lend<'a>(&'a self, is_cancelled: &'a dyn Fn() -> bool) -> Lent<'a> {
        self.give_back();
        Lent { permits: self, is_cancelled }
    }

    /// Whether there is a permit to hold, after waiting for it.
    fn wait(&self, is_cancelled: &dyn Fn() -> bool) -> bool {
        let mut free = self.free();
        loop {
            if is_cancelled() {
                return false;
            }
            if *free > 0 {
                *free -= 1;
                return true;
            }
            let waited = self.given_back.wait_timeout(free, PATIENCE);
            free = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn give_back(&self) {
        *self.free() += 1;
        self.given_back.notify_one();
    }

    fn free(&self) -> MutexGuard<'_, isize> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A permit; dropping it gives it back.
#[derive(Debug)]
pub struct Permit<'a> {
    permits: &'a Permits,
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        self.permits.give_back();
    }
}

/// A permit that is given back for a while.
pub struct Lent<'a> {
    permits: &'a Permits,
    is_cancelled: &'a dyn Fn() -> bool,
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        if !self.permits.wait(self.is_cancelled) {
            *self.permits.free() -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;
    use std::thread;

    const NEVER: &dyn Fn() -> bool = &|| false;

    /// Whether a permit could be had at once.
    fn is_free(permits: &Permits) -> bool {
        let asked = std::cell::Cell::new(false);
        permits.take(&|| asked.replace(true)).is_some()
    }

    #[test]
    fn no_more_are_held_than_there_are() {
        let permits = Permits::new(2);
        let first = permits.take(NEVER);
        let second = permits.take(NEVER);
        assert!(!is_free(&permits));
        drop(first);
        assert!(is_free(&permits));
        drop(second);
    }

    #[test]
    fn who_waits_goes_on_when_one_is_given_back() {
        let permits = Permits::new(1);
        let held = permits.take(NEVER);
        thread::scope(|scope| {
            let (tell, told) = mpsc::channel();
            let permits = &permits;
            scope.spawn(move || {
                let waits = || {
                    let _ = tell.send(());
                    false
                };
                assert!(permits.take(&waits).is_some());
            });
            told.recv().unwrap();
            drop(held);
        });
        assert!(is_free(&permits));
    }

    #[test]
    fn a_permit_that_is_lent_is_free_meanwhile_and_waited_for_again() {
        let permits = Permits::new(1);
        let held = permits.take(NEVER);
        let lent = permits.lend(NEVER);
        assert!(is_free(&permits));
        drop(lent);
        assert!(!is_free(&permits));
        drop(held);
        assert!(is_free(&permits));
    }

    #[test]
    fn who_is_to_end_waits_for_nothing() {
        let permits = Permits::new(1);
        let held = permits.take(NEVER);
        let lent = permits.lend(&|| true);
        let other = permits.take(NEVER);
        assert!(other.is_some());
        drop(lent);
        assert!(!is_free(&permits));
        drop(held);
        assert!(!is_free(&permits), "one went without");
        drop(other);
        assert!(is_free(&permits));
        assert!(permits.take(&|| true).is_none());
    }
}
