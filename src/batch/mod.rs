//! Many logs in one run: which ones the paths that a user gives stand for, and the work on them, on all cores.
//!
//! `cli/` calls this room. It knows names, places and sizes, and nothing of what a log holds or of what is done with
//! it: that is a function that [`run`] is given.

mod crew;
mod find;
mod isolation;
mod permits;

pub use crew::{Crew, Ended, Running, Task, run};
pub use find::{Found, FoundLog, find};
pub use permits::{Lent, Permit, Permits};
