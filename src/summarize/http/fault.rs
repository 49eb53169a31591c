//! Why a call gave no answer, and whether another one may.

use std::time::Duration;

/// What became of a call that gave no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fault {
    /// The user stopped it.
    Cancelled,
    /// It may go better the next time.
    Passing {
        /// What went wrong.
        message: String,
        /// What to do where it does not pass.
        help: &'static str,
        /// How long the server asks to be left alone.
        wait: Option<Duration>,
    },
    /// It would go the same way each time.
    Lasting {
        /// What went wrong.
        message: String,
        /// What to do about it.
        help: String,
    },
    /// The server refuses the request as it is put.
    Refused {
        /// What went wrong.
        message: String,
        /// What to do about it.
        help: String,
        /// The server's own words: they may name the member that it does not know.
        words: String,
    },
}

impl Fault {
    /// A stream of events that is not what it should be.
    pub(super) fn broken(message: impl Into<String>) -> Self {
        let help = "run it again; where it stays so, the server or something before it breaks streams";
        Self::Passing { message: message.into(), help, wait: None }
    }

    pub(super) fn lasting(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::Lasting { message: message.into(), help: help.into() }
    }
}
