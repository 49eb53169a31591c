//! The one pass over a log that feeds the rules.

use super::aftermath::Aftermath;
use super::finding::{Finding, Findings};
use super::here::Here;
use super::losses::Losses;
use super::numbering::{Numbering, Step};
use super::payload::Payload;
use super::provenance::Ranges;
use super::watch::Watch;
use super::wording::amount;
use super::{
    Checked, Ending, Options, absence, container, line, numbering, seeds, shapes, surface, text, upgrade,
    vocabulary,
};
use crate::format::Format;
use crate::log::{Body, Container, Event, Fault, FaultKind, Header, Item, Place, Record};
use crate::session::{Fate, Keep, Session, Violation};

/// What is known so far of the bytes, the lines and the numbering, and of what they mean.
pub(super) struct Pass {
    session: Session,
    watch: Watch,
    numbering: Numbering,
    losses: Losses,
    ranges: Ranges,
    aftermath: Aftermath,
    read: Read,
    firsts: vocabulary::Firsts,
    findings: Findings,
    /// What could not be read since the last record.
    unread: Option<Unread>,
    /// The last frame that could not be decoded, or not be trusted.
    broken_frame: Option<u64>,
}

/// How many events were read, each number once.
#[derive(Debug, Default)]
struct Read {
    events: u64,
    /// The number behind the highest one.
    next_seq: u64,
}

impl Read {
    fn record(&mut self, body: &Body) {
        let first = body.first_seq().max(self.next_seq);
        let next = body.first_seq().saturating_add(body.events()).max(first);
        self.events = self.events.saturating_add(next - first);
        self.next_seq = next;
    }
}

/// Damage behind the last record.
#[derive(Debug, Clone, Copy)]
struct Unread {
    /// Where it begins.
    since: Place,
    /// How many findings had been told before it.
    told: usize,
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
        Self {
            watch: Watch::new(&header, format, options),
            session: Session::new(header, format, Keep::Figures),
            numbering: Numbering::default(),
            losses: Losses::default(),
            ranges: Ranges::default(),
            aftermath: Aftermath::new(container),
            read: Read::default(),
            firsts: vocabulary::Firsts::default(),
            findings,
            unread: None,
            broken_frame: None,
        }
    }

    /// The same without the rules between events: for tests of other rules, whose logs are fragments.
    #[cfg(test)]
    pub(super) fn of_fragment(self) -> Self {
        Self { watch: self.watch.of_fragment(), ..self }
    }

    /// Takes the header members that the format does not have.
    pub(super) fn header_members(&mut self, names: &[String]) {
        self.findings.extend(vocabulary::header_members(names, self.session.format));
    }

    /// Takes what the log gives next.
    pub(super) fn take(&mut self, item: Item) {
        match item {
            Item::Fault(fault) => self.fault(&fault),
            Item::Record(record) => self.record(&record),
        }
    }

    fn record(&mut self, record: &Record) {
        let first_seq = record.body.first_seq();
        self.aftermath.record(record);
        self.read.record(&record.body);
        if let Some(bad) = record.invalid_utf8 {
            self.findings.push(text::invalid_utf8(bad, first_seq, record.place));
        }
        if let Body::Event(event) = &record.body {
            self.findings.extend(text::lone_surrogates(event, record.place));
            self.ranges.event(event, record.place, self.session.format);
        }
        match self.numbering.record(record, &mut self.findings) {
            Step::Beside => {
                if self.numbering.is_again() {
                    self.aftermath.discount();
                }
                return;
            }
            Step::Behind(missing_from) => self.losses.unread(missing_from),
            Step::Next => {}
        }
        self.read_on(first_seq);
        match &record.body {
            Body::Event(event) => self.event(event, record.place),
            Body::Row(row) => {
                self.session.apply_row(row);
                self.watch.row(row, record.place, &mut self.findings);
            }
        }
    }

    /// A record was read, after which it shows what was lost since the one before it.
    fn read_on(&mut self, first_seq: u64) {
        let lost = self.losses.read_on(first_seq);
        if lost.is_some() {
            self.watch.doubt();
        }
        let Some(Unread { since, told }) = self.unread.take() else { return };
        self.findings.amend(told, |finding| {
            absence::tell(finding, since, lost.as_ref(), first_seq);
            if let (None, Some(line)) = (&lost, since.line) {
                line::held_nothing(finding, line, first_seq);
            }
        });
    }

    fn fault(&mut self, fault: &Fault) {
        self.aftermath.fault(fault, &self.session);
        self.numbering.fault(fault);
        let forgotten = self.forget_text_of(fault);
        let told = self.findings.len();
        self.tell(fault, forgotten);
        match fault.kind {
            // These stand between records, or behind all; of the numbers the next record tells.
            FaultKind::TornTail { .. } | FaultKind::SeqRepeat { .. } | FaultKind::SeqGap { .. } => {}
            ref kind if kind.loses_nothing() => {}
            _ => {
                self.unread.get_or_insert(Unread { since: fault.place, told });
                self.losses.unread(fault.seq);
            }
        }
    }

    /// What stands in a frame that turns out to be broken may be anything. Tells how many lines, and how many other
    /// flaws of its text, were told so far.
    fn forget_text_of(&mut self, fault: &Fault) -> (usize, usize) {
        if !matches!(fault.kind, FaultKind::FrameData(_) | FaultKind::BrokenTail { .. }) {
            return (0, 0);
        }
        let frame = fault.place.frame;
        self.broken_frame = frame;
        let lines = self.findings.take_back(|finding| line::is_in_frame(finding, frame));
        let others = self.findings.take_back(|finding| is_of_text(finding, frame));
        if let Some(unread) = &mut self.unread {
            unread.told = unread.told.saturating_sub(lines + others);
        }
        (lines, others)
    }

    /// Tells of a flaw of the container or of a line. So many lines of a broken frame hold no record, and so many other
    /// findings in it are taken back.
    fn tell(&mut self, fault: &Fault, (lines, others): (usize, usize)) {
        let session = (!self.numbering.is_forked()).then_some(&self.session);
        let is_whole = session.is_some() && self.losses.is_whole() && !self.aftermath.is_past_the_end();
        let session = session.filter(|_| !self.aftermath.is_damaged());
        let finding = container::finding(fault, session, is_whole).or_else(|| line::finding(fault));
        let Some(mut finding) = finding.filter(|finding| !line::is_in_frame(finding, self.broken_frame))
        else {
            return;
        };
        if lines > 0 {
            let lines = amount(lines as u64, "line");
            finding = finding.adding(&format!("what holds no record in it: {lines}"));
        }
        if others > 0 {
            let others = amount(others as u64, "finding");
            finding = finding.adding(&format!("{others} in its text left out, which may be anything"));
        }
        self.findings.push(finding);
    }

    fn event(&mut self, event: &Event, place: Place) {
        let replaces = event.is_replacement();
        if replaces {
            self.session.surface.want_expanded(event.seq);
        }
        match self.session.apply(event) {
            Ok(converted) => {
                self.firsts.event(event, place, &self.session);
                let current = converted.as_ref().map(|converted| converted.event(event));
                let event = current.as_ref().unwrap_or(event);
                let hidden = replaces.then(|| self.session.surface.take_expanded());
                let (session, losses, findings) = (&self.session, &self.losses, &mut self.findings);
                // An event that was passed over may carry a marker, too.
                let node = session.surface.latest().filter(|node| node.seq == event.seq);
                let payload = &Payload::of(event);
                let here = &mut Here { event, payload, place, node, session, losses, findings };
                self.watch.event(hidden.as_deref(), here);
                if let Some(finding) = shapes::on_reading(here, session.format) {
                    self.aftermath.violation(Fate::NeverDropped, place, session);
                    here.findings.push(finding);
                }
            }
            Err(violation) => self.left_out(event, &violation, place),
        }
    }

    /// Goes on without an event that breaks a rule of the surface, of payloads or of event types.
    fn left_out(&mut self, event: &Event, violation: &Violation, place: Place) {
        let format = self.session.format;
        let converted = self.session.convert(event).ok().flatten();
        let current = converted.as_ref().map(|converted| converted.event(event));
        self.watch.left_out(
            current.as_ref().unwrap_or(event),
            violation,
            place,
            &self.losses,
            &mut self.findings,
        );
        let fate = violation.fate(event, format);
        let is_unknown = matches!(violation, Violation::UnknownType(_));
        if !is_unknown {
            self.aftermath.discount();
        }
        self.aftermath.violation(fate, place, &self.session);
        self.findings.push(surface::finding(violation, fate, event, place, format, &self.losses));
        // What is unknown may be of the surface, too.
        if is_unknown || format.surface_type(&event.event_type).is_some() {
            self.losses.left_out(event.seq);
            self.watch.doubt_surface();
        } else if event.event_type.starts_with("compaction/") || event.event_type.starts_with("turn/") {
            self.watch.doubt_brackets();
        }
        self.session.pass_over(event);
    }

    /// Looks at what the log leaves behind. `next_seq` is the number that the next event would have.
    pub(super) fn finish(mut self, next_seq: u64, crlf: Option<(u64, Place)>) -> Checked {
        self.numbering.end(&mut self.findings);
        let is_one_history = !self.numbering.is_forked();
        let lock = is_one_history.then(|| self.session.lock());
        let Self { session, watch, losses, aftermath, read, firsts, mut findings, .. } = self;
        let busy = watch.finish(&session, lock.as_ref(), &losses, &mut findings);
        findings.extend(vocabulary::findings(&session, &firsts));
        // Where events were lost, the marker may be among them.
        if losses.is_empty() && is_one_history {
            findings.extend(seeds::finding(&session, next_seq));
        }
        findings.extend(crlf.map(line::crlf));
        findings.extend(self.ranges.finding(session.format));
        aftermath.tell(&session, &mut findings);
        let ending = Ending { events: read.events, last_time: session.last_time, lock, busy };
        Checked { ending, findings: findings.sorted() }
    }
}

/// Whether a finding judges what stands in the text of this frame, and neither the frame nor the numbers.
fn is_of_text(finding: &Finding, frame: Option<u64>) -> bool {
    frame.is_some()
        && finding.place.frame == frame
        && ![container::RULES, numbering::RULES].into_iter().any(|family| finding.is_of(family))
}
