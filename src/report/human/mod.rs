//! Reports for people.

mod compact;
mod replay;
mod text;

pub use compact::compact;
pub use replay::replay;
