//! Reports for people.

mod causes;
mod compact;
mod replay;
mod rules;
mod text;
mod totals;
mod verify;

pub use compact::compact;
pub use replay::replay;
pub use rules::{rule, rules};
pub use verify::verify;
