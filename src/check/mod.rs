//! `dshc verify`'s engine: every rule that a log can break, and what it broke.
//!
//! [`check`] reads a log once and goes on behind damage; each file here is one family of rules and owns its codes, and
//! [`rules`] lists them all. Nothing is printed here: `report/` shows a [`Finding`]. `cli/` and `repair/` may call this.

mod absence;
mod aftermath;
mod binding;
mod brackets;
mod branches;
mod busy;
mod closers;
mod container;
mod estimate;
mod failures;
mod finding;
mod gist;
mod here;
mod inbox;
mod line;
mod lock_report;
mod locks;
mod losses;
mod metered;
mod numbering;
mod opening;
mod pairing;
mod pass;
mod path;
mod payload;
mod places;
mod provenance;
mod quality;
mod registry;
mod relations;
pub mod root;
mod script;
mod seeds;
mod settings;
mod shadow;
mod shapes;
mod splits;
mod stream;
mod surface;
mod task;
mod text;
mod trail;
mod upgrade;
mod vocabulary;
mod watch;
mod wording;

#[cfg(test)]
mod cases;
#[cfg(test)]
mod formats;
#[cfg(test)]
mod samples;
#[cfg(test)]
mod testing;

pub use busy::Busy;
pub use finding::{Finding, Related, Severity, sort};
pub use lock_report::lock_told;
pub use opening::unreadable;
pub use registry::{Rule, rule, rules};
pub use settings::{Setting, SettingError, Settings};

use crate::log::LogReader;
use crate::session::LockState;
use std::io;

/// What a check of one log found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    /// What the log comes to.
    pub ending: Ending,
    /// What is wrong, in the order of the places, then of the codes.
    pub findings: Vec<Finding>,
}

/// What a log comes to at its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ending {
    /// Events that were read, each number once; those that were lost do not count.
    pub events: u64,
    /// Time of the last event, Unix epoch in milliseconds.
    pub last_time: Option<i64>,
    /// The compaction lock at the end of the log; `None` where numbers come twice, so that there is no one end.
    pub lock: Option<LockState>,
    /// Why dsh would answer "busy" to a request for a compaction at the end of the log; empty too where the lock is not
    /// known.
    pub busy: Vec<Busy>,
}

/// What is asked of a check beside the rules of the log's own format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Options {
    /// The format to which the log shall be upgraded: what dsh's upgrades refuse on the way is told too (FORMAT §8).
    pub target: Option<u64>,
}

/// Checks a log from where `reader` stands, its beginning, to its end. Only I/O fails.
pub fn check(reader: &mut LogReader, options: Options) -> io::Result<Checked> {
    let pass = pass::Pass::new(reader.header().clone(), reader.format(), reader.container(), options);
    run(pass, reader)
}

fn run(mut pass: pass::Pass, reader: &mut LogReader) -> io::Result<Checked> {
    pass.header_members(reader.extra_header_members());
    while reader.next(|item| pass.take(item))?.is_some() {}
    Ok(pass.finish(reader.events(), reader.crlf()))
}
