//! Reports for people.

mod causes;
mod compact;
mod repack;
mod replay;
mod rules;
mod text;
mod totals;
mod verify;

pub use compact::compact;
pub use repack::repack;
pub use replay::replay;
pub use rules::{rule, rules};
pub use verify::verify;
