//! `dshc.verify/1`.

use super::LockJson;
use crate::check::{self, Finding};
use crate::report::stream::Stream;
use crate::verify::{FileVerdict, Status, Verification};
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{self, Write};

#[derive(Serialize)]
struct Document<F, I> {
    schema: &'static str,
    files: F,
    ignored: I,
    #[serde(skip_serializing_if = "Option::is_none")]
    interrupted: Option<bool>,
    summary: SummaryJson,
}

#[derive(Serialize)]
struct FileJson<'a, F> {
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<u64>,
    events: u64,
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    lock: Option<LockJson<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    busy: Vec<&'static str>,
    findings: F,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FindingJson<'a> {
    code: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    family: Option<&'static str>,
    severity: &'static str,
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    seq: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    frame: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    byte: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text_byte: Option<u64>,
    /// Only where it is more than one.
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<u64>,
    help: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    related: Vec<RelatedJson<'a>>,
}

#[derive(Serialize)]
struct RelatedJson<'a> {
    seq: u64,
    message: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SummaryJson {
    files: usize,
    clean: usize,
    with_findings: usize,
    unreadable: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    not_begun: Option<usize>,
    by_code: BTreeMap<&'static str, u64>,
}

/// Writes the document of a run.
pub fn verify(run: &Verification, out: &mut dyn Write) -> io::Result<()> {
    let document = Document {
        schema: "dshc.verify/1",
        files: Stream(|| run.files.iter().map(file)),
        ignored: Stream(|| run.ignored.iter().map(|path| path.display().to_string())),
        interrupted: run.not_begun.map(|_| true),
        summary: SummaryJson {
            files: run.files.len(),
            clean: run.count(Status::Clean),
            with_findings: run.count(Status::Findings),
            unreadable: run.count(Status::Unreadable),
            not_begun: run.not_begun,
            by_code: run.by_code(),
        },
    };
    super::write(&document, out)
}

fn file(file: &FileVerdict) -> FileJson<'_, impl Serialize> {
    let (header, ending) = (file.read_header(), file.ending.as_ref());
    FileJson {
        path: file.path.display().to_string(),
        session: header.map(|header| header.id.as_str()),
        version: header.map(|header| header.version),
        events: ending.map_or(0, |ending| ending.events),
        status: file.status().as_str(),
        lock: ending.and_then(|ending| ending.lock.as_ref()).map(LockJson::of),
        busy: ending.into_iter().flat_map(|ending| &ending.busy).map(|busy| busy.as_str()).collect(),
        findings: Stream(|| file.findings.iter().map(finding)),
    }
}

fn finding(finding: &Finding) -> FindingJson<'_> {
    FindingJson {
        code: finding.code,
        family: check::rule(finding.code).map(|rule| rule.family),
        severity: finding.severity.as_str(),
        message: &finding.message,
        seq: finding.seq,
        line: finding.place.line,
        frame: finding.place.frame,
        byte: finding.place.byte,
        text_byte: finding.place.text_byte,
        count: Some(finding.count).filter(|count| *count > 1),
        help: &finding.help,
        related: finding
            .related
            .iter()
            .map(|related| RelatedJson { seq: related.seq, message: &related.message })
            .collect(),
    }
}
