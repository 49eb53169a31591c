//! Findings, grouped by file; many files in totals by cause.

use crate::check::{Finding, Severity};
use crate::report::printer::{BOLD, DIM, GREEN, RED, YELLOW, shown, shown_path};
use crate::verify::{FileVerdict, Status, Verification};
use std::io::{self, Write};

/// With more files than this, only totals are shown unless more is asked for.
const MANY: usize = 20;

/// Writes what was found.
pub fn verify(run: &Verification, is_verbose: bool, out: &mut dyn Write) -> io::Result<()> {
    if is_verbose || run.files.len() <= MANY {
        for file in &run.files {
            findings(file, out)?;
        }
        for path in &run.ignored {
            writeln!(out, "{DIM}ignored{DIM:#}  {}", shown_path(path))?;
        }
    } else {
        for (code, count) in run.by_code() {
            writeln!(out, "{count:>8}  {code}")?;
        }
    }
    totals(run, out)
}

fn findings(file: &FileVerdict, out: &mut dyn Write) -> io::Result<()> {
    let style = match file.status() {
        Status::Clean => GREEN,
        Status::Findings => YELLOW,
        Status::Unreadable => RED,
    };
    let word = file.status().as_str();
    let events = file.checked.as_ref().map_or_else(String::new, |checked| match checked.events {
        1 => "  1 event".to_owned(),
        events => format!("  {events} events"),
    });
    writeln!(out, "{style}{word}{style:#}  {BOLD}{}{BOLD:#}{events}", shown_path(&file.path))?;
    file.findings.iter().try_for_each(|finding| self::finding(finding, out))
}

fn finding(finding: &Finding, out: &mut dyn Write) -> io::Result<()> {
    let style = match finding.severity {
        Severity::Error => RED,
        Severity::Warning => YELLOW,
        Severity::Note => DIM,
    };
    let seq = finding.seq.map(|seq| format!("seq {seq}"));
    let place = finding.place.to_string();
    let place: Vec<String> = [place].into_iter().filter(|place| !place.is_empty()).chain(seq).collect();
    let (severity, code) = (finding.severity.as_str(), finding.code);
    writeln!(out, "  {style}{severity}{style:#} {code}  {}", place.join(", "))?;
    writeln!(out, "    {}", shown(&finding.message))?;
    for related in &finding.related {
        writeln!(out, "    seq {}: {}", related.seq, shown(&related.message))?;
    }
    if !finding.help.is_empty() {
        writeln!(out, "    {DIM}help{DIM:#}: {}", shown(&finding.help))?;
    }
    Ok(())
}

fn totals(run: &Verification, out: &mut dyn Write) -> io::Result<()> {
    let counted = |count: usize, what: &str| (count > 0).then(|| format!("{count} {what}"));
    let parts: Vec<String> = [
        counted(run.count(Status::Clean), "clean"),
        counted(run.count(Status::Findings), "with findings"),
        counted(run.count(Status::Unreadable), "unreadable"),
        counted(run.ignored.len(), "ignored"),
    ]
    .into_iter()
    .flatten()
    .collect();
    let files = run.files.len();
    let noun = if files == 1 { "log" } else { "logs" };
    writeln!(
        out,
        "{BOLD}{files} {noun}{BOLD:#}: {}",
        if parts.is_empty() { "nothing to check".into() } else { parts.join(", ") }
    )
}
