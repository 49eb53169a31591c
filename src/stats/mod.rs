//! What logs hold, in figures: one pass over each, nothing kept of it but counts.
//!
//! [`LogStats::of`] measures one log; [`Stats`] joins the logs of a run. The reports only lay them out. `cli/` calls
//! this room; it may use `session/`, `log/`, `check/` and `format/`.

mod gauge;
mod inherited;
mod kinds;
mod log;
mod order;
mod run;
mod tally;
#[cfg(test)]
mod tests;
mod total;

pub use inherited::Inherited;
pub use kinds::Kinds;
pub use log::{Figures, LogStats, Status, Unreadable};
pub use order::{SortBy, UnknownOrder};
pub use run::Stats;
pub(crate) use tally::share;
pub use tally::{Chunks, Compactions, Tally};
pub use total::Total;
