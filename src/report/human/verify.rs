//! Findings, grouped by file; many files in totals by cause.

use super::causes;
use super::totals::MANY;
use crate::check::{Ending, Finding, Severity, lock_told};
use crate::report::phrases;
use crate::report::printer::{BOLD, DIM, GREEN, RED, YELLOW, shown, shown_path};
use crate::session::LockState;
use crate::verify::{FileVerdict, Status, Verification};
use crate::wording::{amount, grouped};
use anstyle::Style;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// How many findings of one rule and severity a file shows, and how many ignored files a run, unless more is asked for.
const MOST: usize = 10;
/// How many related events a finding shows, unless more is asked for.
const MOST_RELATED: usize = 8;

/// Writes what was found.
pub fn verify(run: &Verification, is_verbose: bool, out: &mut dyn Write) -> io::Result<()> {
    if is_verbose || run.files.len() <= MANY {
        run.files.iter().try_for_each(|file| self::file(file, is_verbose, out))?;
        ignored(run, is_verbose, out)?;
    } else {
        causes::write(run, out)?;
    }
    let (logs, what) = phrases::totals(run);
    writeln!(out, "{BOLD}{logs}{BOLD:#}: {what}")
}

fn file(file: &FileVerdict, is_verbose: bool, out: &mut dyn Write) -> io::Result<()> {
    let style = match file.status() {
        Status::Clean => GREEN,
        Status::Findings => YELLOW,
        Status::Unreadable => RED,
    };
    let word = file.status().as_str();
    let events = file.ending.as_ref().map(|ending| amount(ending.events, "event"));
    let counts = Some(phrases::tally(file.tally())).filter(|counts| !counts.is_empty());
    let facts: Vec<String> = events.into_iter().chain(counts).collect();
    writeln!(out, "{style}{word}{style:#}  {BOLD}{}{BOLD:#}  {}", shown_path(&file.path), facts.join(": "))?;
    if let (Some(ending), Some(version)) = (&file.ending, file.version) {
        lock(ending, version, is_verbose, out)?;
    }
    findings(&file.findings, is_verbose, out)
}

/// The compaction lock at the end of a log of this version; a free one, and what else keeps dsh busy, only where more is asked for.
fn lock(ending: &Ending, version: u64, is_verbose: bool, out: &mut dyn Write) -> io::Result<()> {
    let Some(lock) = &ending.lock else { return Ok(()) };
    let style = match lock {
        LockState::Held(_) => YELLOW,
        LockState::Stale(_) => DIM,
        LockState::Free if is_verbose => DIM,
        LockState::Free => return Ok(()),
    };
    writeln!(out, "  {style}lock{style:#} {}", shown(&lock_told(lock, version)))?;
    let busy: Vec<String> = ending.busy.iter().map(|busy| busy.as_str().replace('-', " ")).collect();
    if is_verbose && !busy.is_empty() {
        writeln!(out, "  {DIM}busy{DIM:#} dsh would refuse a manual compaction now: {}", busy.join(", "))?;
    }
    Ok(())
}

/// The findings of a file; of many of one rule and severity the first ones, and how many more there are.
fn findings(findings: &[Finding], is_verbose: bool, out: &mut dyn Write) -> io::Result<()> {
    let most = if is_verbose { usize::MAX } else { MOST };
    let mut left: BTreeMap<(&str, Severity), (usize, u64)> = BTreeMap::new();
    for finding in findings {
        let (kept, breaches) = left.entry((finding.code, finding.severity)).or_default();
        *kept += 1;
        *breaches = breaches.saturating_add(finding.count);
    }
    let mut shown: BTreeMap<(&str, Severity), usize> = BTreeMap::new();
    for finding in findings {
        let kind = (finding.code, finding.severity);
        let shown = shown.entry(kind).or_default();
        let Some((kept, breaches)) = left.get_mut(&kind) else { continue };
        if *shown == most {
            continue;
        }
        *shown += 1;
        *breaches = breaches.saturating_sub(finding.count);
        self::finding(finding, is_verbose, out)?;
        if *shown == most && *kept > most {
            let more = phrases::more(*breaches, finding.severity);
            writeln!(out, "    {DIM}and {more} of {}{DIM:#}", finding.code)?;
        }
    }
    Ok(())
}

fn finding(finding: &Finding, is_verbose: bool, out: &mut dyn Write) -> io::Result<()> {
    let (style, severity) = (style(finding.severity), finding.severity.as_str());
    write!(out, "  {style}{severity}{style:#} {}", finding.code)?;
    match phrases::place(finding).as_str() {
        "" => writeln!(out)?,
        place => writeln!(out, "  {place}")?,
    }
    writeln!(out, "    {}", shown(&finding.message))?;
    let most = if is_verbose { usize::MAX } else { MOST_RELATED };
    for related in finding.related.iter().take(most) {
        writeln!(out, "    seq {}: {}", related.seq, shown(&related.message))?;
    }
    if let Some(more) = finding.related.len().checked_sub(most).filter(|more| *more > 0) {
        writeln!(out, "    {DIM}and {}{DIM:#}", amount(more as u64, "more related event"))?;
    }
    if !finding.help.is_empty() {
        writeln!(out, "    {DIM}help{DIM:#}: {}", shown(&finding.help))?;
    }
    Ok(())
}

/// How a severity stands out.
pub(super) fn style(severity: Severity) -> Style {
    match severity {
        Severity::Error => RED,
        Severity::Warning => YELLOW,
        Severity::Note => DIM,
    }
}

fn ignored(run: &Verification, is_verbose: bool, out: &mut dyn Write) -> io::Result<()> {
    let most = if is_verbose { usize::MAX } else { MOST };
    for path in run.ignored.iter().take(most) {
        writeln!(out, "{DIM}ignored{DIM:#}  {}", shown_path(path))?;
    }
    match run.ignored.len().checked_sub(most) {
        None | Some(0) => Ok(()),
        Some(more) => writeln!(out, "{DIM}ignored{DIM:#}  and {} more", grouped(more as u64)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::Busy;
    use crate::report::testing::{of_code, run};

    fn report(findings: Vec<Finding>, is_verbose: bool) -> String {
        let mut out = Vec::new();
        verify(&run(findings), is_verbose, &mut out).unwrap();
        anstream::adapter::strip_str(std::str::from_utf8(&out).unwrap()).to_string()
    }

    #[test]
    fn of_many_findings_alike_the_first_are_shown() {
        let mut findings = of_code("seq-gap", 1001);
        findings[1000].count = 500;
        findings.extend(of_code("torn-tail", 1));
        let short = report(findings.clone(), false);
        assert_eq!(short.matches("error seq-gap").count(), 10, "{short}");
        assert!(short.contains("    and 1,490 more errors of seq-gap\n  warning torn-tail"), "{short}");
        assert!(short.contains("1,500 errors, 1 warning\n"), "{short}");
        let long = report(findings, true);
        assert_eq!((long.matches("error seq-gap").count(), long.contains("more errors")), (1001, false));
    }

    #[test]
    fn a_free_lock_is_told_only_on_request() {
        let mut run = run(Vec::new());
        let ending = run.files[0].ending.as_mut().unwrap();
        ending.lock = Some(LockState::Free);
        ending.busy = vec![Busy::OpenTurn, Busy::WaitingMessages];
        let told = |is_verbose| {
            let mut out = Vec::new();
            verify(&run, is_verbose, &mut out).unwrap();
            anstream::adapter::strip_str(std::str::from_utf8(&out).unwrap()).to_string()
        };
        assert_eq!(told(false), "clean  logs/session.jsonl  43 events\n1 log: 1 clean\n");
        let verbose = told(true);
        assert!(verbose.contains("  lock free: "), "{verbose}");
        assert!(verbose.contains("compaction now: open turn, waiting messages\n"), "{verbose}");
    }

    #[test]
    fn an_error_is_shown_behind_many_notes_of_its_rule() {
        let mut findings = of_code("seq-gap", 30);
        for finding in &mut findings[..29] {
            finding.severity = Severity::Note;
        }
        findings[28].count = 1000;
        let report = report(findings, false);
        assert!(report.contains("    and 1,018 more notes of seq-gap\n  error seq-gap"), "{report}");
    }

    #[test]
    fn ten_alike_are_all_shown() {
        let report = report(of_code("seq-gap", 10), false);
        assert_eq!((report.matches("error seq-gap").count(), report.contains("more")), (10, false));
    }
}
