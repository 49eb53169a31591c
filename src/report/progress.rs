//! How far a run is, on standard error while that is a terminal.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::path::Path;
use std::time::Duration;

use super::printer::{shown, shown_path};
use crate::wording::grouped;

/// One line that says what is being done; it is gone when the run ends.
#[derive(Debug)]
pub struct Progress {
    line: ProgressBar,
}

impl Progress {
    pub(super) fn new(is_shown: bool) -> Self {
        let line = if is_shown {
            ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr())
        } else {
            ProgressBar::hidden()
        };
        if let Ok(style) = ProgressStyle::with_template("{spinner} {prefix}: {msg} ({elapsed})") {
            line.set_style(style);
        }
        Self { line }
    }

    /// A log is begun.
    pub fn log(&self, path: &Path) {
        self.line.set_prefix(shown_path(path));
        self.line.set_message("reading");
        self.line.reset_elapsed();
        self.line.enable_steady_tick(Duration::from_millis(120));
    }

    /// A part of the work on it is begun.
    pub fn stage(&self, stage: &str) {
        self.line.set_message(shown(stage).replace('\n', " "));
    }

    /// So many tokens of an answer have come in.
    pub fn received(&self, stage: &str, tokens: u64) {
        self.stage(&format!("{stage}, {} tokens received", grouped(tokens)));
    }

    /// Takes the line away.
    pub fn clear(&self) {
        self.line.finish_and_clear();
    }
}
