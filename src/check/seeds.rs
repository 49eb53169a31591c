//! Where inherited events end: the header and the seed markers must agree (FORMAT §3).

use super::Finding;
use super::registry::rule_family;
use crate::format::Seeded;
use crate::log::Place;
use crate::session::Session;

rule_family! {
    "sequence";
    /// The header and the seed markers do not agree on whether events were inherited from another session.
    ///
    /// **What it means.** From format 2 on the header's `isSeeded` says whether the session began as a fork,
    /// and a `session/end-seed` with `"inherited": true` marks where the parent's events end. The header says
    /// yes and no such marker stands in the log, or it says no and one does. Where events were lost nothing
    /// is said.
    ///
    /// **Why it matters.** dsh refuses the log, since it cannot tell what the session did itself. Costs,
    /// deliveries and children are counted from the boundary on.
    ///
    /// **How it comes about.** A fork was cut off before its marker, or made by a tool that copies a prefix
    /// and changes the header alone. A marker without the flag comes of copying a fork's events under a new
    /// header.
    ///
    /// **What to do.** Markers that only say that the session was opened again carry no `inherited` and do
    /// not count. A fork is best made again by dsh; a copy of the log as dsh wrote it has both right.
    SEED_BOUNDARY = error("seed-boundary");
    /// The header says that more events were inherited than the log has.
    ///
    /// **What it means.** In formats 0 and 1 the header's `seedLength` is the number of events at the
    /// beginning that come from the parent session. The log is shorter than that.
    ///
    /// **Why it matters.** dsh opens the log and goes on with it, but the strict reader of the format refuses it,
    /// and so does an upgrade. Whatever the session did itself cannot be told from what it inherited.
    ///
    /// **How it comes about.** The fork was written out in part, or its end was cut off or dropped as damaged
    /// later. The header is written once and does not follow.
    ///
    /// **What to do.** Look for the parent's log: it holds the inherited events in full, up to that number.
    /// If the fork was never worked in, make it again from there. Do not lower the number in the header, for
    /// it tells later events from inherited ones.
    SEED_LENGTH = error("seed-length");
}

/// What is to be said at the end of a log of `events` events.
pub(super) fn finding(session: &Session, events: u64) -> Option<Finding> {
    let problem = session.seeds.problem(&session.header, session.format, events)?;
    let (rule, help) = match session.format.header.seeded {
        Seeded::Length => (
            &SEED_LENGTH,
            "dsh opens the log, but its strict reader refuses it, and so does an upgrade: its end may be missing",
        ),
        Seeded::Flag => (&SEED_BOUNDARY, "dsh refuses the log; another tool or a damaged copy left it so"),
    };
    Some(Finding::new(rule, Place { line: Some(1), ..Place::default() }, problem).with_help(help))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check_bytes, codes, event};

    #[test]
    fn header_and_markers_must_agree() {
        let log = |header: &str, markers: &[&str]| {
            let events: Vec<String> =
                (0..).zip(markers).map(|(seq, data)| event(seq, "session/end-seed", data) + "\n").collect();
            codes(&check_bytes(format!("{header}\n{}", events.concat()).as_bytes()))
        };
        let header = |version: u64, more: &str| {
            format!(
                r#"{{"type":"session","version":{version},"id":"s","createdAt":1,{more}"delegationDepth":0}}"#
            )
        };
        let (own, inherited) = ("{}", r#"{"inherited":true}"#);
        for version in [2, 3, 4] {
            let (forked, plain) =
                (header(version, "\"isSeeded\":true,"), header(version, "\"isSeeded\":false,"));
            assert_eq!(log(&forked, &[own, inherited, own]), [""; 0], "format {version}");
            assert_eq!(log(&forked, &[own]), ["seed-boundary"], "format {version}");
            assert_eq!(log(&plain, &[own]), [""; 0], "format {version}");
            assert_eq!(log(&plain, &[inherited]), ["seed-boundary"], "format {version}");
        }
        for version in [0, 1] {
            assert_eq!(log(&header(version, "\"seedLength\":1,"), &[own, own]), [""; 0]);
            assert_eq!(log(&header(version, "\"seedLength\":3,"), &[own, own]), ["seed-length"]);
            assert_eq!(log(&header(version, ""), &[inherited]), [""; 0], "the marker says nothing there");
        }
    }
}
