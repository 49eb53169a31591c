//! How findings spell ids, numbers and texts that come from a log.

use crate::json::Text;
pub(super) use crate::json::excerpt as quoted;
pub(super) use crate::wording::{amount, short_list, span};

/// A text that is owned and fit for people.
pub(super) fn owned(text: Text) -> String {
    text.into_str().into_owned()
}

/// Some seqs, as many as fit a sentence.
pub(super) fn seqs(all: &[u64]) -> String {
    short_list(all.iter())
}

/// A number that may be absent, or not be one.
pub(super) fn number(number: Option<u64>) -> String {
    number.map_or_else(|| "none".to_owned(), |number| number.to_string())
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
}
