//! Many logs in one table: a row for each rule that is broken and each severity of its findings, the gravest first.

use super::verify::style;
use crate::check::Severity;
use crate::report::printer::{DIM, RED, shown_path};
use crate::verify::{Status, Verification};
use crate::wording::{amount, grouped};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

/// What is known of the findings of one rule and severity in a run.
struct Cause<'a> {
    breaches: u64,
    logs: u64,
    /// The last log that was counted, which may break the rule again.
    last: usize,
    first: &'a Path,
}

/// Writes the table, and where to see more.
pub(super) fn write(run: &Verification, out: &mut dyn Write) -> io::Result<()> {
    let mut causes: Vec<((&str, Severity), Cause)> = causes(run).into_iter().collect();
    causes.sort_by_key(|((code, severity), cause)| (Reverse(*severity), Reverse(cause.breaches), *code));
    let width = causes.iter().map(|((code, _), _)| code.len()).max().unwrap_or_default();
    for ((code, severity), cause) in &causes {
        let (style, severity) = (style(*severity), severity.as_str());
        let logs = amount(cause.logs, "log");
        let breaches = grouped(cause.breaches);
        write!(out, "{breaches:>8}  {code:width$}  {style}{severity:7}{style:#}  in {logs}")?;
        let word = if cause.logs == 1 { "" } else { "first " };
        writeln!(out, ", {DIM}{word}{}{DIM:#}", shown_path(cause.first))?;
    }
    let unreadable = run.count(Status::Unreadable) as u64;
    if unreadable > 0 {
        writeln!(out, "{RED}{} cannot be read{RED:#}", amount(unreadable, "log"))?;
    }
    if causes.is_empty() {
        return Ok(());
    }
    writeln!(out, "{DIM}-v shows the findings of every log; --explain CODE tells what a rule means{DIM:#}")
}

fn causes(run: &Verification) -> BTreeMap<(&'static str, Severity), Cause<'_>> {
    let mut causes = BTreeMap::new();
    for (index, file) in run.files.iter().enumerate() {
        for finding in &file.findings {
            let kind = (finding.code, finding.severity);
            let cause = causes.entry(kind).or_insert_with(|| Cause {
                breaches: 0,
                logs: 0,
                last: usize::MAX,
                first: &file.path,
            });
            cause.breaches = cause.breaches.saturating_add(finding.count);
            if cause.last != index {
                cause.logs += 1;
                cause.last = index;
            }
        }
    }
    causes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::testing::{of_code, run};

    /// The first two rows, without colours.
    fn first_rows(run: &Verification) -> Vec<String> {
        let mut out = Vec::new();
        write(run, &mut out).unwrap();
        let told = anstream::adapter::strip_str(std::str::from_utf8(&out).unwrap()).to_string();
        told.lines().take(2).map(str::to_owned).collect()
    }

    #[test]
    fn each_rule_has_a_row_the_gravest_first() {
        let mut all = run(of_code("torn-tail", 3));
        all.files.extend(run(of_code("seq-gap", 2)).files);
        all.files.extend(run(of_code("torn-tail", 1)).files);
        assert_eq!(
            first_rows(&all),
            [
                "       2  seq-gap    error    in 1 log, logs/session.jsonl",
                "       4  torn-tail  warning  in 2 logs, first logs/session.jsonl"
            ]
        );
    }

    #[test]
    fn notes_of_a_rule_do_not_count_as_its_errors() {
        let mut all = run(of_code("seq-gap", 12));
        for finding in &mut all.files[0].findings[1..] {
            finding.severity = Severity::Note;
        }
        assert_eq!(
            first_rows(&all),
            [
                "       1  seq-gap  error    in 1 log, logs/session.jsonl",
                "      11  seq-gap  note     in 1 log, logs/session.jsonl"
            ]
        );
    }
}
