//! The facts in words: bullets by section, each with its rank in the race for the budget.

use super::earlier::{FILES, JOBS, is_same};
use super::facts::{Facts, Failure, FileUse, Run};
use super::text::{cut, units};
use crate::summarize::identifiers::tally::{Item, Tally};
use std::collections::HashSet;

/// Sections by their places in `SECTIONS`.
const PROMPTS: usize = 0;
const ERRORS: usize = 3;

const TOOLS: &str = "Tools: ";
const PROGRAMS: &str = "Programs: ";
const NOTES: &str = "Notes from: ";
const IDS: &str = "Ids: ";
const NAMES: &str = "Names: ";
const PASSED: &str = " (later passed";

/// Lines of an earlier summary that one of the same beginning replaces.
pub(super) const REPLACED: [&str; 3] = [TOOLS, PROGRAMS, NOTES];

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
}

/// Words all facts.
pub(super) fn lines(facts: &Facts) -> Vec<Line> {
    let sections = [prompts, concepts, files, failures, jobs, current_work, next_step, critical_context]
        .map(|of| of(facts));
    let mut out = Vec::new();
    for (section, (mut new, earlier)) in sections.into_iter().zip(&facts.earlier).enumerate() {
        let mut old = with_earlier(facts, section, earlier, &mut new);
        if section == PROMPTS {
            // The task is the first prompt, whichever summary tells it.
            old.iter_mut().chain(&mut new).take(1).for_each(|line| (line.rank, line.size) = (0, Size::Long));
        }
        out.extend(old.into_iter().chain(new).map(|line| Line { section, ..line }));
    }
    out
}

/// The different earlier bullets of which no new line tells. They go first where the budget is tight.
fn with_earlier(facts: &Facts, section: usize, earlier: &[String], new: &mut [Line]) -> Vec<Line> {
    let is_done = |bullet: &str| {
        section == JOBS && facts.jobs.items.iter().any(|job| job.data && is_same(JOBS, &job.text, bullet))
    };
    let mut old = Vec::new();
    for (index, bullet) in earlier.iter().enumerate().filter(|(_, bullet)| !is_done(bullet)) {
        if let Some(line) = new.iter_mut().find(|line| is_same(section, &line.text, bullet)) {
            // A note on a file says more than how often it was used.
            if section == FILES && bullet.contains("`: ") {
                line.text.clone_from(bullet);
            }
            continue;
        }
        if earlier.iter().take(index).any(|other| is_same(section, other, bullet)) {
            continue;
        }
        // Prompts, errors and jobs stand in the order of time, all else with the most important first.
        let by_time = [PROMPTS, ERRORS, JOBS].contains(&section);
        let place = if by_time { earlier.len() - index } else { index + 1 };
        let mut line = plain(25 + 12 * place, bullet.clone());
        if section == FILES || bullet.starts_with(IDS) || bullet.starts_with(NAMES) {
            line.size = Size::Whole;
        }
        if let Some(at) = bullet.rfind(" in `").filter(|_| section == ERRORS) {
            line.tail = line.text.split_off(at);
            let run =
                line.tail.strip_prefix(" in `").and_then(|rest| facts.runs.get(rest.split('`').next()?));
            if run.is_some_and(|run| !run.last_failed) && !line.tail.contains(PASSED) {
                line.tail = format!("{}{PASSED})", line.tail);
            }
        }
        old.push(line);
    }
    old
}

fn plain(rank: usize, text: String) -> Line {
    Line { section: 0, rank, size: Size::Plain, text, tail: String::new() }
}

fn whole(rank: usize, text: String) -> Line {
    Line { size: Size::Whole, ..plain(rank, text) }
}

fn prompts(facts: &Facts) -> Vec<Line> {
    let items = &facts.prompts.items;
    let picked = items.iter().enumerate().filter(|(index, _)| *index == 0 || items.len() - index <= MOST);
    let line = |(index, prompt): (usize, &Item<()>)| match items.len() - index {
        1 => Line { size: Size::Long, ..plain(1, prompt.text.clone()) },
        from_end => plain(10 * from_end, prompt.text.clone()),
    };
    picked.map(line).collect()
}

fn concepts(facts: &Facts) -> Vec<Line> {
    [(6, TOOLS, &facts.tools), (14, PROGRAMS, &facts.programs)]
        .into_iter()
        .filter_map(|(rank, start, tally)| Some(whole(rank, counts(start, tally)?)))
        .collect()
}

fn files(facts: &Facts) -> Vec<Line> {
    let in_folders: HashSet<&str> =
        facts.files.items.iter().filter_map(|file| Some(file.text.rsplit_once('/')?.1)).collect();
    let files = facts.files.ranked(|file| (file.uses, file.seen));
    // A bare name says nothing where a path with the same end is known.
    let files =
        files.into_iter().filter(|file| file.text.len() <= 200 && !in_folders.contains(file.text.as_str()));
    let line = |(index, file): (usize, &Item<FileUse>)| {
        let FileUse { uses, seen, tools, .. } = &file.data;
        let (rank, count) = match uses {
            0 => (35 + 6 * index, format!(" seen ×{seen}")),
            1 => (5 + 4 * index, String::new()),
            many => (5 + 4 * index, format!(" ×{many}")),
        };
        let tools = if tools.is_empty() { String::new() } else { format!(" ({})", tools.join(", ")) };
        whole(rank, format!("`{}`{count}{tools}", file.text))
    };
    files.take(MOST).enumerate().map(line).collect()
}

/// The open ones and the newest are ranked first; they stand in the order in which they came.
fn failures(facts: &Facts) -> Vec<Line> {
    let mut order: Vec<_> = facts.failures.items.iter().enumerate().collect();
    order.sort_by_key(|(_, item)| (item.data.fixed.is_some(), std::cmp::Reverse(item.data.at)));
    let mut chosen: Vec<_> = order.into_iter().take(MOST).enumerate().collect();
    chosen.sort_by_key(|(_, (index, _))| *index);
    let line = |(place, (_, item)): (usize, (usize, &Item<Failure>))| {
        let failure = &item.data;
        let subject = match failure.subject.as_str() {
            "" => String::new(),
            subject => format!(" in `{}`", cut(subject, 72)),
        };
        let fixed = failure.fixed.as_deref().unwrap_or_default();
        let tail = format!("{subject}{}{fixed}", times(failure.count));
        Line { tail, ..plain(4 + 8 * place, item.text.clone()) }
    };
    chosen.into_iter().map(line).collect()
}

fn jobs(facts: &Facts) -> Vec<Line> {
    let open = facts.jobs.items.iter().filter(|job| !job.data).take(MOST);
    open.enumerate().map(|(index, job)| plain(4 + 6 * index, job.text.clone())).collect()
}

fn current_work(facts: &Facts) -> Vec<Line> {
    let mut lines: Vec<_> = facts.said.iter().map(|said| plain(3, format!("Said: {said}"))).collect();
    for (from_end, called) in facts.called.iter().rev().enumerate().collect::<Vec<_>>().into_iter().rev() {
        let tail = if called.failed { " (failed)" } else { "" }.to_owned();
        lines.push(Line { tail, ..plain(8 * (from_end + 1), format!("Called {}", called.text)) });
    }
    lines
}

fn next_step(facts: &Facts) -> Vec<Line> {
    facts.next.iter().map(|next| plain(2, next.clone())).collect()
}

fn critical_context(facts: &Facts) -> Vec<Line> {
    let known = facts.earlier.last().map(|bullets| bullets.join(", ")).unwrap_or_default();
    let list = |start, tally: &Tally<u64>, most| {
        let items: Vec<_> =
            tally.ranked(|worth| *worth).into_iter().take(400).map(|item| item.text.clone()).collect();
        let new: Vec<_> = items.into_iter().filter(|item| !known.contains(item.as_str())).collect();
        joined(start, &new, 130).into_iter().take(most).enumerate()
    };
    let mut lines: Vec<_> =
        list(IDS, &facts.ids, 8).map(|(index, line)| whole(5 + 15 * index, line)).collect();
    let runs = facts
        .runs
        .ranked(|run| 8 * u64::from(!run.only_reads) + 6 * u64::from(run.last_failed) + 2 * run.count.min(5));
    let run = |(index, run): (usize, &Item<Run>)| {
        let state = if run.data.last_failed { ", last failed" } else { "" };
        let tail = format!("`{}{state}", times(run.data.count));
        Line { tail, ..plain(7 + 9 * index, format!("Ran `{}", run.text)) }
    };
    lines.extend(runs.into_iter().filter(|run| run.data.is_command).take(MOST).enumerate().map(run));
    lines.extend(list(NAMES, &facts.names, 4).map(|(index, line)| whole(16 + 30 * index, line)));
    lines.extend(counts(NOTES, &facts.notes).map(|line| whole(70, line)));
    lines
}

fn times(count: u64) -> String {
    if count > 1 { format!(" ×{count}") } else { String::new() }
}

/// The most frequent of `tally` on one line.
fn counts(start: &str, tally: &Tally<u64>) -> Option<String> {
    let items = tally.ranked(|count| *count).into_iter().take(40);
    let items: Vec<_> = items.map(|item| format!("{} ×{}", item.text, item.data)).collect();
    joined(start, &items, 160).into_iter().next()
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
