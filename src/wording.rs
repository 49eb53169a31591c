//! Amounts, spans and lists in the sentences that people read.

use std::borrow::Cow;
use std::fmt::Display;

/// `1 event`, `2 events`, `1,234 events`.
pub(crate) fn amount(count: u64, noun: &str) -> String {
    format!("{} {noun}{}", grouped(count), if count == 1 { "" } else { "s" })
}

/// Digits in groups of three. Amounts are written so, and numbers that name something (seqs, lines, bytes) are not.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `seq 4`, `seqs 4 to 9`: both inclusive.
pub(crate) fn span(noun: &str, first: u64, last: u64) -> String {
    if first == last { format!("{noun} {first}") } else { format!("{noun}s {first} to {last}") }
}

/// The first `most` characters, and the mark of a cut where there are more.
pub(crate) fn clipped(text: &str, most: usize) -> Cow<'_, str> {
    match text.char_indices().nth(most) {
        Some((cut, _)) => format!("{}…", &text[..cut]).into(),
        None => text.into(),
    }
}

/// As many of `items` as fit a sentence.
pub(crate) fn short_list<T: Display>(items: impl ExactSizeIterator<Item = T>) -> String {
    const MOST: usize = 8;
    let more = items.len().saturating_sub(MOST);
    let mut names: Vec<String> = items.take(MOST).map(|item| item.to_string()).collect();
    if more > 0 {
        names.push(format!("and {} more", grouped(more as u64)));
    }
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_told_from_more() {
        assert_eq!((amount(1, "event"), amount(0, "event")), ("1 event".into(), "0 events".into()));
        assert_eq!((span("seq", 4, 4), span("seq", 4, 9)), ("seq 4".into(), "seqs 4 to 9".into()));
    }

    #[test]
    fn numbers_are_grouped() {
        assert_eq!([0, 999, 1000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!(amount(99_000, "event"), "99,000 events");
    }

    #[test]
    fn long_lists_are_cut() {
        assert_eq!(short_list([1, 3].iter()), "1, 3");
        assert_eq!(short_list((0..10).collect::<Vec<_>>().iter()), "0, 1, 2, 3, 4, 5, 6, 7, and 2 more");
    }
}
