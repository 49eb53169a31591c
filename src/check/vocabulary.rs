//! Events that readers take otherwise than they stand in the log, or pass over (FORMAT §4.2, §8.1).

use super::Finding;
use super::registry::{Rule, rule_family};
use super::wording::{amount, quoted};
use crate::log::Place;
use crate::session::{Session, origin};

rule_family! {
    "vocabulary";
    /// An event type is unknown in the log's format, and the log says that readers may pass it by.
    ///
    /// **What it means.** Events of a type that the format does not have are marked `"ignorable": true`.
    /// There is one note for each type, with the number of its events, at the first; what is beyond a hundred
    /// types is summed up.
    ///
    /// **Why it matters.** dsh passes over them and opens the log. Upgrades are stricter: those up to format
    /// 3 refuse unknown types even where they are marked, and only the step from 3 to 4 keeps them, under a
    /// name with `plugin:` before it.
    ///
    /// **How it comes about.** A plugin writes records of its own and marks them as it should. Or a newer dsh
    /// wrote something that older ones need not know.
    ///
    /// **What to do.** Nothing, as long as the log stays in its format. Before an upgrade from format 0, 1 or
    /// 2 keep a copy: dsh will not take these logs along. A plugin that wants its logs to be upgraded should
    /// keep such records elsewhere.
    UNKNOWN_IGNORABLE = note("unknown-ignorable-event");
    /// Events are in a shape that only development builds wrote; dsh converts them when it loads the log.
    ///
    /// **What it means.** Before the first release messages were not wrapped, had no ids, and prompts in a
    /// running turn were `steering/message`. Readers of format 0 give such events their present shape as they
    /// read. One note counts them.
    ///
    /// **Why it matters.** dsh opens the log and upgrades it. A third tool that reads the bytes alone misses
    /// these messages or takes them for damaged.
    ///
    /// **How it comes about.** A build from before the first release wrote the log. Logs of releases do not
    /// have such events.
    ///
    /// **What to do.** Nothing is to be done: dsh and dshc convert them as they read, and the bytes stay as
    /// they are. Tools should ask for the messages with `dshc replay --format messages`, or do the same
    /// conversion.
    OLD_PAYLOAD = note("old-payload");
    /// Compaction events carry names that only development builds wrote; only an upgrade by dsh converts
    /// them.
    ///
    /// **What it means.** Events are called `compact/start`, `compact/summary`, `compact/end` or
    /// `compact/prune`. Their payloads are those of today's `compaction/` events, and dshc takes them for
    /// such. One note counts them.
    ///
    /// **Why it matters.** A dsh that works in format 0 does not know these types and refuses the log. A
    /// later dsh gives them their new names when it upgrades the log, and then the log opens.
    ///
    /// **How it comes about.** A build from before the first release compacted the session. Releases write
    /// the new names.
    ///
    /// **What to do.** Open the log with a dsh from 0.1.3 on, which upgrades it; the file of format 0 stays
    /// as it is beside the new one. Do not rename the events by hand in a log that you want to keep.
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
