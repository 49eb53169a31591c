//! Runs that do the same: which lines of a journal count for a run.

use std::fmt::Display;

/// A command with the options that change what comes of a log.
///
/// Options that tell only which logs are worked on, how fast, or how it is told are no part of it.
#[derive(Debug, Clone)]
pub struct Kind {
    pub(super) command: &'static str,
    pub(super) changes_logs: bool,
    options: blake3::Hasher,
}

impl Kind {
    /// A command without options, that reads logs only.
    #[must_use]
    pub fn of(command: &'static str) -> Self {
        Self { command, changes_logs: false, options: blake3::Hasher::new() }
    }

    /// The same as a command that changes the logs themselves: each line is on the disk before the next log's is
    /// written.
    #[must_use]
    pub fn changing_logs(mut self, does_change: bool) -> Self {
        self.changes_logs = does_change;
        self
    }

    /// The same with an option, if it is given. Options count in the order in which they are added.
    #[must_use]
    pub fn with(mut self, name: &str, value: Option<impl Display>) -> Self {
        if let Some(value) = value {
            let value = value.to_string();
            // No value can be taken for the beginning of the next option: its length stands before it.
            self.options.update(format!("{name} {} {value}\n", value.len()).as_bytes());
        }
        self
    }

    /// The same with a flag, if it is set.
    #[must_use]
    pub fn with_flag(self, name: &str, is_set: bool) -> Self {
        self.with(name, is_set.then_some("set"))
    }

    /// The options in 16 hexadecimal digits.
    pub(super) fn options(&self) -> String {
        self.options.finalize().to_hex().chars().take(16).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_that_are_not_given_change_nothing() {
        let bare = Kind::of("compact").options();
        let absent = Kind::of("compact").with("over", None::<u64>).with_flag("prune", false);
        assert_eq!((absent.options(), bare.len()), (bare.clone(), 16));
        let others = [
            Kind::of("compact").with("over", Some(7)),
            Kind::of("compact").with("over", Some(77)),
            Kind::of("compact").with("retain", Some(7)),
            Kind::of("compact").with_flag("over", true),
            Kind::of("compact").with("over", Some("7\nprune 3 set")),
            Kind::of("compact").with("over", Some(7)).with_flag("prune", true),
        ];
        let mut seen: Vec<String> = others.iter().map(Kind::options).chain([bare]).collect();
        seen.sort();
        seen.dedup();
        assert_eq!(seen.len(), 7);
    }
}
