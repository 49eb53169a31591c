//! What a rule has to say about one place of a log.

use super::registry::Rule;
use crate::log::Place;
use crate::wording::amount;
use std::collections::{BTreeMap, HashSet};

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Good to know; the log is clean.
    Note,
    /// dsh goes on, but something is lost or may trouble others.
    Warning,
    /// dsh, or a model's provider, refuses the log or what is made from it.
    Error,
}

impl Severity {
    /// The word that reports and options use.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }

    /// The severity of this word.
    #[must_use]
    pub fn named(word: &str) -> Option<Self> {
        [Self::Note, Self::Warning, Self::Error].into_iter().find(|severity| severity.as_str() == word)
    }
}

/// One thing that is wrong, or worth knowing, at one place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The rule's code.
    pub code: &'static str,
    /// The rule's severity, or a lower one where the log itself excuses the case.
    pub severity: Severity,
    /// What was found, what was expected.
    pub message: String,
    /// The event that it is about; for a line that cannot be read, the seq that belongs there.
    pub seq: Option<u64>,
    /// Where it is.
    pub place: Place,
    /// What to do.
    pub help: String,
    /// Other events that have to do with it: causes first.
    pub related: Vec<Related>,
    /// How many breaches it stands for: more than one where so many were found that they are summed up.
    pub count: u64,
}

/// Another event that a finding points to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Related {
    /// The event.
    pub seq: u64,
    /// What it has to do with the finding.
    pub message: String,
}

impl Finding {
    /// Whether it is of one of these rules.
    pub(super) fn is_of(&self, rules: &[&Rule]) -> bool {
        rules.iter().any(|rule| rule.code == self.code)
    }

    pub(super) fn new(rule: &Rule, place: Place, message: impl Into<String>) -> Self {
        Self {
            code: rule.code,
            severity: rule.severity,
            message: message.into(),
            seq: None,
            place,
            help: String::new(),
            related: Vec::new(),
            count: 1,
        }
    }

    pub(super) fn at_seq(self, seq: u64) -> Self {
        Self { seq: Some(seq), ..self }
    }

    pub(super) fn with_help(self, help: impl Into<String>) -> Self {
        Self { help: help.into(), ..self }
    }

    pub(super) fn warned(self) -> Self {
        Self { severity: Severity::Warning, ..self }
    }

    pub(super) fn noted(self) -> Self {
        Self { severity: Severity::Note, ..self }
    }

    pub(super) fn relating(mut self, seq: u64, message: impl Into<String>) -> Self {
        self.related.push(Related { seq, message: message.into() });
        self
    }

    /// Says more about the same.
    pub(super) fn adding(mut self, more: &str) -> Self {
        self.message.push_str("; ");
        self.message.push_str(more);
        self
    }
}

/// How many findings of one code and severity are kept: a log that is damaged all over must not fill the memory.
const MOST_OF_A_KIND: u64 = 1000;

/// The findings of one log as they come.
#[derive(Debug, Default)]
pub(super) struct Findings {
    kept: Vec<Finding>,
    /// By code and severity: a flood of notes must not hide an error.
    kinds: BTreeMap<(&'static str, Severity), Count>,
}

/// How many findings of one kind have come.
#[derive(Debug, Default)]
struct Count {
    kept: u64,
    left_out: u64,
    /// The last one that is not kept.
    last: Option<Box<Finding>>,
}

impl Findings {
    pub(super) fn push(&mut self, finding: Finding) {
        let count = self.kinds.entry((finding.code, finding.severity)).or_default();
        if count.kept < MOST_OF_A_KIND {
            count.kept += 1;
            self.kept.push(finding);
        } else {
            count.left_out += 1;
            count.last = Some(Box::new(finding));
        }
    }

    pub(super) fn extend(&mut self, findings: impl IntoIterator<Item = Finding>) {
        for finding in findings {
            self.push(finding);
        }
    }

    /// Whether this code was told of the event `seq`, which is the last that was looked at.
    pub(super) fn tells(&self, code: &str, seq: u64) -> bool {
        let mut latest = self.kept.iter().rev().take_while(|finding| finding.seq == Some(seq));
        let of_code = self.kinds.iter().filter(|((kind, _), _)| *kind == code);
        let mut left_out = of_code.filter_map(|(_, count)| count.last.as_ref());
        latest.any(|finding| finding.code == code) || left_out.any(|last| last.seq == Some(seq))
    }

    /// Adds what another look at the same log found, but for what is told already.
    pub(super) fn extend_with_new(&mut self, mut others: Findings) {
        let told: HashSet<_> = self.kept.iter().map(|finding| (finding.code, finding.seq)).collect();
        // What else was told of these kinds is not known any more.
        let flooded: HashSet<_> =
            self.kinds.iter().filter(|(_, count)| count.left_out > 0).map(|(kind, _)| *kind).collect();
        sort(&mut others.kept);
        for finding in others.kept {
            let is_told = told.contains(&(finding.code, finding.seq));
            if !is_told && !flooded.contains(&(finding.code, finding.severity)) {
                self.push(finding);
            }
        }
        for (kind, theirs) in others.kinds {
            if theirs.last.is_some() && !flooded.contains(&kind) {
                let count = self.kinds.entry(kind).or_default();
                count.left_out += theirs.left_out;
                count.last = theirs.last;
            }
        }
    }

    /// How many are kept so far.
    pub(super) fn len(&self) -> usize {
        self.kept.len()
    }

    /// Lets `change` see the findings so far, from the one at `from` on, in the order in which they came.
    pub(super) fn amend(&mut self, from: usize, change: impl FnMut(&mut Finding)) {
        self.kept.iter_mut().skip(from).for_each(change);
    }

    /// Takes back what has turned out to follow from something else. Tells how many findings those were.
    pub(super) fn take_back(&mut self, follows: impl Fn(&Finding) -> bool) -> usize {
        let kinds = &mut self.kinds;
        let before = self.kept.len();
        self.kept.retain(|finding| {
            let goes = follows(finding);
            if goes && let Some(count) = kinds.get_mut(&(finding.code, finding.severity)) {
                count.kept = count.kept.saturating_sub(1);
            }
            !goes
        });
        before - self.kept.len()
    }

    /// All findings in the order of their places; what was not kept is summed up in one finding a kind.
    pub(super) fn sorted(self) -> Vec<Finding> {
        let mut findings = self.kept;
        for Count { left_out, last, .. } in self.kinds.into_values() {
            if let Some(mut last) = last {
                last.message = format!(
                    "{} of this kind, this one the last: {}",
                    amount(left_out, "more finding"),
                    last.message
                );
                last.count = left_out;
                findings.push(*last);
            }
        }
        sort(&mut findings);
        findings
    }
}

/// Puts findings in the order of their places, then of their codes; those of no place come first.
pub fn sort(findings: &mut [Finding]) {
    // In a zstd log the byte is the frame's: what is said of a frame comes before what is said of its lines.
    findings.sort_by_key(|finding| (finding.place.byte, finding.place.line, finding.seq, finding.code));
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: Rule = Rule::error("oddities", "odd", "");

    fn at(line: u64) -> Finding {
        Finding::new(&RULE, Place { line: Some(line), byte: Some(line * 10), ..Place::default() }, "m")
    }

    #[test]
    fn findings_come_in_the_order_of_their_places() {
        let mut findings = Findings::default();
        for line in [3, 1, 2] {
            findings.push(at(line));
        }
        let lines: Vec<_> = findings.sorted().iter().map(|finding| finding.place.line.unwrap()).collect();
        assert_eq!(lines, [1, 2, 3]);
    }

    #[test]
    fn a_flood_of_one_code_is_summed_up() {
        let mut findings = Findings::default();
        for line in 1..=1500 {
            findings.push(at(line));
        }
        let sorted = findings.sorted();
        assert_eq!(sorted.len(), 1001);
        assert_eq!(sorted[1000].place.line, Some(1500));
        assert!(sorted[1000].message.starts_with("500 more findings"));
    }

    #[test]
    fn a_flood_of_notes_hides_no_error() {
        let mut findings = Findings::default();
        for line in 1..=1500 {
            findings.push(at(line).noted());
        }
        findings.push(at(1501));
        findings.push(at(1502).noted());
        let sorted = findings.sorted();
        let last: Vec<_> = sorted[1000..].iter().map(|finding| (finding.severity, finding.count)).collect();
        assert_eq!(last, [(Severity::Error, 1), (Severity::Note, 501)]);
    }

    #[test]
    fn a_second_look_tells_only_what_is_new() {
        let (mut first, mut second) = (Findings::default(), Findings::default());
        first.push(at(1).at_seq(1));
        second.extend([at(1).at_seq(1), at(2).at_seq(2)]);
        first.extend_with_new(second);
        assert_eq!(first.sorted().iter().map(|finding| finding.seq).collect::<Vec<_>>(), [Some(1), Some(2)]);
    }

    #[test]
    fn a_flood_of_a_second_look_keeps_its_sum() {
        let (mut first, mut second) = (Findings::default(), Findings::default());
        first.push(at(1).at_seq(1));
        second.extend((1..=3000).map(|line| at(line).at_seq(line)));
        assert!(second.tells("odd", 3000) && !second.tells("odd", 2999));
        first.extend_with_new(second);
        let sorted = first.sorted();
        assert_eq!(sorted.iter().map(|finding| finding.count).sum::<u64>(), 3000);
        let last = sorted.last().unwrap();
        assert!(
            last.message.starts_with("2,000 more findings of this kind, this one the last: m"),
            "{}",
            last.message
        );
    }

    #[test]
    fn what_was_taken_back_does_not_upset_the_sum() {
        let mut findings = Findings::default();
        for line in 1..=1001 {
            findings.push(at(line));
        }
        assert_eq!(findings.take_back(|_| true), 1000);
        let left = findings.sorted();
        assert_eq!(left.len(), 1);
        assert!(left[0].message.starts_with("1 more finding of"), "{}", left[0].message);
    }

    #[test]
    fn severities_rise() {
        assert!(Severity::Note < Severity::Warning && Severity::Warning < Severity::Error);
    }
}
