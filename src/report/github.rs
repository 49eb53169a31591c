//! GitHub's workflow commands: each finding as an annotation of a job, one line each.

use super::phrases::{more, place, told};
use super::printer::{escaped, is_unsafe, shown};
use crate::check::{Finding, Severity};
use crate::log::Container;
use crate::verify::{FileVerdict, Verification};
use crate::wording::amount;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

/// How many findings of one rule and severity are told, unless more is asked for. GitHub itself shows ten annotations
/// of a severity for a step.
const MOST: u64 = 10;

/// What is told and what is not of one rule and severity.
#[derive(Default)]
struct Rest {
    told: u64,
    breaches: u64,
    files: BTreeSet<usize>,
}

/// Writes the commands of a run, and nothing else.
pub fn github(run: &Verification, is_verbose: bool, out: &mut dyn Write) -> io::Result<()> {
    let most = if is_verbose { u64::MAX } else { MOST };
    let mut rests: BTreeMap<(&str, Severity), Rest> = BTreeMap::new();
    for (index, file) in run.files.iter().enumerate() {
        for finding in &file.findings {
            let rest = rests.entry((finding.code, finding.severity)).or_default();
            if rest.told < most {
                rest.told += 1;
                annotation(file, finding, out)?;
            } else {
                rest.breaches = rest.breaches.saturating_add(finding.count);
                rest.files.insert(index);
            }
        }
    }
    for ((code, severity), rest) in rests.iter().filter(|(_, rest)| rest.breaches > 0) {
        let logs = amount(rest.files.len() as u64, "log");
        let more = format!("and {} of {code}, in {logs}", more(rest.breaches, *severity));
        writeln!(out, "::{} title={}::{}", command(*severity), property(code), data(&more))?;
    }
    Ok(())
}

fn annotation(file: &FileVerdict, finding: &Finding, out: &mut dyn Write) -> io::Result<()> {
    write!(out, "::{} ", command(finding.severity))?;
    // Standard input is no file of the repository.
    if !file.is_stdin() {
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

/// A property's value as it may stand in a command. A line feed stays what it is, so that a path stays its file's name.
fn property(text: &str) -> String {
    data(&escaped(text, |character| is_unsafe(character) && !"\r\n".contains(character)))
        .replace(':', "%3A")
        .replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::testing::{of_code, run};

    fn lines(run: &Verification) -> Vec<String> {
        let mut out = Vec::new();
        github(run, false, &mut out).unwrap();
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
        assert_eq!(lines[10], "::warning title=torn-tail::and 501 more warnings of torn-tail, in 1 log");
    }

    #[test]
    fn errors_are_told_behind_many_notes_of_their_rule() {
        let mut run = run(of_code("seq-gap", 40));
        for finding in &mut run.files[0].findings[..39] {
            finding.severity = Severity::Note;
        }
        let lines = lines(&run);
        assert_eq!(lines.len(), 12);
        assert!(lines[10].starts_with("::error file="), "{lines:?}");
        assert_eq!(lines[11], "::notice title=seq-gap::and 29 more notes of seq-gap, in 1 log");
        let mut all = Vec::new();
        github(&run, true, &mut all).unwrap();
        assert_eq!(String::from_utf8(all).unwrap().lines().count(), 40);
    }

    #[test]
    fn control_characters_of_a_path_are_escaped() {
        let mut run = run(of_code("seq-gap", 1));
        run.files[0].path = "a\u{7}\u{9b}2J.jsonl".into();
        assert!(lines(&run)[0].contains(r" file=a\u{7}\u{9b}2J.jsonl,"), "{:?}", lines(&run));
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
