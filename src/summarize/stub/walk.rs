//! One walk over the region that gathers its facts.

use super::facts::{Called, Facts, TEXT};
use super::signs::{self, announced, checked};
use super::text::{ends, fold, without_marks};
use super::words::{self, Found};
use super::{calls, earlier};
use crate::summarize::{Entry, Transcript};
use std::collections::{HashMap, VecDeque};

/// The most that is kept of one prompt, in UTF-16 code units.
const PROMPT: usize = 4_000;

/// About how many bytes of a region are read word by word, whatever its size, and how many at least and at most
/// at each end of one text.
const READ_IN_ALL: usize = 16 << 20;
const READ_AT_LEAST: usize = 2 << 10;
const READ_AT_MOST: usize = 64 << 10;

/// How many error lines one result adds, and how many may wait for their run to pass.
const ERROR_LINES: usize = 3;
const FAILING: usize = 12;

/// How many of the last calls and edits are kept.
const CALLED: usize = 5;
const EDITS: usize = 16;

/// Reads the whole region; the prompt with the seq `carried` is left out of the prompts.
pub(super) fn gather(transcript: &Transcript, carried: Option<u64>) -> Facts {
    let window = READ_IN_ALL / transcript.entries.len().max(1) / 2;
    let mut walk = Walk { window: window.clamp(READ_AT_LEAST, READ_AT_MOST), carried, ..Walk::default() };
    for entry in &transcript.entries {
        walk.at += 1;
        walk.take(entry);
    }
    walk.finish()
}

#[derive(Default)]
struct Walk<'a> {
    facts: Facts,
    window: usize,
    carried: Option<u64>,
    /// The entry, from 1.
    at: usize,
    open: HashMap<&'a str, Open>,
    edits: VecDeque<(usize, String)>,
    /// The last list of jobs that a call wrote.
    listed: Vec<String>,
    said: &'a str,
    last: Last<'a>,
}

/// A call that waits for its result.
struct Open {
    run: String,
    at: usize,
}

/// What the region ends with.
#[derive(Default)]
enum Last<'a> {
    #[default]
    Work,
    Prompt(&'a str),
    Words(&'a str),
}

/// Where a text comes from: what its words are worth.
#[derive(Clone, Copy, PartialEq)]
enum Source<'a> {
    Human,
    Assistant,
    /// With the tool's name.
    Call(&'a str),
    Result,
}

impl<'a> Walk<'a> {
    fn take(&mut self, entry: &'a Entry) {
        match entry {
            Entry::Human { seq, text } => {
                self.last = Last::Prompt(text);
                if self.carried != Some(*seq) {
                    self.facts.prompts.slot(without_marks(&fold(text, PROMPT)));
                }
                self.talk(text, Source::Human);
            }
            Entry::Context { source, .. } => self.facts.notes.count(&fold(source, 80), 1),
            Entry::Checkpoint { summary, .. } => {
                self.last = Last::Work;
                for part in ends(summary, self.window) {
                    earlier::add(&mut self.facts.earlier, part);
                }
            }
            Entry::Assistant { text, .. } if text.trim().is_empty() => {}
            Entry::Assistant { text, .. } => {
                self.last = Last::Words(text);
                self.said = text;
                self.talk(text, Source::Assistant);
            }
            Entry::Call { id, tool, arguments, .. } => {
                self.last = Last::Work;
                self.call(id, tool, arguments);
            }
            Entry::Result { id, is_error, text, .. } => {
                self.last = Last::Work;
                self.result(id, *is_error, text);
            }
        }
    }

    fn talk(&mut self, text: &str, source: Source) {
        for part in ends(text, self.window) {
            self.scan(part, source);
            words::scan_quoted(part, |found| self.keep(found, source));
            for (job, is_done) in part.lines().filter_map(checked) {
                self.job(&fold(job, TEXT), is_done);
            }
        }
    }

    fn call(&mut self, id: &'a str, tool: &str, arguments: &str) {
        self.facts.tools.count(&fold(tool, 80), 1);
        let call = calls::read(tool, arguments);
        for path in call.paths.iter().filter(|path| path.contains(char::is_alphanumeric)) {
            self.keep(Found::Path(path), Source::Call(tool));
            if calls::edits(tool) {
                push(&mut self.edits, (self.at, path.clone()), EDITS);
            }
        }
        let command = call.command.as_deref().map(calls::command);
        for text in call.command.iter().chain(&call.others) {
            for part in ends(text, self.window) {
                self.scan(part, Source::Call(tool));
            }
        }
        for name in command.iter().flat_map(|command| &command.programs) {
            self.facts.programs.count(name, 1);
        }
        self.list_jobs(&call.jobs);
        let run = match command {
            Some(_) => without_tail(&call.subject).to_owned(),
            None => fold(&format!("{tool} {}", call.subject), calls::SUBJECT),
        };
        if let Some(known) = self.facts.runs.slot(&run) {
            known.count += 1;
            known.only_reads = command.as_ref().is_none_or(|command| command.only_reads);
            known.is_command = command.is_some();
            known.last_failed = false;
        }
        let text = fold(&format!("{tool}: {}", call.subject), calls::SUBJECT + 80);
        self.facts.called.retain(|called| called.text != text);
        push(&mut self.facts.called, Called { at: self.at, text, failed: false }, CALLED);
        self.open.insert(id, Open { run, at: self.at });
    }

    /// A list of jobs replaces the list before it.
    fn list_jobs(&mut self, jobs: &[(String, bool)]) {
        if jobs.is_empty() {
            return;
        }
        for job in std::mem::take(&mut self.listed) {
            self.job(&job, true);
        }
        for (text, is_done) in jobs {
            let job = without_marks(&fold(text, TEXT)).to_owned();
            self.job(&job, *is_done);
            self.listed.push(job);
        }
    }

    fn job(&mut self, job: &str, is_done: bool) {
        if let Some(known) = self.facts.jobs.slot(job) {
            *known = is_done;
        }
    }

    fn result(&mut self, id: &str, is_error: bool, text: &str) {
        let parts = ends(text, self.window);
        for part in parts {
            self.scan(part, Source::Result);
        }
        let open = self.open.remove(id);
        let run = open.as_ref().and_then(|open| self.facts.runs.slot(&open.run));
        // What a reader shows may look like an error and is none.
        let judges = is_error || run.as_ref().is_none_or(|run| run.is_command && !run.only_reads);
        let mut lines = if judges { signs::errors(parts, ERROR_LINES) } else { Vec::new() };
        if is_error && lines.is_empty() {
            lines.push(without_marks(&signs::first_line(parts[0])).to_owned());
        }
        let failed = !lines.is_empty();
        if let Some(run) = run {
            run.last_failed = failed;
            for line in &lines {
                if run.failing.len() < FAILING && !run.failing.contains(line) {
                    run.failing.push(line.clone());
                }
            }
        }
        if let Some(called) =
            open.as_ref().and_then(|open| self.facts.called.iter_mut().find(|called| called.at == open.at))
        {
            called.failed = failed;
        }
        let run = open.map(|open| open.run).unwrap_or_default();
        for line in lines {
            if let Some(failure) = self.facts.failures.slot(&line) {
                failure.count += 1;
                failure.at = self.at;
                failure.fixed = None;
                failure.subject.clone_from(&run);
            }
        }
        if !failed {
            self.passed(&run);
        }
    }

    /// Marks the failures of a run that passes now.
    fn passed(&mut self, name: &str) {
        let Some(run) = self.facts.runs.slot(name) else { return };
        for line in std::mem::take(&mut run.failing) {
            let Some(failure) = self.facts.failures.slot(&line).filter(|failure| failure.subject == name)
            else {
                continue;
            };
            let mut paths: Vec<&str> = Vec::new();
            for (_, path) in self.edits.iter().filter(|(at, _)| *at > failure.at) {
                if paths.len() < 2 && !paths.contains(&path.as_str()) {
                    paths.push(path);
                }
            }
            let edits = paths.join(", ");
            let after = if edits.is_empty() { edits } else { format!(", after edits of {edits}") };
            failure.fixed = Some(format!(" (later passed{after})"));
        }
    }

    fn scan(&mut self, text: &str, source: Source) {
        words::scan(text, |found| self.keep(found, source));
    }

    fn keep(&mut self, found: Found, source: Source) {
        let worth = match source {
            Source::Human => 8,
            Source::Assistant | Source::Call(_) => 2,
            Source::Result => 1,
        };
        match found {
            Found::Path(path) if words::is_built(path) => {}
            Found::Path(path) => self.file(path, source),
            // A build lists the version of all that it compiles.
            Found::Id(id) if source == Source::Result && words::is_version(id) => {}
            Found::Id(id) => self.facts.ids.count(id, worth),
            Found::Name(name) if source != Source::Result => self.facts.names.count(name, worth),
            Found::Number(_) | Found::Name(_) => {}
        }
    }

    fn file(&mut self, path: &str, source: Source) {
        let Some(file) = self.facts.files.slot(path) else { return };
        if file.counted_at < self.at {
            file.counted_at = self.at;
            if source == Source::Result {
                file.seen += 1;
            } else {
                file.uses += 1;
            }
        }
        if let Source::Call(tool) = source {
            let tool = fold(tool, 40);
            if file.tools.len() < 4 && !file.tools.contains(&tool) {
                file.tools.push(tool);
            }
        }
    }

    fn finish(mut self) -> Facts {
        self.facts.said = Some(fold(self.said, TEXT)).filter(|said| !said.is_empty());
        self.facts.next = match self.last {
            Last::Prompt(prompt) => Some(format!("Reply to: {}", fold(prompt, TEXT))),
            Last::Words(text) => ends(text, self.window).into_iter().rev().find_map(announced),
            Last::Work => None,
        };
        self.facts
    }
}

/// Adds to a list that keeps its last `most` items.
fn push<T>(list: &mut VecDeque<T>, item: T, most: usize) {
    list.push_back(item);
    if list.len() > most {
        list.pop_front();
    }
}

/// A command without what only shortens its output: `cargo test 2>&1 | tail -n 40` runs as `cargo test` does.
fn without_tail(command: &str) -> &str {
    [" | tail ", " | head ", " 2>&1"].iter().fold(command, |command, tail| match command.rsplit_once(tail) {
        Some((run, rest)) if !rest.contains(['|', ';', '&', '\'', '"']) => run,
        _ => command,
    })
}
