//! The `surfaceOp` marker: whether an event is appended to the surface or takes the place of others (FORMAT §7.2).

use super::SurfaceError;
use crate::format::{self, Format, ScanCheck};
use crate::json::{self, Object, Raw};
use crate::log::{Event, SourceSeqs};

/// A replacing `surfaceOp`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Replacement {
    /// First hidden node, by seq.
    pub(super) start: u64,
    /// Last hidden node, by seq.
    pub(super) end: u64,
}

impl Replacement {
    /// Reads a marker; `None` means that the event is appended.
    pub(super) fn parse(marker: Raw, format: &Format) -> Result<Option<Self>, SurfaceError> {
        if json::text(marker).is_some_and(|text| text == *"append") {
            return Ok(None);
        }
        let op = Object::of(marker);
        let op = op.ok_or_else(|| SurfaceError::MarkerKind(json::sample(marker)))?;
        let [start, end] = format.replace_members;
        let range = op
            .has_text("op", "replace")
            .then(|| Some((format.count(op.get(start)?)?, format.count(op.get(end)?)?)))
            .flatten();
        match range {
            Some((start_seq, end_seq)) if op.has_exactly(&["op", start, end], &[]) => {
                Ok(Some(Self { start: start_seq, end: end_seq }))
            }
            None if op.has_exactly(&["op", start, end], &[]) => Err(wrong_value(&op, format)),
            _ => {
                let expected = format!("op \"replace\", {start}, {end}");
                let found: Vec<_> = op.names().map(|name| name.to_str().into_owned()).collect();
                let found = if found.is_empty() { "none".into() } else { found.join(", ") };
                let other = format::ALL.iter().map(|format| format.replace_members);
                let mut foreign = other.filter(|members| *members != format.replace_members).flatten();
                if foreign.any(|member| op.get(member).is_some()) {
                    return Err(SurfaceError::Dialect { version: format.version, expected, found });
                }
                Err(SurfaceError::MarkerShape { expected, found })
            }
        }
    }
}

/// What is wrong with a replacement that has the right members.
fn wrong_value(op: &Object, format: &Format) -> SurfaceError {
    let [start, end] = format.replace_members;
    let is_seq = |member: &str| op.get(member).is_some_and(|raw| format.count(raw).is_some());
    let (member, expected) = if !op.has_text("op", "replace") {
        ("op", "\"replace\"")
    } else if !is_seq(start) {
        (start, "a seq")
    } else {
        (end, "a seq")
    };
    let found = op.get(member).map(|raw| raw.get().chars().take(40).collect()).unwrap_or_default();
    SurfaceError::MarkerValue { member, expected, found }
}

/// An event that puts nothing on the surface may carry no marker, unless it is one that readers pass over (FORMAT §4).
pub(super) fn refuse_markers(event: &Event, is_known: bool, format: &Format) -> Result<(), SurfaceError> {
    if format.has_opaque_markers && !is_known {
        // Readers decode the list of every line, whatever the event.
        let sources = event.source_event_seqs.filter(|_| format.checks_with_scan(ScanCheck::Sources));
        return match sources {
            Some(raw) => Ok(SourceSeqs::parse(raw, event.seq, true, format).map(drop)?),
            None => Ok(()),
        };
    }
    let member = match (event.surface_op, event.source_event_seqs) {
        (Some(_), _) => "surfaceOp",
        (None, Some(_)) => "sourceEventSeqs",
        (None, None) => return Ok(()),
    };
    Err(SurfaceError::MarkerForbidden { event_type: json::clip(&event.event_type).into_owned(), member })
}
