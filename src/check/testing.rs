//! Small logs for the tests of the rules.

use super::{Checked, Finding, Options, Severity, check, pass::Pass, run};
use crate::format::{self, Seeded};
use crate::log::append::zstd_frame;
use crate::log::{LogReader, Source};
use std::io::Write;
use std::path::{Path, PathBuf};

/// A file below `fixtures/`.
pub(super) fn fixture(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(path)
}

/// A header of format 0.
pub(super) const HEADER: &str =
    r#"{"type":"session","version":0,"id":"s","createdAt":1,"delegationDepth":0}"#;

/// An event that puts nothing on the surface.
pub(super) fn event(seq: u64, event_type: &str, data: &str) -> String {
    format!(r#"{{"type":"{event_type}","seq":{seq},"time":{seq},"data":{data}}}"#)
}

/// An event with a marker; `more` is further members, with a comma before them.
pub(super) fn marked(seq: u64, event_type: &str, data: &str, op: &str, more: &str) -> String {
    format!(r#"{{"type":"{event_type}","seq":{seq},"time":{seq},"data":{data},"surfaceOp":{op}{more}}}"#)
}

/// A prompt; texts of up to four letters cost nine host tokens.
pub(super) fn user(seq: u64, text: &str) -> String {
    let data = format!(
        r#"{{"id":"u{seq}","role":"user","content":[{{"type":"text","text":"{text}"}}],"source":{{"kind":"user"}}}}"#
    );
    marked(seq, "user/message", &data, r#""append""#, "")
}

/// An assistant message of turn 1 that makes these calls.
pub(super) fn call(seq: u64, ids: &[&str]) -> String {
    let blocks: Vec<String> = ids
        .iter()
        .map(|id| format!(r#"{{"type":"tool-call","id":"{id}","name":"sh","arguments":"{{}}"}}"#))
        .collect();
    let data = format!(
        r#"{{"turn":1,"step":1,"message":{{"id":"a{seq}","role":"assistant","content":[{}],"source":{{"kind":"model","provider":"p","model":"m"}}}}}}"#,
        blocks.join(",")
    );
    marked(seq, "assistant/message", &data, r#""append""#, "")
}

/// A result of turn 1 for the call `id`.
pub(super) fn result(seq: u64, id: &str) -> String {
    let data = format!(
        r#"{{"turn":1,"step":1,"message":{{"id":"r{seq}","role":"user","content":[{{"type":"tool-result","toolCallId":"{id}","content":[]}}],"source":{{"kind":"tool","callId":"{id}"}}}}}}"#
    );
    marked(seq, "tool/result", &data, r#""append""#, "")
}

/// Start, summary, checkpoint and end of a compaction of the one node `shadowed`, a prompt of a short text.
pub(super) fn bracket(seq: u64, id: &str, turn: &str, shadowed: u64) -> Vec<String> {
    let (summary, checkpoint) = (seq + 1, seq + 2);
    let boundary = format!(r#"{{"compactionId":"{id}","turn":{turn}}}"#);
    vec![
        event(seq, "compaction/start", &boundary),
        event(
            summary,
            "compaction/summary",
            &format!(
                r#"{{"compactionId":"{id}","summary":[],"shadowedRange":{{"start":{shadowed},"end":{shadowed}}},"shadowedSeqs":[{shadowed}],"shadowedTokenCount":9,"provider":"p","model":"m"}}"#
            ),
        ),
        marked(
            checkpoint,
            "user/message",
            &format!(
                r#"{{"id":"c{seq}","role":"user","content":[],"source":{{"kind":"plugin","plugin":"compact","compactionId":"{id}"}}}}"#
            ),
            &format!(r#"{{"op":"replace","start":{shadowed},"end":{shadowed}}}"#),
            &format!(r#","sourceEventSeqs":[{seq},{summary},{shadowed}]"#),
        ),
        event(seq + 3, "compaction/end", &boundary),
    ]
}

/// A Zstandard frame as dsh writes it.
pub(super) fn frame(text: &str) -> Vec<u8> {
    zstd_frame(text.as_bytes()).unwrap()
}

/// Checks a log of these bytes by all rules but those between events: it may be a fragment, without turns.
pub(super) fn check_bytes(bytes: &[u8]) -> Checked {
    let mut reader = LogReader::open(&source(bytes)).unwrap();
    let pass = Pass::new(reader.header().clone(), reader.format(), reader.container(), Options::default());
    run(pass.of_fragment(), &mut reader).unwrap()
}

fn source(bytes: &[u8]) -> Source {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    Source::of(file, Path::new("log")).unwrap()
}

/// Checks a log of these lines behind a header.
pub(super) fn check_events(lines: &[String]) -> Checked {
    check_bytes(format!("{HEADER}\n{}\n", lines.join("\n")).as_bytes())
}

/// Checks a log of these lines behind a header of some format, by all rules.
pub(super) fn check_events_of(version: u64, lines: &[String]) -> Checked {
    let seeded = match format::of(version).unwrap().header.seeded {
        Seeded::Length => "",
        Seeded::Flag => "\"isSeeded\":false,",
    };
    let header = HEADER.replace("\"version\":0,", &format!("\"version\":{version},{seeded}"));
    check_source(&source(format!("{header}\n{}\n", lines.join("\n")).as_bytes()))
}

/// Checks a log that can be opened.
pub(super) fn check_source(source: &Source) -> Checked {
    check(&mut LogReader::open(source).unwrap(), Options::default()).unwrap()
}

/// Checks a log of `fixtures/`.
pub(super) fn check_fixture(path: &str) -> Checked {
    check_source(&Source::open(&fixture(path)).unwrap())
}

/// The gravest severity found.
pub(super) fn worst(checked: &Checked) -> Option<Severity> {
    checked.findings.iter().map(|finding| finding.severity).max()
}

/// The codes found, in their order; people must be able to look each of them up.
pub(super) fn codes(checked: &Checked) -> Vec<&'static str> {
    let mut unlisted = checked.findings.iter().filter(|finding| super::rule(finding.code).is_none());
    assert_eq!(unlisted.next(), None, "a rule is in no list");
    checked.findings.iter().map(|finding| finding.code).collect()
}

/// A finding as `code@seq`, with `-` where there is no seq.
pub(super) fn code_at_seq(finding: &Finding) -> String {
    let seq = finding.seq.map_or_else(|| "-".to_owned(), |seq| seq.to_string());
    format!("{}@{seq}", finding.code)
}

/// The codes found but for those of checkpoint quality: the checkpoints of small logs hold nothing.
pub(super) fn structural_codes(checked: &Checked) -> Vec<&'static str> {
    let is_quality = |code: &str| super::rule(code).is_some_and(|rule| rule.family == "checkpoint");
    codes(checked).into_iter().filter(|code| !is_quality(code)).collect()
}

/// The one finding.
pub(super) fn only(checked: Checked) -> Finding {
    assert_eq!(checked.findings.len(), 1, "{:#?}", checked.findings);
    checked.findings.into_iter().next().unwrap()
}
