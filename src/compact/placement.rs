//! Where a region stands, and what is written for it there.

use super::outcome::Appended;
use super::records::Bracket;
use crate::session::Session;
use std::ops::RangeInclusive;
use std::time::{SystemTime, UNIX_EPOCH};

/// A region's place on the surface and its bracket's in the log; both move when other writers append.
#[derive(Debug, Clone)]
pub(super) struct Placement {
    pub(super) bracket: Bracket,
    /// The positions of the region's nodes.
    pub(super) span: RangeInclusive<usize>,
    /// The whole surface as it was, by seq and host tokens.
    surface: Vec<(u64, u64)>,
}

impl Placement {
    pub(super) fn new(bracket: Bracket, span: RangeInclusive<usize>, session: &Session) -> Self {
        Self { bracket, span, surface: figures(session) }
    }

    /// Moves to where the region stands in a session to which others have appended since: what was summarized must still
    /// be there as it was, in an open turn the whole surface (FORMAT §7.4). Says what has changed where it cannot.
    pub(super) fn fit(&mut self, session: &Session) -> Result<(), String> {
        let now = figures(session);
        if self.bracket.turn.is_some() && now != self.surface {
            return Err("another writer has changed the surface inside the open turn".into());
        }
        let region = &self.surface[self.span.clone()];
        let start = now.iter().position(|node| Some(node) == region.first());
        let span = start.map(|start| start..=start + region.len() - 1);
        let span = span.filter(|span| now.get(span.clone()) == Some(region));
        let Some(span) = span else {
            return Err("another writer has changed the region while it was summarized".into());
        };
        if session.pairing().bar(&span).is_some() {
            return Err("another writer has made the region part a tool call from its result".into());
        }
        let price = self.bracket.shadowed_tokens;
        self.bracket.shadowed_figure = session.estimate.figure_for(price, session.surface.host_tokens());
        self.bracket.next_seq = session.events;
        (self.surface, self.span) = (now, span);
        Ok(())
    }

    /// Takes the time of what is written next: the last event's, and no earlier than now where a model was asked.
    pub(super) fn set_time(&mut self, session: &Session, is_live: bool) {
        let now = is_live.then(SystemTime::now).and_then(|now| now.duration_since(UNIX_EPOCH).ok());
        let now = now.and_then(|now| i64::try_from(now.as_millis()).ok());
        self.bracket.time = now.max(session.last_time).unwrap_or_default();
    }

    /// What is in the log once the bracket's start is.
    pub(super) fn appended(&self) -> Appended {
        Appended {
            compaction_id: self.bracket.compaction_id.clone(),
            start_seq: self.bracket.start_seq,
            summary_seq: None,
            checkpoint_seq: None,
            end_seq: None,
        }
    }

    /// The surface's seqs after the commit.
    pub(super) fn surface_after(&self, session: &Session) -> Vec<u64> {
        let mut seqs = session.surface.seqs().to_vec();
        seqs.splice(self.span.clone(), [self.bracket.checkpoint_seq()]);
        seqs
    }
}

/// The nodes of the surface, by seq and host tokens.
fn figures(session: &Session) -> Vec<(u64, u64)> {
    session.surface.nodes().iter().map(|node| (node.seq, node.host_tokens)).collect()
}
