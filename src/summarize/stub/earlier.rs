//! An earlier summary, taken apart into the bullets of its sections.

use super::facts::TEXT;
use super::text::{fold, without_marks};
use crate::summarize::SECTIONS;

/// Where text goes that stands under no heading that is known.
const CRITICAL_CONTEXT: usize = 7;

/// How many lines a summary without headings gives.
const MOST_LOOSE: usize = 5;

/// Other names that sections go by, in lower case.
const OTHER_NAMES: [(&str, usize); 13] = [
    ("primary request", 0),
    ("user messages", 0),
    ("all user messages", 0),
    ("key concepts", 1),
    ("files and code sections", 2),
    ("problem solving", 3),
    ("errors", 3),
    ("pending tasks", 4),
    ("pending work", 4),
    ("optional next step", 6),
    ("next steps", 6),
    ("context", 7),
    ("important context", 7),
];

/// The bullets of a summary by section, each on one line.
pub(super) fn bullets(summary: &str) -> [Vec<String>; 8] {
    let mut parts = Parts::default();
    for line in summary.lines() {
        parts.take(line);
    }
    parts.end_bullet();
    if !parts.has_headings
        && let Some(loose) = parts.sections.get_mut(CRITICAL_CONTEXT)
    {
        loose.truncate(MOST_LOOSE);
    }
    parts.sections
}

#[derive(Default)]
struct Parts {
    sections: [Vec<String>; 8],
    section: Option<usize>,
    has_headings: bool,
    bullet: String,
}

impl Parts {
    fn take(&mut self, line: &str) {
        let trimmed = line.trim();
        if let Some(section) = heading(trimmed) {
            self.end_bullet();
            self.section = Some(section);
            self.has_headings = true;
        } else if trimmed.is_empty() || trimmed.starts_with('#') {
            self.end_bullet();
            // An unknown part of its own is no part of the section before it.
            if trimmed.starts_with("# ") || trimmed.starts_with("## ") {
                self.section = None;
            }
        } else if !trimmed.starts_with("```") {
            if starts_bullet(trimmed) || self.section.is_none() {
                self.end_bullet();
            }
            if self.bullet.len() < TEXT * 4 {
                self.bullet.push_str(trimmed);
                self.bullet.push('\n');
            }
        }
    }

    fn end_bullet(&mut self) {
        let text = fold(&std::mem::take(&mut self.bullet), TEXT * 4);
        let text = without_marks(&text);
        let is_nothing =
            matches!(text.to_ascii_lowercase().as_str(), "" | "(none)" | "none" | "none." | "n/a" | "-");
        if let Some(section) =
            self.sections.get_mut(self.section.unwrap_or(CRITICAL_CONTEXT)).filter(|_| !is_nothing)
        {
            section.push(text.to_owned());
        }
    }
}

/// The section that a line heads: `## Next Step`, `**Next Step:**`, `7. Next Step`.
fn heading(line: &str) -> Option<usize> {
    if line.len() > 80 || starts_with_mark(line) {
        return None;
    }
    let name = line
        .trim_matches(|c: char| matches!(c, '#' | '*' | ':' | '.' | ')' | '_' | ' ') || c.is_ascii_digit());
    let known = SECTIONS.iter().position(|section| section.eq_ignore_ascii_case(name));
    known.or_else(|| {
        let name = name.to_ascii_lowercase();
        // A bare line "Errors" or "Context" is text.
        let marked = line.starts_with(['#', '*']) || line.starts_with(|c: char| c.is_ascii_digit());
        OTHER_NAMES.iter().find(|(other, _)| marked && *other == name).map(|(_, section)| *section)
    })
}

fn starts_with_mark(line: &str) -> bool {
    ["- ", "* ", "+ ", "• "].iter().any(|mark| line.starts_with(mark))
}

fn starts_bullet(line: &str) -> bool {
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    starts_with_mark(line) || (rest.len() < line.len() && (rest.starts_with(". ") || rest.starts_with(") ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_are_found_by_any_of_their_forms() {
        let sections = bullets(
            "preamble\n\n# Summary\n## Primary Request and Intent\n- one\n  goes on\n  - nested\n\n3. Files and Code \
             Sections:\n1. first\n2. second\n**Next Step:**\nplain\ntext\n## Odd\n- stray\n## Current Work\n(none)\n",
        );
        assert_eq!(sections[0], ["one goes on", "nested"]);
        assert_eq!(sections[2], ["1. first", "2. second"]);
        assert_eq!(sections[6], ["plain text"]);
        assert_eq!(sections[7], ["preamble", "stray"]);
        assert!(sections[5].is_empty());
    }

    #[test]
    fn a_summary_without_headings_gives_its_first_lines() {
        let sections = bullets("a\nb\nc\nd\ne\nf\ng");
        assert_eq!(sections[7], ["a", "b", "c", "d", "e"]);
        assert!(bullets("").iter().all(Vec::is_empty));
    }
}
