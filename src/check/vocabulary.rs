//! Events that readers take otherwise than they stand in the log, or pass over (FORMAT §4.2, §8.1).

use super::Finding;
use super::registry::{Rule, rule_family};
use super::wording::{amount, quoted, short_list};
use crate::format::Format;
use crate::json;
use crate::log::{Event, Place};
use crate::session::{Node, Session, origin};
use std::collections::{BTreeMap, HashMap};

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
    /// **What to do.** Nothing, as long as the log stays in its format. dsh does not take logs of formats 0
    /// to 2 with such events along to a later format; `dshc verify --target-format N` names all that stands
    /// against it. A plugin that wants its logs to be upgraded should keep such records elsewhere.
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
    /// Messages name a source that no part of dsh gives in the log's format.
    ///
    /// **What it means.** The `source.kind` of a message is none of those that dsh's own producers write, nor one that an
    /// upgrade makes. The message itself is sound, and the model sees it.
    ///
    /// **Why it matters.** dsh opens the log. But an upgrade from format 2 to 3 refuses kinds that it does not know, and
    /// only a message of kind "user" counts as a human's.
    ///
    /// **How it comes about.** A plugin or another tool wrote the message, or a release newer than this table.
    ///
    /// **What to do.** Nothing, unless the log is to be upgraded. A tool that writes into logs of formats 0 to 3 should
    /// use the kind "plugin" with its own name.
    UNKNOWN_SOURCE = note("unknown-source-kind");
    /// The header has members that the log's format does not have.
    ///
    /// **What it means.** The first line holds members beside those of a header of the log's format. The finding names
    /// them.
    ///
    /// **Why it matters.** The first releases of dsh pass over such members, but the codec of the format refuses them. So
    /// later releases, which upgrade the log when they open it, refuse the session.
    ///
    /// **How it comes about.** Another tool added notes of its own to the header, or a private fork wrote the log.
    ///
    /// **What to do.** Copy the file, and take the named members out of the first line; nothing else of the log refers
    /// to them. In a compressed log the header's frame must be made anew.
    HEADER_MEMBERS = error("unexpected-header-member");
}

/// How many different source kinds are told.
const MOST_SOURCES: usize = 32;

/// The sources that no part of dsh gives: how many messages, and the first.
#[derive(Debug, Default)]
pub(super) struct Sources {
    kinds: BTreeMap<String, (u64, u64, Place)>,
    others: u64,
}

impl Sources {
    /// Looks at a message that the session has just taken.
    pub(super) fn node(&mut self, node: &Node, place: Place, format: &Format) {
        if format.has_source_kind(&node.source_kind) {
            return;
        }
        if let Some((count, ..)) = self.kinds.get_mut(&node.source_kind) {
            *count += 1;
        } else if self.kinds.len() < MOST_SOURCES {
            self.kinds.insert(node.source_kind.clone(), (1, node.seq, place));
        } else {
            self.others += 1;
        }
    }

    /// One note a kind.
    pub(super) fn findings(&self, format: &Format) -> Vec<Finding> {
        let help =
            "nothing is to be done: a plugin or another tool wrote it; an upgrade may refuse the log for it";
        let tell = |(kind, (count, seq, place)): (&String, &(u64, u64, Place))| {
            let message = format!(
                "{} with the source kind {}, which no part of dsh gives in format {}",
                amount(*count, "message"),
                quoted(kind),
                format.version
            );
            Finding::new(&UNKNOWN_SOURCE, *place, message).at_seq(*seq).with_help(help)
        };
        let others = (self.others > 0).then(|| {
            let message = format!("{} with further unknown source kinds", amount(self.others, "message"));
            Finding::new(&UNKNOWN_SOURCE, Place::default(), message).with_help(help)
        });
        self.kinds.iter().map(tell).chain(others).collect()
    }
}

/// What is to be said of header members that the format does not have.
pub(super) fn header_members(names: &[String], format: &Format) -> Option<Finding> {
    let (has, them) = match names {
        [] => return None,
        [_] => ("a member", "it"),
        _ => ("members", "them"),
    };
    let listed = short_list(names.iter().map(|name| quoted(name)));
    let message =
        format!("the session header has {has} that format {} does not have: {listed}", format.version);
    let help = format!(
        "the first releases of dsh pass over {them}, later ones refuse the session; take {them} out of the first line"
    );
    Some(Finding::new(&HEADER_MEMBERS, Place { line: Some(1), ..Place::default() }, message).with_help(help))
}

/// Where the events stand that are the first of their kind to be told of at the end.
#[derive(Debug, Default)]
pub(super) struct Firsts(HashMap<u64, Place>);

impl Firsts {
    /// Looks at an event, as the log has it, that the session has just taken.
    pub(super) fn event(&mut self, event: &Event, place: Place, session: &Session) {
        let converted = [session.converted.payloads.1, session.converted.names.1];
        let is_first = || {
            session
                .unknown
                .ignorable
                .get(&*json::clip(&event.event_type))
                .is_some_and(|(_, first)| *first == event.seq)
        };
        if converted.contains(&Some(event.seq)) || !session.format.knows(&event.event_type) && is_first() {
            self.0.insert(event.seq, place);
        }
    }

    fn of(&self, seq: u64) -> Place {
        self.0.get(&seq).copied().unwrap_or_default()
    }
}

/// What a whole log leaves to be said of its vocabulary: one note a type.
pub(super) fn findings(session: &Session, firsts: &Firsts) -> Vec<Finding> {
    let note = |rule: &Rule, first: u64, message: String| {
        Finding::new(rule, firsts.of(first), message).at_seq(first)
    };
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

#[cfg(test)]
mod tests {
    use super::super::Severity;
    use super::super::testing::{
        HEADER, check_bytes, check_events, check_events_of, codes, event, marked, only, user,
    };

    #[test]
    fn members_that_a_header_does_not_have_are_an_error() {
        let log = |member: &str| {
            let header = HEADER.replacen('{', &format!("{{{member}"), 1);
            check_bytes(format!("{header}\n{}\n", event(0, "todo/write", "{}")).as_bytes())
        };
        let finding = only(log(r#""note":1,"isSeeded":false,"#));
        assert_eq!(
            (finding.code, finding.severity, finding.place.line),
            ("unexpected-header-member", Severity::Error, Some(1))
        );
        assert!(
            finding.message.ends_with("format 0 does not have: \"note\", \"isSeeded\""),
            "{}",
            finding.message
        );
        assert!(finding.help.contains("pass over them,"), "{}", finding.help);
        let many: Vec<String> = (0..3000).map(|member| format!("\"m{member}\":1,")).collect();
        let (one, many) = (only(log(r#""note":1,"#)), only(log(&many.concat())));
        assert!(one.help.contains("take it out"), "{}", one.help);
        assert!(many.message.ends_with("\"m7\", and 2,992 more"), "{}", many.message);
        assert_eq!(
            codes(&log(r#""cwd":"/x","origin":"subagent","agentPreset":"p","seedLength":0,"#)),
            [""; 0]
        );
    }

    #[test]
    fn sources_of_others_are_one_note_a_kind() {
        let of =
            |seq: u64, kind: &str| user(seq, "x").replace(r#""kind":"user""#, &format!(r#""kind":"{kind}""#));
        let checked = check_events(&[user(0, "x"), of(1, "acme"), of(2, "acme"), of(3, "webhook")]);
        let finding = only(checked);
        assert_eq!(
            (finding.code, finding.severity, finding.seq),
            ("unknown-source-kind", Severity::Note, Some(1))
        );
        assert!(
            finding.message.starts_with("2 messages with the source kind \"acme\""),
            "{}",
            finding.message
        );
        for (version, kind, is_known) in [
            (0, "plugin", true),
            (3, "plan-mode", false),
            (4, "plan-mode", true),
            (4, "plugin:acme", true),
            (4, "acme", false),
        ] {
            let checked = check_events_of(version, &[of(0, kind)]);
            assert_eq!(codes(&checked).contains(&"unknown-source-kind"), !is_known, "{version} {kind}");
        }
        // An event that is passed over puts nothing on the surface, whatever marker it carries.
        let odd = marked(1, "acme/note", "{}", r#""append""#, ",\"ignorable\":true");
        let checked = check_events_of(4, &[of(0, "acme"), odd]);
        assert!(checked.findings.iter().any(|finding| finding.message.starts_with("1 message with")));
        let many: Vec<String> = (0..40).map(|seq| of(seq, &format!("k{seq}"))).collect();
        let checked = check_events(&many);
        assert_eq!(codes(&checked).len(), 33);
        assert!(
            checked.findings.iter().any(|finding| finding.message.starts_with("8 messages with further"))
        );
    }

    #[test]
    fn ignorable_events_are_told_once_a_type() {
        let odd = |seq| event(seq, "acme/note", "null").replace("\"data\"", "\"ignorable\":true,\"data\"");
        let finding = only(check_events(&[odd(0), odd(1)]));
        assert_eq!((finding.code, finding.seq), ("unknown-ignorable-event", Some(0)));
        assert_eq!((finding.place.line, finding.place.byte.is_some()), (Some(2), true));
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
        assert_eq!(checked.findings[0].place.line, Some(2));
        assert!(checked.findings[0].message.starts_with("3 events"), "{}", checked.findings[0].message);
    }
}
