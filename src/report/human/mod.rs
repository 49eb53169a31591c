//! Reports for people.

mod compact;
mod replay;
mod text;
mod verify;

pub use compact::compact;
pub use replay::replay;
pub use verify::verify;
