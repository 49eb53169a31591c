//! One walk over the region that gathers its facts.

use super::facts::{Called, Facts, Job, TEXT};
use super::talk::{announced, checked, prose};
use super::text::{ends, first_sentences, fold, without_marks};
use super::words::{self, Found};
use super::{calls, commands, problems};
use crate::summarize::{Entry, Transcript};
use std::collections::HashMap;

/// The most that is kept of one prompt, in UTF-16 code units.
const PROMPT: usize = 4_000;

/// About how many bytes of a region are read word by word, whatever its size, and how many at least and at most
/// at each end of one text.
const READ_IN_ALL: usize = 16 << 20;
const READ_AT_LEAST: usize = 2 << 10;
const READ_AT_MOST: usize = 64 << 10;

/// How many error lines one result adds.
const ERROR_LINES: usize = 3;

/// Reads the whole region.
pub(super) fn gather(transcript: &Transcript) -> Facts {
    let window = READ_IN_ALL / transcript.entries.len().max(1) / 2;
    let mut walk = Walk { window: window.clamp(READ_AT_LEAST, READ_AT_MOST), ..Walk::default() };
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
    /// The entry, from 1.
    at: usize,
    open: HashMap<&'a str, Open<'a>>,
    edits: Vec<(usize, String)>,
    /// A prompt that nothing was said or called after.
    unanswered: Option<&'a str>,
    said: Vec<&'a str>,
}

/// A call that waits for its result.
struct Open<'a> {
    tool: &'a str,
    subject: String,
    is_command: bool,
    only_reads: bool,
    /// Its line among the last calls.
    called: usize,
}

/// Where a text comes from: what its words are worth.
#[derive(Clone, Copy, PartialEq)]
enum Source {
    Human,
    Assistant,
    Call,
    Result,
}

impl<'a> Walk<'a> {
    fn take(&mut self, entry: &'a Entry) {
        match entry {
            Entry::Human { text, .. } => self.human(text),
            Entry::Context { source, text, .. } => self.context(source, text),
            Entry::Checkpoint { summary, .. } => {
                self.facts.counts.count("summaries", 1);
                for part in ends(summary, self.window) {
                    self.facts.merge(part);
                }
            }
            Entry::Assistant { text, .. } => self.assistant(text),
            Entry::Call { id, tool, arguments, .. } => self.call(id, tool, arguments),
            Entry::Result { id, is_error, text, .. } => self.result(id, *is_error, text),
        }
    }

    fn human(&mut self, text: &'a str) {
        self.facts.counts.count("prompts", 1);
        let folded = fold(text, PROMPT);
        self.facts.prompts.slot_of_cut(without_marks(&folded));
        self.unanswered = Some(text);
        self.talk(text, Source::Human);
    }

    fn context(&mut self, source: &str, text: &str) {
        self.facts.counts.count("notes", 1);
        if let Some(injected) = self.facts.contexts.slot(&fold(source, 80)) {
            injected.count += 1;
            if injected.first_line.is_empty() {
                injected.first_line = problems::first_line(text);
            }
        }
    }

    fn assistant(&mut self, text: &'a str) {
        self.facts.counts.count("replies", 1);
        if text.trim().is_empty() {
            return;
        }
        self.unanswered = None;
        if self.said.len() > 2 {
            self.said.remove(0);
        }
        self.said.push(text);
        self.talk(text, Source::Assistant);
    }

    fn talk(&mut self, text: &str, source: Source) {
        for part in ends(text, self.window) {
            self.scan(part, source);
            for (job, is_done) in part.lines().filter_map(checked) {
                if let Some(known) = self.facts.jobs.slot_of_cut(&fold(job, TEXT)) {
                    *known = Job { is_done, is_listed: false };
                }
            }
        }
    }

    fn call(&mut self, id: &'a str, tool: &'a str, arguments: &str) {
        self.facts.counts.count("calls", 1);
        self.unanswered = None;
        if let Some(used) = self.facts.tools.slot(&fold(tool, 80)) {
            used.calls += 1;
        }
        let call = calls::read(tool, arguments);
        for path in call.paths.iter().filter(|path| path.contains(char::is_alphanumeric)) {
            self.file(path, Source::Call, Some(tool));
            if calls::edits(tool) {
                self.edits.push((self.at, path.clone()));
            }
        }
        if let Some(command) = &call.command {
            for part in ends(command, self.window) {
                self.scan_for(part, Source::Call, Some(tool));
            }
            commands::programs(command).for_each(|name| self.facts.programs.count(name, 1));
        }
        for text in &call.others {
            self.scan_for(text, Source::Call, Some(tool));
        }
        self.list_jobs(&call.jobs);
        let only_reads = call.command.as_ref().is_none_or(|command| commands::only_reads(command));
        self.open_call(id, tool, &call, only_reads);
    }

    fn open_call(&mut self, id: &'a str, tool: &'a str, call: &calls::Call, only_reads: bool) {
        let is_command = call.command.is_some();
        let subject = if is_command {
            call.subject.clone()
        } else {
            fold(&format!("{tool} {}", call.subject), calls::SUBJECT)
        };
        if let Some(run) = self.facts.runs.slot_of_cut(&subject) {
            run.count += 1;
            run.is_command = is_command;
            run.last_failed = false;
        }
        let called = self.facts.called.len();
        let text = fold(&format!("{tool}: {}", call.subject), calls::SUBJECT + 80);
        self.facts.called.push(Called { text, failed: false });
        self.open.insert(id, Open { tool, subject, is_command, only_reads, called });
    }

    /// A list of jobs replaces the list before it.
    fn list_jobs(&mut self, jobs: &[(String, bool)]) {
        if jobs.is_empty() {
            return;
        }
        for job in self.facts.jobs.items_mut().iter_mut().filter(|job| job.data.is_listed) {
            job.data.is_done = true;
        }
        for (text, is_done) in jobs {
            if let Some(job) = self.facts.jobs.slot_of_cut(without_marks(&fold(text, TEXT))) {
                *job = Job { is_done: *is_done, is_listed: true };
            }
        }
    }

    fn result(&mut self, id: &str, is_error: bool, text: &str) {
        self.facts.counts.count("results", 1);
        let parts = ends(text, self.window);
        for part in parts {
            self.scan(part, Source::Result);
        }
        let open = self.open.remove(id);
        let mut lines = Vec::new();
        if is_error || open.as_ref().is_none_or(|open| open.is_command && !open.only_reads) {
            let verdict = problems::read(parts, ERROR_LINES);
            if is_error || !verdict.is_success {
                lines = verdict.lines;
            }
        }
        if is_error {
            self.facts.counts.count("errors", 1);
            if lines.is_empty() {
                lines.push(problems::first_line(parts[0]));
            }
        }
        self.judge(open.as_ref(), is_error, &lines);
    }

    fn judge(&mut self, open: Option<&Open>, is_error: bool, lines: &[String]) {
        let failed = is_error || !lines.is_empty();
        if let Some(open) = open {
            if let Some(tool) = self.facts.tools.slot(&fold(open.tool, 80)).filter(|_| is_error) {
                tool.errors += 1;
            }
            if let Some(run) = self.facts.runs.slot_of_cut(&open.subject) {
                run.last_failed = failed;
                run.passed_at = if failed { run.passed_at } else { Some(self.at) };
            }
            if let Some(called) = self.facts.called.get_mut(open.called) {
                called.failed = failed;
            }
        }
        for line in lines {
            if let Some(failure) = self.facts.failures.slot_of_cut(without_marks(line)) {
                failure.count += 1;
                failure.at = self.at;
                failure.fixed = None;
                failure.subject = open.map(|open| open.subject.clone()).unwrap_or_default();
            }
        }
    }

    fn scan(&mut self, text: &str, source: Source) {
        self.scan_for(text, source, None);
    }

    fn scan_for(&mut self, text: &str, source: Source, tool: Option<&str>) {
        words::scan(text, |found| self.keep(found, source, tool));
        if matches!(source, Source::Human | Source::Assistant) {
            words::scan_quoted(text, |found| self.keep(found, source, tool));
        }
    }

    fn keep(&mut self, found: Found, source: Source, tool: Option<&str>) {
        let worth = match source {
            Source::Human => 8,
            Source::Assistant | Source::Call => 2,
            Source::Result => 1,
        };
        match found {
            Found::Path(path) => self.file(path, source, tool),
            Found::Id(id) => self.facts.ids.count(id, worth),
            Found::Name(name) if source != Source::Result => self.facts.names.count(name, worth),
            Found::Name(_) => {}
        }
    }

    fn file(&mut self, path: &str, source: Source, tool: Option<&str>) {
        let Some(file) = self.facts.files.slot(path) else { return };
        if file.counted_at < self.at {
            file.counted_at = self.at;
            if source == Source::Result {
                file.seen += 1;
            } else {
                file.uses += 1;
                if let Some(language) = super::lines::language(path) {
                    self.facts.languages.count(language, 1);
                }
            }
        }
        if let Some(tool) =
            tool.filter(|tool| file.tools.len() < 4 && !file.tools.iter().any(|known| known == tool))
        {
            file.tools.push(fold(tool, 40));
        }
    }

    fn finish(mut self) -> Facts {
        let last = self.said.last().copied().unwrap_or_default();
        for part in ends(last, self.window) {
            for line in part.lines().filter(|line| line.contains("TODO")) {
                self.facts.jobs.slot_of_cut(without_marks(&fold(line, TEXT)));
            }
        }
        self.facts.said =
            Some(first_sentences(&fold(prose(last), PROMPT), TEXT).into_owned()).filter(|t| !t.is_empty());
        self.facts.next = match self.unanswered {
            Some(prompt) => Some(format!("Reply to: {}", fold(prompt, TEXT))),
            None => self.said.iter().rev().find_map(|text| announced(ends(text, self.window))),
        };
        self.fix();
        self.facts
    }

    /// Marks the failures whose command passed later.
    fn fix(&mut self) {
        let runs = &self.facts.runs;
        for failure in self.facts.failures.items_mut() {
            let failure = &mut failure.data;
            let passed =
                runs.find(&failure.subject).and_then(|run| run.passed_at).filter(|at| *at > failure.at);
            let Some(passed) = passed.filter(|_| failure.fixed.is_none()) else { continue };
            let from = self.edits.partition_point(|(at, _)| *at <= failure.at);
            let mut paths: Vec<&str> = Vec::new();
            for (at, path) in self.edits.iter().skip(from) {
                if *at < passed && paths.len() < 2 && !paths.contains(&path.as_str()) {
                    paths.push(path);
                }
            }
            let after = if paths.is_empty() {
                String::new()
            } else {
                format!(", after edits of {}", paths.join(", "))
            };
            failure.fixed = Some(format!(" (later passed{after})"));
        }
    }
}
