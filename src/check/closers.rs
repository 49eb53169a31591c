//! Which events dsh writes by itself when it opens a session whose turn is open (FORMAT §9.3, §9.4), and how events are
//! called where a history is told in few words.

use super::wording::{owned, quoted};
use crate::log::{Body, Event};

/// The ids of results that dsh makes for calls that have none.
const REPAIR_IDS: [&str; 2] = ["interrupted-tool-result-", "forked-tool-result-"];

/// Whether no model, tool or person has a part in a record: dsh writes it by itself when it opens a session.
pub(super) fn is_synthetic(body: &Body) -> bool {
    let Body::Event(event) = body else { return false };
    match &*event.event_type {
        "step/end" | "session/end-seed" => true,
        "turn/end" => end_kind(event).is_some_and(|kind| kind == "interrupted" || kind == "forked"),
        "tool/result" => repair_code(event).is_some(),
        _ => false,
    }
}

/// The part that a record has in a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    Starts,
    /// It stands in an open turn alone.
    Within,
    Ends,
    /// It may stand anywhere.
    Any,
}

/// Which part a record has in a turn (FORMAT §6).
pub(super) fn turn(body: &Body) -> Turn {
    let Body::Event(event) = body else { return Turn::Within };
    match &*event.event_type {
        "turn/start" => Turn::Starts,
        "turn/end" => Turn::Ends,
        "step/start" | "step/end" | "assistant/message" | "tool/call" | "tool/result" => Turn::Within,
        _ => Turn::Any,
    }
}

/// A record in a few words: its type, and what tells closers from work.
pub(super) fn told(body: &Body) -> String {
    let Body::Event(event) = body else { return "streamed deltas".to_owned() };
    let more = match &*event.event_type {
        "turn/end" => end_kind(event),
        "tool/result" => repair_code(event).or_else(|| call_of(event).map(|id| format!("for {id}"))),
        _ => None,
    };
    let event_type =
        if event.event_type.len() > 60 { quoted(&event.event_type) } else { event.event_type.to_string() };
    more.map_or_else(|| event_type.clone(), |more| format!("{event_type} {more}"))
}

fn end_kind(event: &Event) -> Option<String> {
    let kind = event.payload()?.object("reason")?.text("kind").map(owned)?;
    (kind.len() <= 40).then_some(kind)
}

/// The code of a result that dsh made for a call that had none.
fn repair_code(event: &Event) -> Option<String> {
    let data = event.payload()?;
    let id = data.object("message")?.text("id").map(owned)?;
    let code = data.object("error").and_then(|error| error.text("code").map(owned))?;
    let is_repair = REPAIR_IDS.iter().any(|prefix| id.starts_with(prefix));
    (is_repair && ["TOOL_NOT_STARTED", "TOOL_OUTCOME_UNKNOWN"].contains(&&*code)).then_some(code)
}

fn call_of(event: &Event) -> Option<String> {
    let source = event.payload()?.object("message")?.object("source")?;
    source.text("callId").map(|id| quoted(&owned(id)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format;
    use crate::json::{self, Object};

    fn body(line: &str) -> (bool, String) {
        let raw = json::leaked(line);
        let object = Object::of(raw).unwrap();
        let event = Event {
            event_type: object.text("type").unwrap().into_str(),
            seq: 1,
            time: 1,
            data: object.get("data").unwrap(),
            ignorable: false,
            source_event_seqs: None,
            surface_op: None,
        };
        assert!(format::of(0).unwrap().knows(&event.event_type));
        let body = Body::Event(event);
        (is_synthetic(&body), told(&body))
    }

    #[test]
    fn closers_are_told_from_work() {
        let result = |id: &str, error: &str| {
            body(&format!(
                r#"{{"type":"tool/result","data":{{"message":{{"id":"{id}","source":{{"kind":"tool","callId":"c"}}}}{error}}}}}"#
            ))
        };
        let code = r#","error":{"name":"E","code":"TOOL_OUTCOME_UNKNOWN"}"#;
        assert_eq!(
            result("interrupted-tool-result-c-3", code),
            (true, "tool/result TOOL_OUTCOME_UNKNOWN".to_owned())
        );
        assert_eq!(result("r", code), (false, "tool/result for \"c\"".to_owned()));
        assert!(!result("interrupted-tool-result-c-3", "").0);
        let end = |kind: &str| {
            body(&format!(r#"{{"type":"turn/end","data":{{"turn":1,"reason":{{"kind":"{kind}"}}}}}}"#))
        };
        assert_eq!(end("interrupted"), (true, "turn/end interrupted".to_owned()));
        assert_eq!(end("completed"), (false, "turn/end completed".to_owned()));
        assert!(
            body(r#"{"type":"step/end","data":{}}"#).0 && body(r#"{"type":"session/end-seed","data":{}}"#).0
        );
        assert!(!body(r#"{"type":"todo/write","data":{}}"#).0);
    }
}
