//! What several reports of `verify` say in the same words.

use crate::check::{Finding, Severity};
use crate::verify::{Status, Tally, Verification};
use crate::wording::{amount, grouped};
use std::fmt::Write;

/// Where a finding is: `line 18, byte 2811, seq 16`; empty if it is about the whole file.
pub(super) fn place(finding: &Finding) -> String {
    let place = finding.place.to_string();
    let seq = finding.seq.map(|seq| format!("seq {seq}"));
    let known: Vec<String> = [place].into_iter().filter(|place| !place.is_empty()).chain(seq).collect();
    known.join(", ")
}

/// The finding in a few lines: what, then what it has to do with, then what to do.
pub(super) fn told(finding: &Finding) -> String {
    let mut told = finding.message.clone();
    for related in &finding.related {
        let _ = write!(told, "\nseq {}: {}", related.seq, related.message);
    }
    if !finding.help.is_empty() {
        told.push_str("\nhelp: ");
        told.push_str(&finding.help);
    }
    told
}

/// `2 errors, 1 note`; empty if there is nothing.
pub(super) fn tally(tally: Tally) -> String {
    let parts = [(tally.errors, "error"), (tally.warnings, "warning"), (tally.notes, "note")];
    let told: Vec<String> =
        parts.into_iter().filter(|(count, _)| *count > 0).map(|(count, noun)| amount(count, noun)).collect();
    told.join(", ")
}

/// `1 more error`, `1,234 more notes`: what a report that is short leaves out.
pub(super) fn more(count: u64, severity: Severity) -> String {
    amount(count, &format!("more {}", severity.as_str()))
}

/// How many logs of a run there are, and what of them: `4 logs: 2 clean, 1 with findings, 1 unreadable; 2 errors`.
#[must_use]
pub fn summary(run: &Verification) -> String {
    let (logs, what) = totals(run);
    format!("{logs}: {what}")
}

/// The two parts of a summary.
pub(super) fn totals(run: &Verification) -> (String, String) {
    let parts = [
        (run.count(Status::Clean), "clean"),
        (run.count(Status::Findings), "with findings"),
        (run.count(Status::Unreadable), "unreadable"),
        (run.ignored.len(), "ignored"),
        (run.not_begun.unwrap_or_default(), "not looked at"),
    ];
    let parts: Vec<String> = parts
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{} {what}", grouped(count as u64)))
        .collect();
    let mut what = if parts.is_empty() { "nothing to check".into() } else { parts.join(", ") };
    let findings = tally(run.tally());
    if !findings.is_empty() {
        what.push_str("; ");
        what.push_str(&findings);
    }
    (amount(run.files.len() as u64, "log"), what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn severities_without_findings_are_not_told() {
        assert_eq!(tally(Tally::default()), "");
        assert_eq!(tally(Tally { errors: 1, warnings: 0, notes: 2000 }), "1 error, 2,000 notes");
    }

    #[test]
    fn a_run_without_logs_is_told() {
        assert_eq!(summary(&Verification::default()), "0 logs: nothing to check");
    }
}
