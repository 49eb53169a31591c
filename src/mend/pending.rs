//! The calls of the open step that no result answers: what an interrupted turn leaves to be closed (FORMAT §9.4).

use crate::format::{Format, MessageKind};
use crate::json::{Object, Text};
use crate::log::{Body, Event, Item, LogReader, OpenError, Source};
use crate::session::{Keep, Session};
use std::collections::{BTreeMap, HashMap};

/// A call that a message of the open turn makes and no result answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PendingCall {
    /// Its id, as JSON text: half surrogate pairs stay what they are.
    pub id: String,
    /// The step of the message.
    pub step: Option<u64>,
    /// The `tool/call` that says that it started.
    pub call_seq: Option<u64>,
}

/// Reads a sound log once more for the calls that are pending at its end, in the order in which they were made.
pub(super) fn pending_calls(source: &Source) -> Result<Vec<PendingCall>, OpenError> {
    let mut reader = LogReader::open(source)?;
    let format = reader.format();
    // Events of development builds are taken as readers convert them, which only a session can tell.
    let mut session = Session::new(reader.header().clone(), format, Keep::Figures);
    let mut calls = PendingCalls::default();
    let mut take = |item: Item| {
        let Item::Record(record) = item else { return };
        match &record.body {
            Body::Row(row) => session.apply_row(row),
            Body::Event(event) => match session.apply(event) {
                Ok(Some(converted)) => calls.take(&converted.event(event), format),
                Ok(None) => calls.take(event, format),
                Err(_) => {}
            },
        }
    };
    while reader.next(&mut take)?.is_some() {}
    Ok(calls.by_order.into_values().collect())
}

/// Ids stand for one call at a time: one that is made again before it is answered starts anew, in its old place.
#[derive(Debug, Default)]
struct PendingCalls {
    by_order: BTreeMap<u64, PendingCall>,
    orders: HashMap<String, u64>,
    made: u64,
}

impl PendingCalls {
    fn take(&mut self, event: &Event, format: &Format) {
        match &*event.event_type {
            "turn/start" | "turn/end" | "step/end" => *self = Self::default(),
            "tool/call" => {
                if let Some(id) = event.payload().and_then(|data| data.text("callId")) {
                    self.started(&id, event.seq);
                }
            }
            event_type => match format.surface_type(event_type).map(|surface| surface.kind) {
                Some(MessageKind::Assistant) => self.made(event),
                Some(MessageKind::ToolResult) => {
                    if let Some(id) = event.payload().and_then(|data| answered(&data)) {
                        self.answered(&id);
                    }
                }
                _ => {}
            },
        }
    }

    fn made(&mut self, event: &Event) {
        let Some(data) = event.payload() else { return };
        let content = data.object("message").and_then(|message| message.array("content"));
        let blocks = content.unwrap_or_default();
        for block in blocks.into_iter().filter_map(Object::of) {
            if block.has_text("type", "tool-call")
                && let Some(id) = block.text("id")
            {
                let id = id.stringify();
                self.made += 1;
                let order = *self.orders.entry(id.clone()).or_insert(self.made);
                self.by_order.insert(order, PendingCall { id, step: data.count("step"), call_seq: None });
            }
        }
    }

    fn started(&mut self, id: &Text, seq: u64) {
        let order = self.orders.get(&id.stringify());
        if let Some(call) = order.and_then(|order| self.by_order.get_mut(order)) {
            call.call_seq = Some(seq);
        }
    }

    fn answered(&mut self, id: &Text) {
        if let Some(order) = self.orders.remove(&id.stringify()) {
            self.by_order.remove(&order);
        }
    }
}

fn answered<'a>(data: &Object<'a>) -> Option<Text<'a>> {
    data.object("message")?.object("source")?.text("callId")
}
