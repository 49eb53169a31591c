//! How many models are asked at once.

use crate::batch::{Permit, Permits};
use crate::summarize::{Request, SummarizeError, Summarizer, Summary};
use std::sync::{Mutex, PoisonError};

/// The live summarizer of one log. It is asked for as many logs at once as there are permits for `calls`, and while it
/// waits, for its turn or for the answer, it holds none of the `cores`.
///
/// The turn is waited for where the request is looked at, before the log is touched, so that no log stands locked
/// because others have to be answered first.
pub(super) struct LiveCalls<'a> {
    summarizer: &'a dyn Summarizer,
    calls: &'a Permits,
    cores: &'a Permits,
    turn: Mutex<Option<Permit<'a>>>,
}

impl<'a> LiveCalls<'a> {
    /// For one log, whose thread holds one of the `cores`.
    pub(super) fn new(summarizer: &'a dyn Summarizer, calls: &'a Permits, cores: &'a Permits) -> Self {
        Self { summarizer, calls, cores, turn: Mutex::new(None) }
    }

    /// Waits for a turn, if this log has none.
    fn wait_for_turn(&self, request: &Request) -> Result<(), SummarizeError> {
        let mut turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        if turn.is_none() {
            request.watch.stage("waiting for its turn");
            let is_cancelled = || request.watch.is_cancelled();
            let _lent = self.cores.lend(&is_cancelled);
            *turn = Some(self.calls.take(&is_cancelled).ok_or(SummarizeError::Cancelled)?);
        }
        Ok(())
    }
}

impl Summarizer for LiveCalls<'_> {
    fn kind(&self) -> &'static str {
        self.summarizer.kind()
    }

    fn is_free(&self) -> bool {
        self.summarizer.is_free()
    }

    fn admits(&self, request: &Request) -> Result<(), SummarizeError> {
        self.summarizer.admits(request)?;
        self.wait_for_turn(request)
    }

    fn summarize(&self, request: &Request) -> Result<Summary, SummarizeError> {
        self.wait_for_turn(request)?;
        let is_cancelled = || request.watch.is_cancelled();
        let lent = self.cores.lend(&is_cancelled);
        let summary = self.summarizer.summarize(request);
        // The next log's call need not wait until this one has a core again.
        self.turn.lock().unwrap_or_else(PoisonError::into_inner).take();
        drop(lent);
        summary
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summarize::{Transcript, Unwatched, Watch};
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;

    const NEVER: &dyn Fn() -> bool = &|| false;

    /// Answers once so many threads ask it at once, and keeps how many did at most.
    struct Meeting {
        all: Barrier,
        asking: AtomicUsize,
        most: AtomicUsize,
    }

    impl Meeting {
        fn of(count: usize) -> Self {
            Self { all: Barrier::new(count), asking: AtomicUsize::new(0), most: AtomicUsize::new(0) }
        }
    }

    impl Summarizer for Meeting {
        fn kind(&self) -> &'static str {
            "meeting"
        }

        fn is_free(&self) -> bool {
            false
        }

        fn summarize(&self, _request: &Request) -> Result<Summary, SummarizeError> {
            let asking = self.asking.fetch_add(1, Ordering::SeqCst) + 1;
            self.most.fetch_max(asking, Ordering::SeqCst);
            self.all.wait();
            self.asking.fetch_sub(1, Ordering::SeqCst);
            Ok(Summary::own("text".into(), "meeting"))
        }
    }

    struct Cancelled;

    impl Watch for Cancelled {
        fn stage(&self, _stage: &str) {}

        fn received(&self, _tokens: u64) {}

        fn is_cancelled(&self) -> bool {
            true
        }
    }

    fn with_request<T>(watch: &dyn Watch, ask: impl FnOnce(&Request) -> T) -> T {
        let transcript = Transcript { entries: Vec::new() };
        let objection: &dyn Fn(&str) -> Option<String> = &|_| None;
        ask(&Request { transcript: &transcript, hidden: &[], carried: None, budget: 100, objection, watch })
    }

    #[test]
    fn as_many_are_asked_at_once_as_there_are_turns_and_they_hold_no_core() {
        let (meeting, calls, cores) = (Meeting::of(2), Permits::new(2), Permits::new(1));
        thread::scope(|scope| {
            for _ in 0..6 {
                scope.spawn(|| {
                    let _core = cores.take(NEVER);
                    let live = LiveCalls::new(&meeting, &calls, &cores);
                    with_request(&Unwatched, |request| {
                        live.admits(request).unwrap();
                        live.summarize(request).unwrap();
                    });
                });
            }
        });
        assert_eq!(meeting.most.into_inner(), 2);
    }

    #[test]
    fn who_waits_for_a_turn_can_be_stopped() {
        let (meeting, calls, cores) = (Meeting::of(1), Permits::new(1), Permits::new(1));
        let _core = cores.take(NEVER);
        let taken = calls.take(NEVER);
        let live = LiveCalls::new(&meeting, &calls, &cores);
        assert_eq!(with_request(&Cancelled, |request| live.admits(request)), Err(SummarizeError::Cancelled));
        drop(taken);
        // A turn that is not used is given back with the log.
        with_request(&Unwatched, |request| live.admits(request)).unwrap();
        drop(live);
        assert!(calls.take(NEVER).is_some());
    }
}
