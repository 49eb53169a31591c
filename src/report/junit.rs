//! JUnit XML: a suite for each log, in it a case for each rule that the log has findings of, and one that passes
//! where it has none.
//!
//! A case for each rule there is would bury what was found under a hundred cases that pass, in each log. A case
//! is named by its rule and belongs to a class named by its log: CI systems tell cases apart by class and name, not by
//! suite.

use super::phrases::{self, place, told};
use super::printer::{shown, shown_path};
use crate::batch::journal::Past;
use crate::check::{Finding, Severity};
use crate::verify::{FileVerdict, Status, Tally, Verification};
use quick_junit::{NonSuccessKind, Report, SerializeError, TestCase, TestCaseStatus, TestSuite};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::sync::Arc;

/// How many findings of one severity a case tells, unless more is asked for.
const MOST: usize = 10;

/// Writes the report of a run. Cases with findings at or above `threshold` fail; the others say what they found and
/// pass.
pub fn junit(
    run: &Verification,
    threshold: Severity,
    is_verbose: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    let most = if is_verbose { usize::MAX } else { MOST };
    let mut report = Report::new("dshc verify");
    report.add_test_suites(run.files.iter().map(|file| suite(file, threshold, most)));
    report.serialize(out).map_err(io_error)
}

fn suite(file: &FileVerdict, threshold: Severity, most: usize) -> TestSuite {
    let name = legal(&shown_path(&file.path));
    let mut by_code: BTreeMap<&str, Vec<&Finding>> = BTreeMap::new();
    for finding in &file.findings {
        by_code.entry(finding.code).or_default().push(finding);
    }
    let mut cases: Vec<TestCase> = by_code
        .into_iter()
        .map(|(code, mut findings)| {
            // The gravest first; those of one severity stay in the order of their places.
            findings.sort_by_key(|finding| Reverse(finding.severity));
            case(file.status(), code, &findings, threshold, most)
        })
        .collect();
    cases.extend(file.past.as_ref().map(|past| spared(past, threshold)));
    if cases.is_empty() {
        cases.push(TestCase::new("no findings", TestCaseStatus::success()));
    }
    let mut suite = TestSuite::new(&name);
    suite.add_test_cases(cases.into_iter().map(|mut case| {
        case.set_classname(&name);
        // Standard input is no file that could be opened.
        if !file.is_stdin() {
            case.extra.insert("file".into(), (&name).into());
        }
        case
    }));
    suite
}

/// The case of a log that an earlier run has checked; it fails again if it failed then.
fn spared(past: &Past, threshold: Severity) -> TestCase {
    let told =
        format!("{} when it was checked; the journal tells that it has not changed since", past.status);
    let worst = past.worst.as_deref().and_then(Severity::named);
    let mut status = match worst {
        Some(worst) if worst >= threshold => TestCaseStatus::non_success(NonSuccessKind::Failure),
        _ => TestCaseStatus::skipped(),
    };
    status.set_message(legal(&shown(&told)));
    TestCase::new("checked before", status)
}

/// The case of one rule and its findings, of which there is at least one, the gravest first.
fn case(status: Status, code: &str, findings: &[&Finding], threshold: Severity, most: usize) -> TestCase {
    let text = legal(&text(findings, most));
    let worst = findings.first().map(|finding| finding.severity);
    let kind = match worst {
        // The log could not be checked: JUnit tells that apart from a check that failed.
        Some(_) if status == Status::Unreadable => NonSuccessKind::Error,
        Some(worst) if worst >= threshold => NonSuccessKind::Failure,
        _ => {
            let mut case = TestCase::new(code, TestCaseStatus::success());
            case.set_system_out(text);
            return case;
        }
    };
    let first = findings.first().map(|finding| finding.message.as_str()).unwrap_or_default();
    let first = legal(&shown(first)).replace('\n', " ");
    let message = match findings {
        [finding] if finding.count == 1 => first,
        _ => {
            let tally = Tally::of(findings.iter().copied());
            format!("{}, the first: {first}", phrases::tally(tally))
        }
    };
    let mut status = TestCaseStatus::non_success(kind);
    status.set_message(message).set_type(worst.map_or("", Severity::as_str)).set_description(text);
    TestCase::new(code, status)
}

fn text(findings: &[&Finding], most: usize) -> String {
    let mut text = String::new();
    for alike in findings.chunk_by(|one, next| one.severity == next.severity) {
        for finding in alike.iter().take(most) {
            let (severity, place) = (finding.severity.as_str(), place(finding));
            let place = if place.is_empty() { place } else { format!(" at {place}") };
            let _ = writeln!(text, "{severity}{place}: {}", shown(&told(finding)));
        }
        let left_out = alike.iter().skip(most);
        let more = left_out.fold(0, |sum: u64, finding| sum.saturating_add(finding.count));
        if let (Some(finding), 1..) = (alike.first(), more) {
            let _ = writeln!(text, "and {} like this", phrases::more(more, finding.severity));
        }
    }
    text
}

/// XML has no place for these two, not even escaped; control characters are escaped before.
fn legal(text: &str) -> String {
    text.replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}")
}

/// The error of the stream below, whose kind tells a closed pipe from a full disk.
fn io_error(error: SerializeError) -> io::Error {
    let mut source: Option<&dyn Error> = error.source();
    while let Some(cause) = source {
        let io = cause.downcast_ref::<io::Error>();
        if let Some(io) = io.or_else(|| cause.downcast_ref::<Arc<io::Error>>().map(|io| &**io)) {
            return io::Error::new(io.kind(), io.to_string());
        }
        source = cause.source();
    }
    io::Error::other(error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::testing::{of_code, run};

    fn report(run: &Verification, threshold: Severity) -> String {
        let mut out = Vec::new();
        junit(run, threshold, false, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_case_fails_from_the_threshold_on() {
        let run = run([of_code("seq-gap", 2), of_code("torn-tail", 1)].concat());
        let strict = report(&run, Severity::Warning);
        assert!(
            strict.contains(r#"<testsuites name="dshc verify" tests="2" skipped="0" failures="2""#),
            "{strict}"
        );
        let lenient = report(&run, Severity::Error);
        assert!(lenient.contains(r#"failures="1""#), "{lenient}");
        assert!(
            lenient.contains(r#"<failure message="2 errors, the first: no 0" type="error">"#),
            "{lenient}"
        );
        assert!(lenient.contains("<system-out>warning at line 2, byte 0, seq 0: no 0\n"), "{lenient}");
    }

    #[test]
    fn standard_input_is_no_file() {
        let mut run = run(of_code("seq-gap", 1));
        run.files[0].path = "-".into();
        let report = report(&run, Severity::Error);
        assert!(report.contains(r#"classname="-""#) && !report.contains("file="), "{report}");
    }

    #[test]
    fn a_clean_log_passes() {
        let clean = report(&run(Vec::new()), Severity::Error);
        assert!(clean.contains(r#"<testcase name="no findings" classname="logs/session.jsonl""#), "{clean}");
    }

    #[test]
    fn a_log_that_was_spared_fails_again_if_it_failed() {
        let mut run = run(Vec::new());
        let past = |worst: &'static str| Past {
            status: "findings".into(),
            worst: Some(worst.into()),
            ..Past::default()
        };
        run.files[0].past = Some(past("warning"));
        let lenient = report(&run, Severity::Error);
        assert!(lenient.contains(r#"skipped="1" failures="0""#), "{lenient}");
        assert!(lenient.contains(r#"<skipped message="findings when it was checked"#), "{lenient}");
        assert!(report(&run, Severity::Warning).contains(r#"skipped="0" errors="0" failures="1""#));
    }

    #[test]
    fn characters_that_xml_lacks_are_told_otherwise() {
        let mut run = run(of_code("seq-gap", 1));
        run.files[0].findings[0].message = "a\u{0}\u{1b}[1m\u{ffff}\u{85}<&>]]>".into();
        let report = report(&run, Severity::Error);
        assert!(report.contains("a\\u{0}\\u{1b}[1m\u{fffd}\\u{85}&lt;&amp;&gt;]]&gt;"), "{report}");
    }

    #[test]
    fn of_many_alike_ten_are_told() {
        let report = report(&run(of_code("seq-gap", 30)), Severity::Error);
        assert!(report.contains("and 20 more errors like this"), "{report}");
        assert!(!report.contains("no 10"), "{report}");
    }

    #[test]
    fn the_gravest_comes_first() {
        let mut run = run(of_code("seq-gap", 1100));
        for finding in &mut run.files[0].findings[..1099] {
            finding.severity = Severity::Note;
        }
        let report = report(&run, Severity::Error);
        assert!(report.contains(r#"message="1 error, 1,099 notes, the first: no 1099""#), "{report}");
        let end = "and 1,089 more notes like this";
        assert!(report.contains("\">error at line 1101") && report.contains(end), "{report}");
        let mut all = Vec::new();
        junit(&run, Severity::Error, true, &mut all).unwrap();
        assert!(!String::from_utf8(all).unwrap().contains("more notes"));
    }

    #[test]
    fn a_closed_pipe_is_told_as_one() {
        struct Closed;
        impl Write for Closed {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::BrokenPipe.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let error = junit(&run(Vec::new()), Severity::Error, false, &mut Closed).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
    }
}
