//! Events that no reader takes: the rules of the surface, of payloads and of event types (FORMAT §4.2, §7.2).

mod rules;

use super::Finding;
use super::losses::Losses;
use super::registry::Rule;
use super::wording::quoted;
use crate::format::{self, Format};
use crate::json::Object;
use crate::log::{Event, Place};
use crate::session::{Fate, ShapeError, SurfaceError, Violation, origin};
pub(super) use rules::RULES;
use rules::{
    MARKER_FORBIDDEN, MARKER_INVALID, MARKER_MISSING, MESSAGE_SHAPE, OP_DIALECT, PAYLOAD_SHAPE,
    RANGE_REVERSED, RANGE_UNKNOWN, RETIRED_EVENT, SOURCES_INCOMPLETE, SOURCES_INVALID, SYSTEM_HEAD,
    TOOL_RESULT_REWRITE, UNKNOWN_REQUIRED_EVENT,
};

/// What is to be said of an event that the session did not take, of which readers make `fate`.
pub(super) fn finding(
    violation: &Violation,
    fate: Fate,
    event: &Event,
    place: Place,
    format: &Format,
    losses: &Losses,
) -> Finding {
    let finding = match violation {
        Violation::Surface(error) => {
            let mut finding =
                Finding::new(rule_of(error), place, error.to_string()).with_help(help(error, fate));
            if let SurfaceError::Dialect { .. } | SurfaceError::MarkerShape { .. } = error {
                finding.message.push_str(&missing_members(event, format));
            }
            relate(finding, error, losses)
        }
        Violation::Shape(error) => shape(error, place, format).with_help(consequence(fate)),
        Violation::UnknownType(name) => Finding::new(
            &UNKNOWN_REQUIRED_EVENT,
            place,
            format!(
                "event type {} is unknown in format {} and not marked ignorable",
                quoted(name),
                format.version
            ),
        )
        .with_help(format!(
            "{}. The event is sound; `dshc replay --allow-unknown` shows what can be understood without it",
            home(name, format)
        )),
        Violation::RetiredType(name) => Finding::new(
            &RETIRED_EVENT,
            place,
            format!(
                "event type {} was retired before the first release; every reader refuses it",
                quoted(name)
            ),
        )
        .with_help("a development build of dsh wrote the log; only that build reads it"),
    };
    finding.at_seq(event.seq)
}

/// Where a log with an event of this type is to be opened.
fn home(event_type: &str, format: &Format) -> String {
    let origin = origin(event_type, format);
    if format::knowing(event_type).next().is_some() {
        return format!("{origin}, so another tool or a private fork wrote it into this log");
    }
    format!("{origin}, and only that program knows what it means: open the log there")
}

fn rule_of(error: &SurfaceError) -> &'static Rule {
    match error {
        SurfaceError::MarkerMissing(_) => &MARKER_MISSING,
        SurfaceError::MarkerForbidden { .. } => &MARKER_FORBIDDEN,
        SurfaceError::MarkerKind(_) => &MARKER_INVALID,
        SurfaceError::Dialect { .. }
        | SurfaceError::MarkerShape { .. }
        | SurfaceError::MarkerValue { .. } => &OP_DIALECT,
        SurfaceError::Sources(_) | SurfaceError::SourcesForbidden(_) => &SOURCES_INVALID,
        SurfaceError::SourcesIncomplete(_) => &SOURCES_INCOMPLETE,
        SurfaceError::EdgeUnknown { .. } => &RANGE_UNKNOWN,
        SurfaceError::Reversed { .. } => &RANGE_REVERSED,
        SurfaceError::SystemHead(_) => &SYSTEM_HEAD,
        SurfaceError::RewriteSpan(_) | SurfaceError::RewriteTarget { .. } | SurfaceError::RewriteMore(_) => {
            &TOOL_RESULT_REWRITE
        }
    }
}

/// What is said of an event for which alone dsh refuses a log.
pub(super) const REFUSED: &str = "dsh refuses the whole log for it";

/// What dsh makes of the event; of a dropped line more is said where the whole log is known.
fn consequence(fate: Fate) -> String {
    match fate {
        Fate::Dropped => "The checks go on as if the event were not there".to_owned(),
        Fate::Refused | Fate::NeverDropped => {
            format!("{REFUSED}; the checks go on as if the event were not there")
        }
    }
}

fn help(error: &SurfaceError, fate: Fate) -> String {
    let first = match error {
        SurfaceError::MarkerMissing(_) => "a message needs surfaceOp \"append\" or a replacement",
        SurfaceError::MarkerForbidden { .. } => "only messages may carry it",
        SurfaceError::MarkerKind(_) | SurfaceError::MarkerValue { .. } => "another tool wrote this marker",
        SurfaceError::Dialect { .. } => "another tool wrote this event with the names of another format",
        SurfaceError::MarkerShape { .. } => {
            "another tool wrote this event; a member that is missing may have been undefined when it was written"
        }
        SurfaceError::Sources(_) => "the list must name each event once, all of them earlier than this one",
        SurfaceError::SourcesForbidden(_) => "another tool wrote this event as earlier formats have it",
        SurfaceError::SystemHead(_) => {
            "another tool wrote this event; a region starts behind the system prompt"
        }
        SurfaceError::SourcesIncomplete(_) => {
            "the list must hold all hidden nodes; other earlier events may join them"
        }
        SurfaceError::EdgeUnknown { .. } => {
            "edges are names of nodes that stand on the surface at that moment"
        }
        SurfaceError::Reversed { .. } => "positions on the surface count, not the size of the numbers",
        SurfaceError::RewriteSpan(_) | SurfaceError::RewriteTarget { .. } | SurfaceError::RewriteMore(_) => {
            "a shortened tool result keeps its id, turn, step, error and meta, and stands for exactly one result"
        }
    };
    format!("{first}. {}", consequence(fate))
}

/// Which members of a replacement are not there: a JSON writer drops what is undefined.
fn missing_members(event: &Event, format: &Format) -> String {
    let op = event.surface_op.and_then(Object::of);
    let is_missing = |member: &&str| op.as_ref().is_some_and(|op| op.get(member).is_none());
    let members = ["op"].into_iter().chain(format.replace_members);
    let missing: Vec<String> = members.filter(is_missing).map(|member| format!("\"{member}\"")).collect();
    match missing.as_slice() {
        [] => String::new(),
        [one] => format!("; {one} is missing"),
        more => format!("; {} are missing", more.join(" and ")),
    }
}

fn relate(finding: Finding, error: &SurfaceError, losses: &Losses) -> Finding {
    match error {
        SurfaceError::EdgeUnknown { seq, hidden_by: Some(by), .. } => {
            finding.relating(*by, format!("this replacement hides {seq}"))
        }
        SurfaceError::EdgeUnknown { seq, .. } if losses.contains(*seq) => finding
            .relating(*seq, "this event could not be read or breaks a rule itself, and so was left out"),
        SurfaceError::RewriteTarget { seq, .. } | SurfaceError::RewriteMore(seq) => {
            finding.relating(*seq, "the node that it would replace")
        }
        _ => finding,
    }
}

fn shape(error: &ShapeError, place: Place, format: &Format) -> Finding {
    let rule = if format.surface_type(&error.event_type).is_some() { &MESSAGE_SHAPE } else { &PAYLOAD_SHAPE };
    Finding::new(rule, place, error.to_string())
}

#[cfg(test)]
mod tests {
    use super::super::testing::{
        call, check_events, event, marked, only, result, structural_codes as codes, user,
    };

    fn replace(op: &str, sources: &str) -> Vec<String> {
        let message = r#"{"id":"m","role":"user","content":[],"source":{"kind":"plugin","plugin":"p"}}"#;
        vec![user(0, "one"), user(1, "two"), marked(2, "user/message", message, op, sources)]
    }

    #[test]
    fn every_rule_of_the_surface_has_its_code() {
        let sources = r#","sourceEventSeqs":[0,1]"#;
        for (op, sources, code) in [
            ("null", "", "surface-marker-invalid"),
            ("[]", "", "surface-marker-invalid"),
            (r#""replace""#, "", "surface-marker-invalid"),
            (r#"{"op":"replace","startSeq":0,"endSeq":1}"#, sources, "surface-op-dialect"),
            (r#"{"op":"replace","end":1}"#, sources, "surface-op-dialect"),
            (r#"{"op":"delete","start":0,"end":1}"#, sources, "surface-op-dialect"),
            (
                r#"{"op":"replace","start":0,"end":1}"#,
                r#","sourceEventSeqs":[1,1]"#,
                "surface-sources-invalid",
            ),
            (
                r#"{"op":"replace","start":0,"end":1}"#,
                r#","sourceEventSeqs":[1]"#,
                "surface-sources-incomplete",
            ),
            (r#"{"op":"replace","start":0,"end":5}"#, sources, "surface-range-unknown"),
            (r#"{"op":"replace","start":1,"end":0}"#, sources, "surface-range-reversed"),
        ] {
            assert_eq!(codes(&check_events(&replace(op, sources))), [code], "{op} {sources}");
        }
        assert_eq!(codes(&check_events(&replace(r#"{"op":"replace","start":0,"end":1}"#, sources))), [""; 0]);
        assert_eq!(
            codes(&check_events(&[event(
                0,
                "user/message",
                r#"{"id":"m","role":"user","content":[],"source":{"kind":"user"}}"#
            )])),
            ["surface-marker-missing"]
        );
        assert_eq!(
            codes(&check_events(&[marked(0, "todo/write", "{}", r#""append""#, "")])),
            ["surface-marker-forbidden"]
        );
    }

    #[test]
    fn a_lost_member_is_named() {
        let finding = only(check_events(&replace(r#"{"op":"replace","end":1}"#, "")));
        assert!(finding.message.ends_with("\"start\" is missing"), "{}", finding.message);
        assert_eq!(finding.seq, Some(2));
    }

    #[test]
    fn an_edge_that_was_left_out_names_its_cause() {
        let mut log = vec![user(0, "one"), event(1, "user/message", "{}")];
        let message = r#"{"id":"m","role":"user","content":[],"source":{"kind":"plugin","plugin":"p"}}"#;
        log.push(marked(
            2,
            "user/message",
            message,
            r#"{"op":"replace","start":1,"end":1}"#,
            r#","sourceEventSeqs":[1]"#,
        ));
        let checked = check_events(&log);
        assert_eq!(codes(&checked), ["message-shape", "surface-range-unknown"]);
        assert_eq!(checked.findings[1].related[0].seq, 1);
    }

    #[test]
    fn a_rewrite_may_change_content_only() {
        let mut log = vec![event(0, "turn/start", r#"{"turn":1}"#), call(1, &["a"]), result(2, "a")];
        let other = result(3, "b")
            .replace(r#""append""#, r#"{"op":"replace","start":2,"end":2},"sourceEventSeqs":[2]"#);
        log.push(other);
        let finding = only(check_events(&log));
        assert_eq!((finding.code, finding.related[0].seq), ("tool-result-rewrite", 2));
    }

    #[test]
    fn payloads_and_types_have_codes_of_their_own() {
        let unknown = only(check_events(&[event(0, "acme/switch", "{}")]));
        assert_eq!(unknown.code, "unknown-required-event");
        assert!(!format!("{unknown:?}").contains("corrupt"));
        assert_eq!(only(check_events(&[event(0, "mode/set", "{}")])).code, "retired-event");
        assert_eq!(only(check_events(&[event(0, "turn/end", "{}")])).code, "payload-shape");
        assert_eq!(only(check_events(&[event(0, "user/message", "{}")])).code, "message-shape");
    }
}
