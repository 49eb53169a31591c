//! The rules that follow a log event by event: each sees what the session has taken and keeps what it needs of the past.

use super::brackets::Brackets;
use super::busy::Busy;
use super::estimate::Watched;
use super::finding::Findings;
use super::here::Here;
use super::inbox::Inbox;
use super::losses::Losses;
use super::metered::Metered;
use super::pairing::Calls;
use super::payload::Payload;
use super::places::Places;
use super::quality::Quality;
use super::relations::Relations;
use super::script::Script;
use super::splits::Splits;
use super::task::Remains;
use super::upgrade::{Standing, Upgrades};
use super::vocabulary::Sources;
use super::wording::owned;
use super::{Options, line, locks, stream};
use crate::format::{CheckedBy, Format, Stream};
use crate::log::{Event, Header, PackedRow, Place};
use crate::session::{LockState, Node, Session, Violation};

/// What these rules know so far.
pub(super) struct Watch {
    format: &'static Format,
    places: Places,
    splits: Splits,
    remains: Remains,
    brackets: Brackets,
    estimate: Watched,
    quality: Quality,
    script: Script,
    sources: Sources,
    inbox: Inbox,
    /// The rules between events, where something in dsh holds logs of the format to them.
    relations: Option<Relations>,
    /// What the token meter stumbles over, where it is known to.
    metered: Option<Metered>,
    /// What upgrades to the format that is asked for refuse.
    upgrades: Option<Upgrades>,
}

impl Watch {
    pub(super) fn new(header: &Header, format: &'static Format, options: Options) -> Self {
        let facts = Some(&format.relations).filter(|facts| facts.checked != CheckedBy::Upgrade);
        Self {
            format,
            places: Places::default(),
            splits: Splits::default(),
            remains: Remains::default(),
            brackets: Brackets::default(),
            estimate: Watched::default(),
            quality: Quality::default(),
            script: Script::default(),
            sources: Sources::default(),
            inbox: Inbox::new(header),
            relations: facts.map(|facts| Relations::new(facts, header)),
            metered: format.is_metered.then(Metered::default),
            upgrades: options.target.and_then(|target| Upgrades::new(header, format, target)),
        }
    }

    /// The same without the rules between events: for tests of other rules, whose logs are fragments.
    #[cfg(test)]
    pub(super) fn of_fragment(self) -> Self {
        Self { relations: None, ..self }
    }

    /// Events were lost.
    pub(super) fn doubt(&mut self) {
        self.brackets.doubt();
        self.estimate.doubt();
        self.relations.iter_mut().for_each(Relations::doubt);
        self.upgrades.iter_mut().for_each(Upgrades::doubt);
    }

    /// Takes a run of streamed deltas.
    pub(super) fn row(&mut self, row: &PackedRow, place: Place, findings: &mut Findings) {
        if !row.is_strict {
            findings.push(line::loose_row(row, place));
        }
        self.metered.iter_mut().for_each(|metered| metered.row(row));
        self.relations.iter_mut().for_each(|relations| relations.row(row, place, findings));
        self.upgrades.iter_mut().for_each(|upgrades| upgrades.row(row, place, findings));
    }

    /// Takes an event that the session has taken. If it was a replacement, `hidden` are the nodes that it replaced.
    pub(super) fn event(&mut self, hidden: Option<&[Node]>, here: &mut Here) {
        self.surface(hidden, here);
        self.brackets.event(here);
        self.estimate.event(here);
        self.quality.event(here);
        self.script.event(here);
        self.inbox.event(here);
        self.metered.iter_mut().for_each(|metered| metered.event(here));
        let (event, payload, place, losses) = (here.event, here.payload, here.place, here.losses);
        let findings = &mut *here.findings;
        let is_known = self.format.knows(&event.event_type);
        if let Some(relations) = self.relations.as_mut().filter(|_| is_known) {
            relations.event(event, payload, place, losses, findings);
        }
        if let Some(upgrades) = &mut self.upgrades {
            let standing = if is_known { Standing::Known } else { Standing::Unknown };
            upgrades.event(event, payload, place, standing, losses, findings);
        }
        if self.format.stream == Stream::Embedded {
            findings.extend(stream::check(event, payload, place));
        }
    }

    /// Looks at what an event puts on the surface and what it hides there.
    fn surface(&mut self, hidden: Option<&[Node]>, here: &Here) {
        let Some(node) = here.node else { return };
        if let Some(hidden) = hidden {
            let message = here.payload.get();
            let source = message.and_then(|message| message.object("source"));
            let compaction_id = source.and_then(|source| source.text("compactionId")).map(owned);
            self.splits.replaced(hidden, node, compaction_id);
            if let Some(message) = message {
                self.remains.replaced(here.session, here.event.seq, message);
            }
            self.places.forget(&node.replaces);
        }
        self.places.keep(node, here.place);
        self.sources.node(node, here.place, self.format);
    }

    /// Takes an event that the session has left out.
    pub(super) fn left_out(
        &mut self,
        event: &Event,
        violation: &Violation,
        place: Place,
        losses: &Losses,
        findings: &mut Findings,
    ) {
        self.relations.iter_mut().for_each(|relations| relations.left_out(event));
        if let Some(upgrades) = &mut self.upgrades {
            let is_readable =
                matches!(violation, Violation::Surface(_)) && self.format.knows(&event.event_type);
            let standing = if is_readable { Standing::Known } else { Standing::LeftOut };
            upgrades.event(event, &Payload::of(event), place, standing, losses, findings);
        }
    }

    /// A message was left out, or what may be one.
    pub(super) fn doubt_surface(&mut self) {
        self.estimate.doubt();
    }

    /// A bracket's event or a turn's boundary was left out.
    pub(super) fn doubt_brackets(&mut self) {
        self.brackets.doubt();
    }

    /// Looks at what a log leaves behind; where numbers come twice there is no one end, and no lock is known. Tells why
    /// dsh would answer "busy" at the end.
    pub(super) fn finish(
        self,
        session: &Session,
        lock: Option<&LockState>,
        losses: &Losses,
        findings: &mut Findings,
    ) -> Vec<Busy> {
        let Self { places, splits, brackets, .. } = &self;
        if let Some(lock) = lock {
            locks::check(lock, brackets.open(), session.format, brackets.is_in_doubt(), findings);
            Calls { session, places, splits, losses }.check(findings);
            findings.extend(self.estimate.finding(&session.estimate));
            findings.extend(self.metered.iter().flat_map(Metered::findings));
            findings.extend(self.script.finding());
            findings.extend(self.remains.findings(session, places));
        }
        let busy = lock.map(|lock| Busy::all(lock, session, &self.inbox));
        findings.extend(brackets.failures.finding(session));
        findings.extend(self.sources.findings(self.format));
        self.quality.finish(findings);
        if let Some(relations) = self.relations {
            relations.finish(findings);
        }
        findings.extend(self.inbox.into_finding());
        if let Some(upgrades) = self.upgrades {
            upgrades.finish(findings);
        }
        busy.unwrap_or_default()
    }
}
