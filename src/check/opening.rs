//! Logs that cannot be opened at all, so that no other rule is asked (FORMAT §2, §3).

use super::Finding;
use super::registry::{Rule, rule_family};
use crate::log::{OpenError, Place};

rule_family! {
    "opening";
    /// A file cannot be read.
    IO = error("io");
    /// A file is empty.
    EMPTY = error("empty-file");
    /// A file holds no whole header line.
    NO_HEADER = error("no-header");
    /// A file does not begin with the header of a log.
    NOT_A_LOG = error("not-a-log");
    /// A header is not of the shape that its format has.
    HEADER = error("invalid-header");
    /// A log is of a format that dshc does not know.
    UNSUPPORTED = error("unsupported-format");
}

/// What is to be said of a log that cannot be opened.
#[must_use]
pub fn unreadable(error: &OpenError) -> Finding {
    Finding::new(rule_of(error), Place::default(), error.to_string()).with_help(error.help())
}

fn rule_of(error: &OpenError) -> &'static Rule {
    match error {
        OpenError::Io(_) => &IO,
        OpenError::Empty => &EMPTY,
        OpenError::NoHeader(_) => &NO_HEADER,
        OpenError::NotALog(_) => &NOT_A_LOG,
        OpenError::Header(_) => &HEADER,
        OpenError::Version { .. } => &UNSUPPORTED,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_go_by_the_codes_of_the_errors() {
        for error in [OpenError::Empty, OpenError::Io(std::io::Error::other("x"))] {
            assert_eq!(unreadable(&error).code, error.code());
        }
    }
}
