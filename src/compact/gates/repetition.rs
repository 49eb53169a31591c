//! Does the text go round in circles, as a model does that has lost its way?

use super::Objection;
use super::headings::{heading, says_nothing, without_mark};
use crate::summarize::Transcript;
use crate::wording::clipped;
use std::collections::{HashMap, HashSet};

/// When items in a row that repeat are no coincidence.
struct Limits {
    /// The longest cycle that is looked for, in items.
    longest: usize,
    /// How often a cycle must stand in a row.
    copies: usize,
    /// The fewest items that all copies have together.
    least: usize,
}

/// A list may name the same thing two or three times; a model that loops goes on until it is stopped.
const LINES: Limits = Limits { longest: 16, copies: 5, least: 5 };

/// In one line. "No, no, no" is emphasis, and a row of a table or a dump of bytes may hold eight equal words.
const WORDS: Limits = Limits { longest: 40, copies: 6, least: 12 };

/// In one word, such as text without blanks. A hash in digits may be 128 zeros.
const LETTERS: Limits = Limits { longest: 40, copies: 8, least: 200 };

/// In a text of so many lines at least, one in three must be a new one, wherever the others stand.
const MANY_LINES: usize = 30;
const LINES_FOR_A_NEW_ONE: usize = 3;

/// No line may be such a part of all of them, if it stands as often as a cycle may not.
const SHARE_OF_ONE_LINE: usize = 3;

/// Lines with fewer letters and digits, such as closing brackets, tell nothing.
const TELLING: usize = 3;

/// How much is shown of what repeats, in characters.
const SHOWN: usize = 80;

/// Refuses runs of repeated lines, also of several lines by turns, and of repeated words in one line, if they do not
/// stand in the region as well: a summary may quote.
pub(super) fn judge(summary: &str, region: &Transcript) -> Result<(), Objection> {
    let tells =
        |line: &&str| line.chars().filter(|c| c.is_alphanumeric()).count() >= TELLING && !says_nothing(line);
    // A loop goes on below each heading.
    let said = summary.lines().filter(|line| heading(line).is_none());
    let lines: Vec<&str> = said.filter(tells).map(without_mark).collect();
    if let Some(cycle) =
        find(&lines, &LINES).filter(|cycle| !is_quoted(&cycle.run(&lines).join("\n"), region))
    {
        let what = if cycle.period == 1 { "the line" } else { "lines by turns, the first of them" };
        return Err(refusal(what, lines.get(cycle.start).copied().unwrap_or_default(), cycle.copies));
    }
    if let Some((line, copies)) = most_frequent(&lines)
        && copies >= LINES.copies
        && copies.saturating_mul(SHARE_OF_ONE_LINE) >= lines.len()
        && !is_quoted(&vec![line; copies].join("\n"), region)
    {
        return Err(Objection::form(format!(
            "the summary repeats itself: {copies} of its {} lines say \"{}\": say everything once",
            lines.len(),
            clipped(line, SHOWN)
        )));
    }
    let distinct = lines.iter().collect::<HashSet<_>>().len();
    if lines.len() >= MANY_LINES && distinct.saturating_mul(LINES_FOR_A_NEW_ONE) < lines.len() {
        let message =
            format!("of the summary's {} lines only {distinct} differ: say everything once", lines.len());
        return Err(Objection::form(message));
    }
    lines.into_iter().try_for_each(|line| phrases(line, region).and_then(|()| letters(line, region)))
}

fn phrases(line: &str, region: &Transcript) -> Result<(), Objection> {
    let words: Vec<&str> = words(line).collect();
    let Some(cycle) = find(&words, &WORDS) else { return Ok(()) };
    let phrase = cycle.run(&words).get(..cycle.period).unwrap_or_default().join(" ");
    // Columns of figures repeat.
    let is_loop = phrase.contains(char::is_alphabetic) && !is_quoted(&cycle.run(&words).join(" "), region);
    if is_loop { Err(refusal("the words", &phrase, cycle.copies)) } else { Ok(()) }
}

fn letters(line: &str, region: &Transcript) -> Result<(), Objection> {
    for word in line.split_whitespace().filter(|word| word.len() >= LETTERS.least) {
        let letters: Vec<char> = word.chars().collect();
        let Some(cycle) = find(&letters, &LETTERS) else { continue };
        let part: String = cycle.run(&letters).iter().take(cycle.period).collect();
        let is_loop = part.contains(char::is_alphanumeric)
            && !is_quoted(&cycle.run(&letters).iter().collect::<String>(), region);
        if is_loop {
            return Err(refusal("the letters", &part, cycle.copies));
        }
    }
    Ok(())
}

/// Whether an entry of the region holds the words of a run in the same order.
fn is_quoted(run: &str, region: &Transcript) -> bool {
    let bare = |text| words(text).collect::<Vec<_>>().join(" ");
    let run = bare(run);
    region.entries.iter().any(|entry| bare(entry.text()).contains(&run))
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}

fn refusal(what: &str, sample: &str, copies: usize) -> Objection {
    Objection::form(format!(
        "the summary repeats itself: {what} \"{}\", {copies} times in a row: say everything once",
        clipped(sample, SHOWN)
    ))
}

/// The line that stands most often, the first of several, and how often.
fn most_frequent<'a>(lines: &[&'a str]) -> Option<(&'a str, usize)> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for line in lines {
        *counts.entry(*line).or_default() += 1;
    }
    let most = counts.values().copied().max()?;
    let first = lines.iter().find(|line| counts.get(*line) == Some(&most))?;
    Some((*first, most))
}

/// Items that come again and again in the same order.
struct Cycle {
    start: usize,
    period: usize,
    copies: usize,
}

impl Cycle {
    /// All its copies.
    fn run<'a, T>(&self, items: &'a [T]) -> &'a [T] {
        items.get(self.start..self.start + self.period * self.copies).unwrap_or_default()
    }
}

/// The first run of the shortest cycle that exceeds the limits.
fn find<T: PartialEq>(items: &[T], limits: &Limits) -> Option<Cycle> {
    (1..=limits.longest).find_map(|period| {
        let wanted = limits.least.max(period * limits.copies);
        let shifted = items.get(period..)?;
        let mut begin = 0;
        // Behind the last item nothing is equal.
        let is_equal = items.iter().zip(shifted).map(|(item, next)| item == next).chain([false]);
        for (at, is_equal) in is_equal.enumerate() {
            if is_equal {
                continue;
            }
            let length = at - begin + period;
            if length >= wanted {
                return Some(Cycle { start: begin, period, copies: length / period });
            }
            begin = at + 1;
        }
        None
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summarize::Entry;

    fn message(summary: &str) -> String {
        judge(summary, &Transcript::default()).err().map_or_else(String::new, |objection| objection.message)
    }

    #[test]
    fn repeated_lines_are_told() {
        let text = format!("## Files and Code\n{}- src/b.rs", "- Read src/a.rs.\n\n".repeat(9));
        assert!(
            message(&text).contains("the line \"Read src/a.rs.\", 9 times in a row"),
            "{}",
            message(&text)
        );
        let numbered: Vec<_> = (1..9).map(|number| format!("{number}. Run the tests")).collect();
        assert!(message(&numbered.join("\n")).contains("\"Run the tests\", 8 times"));
        assert!(message(&"- one thing\n- two things\n- three things\n".repeat(5)).contains("lines by turns"));
        assert!(message(&"x = 1234\n".repeat(5)).contains("x = 1234"));
    }

    #[test]
    fn few_different_lines_are_told_wherever_they_stand() {
        let order = [0, 1, 2, 3, 1, 0, 3, 2, 2, 0, 3, 1];
        let lines: Vec<_> = order.iter().cycle().take(33).map(|line| format!("- line {line}")).collect();
        let text = lines.join("\n");
        assert!(message(&text).contains("33 lines only 4 differ"), "{}", message(&text));
    }

    #[test]
    fn a_line_below_each_heading_is_told() {
        let section = |number| format!("## Section {number}\n- It works.\n- Step {number} is done.\n");
        let text: String = (1..=8).map(section).collect();
        assert!(message(&text).contains("8 of its 16 lines say \"It works.\""), "{}", message(&text));
        let bare = "## Section\n- It works.\n".repeat(8);
        assert!(message(&bare).contains(", 8 times in a row"), "{}", message(&bare));
    }

    #[test]
    fn repeated_words_are_told() {
        let text = format!("- The loop {}ends.", "reads the file and then ".repeat(7));
        assert!(
            message(&text).contains("the words \"reads the file and then\", 7 times"),
            "{}",
            message(&text)
        );
        assert!(message(&"ha ".repeat(12)).contains("the words \"ha\""));
        assert!(message(&"修复测试，".repeat(12)).contains("修复测试"));
        assert!(message(&format!("- {}", "修复".repeat(200))).contains("the letters \"修复\""));
    }

    #[test]
    fn what_the_region_repeats_may_be_quoted() {
        let prompt = "Rename the helper. ".repeat(12);
        let region = Transcript { entries: vec![Entry::Human { seq: 1, text: prompt.replace(". ", ".\n") }] };
        assert_eq!(judge(&format!("- Asked: {prompt}"), &region), Ok(()));
        assert!(judge(&format!("- Asked: {}", "Rename the helper. ".repeat(13)), &region).is_err());
    }

    #[test]
    fn what_people_write_passes() {
        for text in [
            "- a.rs: done\n- b.rs: done\n- c.rs: done\n- d.rs: done\n- e.rs: done\n- f.rs: done",
            "## A\n(none)\n## B\n(none)\n## C\n(none)\n## D\n(none)\n## E\n(none)\n## F\n(none)",
            "```rust\nfn a() {\n    if x {\n        if y {\n        }\n    }\n    }\n    }\n    }\n    }\n}\n```",
            "| a | b |\n| --- | --- |\n| yes | yes |\n| yes | no |\n| no | yes |",
            "- no, no, no, no!\n- 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00\n- ha ha ha",
            "- retry\n- retry\n- retry\n- retry",
            "----------\n==========\n----------\n----------\n----------\n----------",
            "- sha 00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000",
            "",
        ] {
            assert_eq!(message(text), "", "{text}");
        }
        let long: Vec<_> =
            (0..500).map(|line| format!("- line {line} of a list that says the same")).collect();
        assert_eq!(message(&long.join("\n")), "");
    }
}
