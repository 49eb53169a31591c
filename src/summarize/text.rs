//! Text made fit for one bullet: folded to a line, free of markup that would break the sections, cut.

use std::borrow::Cow;

/// Stands where a cut text ends.
pub(super) const CUT: char = '…';

/// The JavaScript length: UTF-16 code units.
pub(super) fn units(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum()
}

/// `text` on one line of at most `most` units. Control characters, terminal colours, heading marks and code
/// fences go, all else stays word for word.
pub(super) fn fold(text: &str, most: usize) -> String {
    let mut out = String::new();
    let mut used = 0;
    'lines: for line in text.split(['\n', '\r']) {
        for (index, word) in line.split_whitespace().enumerate() {
            if is_heading_mark(word, index == 0) {
                continue;
            }
            // A word of many MB is cut before it is copied.
            let (word, _) = split(word, most.saturating_mul(4).saturating_add(64));
            let word = plain(word);
            if word.is_empty() {
                continue;
            }
            if !out.is_empty() {
                out.push(' ');
                used += 1;
            }
            used += units(&word);
            out.push_str(&word);
            if used > most {
                break 'lines;
            }
        }
    }
    match cut(&out, most) {
        Cow::Borrowed(_) => out,
        Cow::Owned(cut) => cut,
    }
}

/// A `#` in the middle of a line is kept: it may be a shell comment or an issue number.
fn is_heading_mark(word: &str, starts_line: bool) -> bool {
    word.bytes().all(|byte| byte == b'#') && (starts_line || word.len() > 1)
}

fn plain(word: &str) -> Cow<'_, str> {
    if word.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return Cow::Borrowed(word);
    }
    let word = without_escapes(word);
    if !word.contains("```") && !word.contains("~~~") && !word.contains(char::is_control) {
        return word;
    }
    Cow::Owned(word.replace("```", "").replace("~~~", "").replace(char::is_control, ""))
}

/// `text` without ANSI escape sequences.
pub(super) fn without_escapes(text: &str) -> Cow<'_, str> {
    if memchr::memchr(0x1b, text.as_bytes()).is_none() {
        return Cow::Borrowed(text);
    }
    let mut parts = text.split('\u{1b}');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let Some(sequence) = part.strip_prefix('[') else {
            out.push_str(part);
            continue;
        };
        let rest = sequence.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, ';' | '?'));
        out.push_str(rest.strip_prefix(|c: char| c.is_ascii_alphabetic()).unwrap_or(rest));
    }
    Cow::Owned(out)
}

/// `text` in at most `most` units; what is cut ends in [`CUT`], after a whole word where one ends nearby.
pub(super) fn cut(text: &str, most: usize) -> Cow<'_, str> {
    if text.len() <= most || units(text) <= most {
        return Cow::Borrowed(text);
    }
    let mut used = 0;
    let mut end = 0;
    for (at, c) in text.char_indices() {
        used += c.len_utf16();
        if used >= most {
            break;
        }
        end = at + c.len_utf8();
    }
    let (head, tail) = split(text, end);
    let head = match head.rfind(' ') {
        Some(blank) if head.len() - blank <= 24 && !tail.starts_with(' ') => {
            let (whole, half) = split(head, blank);
            if half.is_ascii() { whole } else { head }
        }
        _ => head,
    };
    // A joiner at the end would glue the mark to the last emoji.
    let head = head.trim_end_matches(|c: char| c.is_whitespace() || c == CUT || c == '\u{200d}');
    if most == 0 { Cow::Borrowed("") } else { Cow::Owned(format!("{head}{CUT}")) }
}

/// `text` without the marks at its start that Markdown takes for a list or a quotation.
pub(super) fn without_marks(text: &str) -> &str {
    text.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '•' | '>'))
        .strip_prefix(['-', '*', '+'])
        .filter(|rest| rest.starts_with(' '))
        .map_or_else(|| text.trim_start_matches(['•', '>', ' ']), without_marks)
}

/// Splits at the last char boundary that is not behind `at`.
pub(super) fn split(text: &str, at: usize) -> (&str, &str) {
    text.split_at_checked(text.floor_char_boundary(at)).unwrap_or((text, ""))
}

/// The first and the last `window` bytes, the whole text where those meet. No word at the seam is kept half.
pub(super) fn ends(text: &str, window: usize) -> [&str; 2] {
    if text.len() <= window.saturating_mul(2) {
        return [text, ""];
    }
    let (head, _) = split(text, window);
    let (_, tail) = split(text, text.len() - window);
    let head = head.rfind(char::is_whitespace).map_or(head, |blank| split(head, blank).0);
    let tail = tail.find(char::is_whitespace).map_or(tail, |blank| split(tail, blank).1);
    [head, tail]
}

/// Whether one of the blank-separated words of `list` is `word`.
pub(super) fn is_listed(list: &str, word: &str) -> bool {
    !word.is_empty() && list.split(' ').any(|item| item == word)
}

/// The frame's tags may not stand inside the frame. The other sign is as long as the one that it replaces.
pub(super) fn without_frame(text: &str) -> String {
    text.replace("<compacted-summary>", "‹compacted-summary>")
        .replace("</compacted-summary>", "‹/compacted-summary>")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folding_keeps_words_and_drops_markup() {
        assert_eq!(fold(" a\n\n## Next Step\n\tb ## c # d ```rust\n", 100), "a Next Step b c # d rust");
        assert_eq!(fold("\u{1b}[31merror\u{1b}[0m: x\u{0}y", 100), "error: xy");
        assert_eq!(fold("日志 🦀🦀🦀", 6), "日志 🦀…");
        assert_eq!(fold("", 5), "");
    }

    #[test]
    fn cuts_never_exceed_and_never_split_a_char() {
        let text = "会话 🦀 façade naïve crosses the boundary 👩‍👩‍👧‍👦 of everything";
        for most in 0..80 {
            let cut = cut(text, most);
            assert!(units(&cut) <= most, "{most}: {cut}");
            assert!(text.starts_with(cut.trim_end_matches(CUT)), "{most}: {cut}");
        }
    }

    #[test]
    fn ends_are_whole_words() {
        assert_eq!(ends("alpha beta gamma delta", 8), ["alpha", " delta"]);
        assert_eq!(ends("short", 8), ["short", ""]);
        let wide = "日".repeat(100);
        assert!(ends(&wide, 10).iter().all(|part| part.chars().all(|c| c == '日')));
    }

    #[test]
    fn marks_at_the_start_go() {
        assert_eq!(without_marks("- * > x - y"), "x - y");
        assert_eq!(without_marks("-x"), "-x");
        assert_eq!(without_marks("--release"), "--release");
        assert_eq!(without_marks(""), "");
    }
}
