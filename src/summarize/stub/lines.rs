//! The facts in words: bullets by section, each with its rank in the race for the budget.

use super::commands;
use super::facts::{Called, Facts, FileUse};
use super::tally::{Item, Tally};
use super::text::{cut, units};
use std::collections::HashSet;

// What bullets begin or end with; `merge` reads them again.
pub(super) const LANGUAGES: &str = "Languages: ";
pub(super) const PROGRAMS: &str = "Programs: ";
pub(super) const SEEN: &str = " seen ×";
pub(super) const FIXED: &str = " (later passed";
pub(super) const RAN: &str = "Ran `";
pub(super) const LAST_FAILED: &str = ", last failed";
pub(super) const IDS: &str = "Ids: ";
pub(super) const NAMES: &str = "Names: ";
pub(super) const ENTRIES: &str = "Entries: ";
pub(super) const CONTEXT: &str = "Context ";
/// In front of what an earlier summary called the current work or the next step.
pub(super) const EARLIER: &str = "Earlier: ";

/// How many bullets of one sort take part in the race.
const MOST: usize = 80;

/// How far a line may be cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Size {
    /// The first and the last prompt: to what a summary of that size can spare.
    Long,
    /// To a line.
    Plain,
    /// Not at all: a cut path or number is a wrong one.
    Whole,
}

/// One bullet. It stands in its section where it stands among the lines.
#[derive(Debug)]
pub(super) struct Line {
    pub section: usize,
    /// Lower ranks get their place first.
    pub rank: usize,
    pub size: Size,
    /// What may be cut.
    pub text: String,
    /// What follows it, never cut.
    pub tail: String,
    /// The number of a line that tells the same: not both.
    pub unless: Option<usize>,
}

/// Words all facts.
pub(super) fn lines(facts: &Facts) -> Vec<Line> {
    let mut out = Lines(Vec::new());
    out.prompts(facts);
    out.concepts(facts);
    out.files(facts);
    out.failures(facts);
    out.jobs(facts);
    out.current_work(facts);
    out.next_step(facts);
    out.critical_context(facts);
    out.0
}

struct Lines(Vec<Line>);

impl Lines {
    fn add(&mut self, section: usize, rank: usize, size: Size, text: String) {
        self.add_with_tail(section, rank, size, text, String::new());
    }

    fn add_with_tail(&mut self, section: usize, rank: usize, size: Size, text: String, tail: String) {
        self.0.push(Line { section, rank, size, text, tail, unless: None });
    }

    /// The bullets of earlier summaries that stay as they are.
    fn earlier(&mut self, facts: &Facts, section: usize, from: usize, step: usize) {
        for (index, item) in section_of(facts, section).iter().take(MOST).enumerate() {
            self.add(section, from + step * index, Size::Plain, item.text.clone());
        }
    }

    fn prompts(&mut self, facts: &Facts) {
        let count = facts.prompts.items().len();
        for (index, prompt) in facts.prompts.items().iter().enumerate() {
            let (rank, size) = match (index, count - index) {
                (0, _) => (0, Size::Long),
                (_, 1) => (1, Size::Long),
                (_, from_end) => (10 * from_end, Size::Plain),
            };
            if index == 0 || count - index <= MOST {
                self.add(0, rank, size, prompt.text.clone());
            }
        }
    }

    fn concepts(&mut self, facts: &Facts) {
        self.earlier(facts, 1, 9, 9);
        for (index, tool) in facts.tools.ranked(|tool| tool.data.calls).into_iter().take(MOST).enumerate() {
            let errors = match tool.data.errors {
                0 => String::new(),
                1 => ", 1 error".to_owned(),
                many => format!(", {many} errors"),
            };
            let line = format!("{} ×{}{errors}", tool.text, tool.data.calls);
            self.add(1, 6 + 8 * index, Size::Whole, line);
        }
        for (rank, start, tally) in [(14, LANGUAGES, &facts.languages), (18, PROGRAMS, &facts.programs)] {
            let items: Vec<_> = ranked(tally).map(|item| format!("{} ×{}", item.text, item.data)).collect();
            if let Some(line) = joined(start, &items, 160).into_iter().next() {
                self.add(1, rank, Size::Whole, line);
            }
        }
    }

    fn files(&mut self, facts: &Facts) {
        let notes_at = self.0.len();
        self.earlier(facts, 2, 4, 3);
        let notes = section_of(facts, 2);
        let folders: HashSet<&str> =
            facts.files.items().iter().filter_map(|file| last_of_many(&file.text)).collect();
        let files = facts.files.ranked(|file| (file.data.uses, file.data.seen));
        // A bare name says nothing where a path with the same end is known.
        let files =
            files.into_iter().filter(|file| file.text.len() <= 200 && !folders.contains(file.text.as_str()));
        for (index, file) in files.take(MOST).enumerate() {
            let rank = if file.data.uses == 0 { 35 + 6 * index } else { 5 + 4 * index };
            self.add(2, rank, Size::Whole, file_line(file));
            let note = notes.iter().take(MOST).position(|note| note.text.contains(&file.text));
            if let (Some(note), Some(line)) = (note, self.0.last_mut()) {
                line.unless = Some(notes_at + note);
                line.rank = line.rank.max(5 + 3 * note);
            }
        }
    }

    fn failures(&mut self, facts: &Facts) {
        let mut order: Vec<_> = facts.failures.items().iter().enumerate().collect();
        order.sort_by_key(|(_, item)| (item.data.fixed.is_some(), std::cmp::Reverse(item.data.at)));
        let mut chosen: Vec<_> = order.into_iter().take(MOST).enumerate().collect();
        chosen.sort_by_key(|(_, (index, _))| *index);
        for (place, (_, item)) in chosen {
            let failure = &item.data;
            let mut tail = String::new();
            if !failure.subject.is_empty() {
                tail = format!(" in `{}`", cut(&failure.subject, 72));
            }
            if failure.count > 1 {
                tail = format!("{tail} ×{}", failure.count);
            }
            tail.push_str(failure.fixed.as_deref().unwrap_or_default());
            self.add_with_tail(3, 4 + 8 * place, Size::Plain, item.text.clone(), tail);
        }
    }

    fn jobs(&mut self, facts: &Facts) {
        let open = facts.jobs.items().iter().filter(|job| !job.data.is_done);
        for (index, job) in open.take(MOST).enumerate() {
            self.add(4, 4 + 6 * index, Size::Plain, job.text.clone());
        }
    }

    fn current_work(&mut self, facts: &Facts) {
        let newest = facts.said.as_deref().or(facts.called.last().map(|call| call.text.as_str()));
        self.outdated(facts, 5, newest, 3);
        if let Some(said) = &facts.said {
            self.add(5, 3, Size::Plain, format!("Said: {said}"));
        }
        let mut calls: Vec<&Called> = Vec::new();
        for call in facts.called.iter().rev().take(40) {
            if calls.len() < 5 && !calls.contains(&call) {
                calls.push(call);
            }
        }
        let count = calls.len();
        for (index, call) in calls.into_iter().rev().enumerate() {
            let tail = if call.failed { " (failed)" } else { "" };
            let text = format!("Called {}", call.text);
            self.add_with_tail(5, 8 * (count - index), Size::Plain, text, tail.to_owned());
        }
    }

    fn next_step(&mut self, facts: &Facts) {
        self.outdated(facts, 6, facts.next.as_deref(), 1);
        if let Some(next) = &facts.next {
            self.add(6, 2, Size::Plain, next.clone());
        }
    }

    /// Earlier work and next steps: marked where there is newer, gone the time after.
    fn outdated(&mut self, facts: &Facts, section: usize, newest: Option<&str>, most: usize) {
        let has_new = newest.is_some();
        let is_kept = |text: &str| !has_new || !(text.starts_with(EARLIER) || newest == Some(text));
        let items: Vec<_> = section_of(facts, section).iter().filter(|item| is_kept(&item.text)).collect();
        let skipped = if has_new { items.len().saturating_sub(most) } else { 0 };
        for (index, item) in items.into_iter().skip(skipped).take(MOST).enumerate() {
            let start = if has_new { EARLIER } else { "" };
            let rank = if has_new { 40 + 20 * index } else { 3 + 8 * index };
            self.add(section, rank, Size::Plain, format!("{start}{}", item.text));
        }
    }

    fn critical_context(&mut self, facts: &Facts) {
        self.earlier(facts, 7, 9, 9);
        let ids: Vec<_> = ranked(&facts.ids).map(|item| item.text.clone()).collect();
        for (index, line) in joined(IDS, &ids, 120).into_iter().take(8).enumerate() {
            self.add(7, 5 + 15 * index, Size::Whole, line);
        }
        self.runs(facts);
        let names: Vec<_> = ranked(&facts.names).map(|item| item.text.clone()).collect();
        for (index, line) in joined(NAMES, &names, 140).into_iter().take(4).enumerate() {
            self.add(7, 16 + 30 * index, Size::Whole, line);
        }
        for (index, item) in facts.contexts.items().iter().take(4).enumerate() {
            let mut text = format!("{CONTEXT}{} ×{}", item.text, item.data.count);
            if !item.data.first_line.is_empty() {
                text = format!("{text}: {}", item.data.first_line);
            }
            self.add(7, 70 + 10 * index, Size::Plain, text);
        }
        let counts: Vec<_> =
            facts.counts.items().iter().map(|item| format!("{} {}", item.text, item.data)).collect();
        if !counts.is_empty() {
            self.add(7, 22, Size::Whole, format!("{ENTRIES}{}", counts.join(", ")));
        }
    }

    fn runs(&mut self, facts: &Facts) {
        let runs = facts.runs.ranked(|run| {
            (8 * commands::tells(&run.text) + 6 * u64::from(run.data.last_failed)) + 2 * run.data.count.min(5)
        });
        for (index, run) in runs.into_iter().filter(|run| run.data.is_command).take(MOST).enumerate() {
            let count = if run.data.count > 1 { format!(" ×{}", run.data.count) } else { String::new() };
            let state = if run.data.last_failed { LAST_FAILED } else { "" };
            let text = format!("{RAN}{}", run.text);
            self.add_with_tail(7, 7 + 9 * index, Size::Plain, text, format!("`{count}{state}"));
        }
    }
}

fn section_of(facts: &Facts, section: usize) -> &[Item<()>] {
    facts.earlier.get(section).map(Tally::items).unwrap_or_default()
}

fn ranked(tally: &Tally<u64>) -> impl Iterator<Item = &Item<u64>> {
    tally.ranked(|item| item.data).into_iter().take(400)
}

/// The file's name, of a path with folders.
fn last_of_many(path: &str) -> Option<&str> {
    path.rsplit_once('/').map(|(_, last)| last)
}

fn file_line(file: &Item<FileUse>) -> String {
    let FileUse { uses, seen, tools, .. } = &file.data;
    let count = match uses {
        0 => format!("{SEEN}{seen}"),
        1 => String::new(),
        many => format!(" ×{many}"),
    };
    let tools =
        if tools.is_empty() || *uses == 0 { String::new() } else { format!(" ({})", tools.join(", ")) };
    format!("`{}`{count}{tools}", file.text)
}

/// `items` joined to lines of at most `most` units, the start counted; an item that is longer is left out.
fn joined(start: &str, items: &[String], most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut used = most;
    for item in items {
        let length = units(item) + 2;
        if units(start) + length > most {
            continue;
        }
        if let Some(line) = lines.last_mut().filter(|_| used + length <= most) {
            line.push_str(", ");
            line.push_str(item);
            used += length;
        } else {
            lines.push(format!("{start}{item}"));
            used = units(start) + length;
        }
    }
    lines
}

/// What a file is written in, by its ending.
pub(super) fn language(path: &str) -> Option<&str> {
    let (_, ending) = path.rsplit(['/', '\\']).next()?.rsplit_once('.')?;
    let known = match ending {
        "rs" => "Rust",
        "py" | "pyi" => "Python",
        "ts" | "tsx" | "mts" | "cts" => "TypeScript",
        "js" | "jsx" | "mjs" | "cjs" => "JavaScript",
        "go" => "Go",
        "java" => "Java",
        "kt" | "kts" => "Kotlin",
        "swift" => "Swift",
        "c" | "h" => "C",
        "cc" | "cpp" | "cxx" | "hpp" => "C++",
        "cs" => "C#",
        "rb" => "Ruby",
        "php" => "PHP",
        "sh" | "bash" | "zsh" => "Shell",
        "sql" => "SQL",
        "html" | "htm" => "HTML",
        "css" | "scss" => "CSS",
        "md" | "mdx" => "Markdown",
        "json" | "jsonl" => "JSON",
        "toml" => "TOML",
        "yaml" | "yml" => "YAML",
        _ => ending,
    };
    (known.len() <= 12 && !known.contains([' ', ','])).then_some(known)
}
