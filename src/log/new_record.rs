//! The text of a new record: the envelope as dsh spells it, member order included (FORMAT §4).

use crate::json::Document;
use serde::Serialize;

/// A record that is to be appended.
#[derive(Debug, Serialize)]
pub struct NewRecord<'a, D> {
    /// Its type.
    pub r#type: &'a str,
    /// Its number.
    pub seq: u64,
    /// Unix epoch, in milliseconds.
    pub time: i64,
    /// Its payload.
    pub data: D,
    /// The events that it is made from, in this order; never written as ranges.
    #[serde(rename = "sourceEventSeqs", skip_serializing_if = "Option::is_none")]
    pub source_event_seqs: Option<Vec<u64>>,
    /// Where it stands on the surface.
    #[serde(rename = "surfaceOp", skip_serializing_if = "Option::is_none")]
    pub surface_op: Option<Document<'static>>,
}

impl<'a, D: Serialize> NewRecord<'a, D> {
    /// A record without markers.
    pub fn new(event_type: &'a str, seq: u64, time: i64, data: D) -> Self {
        Self { r#type: event_type, seq, time, data, source_event_seqs: None, surface_op: None }
    }

    /// Its JSON text, without a line feed.
    pub fn to_text(&self) -> serde_json::Result<String> {
        serde_json::to_string(self)
    }
}
