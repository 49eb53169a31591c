//! Reports: the same results, laid out for people or for programs, one folder or file a format. The [`Printer`]
//! owns standard output and standard error; nothing else prints.

mod github;
pub mod human;
pub mod json;
mod junit;
mod phrases;
mod printer;
mod progress;
mod sarif;
mod stream;
#[cfg(test)]
mod testing;

pub use github::github;
pub use junit::junit;
pub use phrases::summary;
pub use printer::{Layout, Printer, Verbosity, shown_path};
pub use progress::{Line, Progress};
pub use sarif::{sarif, sarif_left_out};
