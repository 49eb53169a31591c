//! An event's payload, for all rules that look at it.

use crate::json::Object;
use crate::log::Event;
use std::cell::OnceCell;

/// The payload of an event. It is read when the first rule asks for it: reading takes time for each byte, several rules
/// may look at one event, and at most events none does.
#[derive(Debug)]
pub(super) struct Payload<'a> {
    event: &'a Event<'a>,
    members: OnceCell<Option<Object<'a>>>,
}

impl<'a> Payload<'a> {
    pub(super) fn of(event: &'a Event<'a>) -> Self {
        Self { event, members: OnceCell::new() }
    }

    /// The payload's members, or none where it is no object.
    pub(super) fn get(&self) -> Option<&Object<'a>> {
        self.members.get_or_init(|| self.event.payload()).as_ref()
    }
}
