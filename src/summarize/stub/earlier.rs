//! An earlier summary: its bullets are kept as text beside the new ones.

use super::facts::TEXT;
use super::lines::REPLACED;
use super::signs::checked;
use super::text::{CUT, fold, without_marks};
use crate::summarize::SECTIONS;

/// Sections by their places in [`SECTIONS`].
pub(super) const FILES: usize = 2;
pub(super) const JOBS: usize = 4;
const SUPERSEDED: std::ops::RangeInclusive<usize> = 5..=6;

/// Where text goes that stands under no heading that is known.
const CRITICAL_CONTEXT: usize = 7;

/// How many lines under no known heading are kept.
const MOST_LOOSE: usize = 5;

/// How many bullets of a section are kept.
const MOST: usize = 80;

/// What a cut text must share with a longer one, in bytes, to be taken for the same.
const TELLING: usize = 24;

/// Adds the bullets of `summary` that are not known yet, by section and each on one line.
pub(super) fn add(sections: &mut [Vec<String>; 8], summary: &str) {
    let mut bullet = String::new();
    let mut section = None;
    let mut loose = 0;
    let mut end = |section: Option<usize>, bullet: &mut String| {
        loose += usize::from(section.is_none() && !bullet.is_empty());
        if section.is_some() || loose <= MOST_LOOSE {
            keep(sections, section.unwrap_or(CRITICAL_CONTEXT), bullet);
        }
        bullet.clear();
    };
    for line in summary.lines().map(str::trim) {
        if line.is_empty() || line.starts_with('#') || section.is_none() || starts_bullet(line) {
            end(section, &mut bullet);
        }
        if line.starts_with('#') {
            section = heading(line);
        } else if !line.starts_with("```") && bullet.len() < TEXT * 4 && !line.is_empty() {
            bullet.push_str(line);
            bullet.push('\n');
        }
    }
    end(section, &mut bullet);
}

fn keep(sections: &mut [Vec<String>; 8], section: usize, bullet: &str) {
    let text = fold(bullet, TEXT * 4);
    let text = match checked(&text).filter(|_| section == JOBS) {
        Some((_, true)) => return,
        Some((job, false)) => job,
        None => without_marks(&text),
    };
    let is_nothing = matches!(text.to_ascii_lowercase().as_str(), "" | "(none)" | "none" | "none." | "n/a");
    let Some(known) = sections.get_mut(section).filter(|_| !is_nothing && !SUPERSEDED.contains(&section))
    else {
        return;
    };
    if known.iter().all(|other| other != text) {
        known.push(text.to_owned());
    }
    if known.len() > MOST {
        // The first one is the task.
        known.remove(1);
    }
}

fn heading(line: &str) -> Option<usize> {
    let name = line.trim_matches(|c: char| matches!(c, '#' | '*' | ':' | ' '));
    SECTIONS.iter().position(|section| section.eq_ignore_ascii_case(name))
}

fn starts_bullet(line: &str) -> bool {
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    ["- ", "* ", "+ ", "• "].iter().any(|mark| line.starts_with(mark))
        || (rest.len() < line.len() && rest.starts_with(". "))
}

/// Whether two bullets of a section tell of the same thing.
pub(super) fn is_same(section: usize, one: &str, other: &str) -> bool {
    let (one, other) = (stem(section, one), stem(section, other));
    let is_cut_of = |short: &str, long: &str| {
        short.strip_suffix(CUT).is_some_and(|stem| stem.len() >= TELLING && long.starts_with(stem))
    };
    one.eq_ignore_ascii_case(other) || is_cut_of(one, other) || is_cut_of(other, one)
}

/// A bullet without what may change: counts and outcomes.
fn stem(section: usize, bullet: &str) -> &str {
    if let Some(label) = REPLACED.into_iter().find(|label| bullet.starts_with(label)) {
        return label;
    }
    let path = bullet.strip_prefix('`').and_then(|rest| rest.split_once('`')).filter(|_| section == FILES);
    if let Some((path, _)) = path {
        return path;
    }
    let end =
        [" ×", " in `", " (later passed", ", last failed"].iter().filter_map(|mark| bullet.find(mark)).min();
    end.and_then(|end| bullet.get(..end)).unwrap_or(bullet).trim_end_matches(['`', '.', ' '])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bullets(summary: &str) -> [Vec<String>; 8] {
        let mut sections = Default::default();
        add(&mut sections, summary);
        sections
    }

    #[test]
    fn sections_are_found_at_any_level() {
        let sections = bullets(
            "preamble\n\n# Summary\n## Primary Request and Intent\n- one\n  goes on\n  - nested\n- One\n\n### FILES AND CODE\n\
             1. first\n2. second\n# Pending jobs:\n- [ ] a\n- [x] b\nplain\n## Odd\n- stray\n## Current Work\n- x\n\
             ## Critical Context\n(none)\n",
        );
        assert_eq!(sections[0], ["one goes on", "nested", "One"]);
        assert_eq!(sections[2], ["1. first", "2. second"]);
        assert_eq!(sections[4], ["a"]);
        assert_eq!(sections[7], ["preamble", "stray"]);
        assert!(sections[5].is_empty());
    }

    #[test]
    fn a_summary_without_headings_gives_its_first_lines() {
        assert_eq!(bullets("a\nb\nc\nd\ne\nf\ng")[7], ["a", "b", "c", "d", "e"]);
        assert!(bullets("").iter().all(Vec::is_empty));
    }

    #[test]
    fn bullets_are_the_same_whatever_was_counted() {
        for (section, one, other) in [
            (2, "`src/a.rs` ×3 (edit)", "`src/a.rs`: rewritten"),
            (1, "Tools: bash ×3", "Tools: read ×1"),
            (3, "error: x in `make` ×2", "error: x"),
            (7, "Ran `make` ×3", "Ran `make`, last failed"),
            (0, "Fix the parser so that it stops…", "Fix the parser so that it stops on the first error"),
        ] {
            assert!(is_same(section, one, other) && is_same(section, other, one), "{one}");
        }
        assert!(!is_same(0, "Fix…", "Fix it") && !is_same(7, "`a` is slow", "`a` is gone"));
    }
}
