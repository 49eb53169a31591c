//! The event at which the rules look, and how they tell what is wrong with it.

use crate::check::Finding;
use crate::check::finding::Findings;
use crate::check::losses::Losses;
use crate::check::registry::Rule;
use crate::format::{CheckedBy, Relations as Facts};
use crate::json::{self, Digest, Object, Raw, Text};
use crate::log::{Event, Place};

/// An event with its payload.
pub(super) struct Here<'a> {
    pub event: &'a Event<'a>,
    pub data: &'a Object<'a>,
    pub place: Place,
    pub facts: &'static Facts,
    /// Events were lost, among them perhaps any that another depends on.
    pub has_gaps: bool,
    pub losses: &'a Losses,
    pub findings: &'a mut Findings,
}

impl<'a> Here<'a> {
    /// The event's type, for people.
    pub(super) fn name(&self) -> &'a str {
        &self.event.event_type
    }

    pub(super) fn tell(&mut self, rule: &Rule, message: String) {
        let finding = self.finding(rule, message);
        self.findings.push(finding);
    }

    /// Tells what is wrong and which earlier event has to do with it.
    pub(super) fn tell_relating(&mut self, rule: &Rule, message: String, seq: u64, what: &str) {
        let finding = self.finding(rule, message).relating(seq, what);
        self.findings.push(finding);
    }

    pub(super) fn finding(&self, rule: &Rule, message: String) -> Finding {
        finding(rule, self.event.seq, self.place, self.facts, message)
    }

    /// The same of what another part of dsh checks than the rules between events.
    pub(super) fn finding_of(&self, rule: &Rule, checked: CheckedBy, message: String) -> Finding {
        checked_by(checked, Finding::new(rule, self.place, message).at_seq(self.event.seq))
    }

    /// A text of the payload that must not be empty.
    pub(super) fn text(&self, key: &str) -> Option<Text<'a>> {
        self.data.text(key).filter(|text| !text.is_empty())
    }

    /// What a member means; `None` where it is absent.
    pub(super) fn meaning(&self, key: &str) -> Option<Digest> {
        self.data.get(key).map(json::digest)
    }
}

pub(super) fn finding(rule: &Rule, seq: u64, place: Place, facts: &Facts, message: String) -> Finding {
    checked_by(facts.checked, Finding::new(rule, place, message).at_seq(seq))
}

/// Says who refuses the log for it. Where nobody does, it is a warning.
fn checked_by(checked: CheckedBy, finding: Finding) -> Finding {
    let refuses = match checked {
        CheckedBy::Invariants => "dsh opens the session, but its own invariant checks refuse it",
        CheckedBy::Upgrade => "dsh opens the session in this format, but does not upgrade it",
        CheckedBy::Codec => "dsh opens the session in this format, but its strict reader refuses it",
        CheckedBy::Load => "dsh opens no session whose events do not relate so",
        CheckedBy::Nobody => "no reader of this format looks at it, and dsh goes on with it",
    };
    let help = format!("{refuses}; another tool or a damaged writer left this");
    let finding = finding.with_help(help);
    if checked == CheckedBy::Nobody { finding.warned() } else { finding }
}

/// A number as it stands in the log, for people.
pub(super) fn shown(raw: Option<Raw>) -> String {
    match raw {
        None => "none".to_owned(),
        Some(raw) => crate::json::sample(raw),
    }
}

/// An id that was kept, for people.
pub(super) fn named(id: &[u8]) -> String {
    crate::check::wording::quoted(&String::from_utf8_lossy(id))
}

/// An open turn or step, for people.
pub(super) fn open(noun: &str, number: Option<u64>) -> String {
    number.map_or_else(|| format!("no {noun}"), |number| format!("{noun} {number}"))
}
