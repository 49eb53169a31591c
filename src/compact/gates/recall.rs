//! How much of what a region names does a summary name?

use super::Objection;
use super::headings::{heading, says_nothing};
use crate::summarize::{Identifier, IdentifierKind, Mentions, SECTIONS, Transcript, identifiers};
use crate::tokens::host;
use crate::wording::clipped;
use std::cmp::Reverse;

/// How many missing identifiers are told, and how many characters of each.
const MOST_MISSING: usize = 50;
const MOST_SHOWN: usize = 120;

/// How many of them an objection names.
const MOST_OBJECTED: usize = 30;

/// What the added bullets begin with, by kind.
const KINDS: [(IdentifierKind, &str); 5] = [
    (IdentifierKind::Path, "Paths"),
    (IdentifierKind::Command, "Commands"),
    (IdentifierKind::Error, "Error strings"),
    (IdentifierKind::Hash, "Hashes and codes"),
    (IdentifierKind::Number, "Numbers"),
];

/// The identifiers of a region's human prompts, tool calls and error results that a summary, or the task beside it,
/// names too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recall {
    /// How many of them are named.
    pub found: usize,
    /// How many there are.
    pub of: usize,
    /// Those that are not, in order of first appearance: at most 50, each of at most 120 characters and the mark of a
    /// cut.
    pub missing: Vec<String>,
}

impl Recall {
    /// The share that is found, from 0 to 1; 1 where there is nothing to find.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a region has 20,000 identifiers at most")]
    pub fn share(&self) -> f64 {
        if self.of == 0 { 1.0 } else { self.found as f64 / self.of as f64 }
    }
}

/// What a region names.
#[derive(Debug)]
pub(super) struct Named {
    /// Each, and whether the task that stands beside the summary names it.
    identifiers: Vec<(Identifier, bool)>,
}

impl Named {
    pub(super) fn of(transcript: &Transcript, beside: &[&str]) -> Self {
        let beside = Mentions::of(beside);
        let known = |identifier: Identifier| {
            let is_beside = beside.name(&identifier.text);
            (identifier, is_beside)
        };
        Self { identifiers: identifiers(transcript).into_iter().map(known).collect() }
    }

    pub(super) fn recall(&self, summary: &str) -> Recall {
        let missing = self.missing(summary);
        let of = self.identifiers.len();
        let shown = missing.iter().take(MOST_MISSING).map(|identifier| shown(identifier));
        Recall { found: of - missing.len(), of, missing: shown.collect() }
    }

    /// Why a summary that names too little is refused.
    pub(super) fn objection(&self, summary: &str, recall: &Recall, least: f64) -> Objection {
        let mut missing = self.missing(summary);
        missing.sort_by_key(|identifier| Reverse(identifier.count));
        let named: Vec<_> =
            missing.iter().take(MOST_OBJECTED).map(|identifier| format!("`{}`", shown(identifier))).collect();
        let message = format!(
            "the summary names {} of {} paths, commands, error strings, hashes and numbers, a share of {:.2} where \
             {least} is wanted; missing, the most frequent first: {}",
            recall.found,
            recall.of,
            recall.share(),
            named.join(", ")
        );
        let help = "ask for less with --min-recall, or have them added with --complete-identifiers";
        Objection { code: "recall", message, help }
    }

    /// The summary with what it does not name added at its end, the most frequent first, as long as the text costs at
    /// most `room` host tokens. A text that does not end in the last of the [`SECTIONS`] stays as it is: there is no
    /// place for it.
    pub(super) fn complete(&self, summary: &str, room: u64) -> String {
        let Some(head) = up_to_last_section(summary) else { return summary.to_owned() };
        let mut missing = self.missing(summary);
        missing.sort_by_key(|identifier| Reverse(identifier.count));
        let picked = pick(&missing, head, room);
        if picked.is_empty() {
            return summary.to_owned();
        }
        let bullet = |(kind, label)| {
            let of_kind: Vec<_> = picked
                .iter()
                .filter(|identifier| identifier.kind == kind)
                .map(|identifier| format!("`{}`", identifier.text))
                .collect();
            if of_kind.is_empty() { String::new() } else { format!("\n- {label}: {}", of_kind.join(", ")) }
        };
        format!("{head}{}", KINDS.map(bullet).concat())
    }

    fn missing(&self, summary: &str) -> Vec<&Identifier> {
        let mentions = Mentions::of(&[summary]);
        let missing = self
            .identifiers
            .iter()
            .filter(|(identifier, is_beside)| !is_beside && !mentions.name(&identifier.text));
        missing.map(|(identifier, _)| identifier).collect()
    }
}

/// What there is room for behind `head`; one that does not fit makes room for the next.
fn pick<'a>(missing: &[&'a Identifier], head: &str, room: u64) -> Vec<&'a Identifier> {
    let costs = |units: u64| host::text(units);
    let mut used = utf16(head);
    let mut picked: Vec<&Identifier> = Vec::new();
    let mut begun: Vec<IdentifierKind> = Vec::new();
    for identifier in missing {
        let label = KINDS.iter().find(|(kind, _)| *kind == identifier.kind).map_or("", |(_, label)| label);
        // "\n- Paths: `a`", then ", `b`".
        let around = if begun.contains(&identifier.kind) { 4 } else { utf16(label) + 7 };
        let after = used.saturating_add(utf16(&identifier.text)).saturating_add(around);
        if costs(after) <= room {
            used = after;
            if !begun.contains(&identifier.kind) {
                begun.push(identifier.kind);
            }
            picked.push(identifier);
        }
    }
    picked
}

/// The text without the blanks at its end, and without the word that the last section is empty; `None` where the last
/// section is another.
fn up_to_last_section(summary: &str) -> Option<&str> {
    let last = SECTIONS.last()?;
    let is_section = |name: &str| SECTIONS.iter().any(|section| section.eq_ignore_ascii_case(name));
    let mut end = 0;
    let mut heading_end = None;
    for line in summary.split_inclusive('\n') {
        end += line.len();
        if let Some(name) = heading(line).filter(|name| is_section(name)) {
            heading_end = Some(end).filter(|_| name.eq_ignore_ascii_case(last));
        }
    }
    let (head, body) = summary.split_at_checked(heading_end?)?;
    let is_nothing =
        |line: &str| line.trim().is_empty() || (says_nothing(line) && line.contains(char::is_alphanumeric));
    let text = if body.lines().all(is_nothing) { head } else { summary };
    Some(text.trim_end())
}

fn shown(identifier: &Identifier) -> String {
    clipped(&identifier.text, MOST_SHOWN).into_owned()
}

fn utf16(text: &str) -> u64 {
    text.chars().map(|c| c.len_utf16() as u64).sum()
}
