//! Work whose panic ends the work and nothing else.

use std::any::Any;
use std::cell::RefCell;
use std::panic::{self, AssertUnwindSafe, PanicHookInfo};
use std::sync::Once;

thread_local! {
    static THREAD: RefCell<Thread> = const { RefCell::new(Thread::Usual) };
}

/// What a thread is at.
#[derive(Default)]
enum Thread {
    /// Work whose panics are told of on standard error.
    #[default]
    Usual,
    /// Isolated work.
    Isolated,
    /// Isolated work that panicked here.
    Panicked(String),
}

/// Does the work; the message of its panic, with the place in dshc's source, where it has one. Nothing of the panic
/// reaches standard error.
pub(super) fn isolated<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    keep_quiet();
    THREAD.set(Thread::Isolated);
    // What a panic leaves half done is the work's own: what it shares with other work is behind locks and atomics whose
    // value is sound after each step.
    let done = panic::catch_unwind(AssertUnwindSafe(work));
    let thread = THREAD.take();
    done.map_err(|payload| match (message(&*payload), thread) {
        (message, Thread::Panicked(place)) => format!("{message} ({place})"),
        (message, _) => message.to_owned(),
    })
}

/// From here on isolated work that panics is not told of on standard error, and other work is as before.
fn keep_quiet() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            if !note(panic) {
                usual(panic);
            }
        }));
    });
}

/// Keeps the place of a panic of isolated work; whether it was that.
fn note(panic: &PanicHookInfo) -> bool {
    THREAD.with_borrow_mut(|thread| {
        if matches!(thread, Thread::Usual) {
            return false;
        }
        let place = panic.location().map(|at| format!("{}:{}", at.file(), at.line()));
        *thread = Thread::Panicked(place.unwrap_or_default());
        true
    })
}

fn message(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("panic without a message")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error_with_its_message_and_place() {
        assert_eq!(isolated(|| 7), Ok(7));
        let error = isolated(|| -> u8 { panic!("number {}", 7) }).unwrap_err();
        assert!(error.starts_with("number 7 (") && error.contains("isolation.rs:"), "{error}");
        let error = isolated(|| -> u8 { panic::panic_any(7) }).unwrap_err();
        assert!(error.starts_with("panic without a message ("), "{error}");
        assert_eq!(isolated(|| 8), Ok(8));
    }
}
