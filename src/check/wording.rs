//! How findings spell ids, lists and amounts that come from a log.

use crate::json::Text;
pub(super) use crate::json::excerpt as quoted;
use crate::session::short_list;

/// A text that is owned and fit for people.
pub(super) fn owned(text: Text) -> String {
    text.into_str().into_owned()
}

/// Some seqs, as many as fit a sentence.
pub(super) fn seqs(all: &[u64]) -> String {
    short_list(all.iter())
}

/// `1 event`, `2 events`.
pub(super) fn amount(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_a_log_stay_short_and_on_one_line() {
        assert_eq!(quoted("a\n\u{1b}[31m\"b"), r#""a\n\u001b[31m\"b""#);
        assert_eq!(quoted(&"会".repeat(200)).chars().count(), 163);
        assert_eq!(quoted(""), "\"\"");
    }

    #[test]
    fn long_lists_are_cut() {
        assert_eq!(seqs(&[1, 3]), "1, 3");
        assert_eq!(seqs(&(0..10).collect::<Vec<_>>()), "0, 1, 2, 3, 4, 5, 6, 7, and 2 more");
        assert_eq!((amount(1, "event"), amount(0, "event")), ("1 event".into(), "0 events".into()));
    }
}
