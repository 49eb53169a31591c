//! Is there a text at all, and nothing else around it?

use super::super::checkpoint::{CLOSING_TAG, OPENING_TAG, PREAMBLE_END};
use super::headings::{heading, says_nothing};
use super::{Objection, TASK_LABEL};

/// A title, or a line that leads over to the summary, does no harm; more is talk, or thinking that leaked.
const MOST_LINES_BEFORE: usize = 1;

/// Refuses a text that says nothing, that stands in a code fence, that begins with talk, or that holds parts of the
/// frame around a summary, which readers would take for the frame itself.
pub(super) fn judge(summary: &str) -> Result<(), Objection> {
    let lines = summary.lines().map(str::trim).filter(|line| !line.is_empty());
    if lines.clone().all(|line| heading(line).is_some() || says_nothing(line)) {
        return Err(Objection::form("the summary says nothing: there is no text under its headings"));
    }
    let is_fence = |line: &str| line.starts_with("```") || line.starts_with("~~~");
    if lines.clone().next().is_some_and(is_fence) && lines.clone().next_back().is_some_and(is_fence) {
        return Err(Objection::form("the whole summary stands in a code fence: write it without the fence"));
    }
    if ["```", "~~~"].iter().any(|mark| lines.clone().filter(|line| line.starts_with(mark)).count() % 2 == 1)
    {
        return Err(Objection::form("a code fence is opened and not closed: close it, or write without one"));
    }
    if ["<think", "</think"].iter().any(|tag| summary.contains(tag)) {
        return Err(Objection::form("the summary holds a part of the thinking about it: leave that out"));
    }
    for part in [OPENING_TAG, CLOSING_TAG, TASK_LABEL, PREAMBLE_END] {
        if summary.contains(part) {
            let message =
                format!("the summary holds \"{part}\", which belongs to the frame around it: leave it out");
            return Err(Objection::form(message));
        }
    }
    let before = lines.take_while(|line| heading(line).is_none()).count();
    if before > MOST_LINES_BEFORE {
        let message = format!(
            "{before} lines stand before the first heading: begin with the first section, without any talk"
        );
        return Err(Objection::form(message));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(summary: &str) -> String {
        judge(summary).err().map_or_else(String::new, |objection| objection.message)
    }

    #[test]
    fn half_a_fence_and_thinking_are_refused() {
        let text = "## Current Work\n```sh\nmake\n";
        assert!(message(text).contains("opened and not closed"), "{}", message(text));
        assert_eq!(message(&format!("{text}```\n")), "");
        for thinking in ["<think>\nhm\n</think>\n## Current Work\n- a", "hm</think>\n## Current Work\n- a"] {
            assert!(message(thinking).contains("thinking"), "{}", message(thinking));
        }
    }

    #[test]
    fn a_text_is_wanted() {
        for empty in
            ["", " \n", "## Current Work\n(none)\n\n## Next Step\n- None.\n", "# a\n# b", "---\n- n/a"]
        {
            assert!(message(empty).starts_with("the summary says nothing"), "{empty:?}");
        }
        assert_eq!(message("## Next Step\nGo on."), "");
    }

    #[test]
    fn a_fence_around_all_is_named() {
        assert!(message("```markdown\n## Next Step\nGo on.\n```\n").contains("code fence"));
        assert_eq!(message("## Files and Code\n```rust\nfn x() {}\n```"), "");
    }

    #[test]
    fn parts_of_the_frame_are_named() {
        for part in [OPENING_TAG, CLOSING_TAG, TASK_LABEL, PREAMBLE_END] {
            assert!(message(&format!("## Next Step\nGo on.\n{part}")).contains(part));
        }
    }

    #[test]
    fn one_line_may_lead_over() {
        assert_eq!(message("Here is the summary:\n\n## Next Step\nGo on."), "");
        assert!(message("Well.\nLet me see.\nSo:\n## Next Step\nGo on.").starts_with("3 lines stand before"));
    }
}
