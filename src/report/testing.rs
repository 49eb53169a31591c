//! Findings made by hand, for the tests of the reports.

use crate::check::{Ending, Finding, Related, rule};
use crate::log::{Container, Header, Place};
use crate::verify::{FileVerdict, Verification};

/// `count` findings of a rule, on lines 2, 3, ….
pub fn of_code(code: &str, count: u64) -> Vec<Finding> {
    let rule = rule(code).unwrap();
    let finding = |index: u64| Finding {
        code: rule.code,
        severity: rule.severity,
        message: format!("no {index}"),
        seq: Some(index),
        place: Place {
            line: Some(index + 2),
            byte: Some(index * 10),
            text_byte: Some(index * 10),
            ..Place::default()
        },
        help: "do this".into(),
        related: vec![Related { seq: 7, message: "the cause".into() }],
        count: 1,
    };
    (0..count).map(finding).collect()
}

/// A run over one raw log with these findings.
pub fn run(findings: Vec<Finding>) -> Verification {
    let header = Header::of_session(0);
    let file = FileVerdict {
        path: "logs/session.jsonl".into(),
        spot: None,
        header: Some(header),
        version: Some(0),
        content: Some(Container::Raw),
        ending: Some(Ending { events: 43, last_time: None, lock: None, busy: Vec::new() }),
        findings,
    };
    Verification { files: vec![file], ignored: Vec::new(), not_begun: None }
}
