//! `dshc compact` with a live model: what becomes of a log when the model's server fails, in both dialects.
//!
//! The server is llmposter where it can do the fault; for silence right after the headers, for single bytes, for
//! thinking and for redirects it is a small one of our own.

mod bench;
mod faults;
mod silence;
mod success;
mod texts;
