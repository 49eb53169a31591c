//! The offline workbench for DeepSeek Harness session logs: the library under the `dshc` command.
//!
//! Data flows one way: bytes → [`log`] → records → [`session`] → state → a report. The format is described in
//! the project's FORMAT pages; doc comments cite their sections as "FORMAT §7.2".

pub mod batch;
pub mod check;
pub mod cli;
pub mod compact;
pub mod exit;
pub mod format;
pub mod guard;
pub mod json;
pub mod log;
pub mod mend;
pub mod merge;
pub mod repack;
pub mod replay;
pub mod report;
pub mod session;
pub mod stats;
pub mod summarize;
pub mod tokens;
pub mod verify;
mod wording;
