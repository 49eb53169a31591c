//! Commands of the user: each runs once, and is done only after it ran (FORMAT §6.2, §10.2).

use super::here::{Here, shown};
use crate::check::Finding;
use crate::check::registry::rule_family;
use crate::check::wording::quoted;
use crate::format::CheckedBy;
use std::collections::HashMap;

rule_family! {
    "relations";
    /// A command has no `commandId`.
    ///
    /// **What it means.** `command/run` and `command/done` carry a `commandId` that is a text and not empty.
    /// Here it is not, and the event is not looked at further.
    ///
    /// **Why it matters.** Without the id the end of a command finds no beginning. Format 4 refuses the log
    /// for it; an upgrade does so as well.
    ///
    /// **How it comes about.** A plugin that offers commands left the member out. A number or an empty text
    /// comes of a counter or a default.
    ///
    /// **What to do.** Make an id for each run, and use it in both events and as `sourceCommandId` of a
    /// compaction that the command starts. Commands are not seen by the model.
    ID_INVALID = error("command-id-invalid");
    /// A command runs under the `commandId` of an earlier one.
    ///
    /// **What it means.** A second `command/run` carries an id that the log has already; the finding names
    /// the first. It does not matter whether that command is done, nor whether the name is the same.
    ///
    /// **Why it matters.** Its end, and what it started, belong to either. Format 4 refuses to open the log,
    /// and no upgrade takes it.
    ///
    /// **How it comes about.** The command's name was taken for its id, so that the second `/compact` of a
    /// session collides with the first. A user interface that sent a command twice writes two runs.
    ///
    /// **What to do.** Use an id that does not come twice in a log. Where the whole event was sent twice, the
    /// sender should recognise its own id. For this log use a copy that ends before the second run.
    REPEATED = error("command-repeated");
    /// A command is done that has not run.
    ///
    /// **What it means.** A `command/done` comes for an id without a `command/run` before it. That a command
    /// is done twice is no breach. Where events were lost, the run may be among them, and nothing is said.
    ///
    /// **Why it matters.** A result without a beginning tells nobody who asked for it, and format 4 refuses
    /// the log. The earlier formats open it and bar the upgrade.
    ///
    /// **How it comes about.** A plugin answers commands that it handled outside the session. Or the two
    /// events have ids of different make.
    ///
    /// **What to do.** Write `command/run` first, when the user gives the command. A note about something
    /// that was no command belongs into an event of your own, marked `ignorable`.
    DONE_UNMATCHED = error("command-done-unmatched");
    /// A command's `sourceEventSeq` is no earlier event, names a command, or stands on one that failed.
    ///
    /// **What it means.** A `command/done` may name in `sourceEventSeq` the event that the command brought
    /// about. It must be an earlier event, not one of a command, and only a success may have it. The finding
    /// says which does not hold.
    ///
    /// **Why it matters.** Readers follow the number to show what a command did. Format 4 refuses the log
    /// where it leads nowhere; so does an upgrade, which has to carry the number over.
    ///
    /// **How it comes about.** A plugin points to its own `command/run`, or to the event that it is about to
    /// write. On an error some name the event at which it happened.
    ///
    /// **What to do.** Leave the member out where there is nothing to point to; null is not the same and is
    /// refused. In the log as it is the event cannot be mended.
    SOURCE = error("command-source");
}

/// Every command so far: their ids may not come twice in a log.
#[derive(Debug, Default)]
pub(super) struct Commands {
    runs: HashMap<Vec<u8>, u64>,
    /// The events of commands, in rising order.
    events: Vec<u64>,
    /// What is to be said if an event that is yet to come is one of a command, by its seq.
    ahead: HashMap<u64, Vec<Finding>>,
}

impl Commands {
    pub(super) fn run(&mut self, here: &mut Here) {
        self.enter(here);
        let Some(id) = here.text("commandId") else { return invalid(here) };
        if let Some(first) = self.runs.get(id.as_bytes()) {
            let message = format!("command {} runs again", quoted(&id.to_str()));
            return here.tell_relating(&REPEATED, message, *first, "the first run");
        }
        self.runs.insert(id.as_bytes().to_vec(), here.event.seq);
    }

    pub(super) fn done(&mut self, here: &mut Here) {
        self.enter(here);
        self.check_source(here);
        let Some(id) = here.text("commandId") else { return invalid(here) };
        if !self.runs.contains_key(id.as_bytes()) && !here.has_gaps {
            here.tell(&DONE_UNMATCHED, format!("command {} is done, but has not run", quoted(&id.to_str())));
        }
    }

    fn enter(&mut self, here: &mut Here) {
        self.events.push(here.event.seq);
        here.findings.extend(self.ahead.remove(&here.event.seq).into_iter().flatten());
    }

    fn check_source(&mut self, here: &mut Here) {
        let Some(raw) = here.data.get("sourceEventSeq") else { return };
        let source = here.data.count("sourceEventSeq");
        let told = |problem| format!("command/done has sourceEventSeq {}, which {problem}", shown(Some(raw)));
        let problem = match source {
            // Elsewhere upgrades alone ask that, and of the payload.
            _ if here.facts.checked == CheckedBy::Load && source.is_none_or(|seq| seq >= here.event.seq) => {
                "is no earlier event"
            }
            Some(seq) if self.events.binary_search(&seq).is_ok() => "is an event of a command",
            _ if here.text("kind").is_none_or(|kind| kind != *"success") => {
                "stands on a command that did not succeed"
            }
            Some(seq) if seq > here.event.seq => {
                let finding = here.finding(&SOURCE, told("is an event of a command"));
                return self.ahead.entry(seq).or_default().push(finding);
            }
            _ => return,
        };
        here.tell(&SOURCE, told(problem));
    }
}

fn invalid(here: &mut Here) {
    let message = format!("{} must have a commandId that is a text and not empty", here.name());
    here.tell(&ID_INVALID, message);
}

#[cfg(test)]
mod tests {
    use crate::check::relations::testing::{codes, found, header, judge, lines};

    const RUN: (&str, &str) = ("command/run", r#"{"commandId":"k"}"#);

    fn done(more: &str) -> String {
        format!(r#"{{"commandId":"k","kind":"success"{more}}}"#)
    }

    #[test]
    fn commands_run_once_and_are_done_after() {
        let plain = done("");
        assert_eq!(found(&[RUN, ("command/done", &plain), ("command/done", &plain)]), [""; 0]);
        assert_eq!(found(&[RUN, RUN]), ["command-repeated@1"]);
        assert_eq!(found(&[("command/done", &plain)]), ["command-done-unmatched@0"]);
        assert_eq!(found(&[("command/run", r#"{"commandId":""}"#)]), ["command-id-invalid@0"]);
        let mut log = lines(&[RUN, ("command/done", &plain)]);
        log[0] = "{".to_owned();
        assert_eq!(codes(&judge(&header(4), &log)), [""; 0]);
    }

    #[test]
    fn only_the_loader_of_format_4_asks_whether_a_source_is_earlier() {
        for (more, expected) in [
            (r#","sourceEventSeq":99"#, vec![]),
            (r#","sourceEventSeq":null"#, vec![]),
            (r#","sourceEventSeq":2"#, vec!["command-source@2"]),
            (r#","sourceEventSeq":3"#, vec!["command-source@2"]),
            (r#","sourceEventSeq":4"#, vec![]),
            (r#","sourceEventSeq":1"#, vec!["command-source@2"]),
            (r#","kind":"error","sourceEventSeq":99"#, vec!["command-source@2"]),
        ] {
            let (done, again) = (done(more), done(""));
            let log = [
                ("todo/write", "{}"),
                RUN,
                ("command/done", &*done),
                ("command/done", &*again),
                ("todo/write", "{}"),
            ];
            let log = lines(&log);
            assert_eq!(codes(&judge(&header(3), &log)), expected, "{more}");
        }
    }

    #[test]
    fn sources_are_earlier_events_of_no_command() {
        for (more, expected) in [
            (r#","sourceEventSeq":0"#, vec![]),
            (r#","sourceEventSeq":1"#, vec!["command-source@2"]),
            (r#","sourceEventSeq":2"#, vec!["command-source@2"]),
            (r#","sourceEventSeq":null"#, vec!["command-source@2"]),
            (r#","kind":"error","sourceEventSeq":0"#, vec!["command-source@2"]),
        ] {
            assert_eq!(
                found(&[("todo/write", "{}"), RUN, ("command/done", &done(more))]),
                expected,
                "{more}"
            );
        }
    }
}
