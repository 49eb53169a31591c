//! What dsh's token meter stumbles over when it prices a log of format 0: an answer is priced by the deltas that it cites,
//! put together again, and every block by its texts (FORMAT §7.5).

use super::Finding;
use super::here::Here;
use super::registry::{Rule, rule_family};
use crate::format::MessageKind;
use crate::json::{self, Object};
use crate::log::{PackedRow, SourceSeqs};
use crate::tokens::host::{self, Problem};
use std::ops::RangeInclusive;
use usage::Usage;

#[cfg(test)]
mod tests;
pub(super) mod usage;

rule_family! {
    "payload";
    /// A content block of a message lacks the text by which its type is priced.
    ///
    /// **What it means.** dsh's token meter prices a block `text` or `reasoning` by its `text`, a `tool-call` by its
    /// `name` and `arguments`, a `tool-result` by the blocks in its `content`. One of these is absent, null or no text
    /// here, or the block itself is null.
    ///
    /// **Why it matters.** Where it is absent or null, the meter fails at this event whenever it is asked; each
    /// compaction asks it first, so none can run. Where it is no text, the running estimate is no number any more, and
    /// dsh cannot load the session.
    ///
    /// **How it comes about.** Another tool wrote the message, with the member names of a provider or with nothing where
    /// a text was empty. An empty text is legal, no text is not.
    ///
    /// **What to do.** Let the writer give every block its text, be it empty. In this log the event cannot be changed;
    /// the session goes on from a copy that ends before it.
    BLOCK = error("block-unpriced");
    /// A request header holds null for its system prompt or its tools.
    ///
    /// **What it means.** In a `request/header` the members `system` and `tools` are left out where there is no prompt
    /// or no tool. Here one of them stands there and is null.
    ///
    /// **Why it matters.** dsh opens the log, but its token meter asks the null for its length and fails, and with it
    /// every compaction.
    ///
    /// **How it comes about.** Another tool wrote the header and spells what is absent as null.
    ///
    /// **What to do.** Leave the member out. In this log the event cannot be changed; the session goes on from a copy
    /// that ends before it.
    HEADER = error("header-unpriced");
    /// An answer with usage cites an event that is no streamed delta of its step.
    ///
    /// **What it means.** In format 0 the `sourceEventSeqs` of an `assistant/message` are the `assistant/chunk` events
    /// that it came in, all of its own turn and step. This one names another event. An answer without `usage`, or
    /// before the first request header, is not looked at.
    ///
    /// **Why it matters.** dsh opens the log, but its token meter puts the answer together again from what it cites, and
    /// fails here. No compaction can run, and an upgrade refuses the log.
    ///
    /// **How it comes about.** Lines were moved, dropped or numbered anew, and the citation did not follow.
    ///
    /// **What to do.** Use a copy of the log as dsh wrote it. A tool that renumbers events must renumber what cites
    /// them; one that cannot tell leaves the list out.
    CITATION = error("chunk-citation");
    /// A streamed delta is missing, or one that an answer with usage cites is not whole.
    ///
    /// **What it means.** The `chunk` of an `assistant/chunk` has one of seven types; one that ends a block carries the
    /// whole block, and a block of a type that deltas do not make up must end. The answer cites one of which that is
    /// not true, or the event has no chunk at all.
    ///
    /// **Why it matters.** dsh's token meter puts the answer together again from what it cites, and fails here: no
    /// compaction can run. Without its chunk the event alone stops the sums that dsh shows and restores a session with.
    ///
    /// **How it comes about.** An adapter of another provider passed on a chunk of its own, or a tool cut the chunks
    /// short to save space.
    ///
    /// **What to do.** Let the adapter write the seven types alone. In this log the event cannot be changed; the session
    /// goes on from a copy that ends before the answer.
    CHUNK = error("chunk-shape");
}

const HELP: &str = "dsh's token meter fails here, and with it every compaction, if not the session; another tool or a damaged \
                    writer left this";

/// The blocks that are put together from their deltas, if no chunk ends them.
const BLOCKS: [&str; 3] = ["text", "reasoning", "tool-call"];

/// What the other event of a finding is to it.
const CITED: &str = "what is cited";

/// A turn and a step of it, where they are numbers.
type Step = (Option<u64>, Option<u64>);

/// What the meter knows of the open step.
#[derive(Debug, Default)]
pub(super) struct Metered {
    /// A request header has come: only then is an answer put together again.
    has_header: bool,
    /// That of the last deltas.
    step: Step,
    /// Their seqs, in rising order.
    deltas: Vec<RangeInclusive<u64>>,
    /// Those that are not whole, in rising order.
    broken: Vec<Broken>,
    usage: Usage,
}

#[derive(Debug)]
struct Broken {
    seq: u64,
    problem: &'static str,
    /// The block whose end makes it whole.
    unended: Option<String>,
}

impl Metered {
    /// Looks at an event that the session has just taken.
    pub(super) fn event(&mut self, here: &mut Here) {
        let data = here.payload.get();
        match &*here.event.event_type {
            "assistant/chunk" => return self.chunk(data, here),
            "request/header" => return self.header(here),
            "request/context" => return self.usage.window(here),
            _ => {}
        }
        let (Some(surface), Some(data)) = (here.session.format.surface_type(&here.event.event_type), data)
        else {
            return;
        };
        let message = if surface.kind == MessageKind::User { None } else { data.object("message") };
        let content = message.as_ref().unwrap_or(data).array("content").unwrap_or_default();
        if let Some(problem) = content.iter().find_map(|block| host::problem(*block)) {
            let (Problem::Fails(what) | Problem::NoNumber(what)) = problem;
            tell(&BLOCK, format!("{} {what}", here.event.event_type), here);
        }
        let usage = data.get("usage").filter(|_| surface.kind == MessageKind::Assistant);
        if usage.is_some() {
            let step = (data.count("turn"), data.count("step"));
            self.usage.sample(usage, step, here);
            if self.has_header {
                self.answer(step, here);
            }
        }
    }

    fn header(&mut self, here: &mut Here) {
        self.has_header = true;
        let header = here.payload.get().and_then(|data| data.object("header"));
        let is_null =
            |key: &&str| header.as_ref().and_then(|header| header.get(key)).is_some_and(json::is_null);
        if let Some(key) = ["system", "tools"].into_iter().find(is_null) {
            tell(&HEADER, format!("the request header's {key} is null"), here);
        }
    }

    /// Looks at a run of deltas; its shape has been checked.
    pub(super) fn row(&mut self, row: &PackedRow) {
        self.enter((row.turn, row.step));
        self.add(row.first_seq..=row.first_seq.saturating_add(row.members.saturating_sub(1)));
    }

    fn chunk(&mut self, data: Option<&Object>, here: &mut Here) {
        let seq = here.event.seq;
        let number = |key| data.and_then(|data| data.count(key));
        let step = (number("turn"), number("step"));
        self.enter(step);
        self.add(seq..=seq);
        let chunk = data.and_then(|data| data.object("chunk"));
        let broken = |problem| Broken { seq, problem, unended: None };
        let Some(chunk) = chunk else {
            self.broken.push(broken("is no object"));
            if data.and_then(|data| data.get("chunk")).is_none_or(json::is_null) {
                tell(&CHUNK, "assistant/chunk has no chunk".to_owned(), here);
            }
            return;
        };
        let index = || Some(chunk.get("index").map(|index| index.get().to_owned()).unwrap_or_default());
        match &*chunk.text("type").unwrap_or_default().to_str() {
            "usage" => self.usage.sample(chunk.get("usage"), step, here),
            "block-start" => {
                let is_known = BLOCKS.into_iter().any(|kind| chunk.has_text("blockType", kind));
                let problem = "starts a block of no known type, which no chunk ends";
                self.broken.extend((!is_known).then(|| Broken { unended: index(), ..broken(problem) }));
            }
            "block-end" => {
                if !self.broken.is_empty() {
                    let index = index();
                    self.broken.retain(|broken| broken.unended.is_none() || broken.unended != index);
                }
                self.broken.extend(end_problem(&chunk).map(broken));
            }
            "text-delta" | "reasoning-delta" | "tool-call-delta" | "finish" => {}
            _ => self.broken.push(broken("is of no known type")),
        }
    }

    /// What is to be said at the end of the log.
    pub(super) fn findings(&self) -> impl Iterator<Item = Finding> {
        self.usage.findings()
    }

    fn enter(&mut self, step: Step) {
        if self.step != step {
            self.step = step;
            self.deltas.clear();
            self.broken.clear();
        }
    }

    fn add(&mut self, seqs: RangeInclusive<u64>) {
        match self.deltas.last_mut() {
            Some(last) if last.end().checked_add(1) == Some(*seqs.start()) => {
                *last = *last.start()..=*seqs.end();
            }
            _ => self.deltas.push(seqs),
        }
    }

    /// Tells what is wrong with what an answer of this turn and step cites.
    fn answer(&self, step: Step, here: &mut Here) {
        let (event, format) = (here.event, here.session.format);
        let cited = event.source_event_seqs.map(|raw| SourceSeqs::parse(raw, event.seq, true, format));
        let Some(Ok(cited)) = cited else { return };
        let deltas = if self.step == step { &self.deltas[..] } else { &[] };
        let stray = cited.ranges().find_map(|range| first_outside(range, deltas));
        if let Some(stray) = stray.filter(|stray| !here.losses.contains(*stray)) {
            let message = format!("the answer cites seq {stray}, which is no streamed delta of its step");
            let finding = finding(&CITATION, message, here).relating(stray, CITED);
            return here.findings.push(finding);
        }
        let broken = cited.ranges().find_map(|range| {
            let next = self.broken.partition_point(|broken| broken.seq < *range.start());
            self.broken.get(next).filter(|broken| range.contains(&broken.seq))
        });
        if let Some(Broken { seq, problem, .. }) = broken {
            let message = format!("the answer cites seq {seq}, whose chunk {problem}");
            let finding = finding(&CHUNK, message, here).relating(*seq, CITED);
            here.findings.push(finding);
        }
    }
}

/// The first seq of `range` that is in none of `runs`, which rise.
fn first_outside(range: &RangeInclusive<u64>, runs: &[RangeInclusive<u64>]) -> Option<u64> {
    let run = runs.get(runs.partition_point(|run| run.end() < range.start()));
    match run.filter(|run| run.contains(range.start())) {
        None => Some(*range.start()),
        Some(run) if run.end() < range.end() => Some(run.end() + 1),
        Some(_) => None,
    }
}

/// What is wrong with a chunk that ends a block.
fn end_problem(chunk: &Object) -> Option<&'static str> {
    match chunk.get("block").map(host::problem) {
        None => Some("ends a block without it"),
        Some(Some(Problem::Fails(_))) => Some("ends a block that is not whole"),
        Some(_) => None,
    }
}

fn tell(rule: &Rule, message: String, here: &mut Here) {
    let finding = finding(rule, message, here);
    here.findings.push(finding);
}

fn finding(rule: &Rule, message: String, here: &Here) -> Finding {
    Finding::new(rule, here.place, message).at_seq(here.event.seq).with_help(HELP)
}
