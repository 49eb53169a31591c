//! Headings of a Markdown text.

/// What a heading says, if `line` is one: one to six `#`, then a name, which a colon may end.
pub(super) fn heading(line: &str) -> Option<&str> {
    let line = line.trim();
    let name = line.trim_start_matches('#');
    let level = line.len() - name.len();
    let name = name.trim().trim_end_matches(':').trim_end();
    ((1..=6).contains(&level) && !name.is_empty()).then_some(name)
}

/// A line without the marks of lists and quotations, and without its number.
pub(super) fn without_mark(line: &str) -> &str {
    let line =
        line.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '-' | '*' | '+' | '•' | '>'));
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_numbered = rest.len() < line.len() && rest.starts_with(['.', ')']);
    if is_numbered { rest.trim_start_matches(['.', ')']).trim() } else { line.trim_end() }
}

/// Whether the line only says that there is nothing to say.
pub(super) fn says_nothing(line: &str) -> bool {
    if line.trim_start().starts_with("<!--") {
        return true;
    }
    let word = without_mark(line).trim_matches(|c: char| !c.is_alphanumeric() && c != '/').to_lowercase();
    matches!(word.as_str(), "" | "none" | "n/a" | "nothing" | "empty")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_are_read_at_any_level() {
        for line in ["## Next Step", "  ###### Next Step: ", "#Next Step", "# Next Step :"] {
            assert_eq!(heading(line), Some("Next Step"), "{line}");
        }
        for line in ["Next Step", "**Next Step**", "##", "####### Next Step", "", "- # x"] {
            assert_eq!(heading(line), None, "{line}");
        }
    }

    #[test]
    fn marks_go() {
        for line in ["- fix it", "  * > fix it ", "12. fix it", "3) fix it", "fix it"] {
            assert_eq!(without_mark(line), "fix it");
        }
        assert_eq!(without_mark("3 files"), "3 files");
    }

    #[test]
    fn nothing_is_said_in_several_ways() {
        assert!(["(none)", "- None.", "n/a", "*(nothing)*", " ", "---"].into_iter().all(says_nothing));
        assert!(!["none of the tests pass", "0"].into_iter().any(says_nothing));
    }
}
