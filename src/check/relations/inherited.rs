//! What holds only for events that a session did not inherit: delivery marks and the catalog of children (FORMAT §10.2).

use super::here::{Here, shown};
use crate::check::finding::Findings;
use crate::check::registry::rule_family;
use crate::check::wording::quoted;
use crate::json;
use crate::log::Header;
use std::collections::HashMap;

rule_family! {
    "relations";
    /// A mark of delivery names no session, no earlier event to which it goes, or no format.
    ///
    /// **What it means.** A `session-log-deepseek/delivery-accepted` says up to which event the log was
    /// accepted elsewhere: `sessionId`, `throughSeq` and `sessionFormatVersion`, which is 0 where it is
    /// absent. Marks of another format count in another numbering and are not judged. This one is of the
    /// log's format, and its `throughSeq` is not below its own seq, or there is no session; or the format is
    /// no number.
    ///
    /// **Why it matters.** dsh sends on from the mark, so a wrong one would leave events out. Format 4
    /// refuses the log for it, and the upgrades from formats 1 and 2 do. Nothing in format 3 looks at how far
    /// a mark goes, and there that is a warning.
    ///
    /// **How it comes about.** A tool that copies or upgrades logs changed the numbers of events and not the
    /// mark. The other way round is as wrong.
    ///
    /// **What to do.** Leave marks as they are when a log is copied, with their version. A log that is to be
    /// delivered anew may not get a mark by hand; go on from a copy that ends before the wrong one.
    DELIVERY = error("delivery-mark");
    /// A mark of delivery of this format names another session.
    ///
    /// **What it means.** The `sessionId` of the mark is not the header's, though its format is the log's.
    /// Marks that a fork inherited from its parent name the parent, and are legal; so the finding waits for
    /// the boundary of what was inherited.
    ///
    /// **Why it matters.** By such a mark dsh would believe that its own events were accepted when those of
    /// another session were. Format 4 refuses the log, as do the strict reader of format 2 and the upgrades
    /// from formats 1 and 2. Nothing in format 3 looks at it, and there it is a warning.
    ///
    /// **How it comes about.** A session was copied under a new id by changing the header alone. Forks made
    /// by tools without a boundary marker look the same: their inherited marks count as their own.
    ///
    /// **What to do.** Let dsh fork the session, which writes the boundary; or keep the old id with the log.
    /// Changing the id in the header is never enough.
    DELIVERY_SESSION = error("delivery-session");
    /// An entry of the catalog of children is not of its shape.
    ///
    /// **What it means.** A `subagent/catalog` needs `version` 0 or 1, the `childId` and `childCreatedAt` of
    /// the child, and a `mode`: `continuable` with a `label`, `one-shot`, or, in version 1, `unknown`. A
    /// label may not be empty. Inherited entries are not judged.
    ///
    /// **Why it matters.** By its catalog a session finds its children again. Format 4 refuses the log for an
    /// entry which it does not understand; format 3 does not look.
    ///
    /// **How it comes about.** A plugin that starts subagents by itself writes entries with a mode of its
    /// own. Or it leaves the time out at which the child began.
    ///
    /// **What to do.** Write no entry for children that dsh did not start. The upgrade from format 3 adds
    /// missing entries by itself, from the children's logs.
    CATALOG = error("catalog-entry");
    /// A child stands in the catalog twice.
    ///
    /// **What it means.** A second `subagent/catalog` names a `childId` that the session has listed already;
    /// the finding names the first entry. What was inherited from a parent does not count.
    ///
    /// **Why it matters.** One child would have two modes or labels, and format 4 refuses to open the log. No
    /// other format looks at it.
    ///
    /// **How it comes about.** A plugin enters a child again whenever it goes on with it, or to change its
    /// label. An outside tool added entries to a log that had them.
    ///
    /// **What to do.** An entry is made once, when the child is started, and not changed. To go on with the
    /// session, use a copy that ends before the second entry.
    CHILD_TWICE = error("catalog-child-twice");
}

/// What has come since the last boundary behind inherited events.
#[derive(Debug)]
pub(super) struct Inherited {
    /// The version and the session's id by the header, and whether there is a parent.
    version: u64,
    id: String,
    has_parent: bool,
    is_seeded: bool,
    /// Events before this one are inherited for certain.
    cut: u64,
    children: HashMap<Vec<u8>, u64>,
    /// What is wrong unless a boundary shows later that its event was inherited.
    held: Findings,
}

impl Inherited {
    pub(super) fn new(header: &Header) -> Self {
        Self {
            version: header.version,
            id: header.id.clone(),
            has_parent: header.parent_session.is_some(),
            is_seeded: header.is_seeded,
            cut: header.seed_length.unwrap_or(0),
            children: HashMap::new(),
            held: Findings::default(),
        }
    }

    /// The boundary itself may be lost.
    pub(super) fn doubt(&mut self) {
        if self.is_seeded {
            self.forget();
        }
    }

    pub(super) fn end_seed(&mut self, here: &Here) {
        if here.data.get("inherited").is_some_and(json::is_true) {
            self.forget();
        }
    }

    pub(super) fn delivery(&mut self, here: &mut Here) {
        let version = here.data.get("sessionFormatVersion");
        let Some(version) = version.map_or(Some(0), json::count) else {
            let message = format!("the mark names format {}, which is no number", shown(version));
            return here.tell(&DELIVERY, message);
        };
        // Marks of another format count in another numbering.
        if version != self.version {
            return;
        }
        let through = here.data.count("throughSeq");
        if through.is_none_or(|through| through >= here.event.seq) {
            let checked = if through.is_some() { here.facts.late_marks } else { here.facts.checked };
            let through = shown(here.data.get("throughSeq"));
            let message = format!("the mark goes to seq {through}, which is no earlier event");
            here.findings.push(here.finding_of(&DELIVERY, checked, message));
        }
        let Some(session) = here.text("sessionId") else {
            return here.tell(&DELIVERY, "the mark names no session".to_owned());
        };
        if session.to_str() != self.id && !(self.has_parent && here.event.seq < self.cut) {
            let message = format!(
                "the mark names session {}, this one is {}",
                quoted(&session.to_str()),
                quoted(&self.id)
            );
            let finding = here.finding_of(&DELIVERY_SESSION, here.facts.foreign_marks, message);
            // Without a parent nothing excuses it.
            if self.has_parent { self.held.push(finding) } else { here.findings.push(finding) }
        }
    }

    pub(super) fn catalog(&mut self, here: &mut Here) {
        if here.event.seq < self.cut {
            return;
        }
        if !is_entry(here) {
            let message = "the entry lacks a version, child, time, mode or label of a known shape".to_owned();
            let finding = here.finding(&CATALOG, message);
            return self.held.push(finding);
        }
        let Some(id) = here.data.text("childId") else { return };
        if let Some(first) = self.children.get(id.as_bytes()) {
            let message = format!("child {} stands in the catalog already", quoted(&id.to_str()));
            let finding = here.finding(&CHILD_TWICE, message).relating(*first, "the first entry");
            return self.held.push(finding);
        }
        self.children.insert(id.as_bytes().to_vec(), here.event.seq);
    }

    pub(super) fn finish(self, findings: &mut Findings) {
        findings.extend(self.held.sorted());
    }

    fn forget(&mut self) {
        self.children.clear();
        self.held = Findings::default();
    }
}

/// Whether an entry has what readers ask of it (FORMAT §6.3).
fn is_entry(here: &Here) -> bool {
    let data = here.data;
    let version = data.count("version");
    let label = data.get("label");
    let has_label = data.text("label").is_some();
    let is_mode = match data.text("mode").as_ref().map(json::Text::to_str).as_deref() {
        Some("continuable") => has_label,
        Some("one-shot") => true,
        Some("unknown") => version == Some(1),
        _ => false,
    };
    matches!(version, Some(0 | 1))
        && is_mode
        && (label.is_none() || has_label)
        && data.text("childId").is_some()
        && data.count("childCreatedAt").is_some()
}

#[cfg(test)]
mod tests {
    use crate::check::relations::testing::{codes, found, found_in, header, judge, lines};
    use crate::log::Header;

    const DELIVERY: &str = "session-log-deepseek/delivery-accepted";
    const OTHER: &str = r#"{"sessionId":"x","throughSeq":0,"sessionFormatVersion":4}"#;
    const CHILD: &str = r#"{"version":0,"childId":"c","childCreatedAt":1,"mode":"one-shot"}"#;

    #[test]
    fn marks_of_this_format_name_this_session_and_an_earlier_event() {
        let judged = |data: &str| found(&[("todo/write", "{}"), (DELIVERY, data)]);
        assert_eq!(judged(&OTHER.replace('x', "s")), [""; 0]);
        assert_eq!(judged(OTHER), ["delivery-session@1"]);
        assert_eq!(judged(&OTHER.replace(":4", ":3")), [""; 0], "marks of another format are not judged");
        assert_eq!(judged(&OTHER.replace('x', "s").replace("Seq\":0", "Seq\":1")), ["delivery-mark@1"]);
        assert_eq!(judged(&OTHER.replace('x', "")), ["delivery-mark@1"]);
        assert_eq!(judged(r#"{"sessionFormatVersion":"4"}"#), ["delivery-mark@1"]);
        let unnamed = r#"{"sessionId":"x","throughSeq":0}"#;
        assert_eq!(judged(unnamed), [""; 0], "a mark without a format is one of format 0");
        assert_eq!(
            found_in(0, &[(DELIVERY, unnamed)]),
            [""; 0],
            "nothing in dsh looks at the marks of format 0"
        );
    }

    #[test]
    fn who_refuses_a_wrong_mark_goes_by_the_format() {
        use crate::check::Severity;
        for (version, severity, late, foreign) in [
            (1, Severity::Error, "does not upgrade it", "does not upgrade it"),
            (2, Severity::Error, "does not upgrade it", "its strict reader refuses it"),
            (
                3,
                Severity::Warning,
                "no reader of this format looks at it",
                "no reader of this format looks at it",
            ),
            (4, Severity::Error, "dsh opens no session", "dsh opens no session"),
        ] {
            for (session, through, code, told) in
                [("s", 99, "delivery-mark", late), ("x", 0, "delivery-session", foreign)]
            {
                let data = format!(
                    r#"{{"sessionId":"{session}","throughSeq":{through},"sessionFormatVersion":{version}}}"#
                );
                let log = lines(&[("todo/write", r#"{"todos":[]}"#), (DELIVERY, &data)]);
                let findings = judge(&header(version), &log);
                let finding = findings.iter().find(|finding| finding.code == code).unwrap();
                assert!(finding.help.contains(told), "{version}: {finding:?}");
                assert_eq!(finding.severity, severity, "{version}: {code}");
            }
        }
    }

    #[test]
    fn children_stand_in_the_catalog_once() {
        let entry = ("subagent/catalog", CHILD);
        assert_eq!(found(&[entry, entry]), ["catalog-child-twice@1"]);
        assert_eq!(found_in(3, &[entry, entry]), [""; 0]);
        let other = CHILD.replace("\"c\"", "\"d\"");
        assert_eq!(found(&[entry, ("subagent/catalog", &other)]), [""; 0]);
        for (from, to) in [
            ("one-shot", "unknown"),
            ("one-shot", "continuable"),
            (":1", ":-1"),
            ("\"c\"", "1"),
            ("n\":0", "n\":2"),
        ] {
            assert_eq!(found(&[("subagent/catalog", &CHILD.replace(from, to))]), ["catalog-entry@0"], "{to}");
        }
    }

    #[test]
    fn what_was_inherited_is_not_judged() {
        let fork = Header { parent_session: Some("p".to_owned()), ..header(4) };
        let boundary = ("session/end-seed", r#"{"inherited":true}"#);
        let entry = ("subagent/catalog", CHILD);
        let log = [("todo/write", "{}"), (DELIVERY, OTHER), entry, entry, boundary, entry];
        assert_eq!(codes(&judge(&fork, &lines(&log))), [""; 0]);
        assert_eq!(codes(&judge(&fork, &lines(&log[..4]))), ["delivery-session@1", "catalog-child-twice@3"]);
        let old = Header { seed_length: Some(2), ..fork };
        assert_eq!(codes(&judge(&old, &lines(&log[..2]))), [""; 0]);
    }
}
