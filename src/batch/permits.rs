//! So many at once, and no more: cores that work, calls that wait for a model.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long who waits for a permit goes without asking whether it is still wanted.
const PATIENCE: Duration = Duration::from_millis(50);

/// A number of permits, each held by one thread at a time.
#[derive(Debug)]
pub struct Permits {
    counts: Mutex<Counts>,
    given_back: Condvar,
}

#[derive(Debug)]
struct Counts {
    /// Below zero while who wants to end goes on without one.
    free: isize,
    /// Threads that wait for the permit that they have lent. They come first: what they are at has been begun.
    returning: isize,
    waiting: usize,
}

impl Permits {
    /// So many permits, one at least.
    #[must_use]
    pub fn new(count: usize) -> Self {
        let count = isize::try_from(count.max(1)).unwrap_or(isize::MAX);
        let counts = Counts { free: count, returning: 0, waiting: 0 };
        Self { counts: Mutex::new(counts), given_back: Condvar::new() }
    }

    /// Waits for a permit; `None` where it is no longer wanted.
    pub fn take(&self, is_cancelled: &dyn Fn() -> bool) -> Option<Permit<'_>> {
        let mut counts = self.wait(is_cancelled, |counts| counts.free > counts.returning);
        let is_had = !is_cancelled() && counts.free > counts.returning;
        counts.free -= isize::from(is_had);
        is_had.then(|| Permit { permits: self })
    }

    /// Gives back a permit that this thread holds until what is returned is dropped, which waits for one again. Where
    /// `is_cancelled` it does not wait, so that the thread can bring to an end what it is at.
    pub fn lend<'a>(&'a self, is_cancelled: &'a dyn Fn() -> bool) -> Lent<'a> {
        self.give_back();
        Lent { permits: self, is_cancelled }
    }

    /// Waits until there is what is waited for, or until it is no longer wanted.
    fn wait(
        &self,
        is_cancelled: &dyn Fn() -> bool,
        is_there: impl Fn(&Counts) -> bool,
    ) -> MutexGuard<'_, Counts> {
        let mut counts = self.counts();
        counts.waiting += 1;
        while !is_there(&counts) && !is_cancelled() {
            let waited = self.given_back.wait_timeout(counts, PATIENCE);
            counts = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        counts.waiting -= 1;
        counts
    }

    fn give_back(&self) {
        let mut counts = self.counts();
        counts.free += 1;
        // Whoever of them comes first is not known here.
        if counts.waiting > 0 {
            self.given_back.notify_all();
        }
    }

    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
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
        self.permits.counts().returning += 1;
        let mut counts = self.permits.wait(self.is_cancelled, |counts| counts.free > 0);
        counts.returning -= 1;
        counts.free -= 1;
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
    fn who_has_lent_a_permit_comes_before_who_wants_one() {
        let permits = Permits::new(1);
        let held = permits.take(NEVER);
        let lent = permits.lend(NEVER);
        let other = permits.take(NEVER);
        permits.counts().returning += 1;
        drop(other);
        assert!(!is_free(&permits), "it is kept for who returns");
        permits.counts().returning -= 1;
        drop(lent);
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
