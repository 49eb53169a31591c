//! Reports for people.

mod causes;
mod compact;
mod merged;
mod repack;
mod replay;
mod rules;
mod stats;
mod text;
mod totals;
mod verify;

pub use compact::compact;
pub use merged::merged;
pub use repack::repack;
pub use replay::replay;
pub use rules::{rule, rules};
pub use stats::stats;
pub use verify::verify;
