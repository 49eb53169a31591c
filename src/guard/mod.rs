//! What keeps a log from being worked on, and how that is told: damage, a held lock, signs of another process.
//!
//! `compact/` and `repack/` ask here before they write; what a person can do about it each of them says itself.

mod objection;
mod reason;
mod rest;

pub(crate) use objection::Objection;
pub use reason::Reason;
pub(crate) use reason::{HELP_REPORT, cancelled, panicked, two_encodings, written_before};
pub(crate) use rest::{in_turn, in_use};
