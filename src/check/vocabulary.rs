//! Events that readers take otherwise than they stand in the log, or pass over (FORMAT §4.2, §8.1).

use super::Finding;
use super::registry::{Rule, rule_family};
use super::wording::{amount, quoted};
use crate::log::Place;
use crate::session::{Session, origin};

rule_family! {
    "vocabulary";
    /// An event type is unknown in the log's format, and the log says that readers may pass it by.
    UNKNOWN_IGNORABLE = note("unknown-ignorable-event");
    /// Events are in a shape that only development builds wrote; dsh converts them when it loads the log.
    OLD_PAYLOAD = note("old-payload");
    /// Compaction events carry names that only development builds wrote; only an upgrade by dsh converts
    /// them.
    OLD_NAME = note("old-event-name");
}

/// What a whole log leaves to be said of its vocabulary: one note a type.
pub(super) fn findings(session: &Session) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (event_type, (count, first)) in &session.unknown.ignorable {
        let events = amount(*count, "event");
        let message = format!("{events} of the unknown type {}, marked ignorable", quoted(event_type));
        let help = format!(
            "{}; dsh passes over it, but may refuse to upgrade the log for it",
            origin(event_type, session.format)
        );
        findings.push(note(&UNKNOWN_IGNORABLE, *first, message).with_help(help));
    }
    if session.unknown.others > 0 {
        let message = format!("{} of further unknown types", amount(session.unknown.others, "event"));
        findings.push(Finding::new(&UNKNOWN_IGNORABLE, Place::default(), message));
    }
    if let (count, Some(first)) = session.converted.payloads {
        let message = format!("{} in a shape that only development builds wrote", amount(count, "event"));
        let help =
            "nothing is to be done: dsh and dshc convert them as they read; the bytes stay as they are";
        findings.push(note(&OLD_PAYLOAD, first, message).with_help(help));
    }
    if let (count, Some(first)) = session.converted.names {
        let message = format!("{} with a name that only development builds wrote", amount(count, "event"));
        let help = format!(
            "dsh {} refuses the log for it; later releases convert the names when they upgrade the log, and dshc as it \
             reads",
            session.format.releases
        );
        findings.push(note(&OLD_NAME, first, message).with_help(help));
    }
    findings
}

fn note(rule: &Rule, first: u64, message: String) -> Finding {
    Finding::new(rule, Place::default(), message).at_seq(first)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check_events, codes, event, marked, only};

    #[test]
    fn ignorable_events_are_told_once_a_type() {
        let odd = |seq| event(seq, "acme/note", "null").replace("\"data\"", "\"ignorable\":true,\"data\"");
        let finding = only(check_events(&[odd(0), odd(1)]));
        assert_eq!((finding.code, finding.seq), ("unknown-ignorable-event", Some(0)));
        assert!(
            finding.message.starts_with("2 events of the unknown type \"acme/note\""),
            "{}",
            finding.message
        );
    }

    #[test]
    fn old_shapes_are_told_once() {
        let prompt = |seq| {
            let data = r#"{"content":[{"type":"text","text":"hi"}],"source":{"kind":"user"}}"#;
            marked(seq, "user/message", data, r#""append""#, "")
        };
        let steering = marked(
            2,
            "steering/message",
            r#"{"turn":1,"content":[],"source":{"kind":"user"}}"#,
            r#""append""#,
            "",
        );
        let checked = check_events(&[prompt(0), prompt(1), steering]);
        assert_eq!(codes(&checked), ["old-payload"]);
        assert!(checked.findings[0].message.starts_with("3 events"), "{}", checked.findings[0].message);
    }
}
