//! Feeds logs of any version to the rules, without a reader.

use super::Relations;
use crate::check::Finding;
use crate::check::finding::Findings;
use crate::check::losses::Losses;
use crate::check::payload::Payload;
use crate::check::testing::{code_at_seq, event as plain, marked};
use crate::format::Relations as Facts;
use crate::json::{self, Document, Object};
use crate::log::{Event, Header, Place};

/// Events by type and payload, and what must be found in them.
pub(super) type Case<'a> = (&'a [(&'a str, &'a str)], &'a [&'a str]);

/// The facts of a version, by the number in a header.
pub(super) fn facts(version: u64) -> &'static Facts {
    &crate::format::of(version).unwrap().relations
}

/// A header of the session `s`.
pub(super) fn header(version: u64) -> Header {
    Header::of_session(version)
}

/// An event of a line.
pub(in crate::check) fn event<'a>(line: &Object<'a>) -> Event<'a> {
    Event {
        event_type: line.text("type").unwrap().into_str(),
        seq: line.count("seq").unwrap(),
        time: 0,
        data: line.get("data").unwrap(),
        ignorable: line.get("ignorable").is_some(),
        source_event_seqs: line.get("sourceEventSeqs"),
        surface_op: line.get("surfaceOp"),
    }
}

/// What the rules say of lines behind a header. A line that is no object is a lost event.
pub(super) fn judge<S: AsRef<str>>(header: &Header, lines: &[S]) -> Vec<Finding> {
    let (mut findings, mut losses) = (Findings::default(), Losses::default());
    let mut relations = Relations::new(facts(header.version), header);
    for (seq, line) in (0..).zip(lines) {
        let line = json::parse(line.as_ref()).ok();
        let Some(line) = line.as_ref().and_then(Document::object) else {
            losses.unread(seq);
            continue;
        };
        if losses.read_on(seq).is_some() {
            relations.doubt();
        }
        let event = event(&line);
        relations.event(
            &event,
            &Payload::of(&event),
            Place { line: Some(seq + 2), ..Place::default() },
            &losses,
            &mut findings,
        );
    }
    relations.finish(&mut findings);
    findings.sorted()
}

/// What the rules say of a whole log that needs no reader: no packed rows, no header but its id and version.
pub(super) fn judge_log(text: &str) -> Vec<Finding> {
    let mut lines = text.lines();
    let first = Object::of(json::leaked(lines.next().unwrap())).unwrap();
    let header = Header {
        id: first.text("id").unwrap().into_str().into_owned(),
        parent_session: first.text("parentSession").map(|parent| parent.into_str().into_owned()),
        seed_length: first.count("seedLength"),
        ..header(first.count("version").unwrap())
    };
    let lines: Vec<&str> = lines.filter(|line| !line.contains("-chunks\",\"seq0\"")).collect();
    judge(&header, &lines)
}

/// The codes found in events given by type and payload, in format 4 unless the version is given.
pub(super) fn found(events: &[(&str, &str)]) -> Vec<String> {
    found_in(4, events)
}

/// The same in another version.
pub(super) fn found_in(version: u64, events: &[(&str, &str)]) -> Vec<String> {
    codes(&judge(&header(version), &lines(events)))
}

/// Numbered lines; messages are appended to the surface.
pub(super) fn lines(events: &[(&str, &str)]) -> Vec<String> {
    let line = |(seq, (event_type, data)): (u64, &(&str, &str))| {
        if event_type.ends_with("/message") || *event_type == "tool/result" {
            marked(seq, event_type, data, r#""append""#, "")
        } else {
            plain(seq, event_type, data)
        }
    };
    (0..).zip(events).map(line).collect()
}

/// Payloads of turn and step boundaries.
pub(super) const TURN: &str = r#"{"turn":1}"#;
pub(super) const STEP: &str = r#"{"turn":1,"step":1}"#;
pub(super) const HEADER: &str = r#"{"header":{"config":{"provider":"p","model":"m"}},"reason":"initial"}"#;

/// An assistant message of turn 1, step 1 that makes these calls of `sh` with `{}`.
pub(super) fn calls(ids: &[&str]) -> String {
    let blocks: Vec<String> = ids
        .iter()
        .map(|id| format!(r#"{{"type":"tool-call","id":"{id}","name":"sh","arguments":"{{}}"}}"#))
        .collect();
    format!(r#"{{"turn":1,"step":1,"message":{{"content":[{}]}}}}"#, blocks.join(","))
}

/// The start of such a call.
pub(super) fn call(id: &str) -> String {
    format!(r#"{{"turn":1,"step":1,"callId":"{id}","name":"sh","arguments":"{{}}"}}"#)
}

/// Its result, as format 4 has it.
pub(super) fn result(id: &str) -> String {
    format!(
        r#"{{"turn":1,"step":1,"message":{{"id":"r","role":"tool","toolCallId":"{id}","content":[],"source":{{"kind":"tool","callId":"{id}"}}}}}}"#
    )
}

/// `code@seq` of each finding.
pub(super) fn codes(findings: &[Finding]) -> Vec<String> {
    findings.iter().map(code_at_seq).collect()
}
