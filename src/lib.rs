//! The offline workbench for DeepSeek Harness session logs.
pub mod format;
pub mod json;
pub mod log;
pub mod session;
pub mod summarize;
pub mod tokens;
