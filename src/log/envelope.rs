//! The envelope of an event: what every record says about itself (FORMAT §4).

use super::fault::Content;
use crate::format::Format;
use crate::json::{self, Kind, Object, Raw};
use std::borrow::Cow;

/// An event as it stands in the log; nothing of its payload is parsed.
#[derive(Debug)]
pub struct Event<'a> {
    /// The event's type, such as `user/message`.
    pub event_type: Cow<'a, str>,
    /// Its number, dense from 0.
    pub seq: u64,
    /// Unix epoch, in milliseconds; may be negative, need not rise.
    pub time: i64,
    /// The payload.
    pub data: Raw<'a>,
    /// Whether a reader that does not know the type may pass it by.
    pub ignorable: bool,
    /// Which events it was made from, unparsed.
    pub source_event_seqs: Option<Raw<'a>>,
    /// What it does to the surface, unparsed.
    pub surface_op: Option<Raw<'a>>,
}

const REQUIRED: &[&str] = &["type", "seq", "time", "data"];
const OPTIONAL: &[&str] = &["ignorable", "sourceEventSeqs", "surfaceOp"];

impl<'a> Event<'a> {
    /// Checks the envelope. The error says what is wrong with it.
    pub(super) fn parse(record: &Object<'a>, format: &Format) -> Result<Self, String> {
        let members =
            record.pick(["type", "seq", "time", "data", "sourceEventSeqs", "surfaceOp", "ignorable"]);
        let (
            [Some(event_type), Some(seq), Some(time), Some(data), source_event_seqs, surface_op, ignorable],
            false,
        ) = members
        else {
            return Err(wrong_members(record));
        };
        let event_type = json::text(event_type).ok_or("its type must be a string")?.into_str();
        let number = |raw, refuses_negative_zero| {
            Some(raw).filter(|raw| !(refuses_negative_zero && json::is_negative_zero(*raw)))
        };
        let seq = number(seq, format.canonical_payloads).and_then(json::count);
        let seq = seq.ok_or("its seq must be a count")?;
        let time = number(time, format.refuses_negative_zero).and_then(json::integer);
        let time = time.ok_or("its time must be an integer")?;
        if ignorable.is_some_and(|raw| !json::is_true(raw)) {
            return Err("its member \"ignorable\" must be true or absent".into());
        }
        Ok(Self {
            event_type,
            seq,
            time,
            data,
            ignorable: ignorable.is_some(),
            source_event_seqs,
            surface_op,
        })
    }

    /// What a record is that is no event.
    pub(super) fn content_of(record: &Object, format: &Format) -> Content {
        if record.has_text("type", "session")
            && record.get("version").is_some()
            && record.get("seq").is_none()
        {
            return Content::Header;
        }
        let seq = record.get("seq").and_then(|raw| format.count(raw));
        let time = record.get("time").and_then(json::integer);
        if record.text("type").is_some() && seq.is_some() && time.is_some() && record.get("data").is_some() {
            return Content::WholeEvent;
        }
        Content::Other
    }

    /// Whether its marker is meant to replace nodes, be its shape right or wrong (FORMAT §4).
    #[must_use]
    pub fn is_replacement(&self) -> bool {
        self.surface_op.is_some_and(|op| json::kind(op) == Kind::Object)
    }

    /// The payload's members, or none where it is no object.
    #[must_use]
    pub fn payload(&self) -> Option<Object<'a>> {
        Object::of(self.data)
    }
}

fn wrong_members(record: &Object) -> String {
    if let Some(missing) = REQUIRED.iter().find(|key| record.get(key).is_none()) {
        return format!("it has no member \"{missing}\"");
    }
    let is_known = |name: &str| REQUIRED.iter().chain(OPTIONAL).any(|key| *key == name);
    let extra = record.names().find(|name| !is_known(&name.to_str()));
    extra.map_or_else(String::new, |extra| {
        format!("it has a member {}, which no event has", json::excerpt(&extra.to_str()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format;

    fn error_in(version: u64, line: &str) -> Option<String> {
        let format = format::of(version).unwrap();
        Event::parse(&Object::of(json::leaked(line)).unwrap(), format).err()
    }

    fn error(line: &str) -> Option<String> {
        error_in(0, line)
    }

    #[test]
    fn negative_zero_is_refused_by_later_formats() {
        for (line, taken) in [
            (r#"{"type":"x","seq":-0,"time":5,"data":{}}"#, [true, true, true, false, false]),
            (r#"{"type":"x","seq":0,"time":-0.0,"data":{}}"#, [true, false, false, false, false]),
        ] {
            let found: Vec<bool> = (0..5).map(|version| error_in(version, line).is_none()).collect();
            assert_eq!(found, taken, "{line}");
        }
    }

    #[test]
    fn envelopes_are_checked() {
        assert_eq!(error(r#"{"type":"x","seq":1.0,"time":-5,"data":null,"ignorable":true}"#), None);
        for line in [
            r#"{"seq":1,"time":1,"data":{}}"#,
            r#"{"type":1,"seq":1,"time":1,"data":{}}"#,
            r#"{"type":"x","seq":-1,"time":1,"data":{}}"#,
            r#"{"type":"x","seq":1,"time":1.5,"data":{}}"#,
            r#"{"type":"x","seq":1,"time":1}"#,
            r#"{"type":"x","seq":1,"time":1,"data":{},"ignorable":false}"#,
            r#"{"type":"x","seq":1,"time":1,"data":{},"meta":1}"#,
        ] {
            assert!(error(line).is_some(), "{line}");
        }
    }
}
