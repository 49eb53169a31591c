//! `dshc verify`'s engine: every rule that a log can break, and what it broke.
//!
//! [`check`] reads a log once and goes on behind damage; each file here is one family of rules and owns its codes, and
//! [`rules`] lists them all. Nothing is printed here: `report/` shows a [`Finding`]. `cli/` and `repair/` may call this.

mod aftermath;
mod binding;
mod brackets;
mod container;
mod failures;
mod finding;
mod line;
mod locks;
mod losses;
mod numbering;
mod opening;
mod pairing;
mod pass;
mod path;
mod payload;
#[cfg_attr(not(test), expect(dead_code, reason = "nothing asks for it yet"))]
mod payloads;
mod places;
mod provenance;
mod registry;
mod relations;
pub mod root;
mod seeds;
mod settings;
mod shadow;
mod splits;
mod stream;
mod surface;
mod text;
mod vocabulary;
mod wording;

#[cfg(test)]
mod cases;
#[cfg(test)]
mod formats;
#[cfg(test)]
mod testing;

pub use finding::{Finding, Related, Severity, sort};
pub use opening::unreadable;
pub use registry::{Rule, rule, rules};
pub use settings::{Setting, Settings};

use crate::log::LogReader;
use crate::session::LockState;
use std::io;

/// What a check of one log found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    /// The session's id.
    pub session: String,
    /// The log's format version.
    pub version: u64,
    /// Events, by the numbers of the records.
    pub events: u64,
    /// The compaction lock at the end of the log; `None` where numbers come twice, so that there is no one end.
    pub lock: Option<LockState>,
    /// What is wrong, in the order of the places, then of the codes.
    pub findings: Vec<Finding>,
}

/// Checks a log from where `reader` stands, its beginning, to its end. Only I/O fails.
pub fn check(reader: &mut LogReader) -> io::Result<Checked> {
    let mut pass = pass::Pass::new(reader.header().clone(), reader.format(), reader.container());
    while reader.next(|item| pass.take(item))?.is_some() {}
    Ok(pass.finish(reader.events(), reader.crlf()))
}
