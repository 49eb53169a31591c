//! What people and models say they will do.

use super::facts::TEXT;
use super::text::{fold, sentences, split, without_marks};

/// How much of a line is searched, in UTF-16 code units.
const LINE: usize = 4_000;

/// What a line that announces an action begins with.
const ANNOUNCEMENTS: [&str; 16] = [
    "next",
    "i'll ",
    "i’ll ",
    "i will ",
    "i am going to ",
    "i'm going to ",
    "let me ",
    "let's ",
    "now ",
    "then i",
    "下一步",
    "接下来",
    "现在",
    "让我",
    "我将",
    "我会",
];

/// The job of a `- [ ]` line, and whether it is checked.
pub(super) fn checked(line: &str) -> Option<(&str, bool)> {
    let line = without_marks(line);
    let line = line.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | ' '));
    let (mark, job) = line.strip_prefix('[')?.split_once(']')?;
    let is_done = match mark {
        "x" | "X" => true,
        " " | "" | "-" | "~" => false,
        _ => return None,
    };
    // "[](link)" is no box.
    (!job.trim().is_empty() && job.starts_with(' ')).then_some((job, is_done))
}

/// What stands before the first list or code of a text; the whole text where that is nothing.
pub(super) fn prose(text: &str) -> &str {
    let is_other = |line: &str| {
        let line = line.trim_start();
        ["- ", "* ", "+ ", "1. ", "```"].iter().any(|mark| line.starts_with(mark))
    };
    let length = text.split_inclusive('\n').take_while(|line| !is_other(line)).map(str::len).sum();
    let (prose, _) = split(text, length);
    if prose.trim().is_empty() { text } else { prose }
}

/// The last sentence that announces an action.
pub(super) fn announced(parts: [&str; 2]) -> Option<String> {
    parts.iter().rev().find_map(|part| {
        part.lines().rev().find_map(|line| {
            let line = fold(line, LINE);
            let line = without_marks(&line).trim_start_matches('*');
            let announces = |sentence: &&str| {
                let (start, _) = split(sentence, 24);
                let start = start.to_ascii_lowercase();
                ANNOUNCEMENTS.iter().any(|word| start.starts_with(word))
            };
            sentences(line).collect::<Vec<_>>().into_iter().rev().find(announces).map(|s| fold(s, TEXT))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_are_read() {
        assert_eq!(checked("  - [ ] write docs"), Some((" write docs", false)));
        assert_eq!(checked("2. [x] done"), Some((" done", true)));
        for line in ["[](link)", "- [a] x", "[ ]", "", "[x", "a[0] = 1"] {
            assert_eq!(checked(line), None, "{line}");
        }
    }

    #[test]
    fn prose_ends_where_a_list_begins() {
        assert_eq!(prose("All done.\nReally.\n- a\nb"), "All done.\nReally.\n");
        assert_eq!(prose("- a\nb"), "- a\nb");
    }

    #[test]
    fn the_last_announcement_is_found() {
        let text = "Let me look first. It is fine.\n- **Next**: write the docs. That is all.\nThe end.";
        assert_eq!(announced([text, ""]).as_deref(), Some("Next**: write the docs."));
        assert_eq!(announced(["好的。接下来修复测试。", ""]).as_deref(), Some("接下来修复测试。"));
        assert_eq!(announced(["Nothing.", ""]), None);
    }
}
