//! `dshc merge-reports`: the JSON reports of a run's shards as the one report that the run would have given.
//!
//! It knows what reports have in common and no command of its own: the entries of `files`, kept byte for byte in the
//! order of their paths; `ignored`, sorted; `summary`, summed member by member. Only `cli/` calls it.

mod ending;
mod entry;
mod fit;
mod merged;
mod order;
mod report;
mod sum;

pub use ending::UnknownStatus;
pub use fit::Misfit;
pub use merged::{Merged, Partial, merge};
pub use report::{NoReport, Report};
pub use sum::{Sum, SumError};
