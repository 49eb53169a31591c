//! The event at which the rules of upgrades look, and how they tell what a step refuses.

use crate::check::Finding;
use crate::check::finding::Findings;
use crate::check::payload::Payload;
use crate::check::registry::Rule;
use crate::log::{Event, Place};

/// An event that readers of the log's own format know.
pub(super) struct Here<'a, 'e> {
    pub event: &'a Event<'e>,
    pub payload: &'a Payload<'e>,
    pub place: Place,
    pub findings: &'a mut Findings,
}

impl Here<'_, '_> {
    /// Tells that the step into format `to` refuses this event: `what` it is, and what can be done.
    pub(super) fn refuse(&mut self, rule: &Rule, to: u64, what: &str, help: &str) {
        self.findings.push(refusal(rule, (self.event.seq, self.place), to, what, help));
    }

    /// Whether the event is of this type.
    pub(super) fn is(&self, event_type: &str) -> bool {
        self.event.event_type == event_type
    }
}

/// What the step into format `to` refuses, and where it stands.
pub(super) fn refusal(rule: &Rule, (seq, place): (u64, Place), to: u64, what: &str, help: &str) -> Finding {
    let message = format!("the upgrade to format {to} refuses {what}");
    Finding::new(rule, place, message).at_seq(seq).with_help(help)
}
