//! Reports: the same results, laid out for people or for programs, one folder a format. The [`Printer`] owns
//! standard output and standard error; nothing else prints.

pub mod human;
pub mod json;
mod printer;

pub use printer::{Layout, Printer, Verbosity, shown_path};
