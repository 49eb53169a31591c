//! The event at which the rules look.

use super::finding::Findings;
use super::losses::Losses;
use super::payload::Payload;
use crate::log::{Event, Place};
use crate::session::{Node, Session};

/// An event that `session` has just taken.
pub(super) struct Here<'a, 'e> {
    pub event: &'a Event<'e>,
    pub payload: &'a Payload<'e>,
    pub place: Place,
    /// What the event has put on the surface.
    pub node: Option<&'a Node>,
    pub session: &'a Session,
    pub losses: &'a Losses,
    pub findings: &'a mut Findings,
}
