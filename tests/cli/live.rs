//! `dshc compact` with a live model: what becomes of a log when the model's server fails, in both dialects.
//!
//! The server is llmposter where it can do the fault; for silence right around the headers, for single bytes, for a
//! stream without end, for thinking and for redirects it is a small one of our own.

mod bench;
mod faults;
mod gates;
mod silence;
mod success;
mod texts;
mod usage;
mod wire;
