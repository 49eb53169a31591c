//! GitHub's workflow commands: each finding as an annotation of a job, one line each.

use super::phrases::{amount, place, told};
use super::printer::shown;
use crate::check::{Finding, Severity};
use crate::log::Container;
use crate::verify::{FileVerdict, Verification};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::path::Path;

/// How many findings of one code are told. GitHub itself shows ten annotations of a kind for a step.
const MOST: u64 = 10;

/// What is not told of one code.
struct Rest {
    told: u64,
    breaches: u64,
    files: BTreeSet<usize>,
    severity: Severity,
}

/// Writes the commands of a run, and nothing else.
pub fn github(run: &Verification, out: &mut dyn Write) -> io::Result<()> {
    let mut rests: BTreeMap<&str, Rest> = BTreeMap::new();
    for (index, file) in run.files.iter().enumerate() {
        for finding in &file.findings {
            let rest = rests.entry(finding.code).or_insert_with(|| Rest {
                told: 0,
                breaches: 0,
                files: BTreeSet::new(),
                severity: Severity::Note,
            });
            if rest.told < MOST {
                rest.told += 1;
                annotation(file, finding, out)?;
            } else {
                rest.breaches = rest.breaches.saturating_add(finding.count);
                rest.files.insert(index);
                rest.severity = rest.severity.max(finding.severity);
            }
        }
    }
    for (code, rest) in rests.iter().filter(|(_, rest)| rest.breaches > 0) {
        let logs = amount(rest.files.len() as u64, "log");
        let more = format!("and {} of {code}, in {logs}", amount(rest.breaches, "more finding"));
        writeln!(out, "::{} title={}::{}", command(rest.severity), property(code), data(&more))?;
    }
    Ok(())
}

fn annotation(file: &FileVerdict, finding: &Finding, out: &mut dyn Write) -> io::Result<()> {
    write!(out, "::{} ", command(finding.severity))?;
    // Standard input is no file of the repository.
    if file.path != Path::new("-") {
        write!(out, "file={},", property(&file.path.to_string_lossy()))?;
        // A compressed file has no lines to point to.
        if let (Some(line), false) = (finding.place.line, file.content == Some(Container::Zstd)) {
            write!(out, "line={line},")?;
        }
    }
    let place = place(finding);
    let place = if place.is_empty() { place } else { format!("{place}: ") };
    let message = format!("{place}{}", told(finding));
    writeln!(out, "title={}::{}", property(finding.code), data(&shown(&message)))
}

fn command(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "notice",
    }
}

/// A message as it may stand in a command.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// A property's value as it may stand in a command.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::testing::{of_code, run};

    fn lines(run: &Verification) -> Vec<String> {
        let mut out = Vec::new();
        github(run, &mut out).unwrap();
        String::from_utf8(out).unwrap().lines().map(str::to_owned).collect()
    }

    #[test]
    fn what_is_special_in_a_command_is_escaped() {
        let mut run = run(of_code("seq-gap", 1));
        run.files[0].path = "a,b:c%\r\n.jsonl".into();
        run.files[0].findings[0].message = "50%, a: b\r\n::error::x\u{1b}[31m".into();
        assert_eq!(
            lines(&run),
            ["::error file=a%2Cb%3Ac%25%0D%0A.jsonl,line=2,title=seq-gap::\
              line 2, byte 0, seq 0: 50%25, a: b\\r%0A::error::x\\u{1b}[31m%0Aseq 7: the cause%0Ahelp: do this"]
        );
    }

    #[test]
    fn of_many_alike_ten_are_told() {
        let mut run = run(of_code("torn-tail", 12));
        run.files[0].findings[11].count = 500;
        let lines = lines(&run);
        assert_eq!(lines.len(), 11);
        assert_eq!(lines[10], "::warning title=torn-tail::and 501 more findings of torn-tail, in 1 log");
    }

    #[test]
    fn a_compressed_log_has_no_line_and_standard_input_no_file() {
        let mut run = run(of_code("crlf", 1));
        run.files[0].content = Some(Container::Zstd);
        assert!(lines(&run)[0].contains(" file=logs/session.jsonl,title=crlf::"), "{:?}", lines(&run));
        run.files[0].path = "-".into();
        assert!(lines(&run)[0].contains(" title=crlf::"), "{:?}", lines(&run));
    }
}
