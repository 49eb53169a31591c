//! What a forked session has from its parent (FORMAT §3, §9.3).

use super::Tally;
use crate::session::Session;

/// The part of a log that another session's events make up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Inherited {
    /// Leading events.
    pub events: u64,
    /// Decoded bytes of their lines. A packed row that goes on behind them counts whole.
    pub bytes: u64,
    /// Those of the events that are streamed deltas.
    pub chunk_events: u64,
    /// Nodes of the surface that they are.
    pub nodes: u64,
    /// Host tokens of those nodes.
    pub host_tokens: u64,
}

/// Watches for the end of the inherited events. Newer formats tell it by a marker behind them, of which the last
/// counts.
#[derive(Debug, Default)]
pub(super) struct Boundary {
    passed: Option<(u64, Inherited)>,
}

impl Boundary {
    /// Looks whether the inherited events end before the line that starts at `first_seq` and was just taken;
    /// `before` is the tally up to there.
    pub(super) fn watch(&mut self, session: &Session, first_seq: u64, before: &Tally) {
        let Some(cut) = session.seeds.inherited(&session.header) else { return };
        if first_seq >= cut && self.passed.is_none_or(|(passed, _)| passed != cut) {
            self.passed = Some((cut, up_to(cut, before)));
        }
    }

    /// What was inherited, at the log's end; `None` if it is no fork, or does not say where they end.
    pub(super) fn settle(self, session: &Session, all: &Tally) -> Option<Inherited> {
        let cut = session.seeds.inherited(&session.header)?;
        let passed = self.passed.filter(|(passed, _)| *passed == cut);
        let part = passed.map_or_else(|| up_to(cut, all), |(_, part)| part);
        let nodes = session.surface.nodes().iter().filter(|node| node.seq < cut);
        Some(nodes.fold(part, |part, node| Inherited {
            nodes: part.nodes.saturating_add(1),
            host_tokens: part.host_tokens.saturating_add(node.host_tokens),
            ..part
        }))
    }
}

/// The events of `tally` that stand before `cut`. More than those are the members of a row that goes on behind it.
fn up_to(cut: u64, tally: &Tally) -> Inherited {
    let behind = tally.events.saturating_sub(cut);
    Inherited {
        events: tally.events.min(cut),
        bytes: tally.bytes,
        chunk_events: tally.chunks.events.saturating_sub(behind),
        ..Inherited::default()
    }
}
