//! Whether a summary says anything, and no more than once (FORMAT §7.4).
//!
//! Looked at are each `compaction/summary`, and each checkpoint on the surface whose summary is another one than that of
//! its bracket. The format takes them all; what is told here is what the model loses by them.

use super::Finding;
use super::finding::Findings;
use super::here::Here;
use super::registry::{Rule, rule_family};
use super::wording::{amount, owned, quoted};
use crate::json::{self, Digest, Object, Raw};
use crate::session::{CLOSING_TAG, OPENING_TAG, is_checkpoint_source};
use crate::summarize::SECTIONS;
use std::collections::{BTreeMap, HashMap};

#[cfg(test)]
mod tests;

rule_family! {
    "checkpoint";
    /// A summary is empty, or holds nothing but blanks.
    ///
    /// **What it means.** No block of the summary has a text with a visible character.
    ///
    /// **Why it matters.** What the compaction hides is gone for the model: nothing stands in its place.
    ///
    /// **How it comes about.** The model answered with nothing, or its answer was cut before its first word, and the
    /// tool that compacted did not look at it.
    ///
    /// **What to do.** The hidden messages are still in the log: `dshc replay --expand` shows them. Where nothing stands
    /// behind the compaction, take it out in a copy and compact again; else tell the model what it needs to know.
    EMPTY = warning("summary-empty");
    /// A summary holds a model's reasoning and no text.
    ///
    /// **What it means.** The summary has reasoning blocks, and no text block with a visible character.
    ///
    /// **Why it matters.** Providers drop reasoning of earlier turns, so the model may see nothing of it; and reasoning
    /// about a summary is none.
    ///
    /// **How it comes about.** The model used up its tokens while it was thinking, and the tool that compacted took
    /// what there was for the answer.
    ///
    /// **What to do.** Compact again with more room for the answer, or with less reasoning; see `summary-empty` for how
    /// to take the compaction back.
    REASONING_ONLY = warning("summary-reasoning-only");
    /// A summary says the same line over and over.
    ///
    /// **What it means.** One line stands in the summary at least five times and is at least a third of all its lines.
    /// Headings' "(none)", fences and rules are not counted.
    ///
    /// **Why it matters.** A model that repeats itself has stopped to summarize: what should have come behind is missing,
    /// and the repetition costs tokens in every request.
    ///
    /// **How it comes about.** Models fall into loops, above all at low temperatures and near the end of their window.
    ///
    /// **What to do.** Look at what the summary says before the loop. Where nothing stands behind the compaction, take it
    /// out in a copy and compact again, perhaps with another model.
    REPEATS_LINE = warning("summary-repeats-line");
    /// A summary has some of the eight usual sections, and lacks others.
    ///
    /// **What it means.** At least two of the eight headings of a summary stand in it, and not all of them. A summary
    /// in a form of its own is not looked at.
    ///
    /// **Why it matters.** Such a summary was most often cut off: what is missing at the end are pending jobs, the
    /// current work and the next step, which the model needs first.
    ///
    /// **How it comes about.** The answer reached its token limit, or the model left sections out.
    ///
    /// **What to do.** Compact again with a higher limit, or tell the model what is missing; the finding names the
    /// sections.
    SECTIONS_MISSING = warning("summary-sections-missing");
    /// A summary holds an earlier checkpoint, its frame or the whole of its text.
    ///
    /// **What it means.** In the summary stand the tags or the opening words that frame a checkpoint, a section twice,
    /// or word for word the summary that its compaction hides.
    ///
    /// **Why it matters.** Each compaction then carries all earlier ones along and saves less; and a reader that looks
    /// for the tags finds the wrong end.
    ///
    /// **How it comes about.** The model was shown the earlier checkpoint as part of the conversation, and copied it
    /// instead of working it in.
    ///
    /// **What to do.** Nothing is lost. Compact again with a summarizer that merges: dshc's takes the frame off an
    /// earlier checkpoint before it summarizes.
    NESTED = warning("nested-checkpoint");
}

/// A line that stands so often, and is such a part of all, is a loop.
const LOOP: usize = 5;
const LOOP_SHARE: usize = 3;

/// So many headings of the eight make a summary one of that form.
const FORM: usize = 2;

/// A copied text shorter than this may be a fact that is rightly kept, in bytes; one longer is not kept for comparison.
const SHORTEST_COPY: usize = 60;
const LONGEST_COPY: usize = 1 << 18;

/// How much text of checkpoints is kept for comparison at once, in bytes.
const MOST_BYTES: usize = 1 << 24;

/// The summaries that later ones may hold a copy of.
#[derive(Debug, Default)]
pub(super) struct Quality {
    /// Blocks of the last `compaction/summary`.
    last_summary: Vec<Digest>,
    /// Text of the checkpoints on the surface.
    checkpoints: HashMap<u64, String>,
    /// Their length together.
    bytes: usize,
    /// What frames of this log begin with.
    preamble: Option<String>,
    /// What was found in checkpoints that are on the surface still.
    pending: BTreeMap<u64, Vec<Finding>>,
}

/// What a summary says.
struct Said {
    text: String,
    has_reasoning: bool,
}

impl Quality {
    /// Looks at an event that the session has just taken.
    pub(super) fn event(&mut self, here: &mut Here) {
        if here.event.event_type == "compaction/summary" {
            self.summary(here);
        } else if here.event.is_replacement() {
            let hidden = here.node.map_or(&[][..], |node| &node.replaces);
            if here.event.event_type == "user/message" {
                self.replacement(hidden, here);
            }
            for seq in hidden {
                self.pending.remove(seq);
                if let Some(text) = self.checkpoints.remove(seq) {
                    self.bytes -= text.len();
                }
            }
        }
    }

    /// Tells of the checkpoints that the log leaves on the surface.
    pub(super) fn finish(self, findings: &mut Findings) {
        findings.extend(self.pending.into_values().flatten());
    }

    fn summary(&mut self, here: &mut Here) {
        let Some(data) = here.payload.get() else { return };
        let blocks = data.array("summary").unwrap_or_default();
        self.last_summary = blocks.iter().map(|block| json::digest(*block)).collect();
        let shadowed = data.array("shadowedSeqs").unwrap_or_default();
        let shadowed: Vec<u64> = shadowed.into_iter().filter_map(json::count).collect();
        for (rule, message) in self.problems(&Said::of(&blocks), &shadowed) {
            let finding = finding(rule, message, here);
            here.findings.push(finding);
        }
    }

    fn replacement(&mut self, hidden: &[u64], here: &Here) {
        let format = here.session.format;
        let Some(data) = here.payload.get() else { return };
        if !data.object("source").is_some_and(|source| is_checkpoint_source(&source, format)) {
            return;
        }
        let content = data.array("content").unwrap_or_default();
        let (preamble, inner) = unframed(&content);
        let digests: Vec<Digest> = inner.iter().map(|block| json::digest(*block)).collect();
        let said = Said::of(&inner);
        let is_that_of_the_bracket = !self.last_summary.is_empty() && digests.ends_with(&self.last_summary);
        let is_empty_too = self.last_summary.is_empty() && said.is_blank();
        if !is_that_of_the_bracket && !is_empty_too {
            let problems = self.problems(&said, hidden).into_iter();
            let findings = problems.map(|(rule, message)| finding(rule, message, here)).collect();
            self.pending.insert(here.event.seq, findings);
        }
        if let Some(preamble) = preamble.filter(|text| text.len() >= SHORTEST_COPY) {
            self.preamble = Some(preamble);
        }
        let is_kept = (SHORTEST_COPY..LONGEST_COPY).contains(&said.text.trim().len());
        if is_kept && self.bytes + said.text.len() <= MOST_BYTES {
            self.bytes += said.text.len();
            self.checkpoints.insert(here.event.seq, said.text);
        }
        self.last_summary.clear();
    }

    /// What is wrong with a summary of the nodes `hidden`.
    fn problems(&self, said: &Said, hidden: &[u64]) -> Vec<(&'static Rule, String)> {
        if said.is_blank() {
            return vec![if said.has_reasoning {
                (&REASONING_ONLY, "the summary holds reasoning and no text".to_owned())
            } else {
                (&EMPTY, "the summary holds no text".to_owned())
            }];
        }
        let nested = self.nested(&said.text, hidden).map(|message| (&NESTED, message));
        let repeated = repeated_line(&said.text).map(|message| (&REPEATS_LINE, message));
        let missing = missing_sections(&said.text).map(|message| (&SECTIONS_MISSING, message));
        [nested, repeated, missing].into_iter().flatten().collect()
    }

    fn nested(&self, text: &str, hidden: &[u64]) -> Option<String> {
        if let Some(tag) = [OPENING_TAG, CLOSING_TAG].into_iter().find(|tag| text.contains(tag)) {
            return Some(format!("the summary holds {tag}, the frame of a checkpoint"));
        }
        if self.preamble.as_ref().is_some_and(|preamble| text.contains(preamble.trim())) {
            return Some("the summary holds the opening words of an earlier checkpoint".to_owned());
        }
        let headings = headings(text);
        let twice =
            (0..SECTIONS.len()).find(|section| headings.iter().filter(|found| *found == section).count() > 1);
        if let Some(section) = twice.and_then(|section| SECTIONS.get(section)) {
            return Some(format!("the summary has the section {} twice", quoted(section)));
        }
        // One that is merged section by section may rightly begin with all of the earlier one.
        let is_in_sections = headings.len() >= FORM;
        let copy = hidden.iter().find(|seq| {
            let earlier = self.checkpoints.get(seq).map(|earlier| earlier.trim());
            !is_in_sections && earlier.is_some_and(|earlier| text.contains(earlier))
        });
        copy.map(|seq| {
            format!("the summary holds that of the checkpoint {seq}, which it hides, word for word")
        })
    }
}

fn finding(rule: &Rule, message: String, here: &Here) -> Finding {
    let help = "`dshc replay --expand` shows what is hidden; where nothing stands behind the compaction, it can be taken back";
    Finding::new(rule, here.place, message).at_seq(here.event.seq).with_help(help)
}

impl Said {
    fn of(blocks: &[Raw]) -> Self {
        let of_type = |kind: &'static str| {
            let objects = blocks.iter().filter_map(|block| Object::of(*block));
            objects.filter(move |block| block.has_text("type", kind))
        };
        let texts: Vec<String> = of_type("text").filter_map(|block| block.text("text").map(owned)).collect();
        Self { text: texts.join("\n"), has_reasoning: of_type("reasoning").next().is_some() }
    }

    fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }
}

/// A checkpoint's content without its frame, and what the frame begins with.
fn unframed<'a>(content: &[Raw<'a>]) -> (Option<String>, Vec<Raw<'a>>) {
    let text = |block: Raw| Object::of(block).and_then(|block| block.text("text").map(owned));
    let mut preamble = None;
    let mut inner = Vec::with_capacity(content.len());
    for (index, block) in content.iter().enumerate() {
        let text = text(*block);
        let opening = text.as_deref().filter(|_| index == 0).and_then(|text| text.strip_suffix(OPENING_TAG));
        if let Some(opening) = opening {
            preamble = Some(opening.trim().to_owned());
        } else if index + 1 < content.len() || text.as_deref() != Some(CLOSING_TAG) {
            inner.push(*block);
        }
    }
    (preamble, inner)
}

/// The sections whose headings stand in a summary, in the order in which they do.
fn headings(text: &str) -> Vec<usize> {
    let heading = |line: &str| {
        let name = line.trim().strip_prefix('#')?.trim_matches(|c: char| matches!(c, '#' | '*' | ':' | ' '));
        let name = name.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | ')' | ' '));
        SECTIONS.iter().position(|section| section.eq_ignore_ascii_case(name))
    };
    text.lines().filter_map(heading).collect()
}

fn missing_sections(text: &str) -> Option<String> {
    let found = headings(text);
    let missing: Vec<String> = SECTIONS
        .iter()
        .enumerate()
        .filter(|(section, _)| !found.contains(section))
        .map(|(_, name)| quoted(name))
        .collect();
    let is_of_the_form = SECTIONS.len() - missing.len() >= FORM;
    (is_of_the_form && !missing.is_empty()).then(|| {
        format!("the summary lacks {}: {}", amount(missing.len() as u64, "section"), missing.join(", "))
    })
}

fn repeated_line(text: &str) -> Option<String> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    let mut lines = 0;
    for line in text.lines().map(str::trim).filter(|line| says_something(line)) {
        lines += 1;
        *counts.entry(line).or_default() += 1;
    }
    let (line, count) = counts.into_iter().max_by_key(|(line, count)| (*count, *line))?;
    (count >= LOOP && count * LOOP_SHARE >= lines)
        .then(|| format!("the summary says the same line {count} times in its {lines}: {}", quoted(line)))
}

/// Whether a line is more than a mark, a fence or the word for nothing.
fn says_something(line: &str) -> bool {
    let words = line.trim_matches(|c: char| !c.is_alphanumeric());
    let is_nothing = ["none", "n/a", "nothing"].iter().any(|nothing| words.eq_ignore_ascii_case(nothing));
    !words.is_empty() && !is_nothing && !line.starts_with("```")
}
