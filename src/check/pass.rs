//! The one pass over a log that feeds the rules.

use super::aftermath::Aftermath;
use super::brackets::{self, Brackets};
use super::busy::Busy;
use super::estimate::Estimate;
use super::finding::Findings;
use super::inbox::Inbox;
use super::losses::Losses;
use super::metered::Metered;
use super::numbering::Numbering;
use super::pairing::Calls;
use super::payload::Payload;
use super::places::Places;
use super::provenance::Ranges;
use super::quality::Quality;
use super::relations::Relations;
use super::script::Script;
use super::splits::Splits;
use super::task::Remains;
use super::upgrade::{self, Standing, Upgrades};
use super::vocabulary::Sources;
use super::wording::{amount, owned};
use super::{
    Checked, Options, absence, container, line, locks, payloads, seeds, stream, surface, text, vocabulary,
};
use crate::format::{CheckedBy, Format, Stream};
use crate::log::{Body, Container, Event, Fault, FaultKind, Header, Item, Place};
use crate::session::{Keep, Session, Violation};

/// What the rules know so far.
pub(super) struct Pass {
    session: Session,
    numbering: Numbering,
    losses: Losses,
    places: Places,
    splits: Splits,
    remains: Remains,
    brackets: Brackets,
    estimate: Estimate,
    quality: Quality,
    script: Script,
    sources: Sources,
    /// The rules between events, where something in dsh holds logs of the format to them.
    relations: Option<Relations>,
    /// What the token meter stumbles over, where it is known to.
    metered: Option<Metered>,
    inbox: Inbox,
    /// What upgrades to the format that is asked for refuse.
    upgrades: Option<Upgrades>,
    ranges: Ranges,
    aftermath: Aftermath,
    findings: Findings,
    /// Where something first could not be read since the last record.
    unread: Option<Place>,
    /// The last frame that could not be decoded, or not be trusted.
    broken_frame: Option<u64>,
}

impl Pass {
    pub(super) fn new(
        header: Header,
        format: &'static Format,
        container: Container,
        options: Options,
    ) -> Self {
        let mut findings = Findings::default();
        findings.extend(options.target.and_then(|target| upgrade::unneeded(&header, target)));
        let facts = Some(&format.relations).filter(|facts| facts.checked != CheckedBy::Upgrade);
        Self {
            relations: facts.map(|facts| Relations::new(facts, &header)),
            metered: format.is_metered.then(Metered::default),
            inbox: Inbox::new(&header),
            upgrades: options.target.and_then(|target| Upgrades::new(&header, format, target)),
            session: Session::new(header, format, Keep::Figures),
            numbering: Numbering::default(),
            losses: Losses::default(),
            places: Places::default(),
            splits: Splits::default(),
            remains: Remains::default(),
            brackets: Brackets::default(),
            estimate: Estimate::default(),
            quality: Quality::default(),
            script: Script::default(),
            sources: Sources::default(),
            ranges: Ranges::default(),
            aftermath: Aftermath::new(container),
            findings,
            unread: None,
            broken_frame: None,
        }
    }

    /// The same without the rules between events: for tests of other rules, whose logs are fragments.
    #[cfg(test)]
    pub(super) fn of_fragment(self) -> Self {
        Self { relations: None, ..self }
    }

    /// Takes the header members that the format does not have.
    pub(super) fn header_members(&mut self, names: &[String]) {
        self.findings.extend(vocabulary::header_members(names, self.session.format));
    }

    /// Takes what the log gives next.
    pub(super) fn take(&mut self, item: Item) {
        match item {
            Item::Fault(fault) => self.fault(&fault),
            Item::Record(record) => {
                let first_seq = record.body.first_seq();
                self.aftermath.record(&record);
                if let Some(bad) = record.invalid_utf8 {
                    self.findings.push(text::invalid_utf8(bad, first_seq, record.place));
                }
                if let Body::Event(event) = &record.body {
                    self.findings.extend(text::lone_surrogates(event, record.place));
                    self.ranges.event(event, record.place, self.session.format);
                }
                if !self.numbering.record(&record, &mut self.findings) {
                    return;
                }
                let unread = self.unread.take();
                let lost = self.losses.read_on(first_seq);
                if let Some(since) = unread {
                    self.findings.amend(|finding| absence::tell(finding, since, lost.as_ref(), first_seq));
                }
                if lost.is_some() {
                    self.brackets.doubt();
                    self.estimate.doubt();
                    self.relations.iter_mut().for_each(Relations::doubt);
                    self.upgrades.iter_mut().for_each(Upgrades::doubt);
                } else if let Some(line) = unread.and_then(|since| since.line) {
                    self.findings.amend(|finding| line::held_nothing(finding, line, first_seq));
                }
                match record.body {
                    Body::Event(event) => self.event(&event, record.place),
                    Body::Row(row) => {
                        self.session.apply_row(&row);
                        if !row.is_strict {
                            self.findings.push(line::loose_row(&row, record.place));
                        }
                        self.metered.iter_mut().for_each(|metered| metered.row(&row));
                        if let Some(relations) = &mut self.relations {
                            relations.row(&row, record.place, &mut self.findings);
                        }
                        if let Some(upgrades) = &mut self.upgrades {
                            upgrades.row(&row, record.place, &mut self.findings);
                        }
                    }
                }
            }
        }
    }

    fn fault(&mut self, fault: &Fault) {
        self.aftermath.fault(fault);
        let missing_from = self.numbering.fault(fault, &mut self.findings);
        let session = (!self.numbering.is_forked()).then_some(&self.session);
        let is_whole = session.is_some() && self.losses.is_whole() && !self.aftermath.is_past_the_end();
        if let Some(mut finding) =
            container::finding(fault, session, is_whole).or_else(|| line::finding(fault))
        {
            if matches!(fault.kind, FaultKind::FrameData(_)) {
                self.broken_frame = fault.place.frame;
                let lines = self.findings.take_back(|finding| line::is_in_frame(finding, fault.place.frame));
                if lines > 0 {
                    finding =
                        finding.adding(&format!("what holds no record in it: {}", amount(lines, "line")));
                }
            }
            if matches!(fault.kind, FaultKind::TornTail { .. }) && self.aftermath.is_past_the_end() {
                "dsh does not come as far: it takes the log to end before this".clone_into(&mut finding.help);
            }
            // Lines of a broken frame are broken for that reason.
            if !line::is_in_frame(&finding, self.broken_frame) {
                self.findings.push(finding);
            }
        }
        match fault.kind {
            // These stand between records, or behind all.
            FaultKind::TornTail { .. } | FaultKind::SeqRepeat { .. } => {}
            ref kind if kind.loses_nothing() => {}
            FaultKind::SeqGap { .. } => {
                if let Some(from) = missing_from {
                    self.losses.unread(from);
                }
            }
            _ => {
                self.unread.get_or_insert(fault.place);
                self.losses.unread(fault.seq);
            }
        }
    }

    fn event(&mut self, event: &Event, place: Place) {
        let replaces = event.is_replacement();
        if replaces {
            self.session.surface.want_expanded(event.seq);
        }
        match self.session.apply(event) {
            Ok(converted) => {
                let current = converted.as_ref().map(|converted| converted.event(event));
                let event = current.as_ref().unwrap_or(event);
                let payload = &Payload::of(event);
                if replaces {
                    self.replaced(event, payload, place);
                } else if event.surface_op.is_some()
                    && let Some(node) = self.session.surface.nodes().last()
                {
                    self.places.keep(node, place);
                    self.sources.node(node, place, self.session.format);
                }
                let (session, losses, findings) = (&self.session, &self.losses, &mut self.findings);
                let here = &mut brackets::Here { event, payload, place, session, losses, findings };
                self.brackets.event(here);
                self.estimate.event(here);
                self.quality.event(here);
                self.script.event(here);
                self.inbox.event(event, payload, place, self.session.format, &self.losses);
                let rules = self.session.format.asked.read;
                self.findings.extend(payloads::check(event, payload, rules, false).map(|problem| {
                    problem.finding(event, place).with_help(
                        "dsh opens the log in this format, but its strict reader refuses it; another tool or a damaged \
                         writer left this",
                    )
                }));
                let is_known = self.session.format.knows(&event.event_type);
                if let Some(relations) = self.relations.as_mut().filter(|_| is_known) {
                    relations.event(event, payload, place, &self.losses, &mut self.findings);
                }
                if let Some(metered) = &mut self.metered {
                    let (losses, findings) = (&self.losses, &mut self.findings);
                    metered.event(event, payload, place, self.session.format, losses, findings);
                }
                if let Some(upgrades) = &mut self.upgrades {
                    let standing = if is_known { Standing::Known } else { Standing::Unknown };
                    upgrades.event(event, payload, place, standing, &self.losses, &mut self.findings);
                }
                if self.session.format.stream == Stream::Embedded {
                    self.findings.extend(stream::check(event, payload, place));
                }
            }
            Err(violation) => {
                self.relations.iter_mut().for_each(|relations| relations.left_out(event));
                if let Some(upgrades) = &mut self.upgrades {
                    let is_readable = matches!(violation, Violation::Surface(_))
                        && self.session.format.knows(&event.event_type);
                    let standing = if is_readable { Standing::Known } else { Standing::LeftOut };
                    let (payload, losses) = (&Payload::of(event), &self.losses);
                    upgrades.event(event, payload, place, standing, losses, &mut self.findings);
                }
                let format = self.session.format;
                let fate = violation.fate(event, format);
                self.aftermath.violation(fate, place);
                self.findings.push(surface::finding(&violation, fate, event, place, format, &self.losses));
                // What is unknown may be of the surface, too.
                let is_unknown = matches!(violation, Violation::UnknownType(_));
                if is_unknown || format.surface_type(&event.event_type).is_some() {
                    self.losses.left_out(event.seq);
                    self.estimate.doubt();
                } else if event.event_type.starts_with("compaction/") || event.event_type.starts_with("turn/")
                {
                    self.brackets.doubt();
                }
                self.session.pass_over(event);
            }
        }
    }

    /// Looks at what a replacement has hidden.
    fn replaced(&mut self, event: &Event, payload: &Payload, place: Place) {
        let hidden = self.session.surface.take_expanded();
        let surface = &self.session.surface;
        let node = surface.position(event.seq).and_then(|position| surface.nodes().get(position));
        if let Some(node) = node {
            let source = payload.get().and_then(|data| data.object("source"));
            let compaction_id = source.and_then(|source| source.text("compactionId")).map(owned);
            self.splits.replaced(&hidden, node, compaction_id);
            if let Some(message) = payload.get() {
                self.remains.replaced(&self.session, event.seq, message);
            }
            self.places.forget(&node.replaces);
            self.places.keep(node, place);
            self.sources.node(node, place, self.session.format);
        }
    }

    /// Looks at what the log leaves behind.
    pub(super) fn finish(mut self, events: u64, crlf: Option<(u64, Place)>) -> Checked {
        self.numbering.end(&mut self.findings);
        let lock = (!self.numbering.is_forked()).then(|| self.session.lock());
        if let Some(lock) = &lock {
            locks::check(lock, self.brackets.open(), self.brackets.is_in_doubt(), &mut self.findings);
            let Self { session, places, splits, losses, findings, .. } = &mut self;
            Calls { session, places, splits, losses }.check(findings);
        }
        let busy = lock.as_ref().map(|lock| Busy::all(lock, &self.session, &self.inbox));
        self.findings.extend(self.brackets.failures.finding(&self.session));
        self.quality.finish(&mut self.findings);
        self.findings.extend(vocabulary::findings(&self.session));
        self.findings.extend(self.sources.findings(self.session.format));
        if lock.is_some() {
            self.findings.extend(self.estimate.finding());
            self.findings.extend(self.script.finding());
            self.findings.extend(self.remains.findings(&self.session, &self.places));
        }
        // Where events were lost, the marker may be among them.
        if self.losses.is_empty() && !self.numbering.is_forked() {
            self.findings.extend(seeds::finding(&self.session, events));
        }
        if let Some(relations) = self.relations.take() {
            relations.finish(&mut self.findings);
        }
        self.findings.extend(self.inbox.into_finding());
        if let Some(upgrades) = self.upgrades.take() {
            upgrades.finish(&mut self.findings);
        }
        self.findings.extend(crlf.map(line::crlf));
        self.findings.extend(self.ranges.finding(self.session.format));
        self.aftermath.tell(&mut self.findings);
        Checked {
            session: self.session.header.id.clone(),
            version: self.session.format.version,
            events,
            lock,
            busy: busy.unwrap_or_default(),
            findings: self.findings.sorted(),
        }
    }
}
