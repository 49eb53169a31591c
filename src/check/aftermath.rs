//! What dsh itself makes of a log's first bad line or number: it refuses the log, or drops what follows (FORMAT §9.1).
//!
//! dsh scans a log's lines up to the first that it cannot read or that does not continue the numbering. In a compressed
//! log that is always fatal. In a raw one it is fatal if the end of a turn stands behind it, or if an event before it is
//! refused; else dsh takes that line and all behind it for a torn tail, and cuts them off when it loads the session.
//! So it does with the lines of a compressed log's torn last frame, and with all of that frame if it is damaged so that
//! the file only seems to end inside it.

use super::Finding;
use super::finding::Findings;
use super::registry::{Rule, rule_family};
use super::wording::{amount, span};
use super::{container, line, numbering, surface};
use crate::log::{Body, Container, Fault, FaultKind, Place, Record};
use crate::session::{Fate, Session};

#[cfg(test)]
mod tests;

rule_family! {
    "line";
    /// Sound events stand behind damage, and dsh would open the log and delete them.
    ///
    /// **What it means.** Behind the first line that dsh cannot read, or whose number does not go on, the log
    /// has well-formed events, and nothing makes dsh refuse it. The finding tells which events, and how many
    /// more behind further damage. In a compressed log the same goes for a torn last frame, and for one that is
    /// damaged so that it seems to be cut.
    ///
    /// **Why it matters.** dsh finds no end of a turn behind the damage and concludes that a crash tore the
    /// log's tail. It opens the session without a word and cuts the file off at the damage, and the finished
    /// work behind it is gone.
    ///
    /// **How it comes about.** A line in the middle was damaged, or numbers were skipped, in a turn that has
    /// not ended, such as the one in which the session was interrupted. Work of a long turn can be hundreds
    /// of events.
    ///
    /// **What to do.** Copy the file before dsh opens the session; that dsh lists it does no harm. Then mend
    /// the damaged line in the copy, or give its place to what another copy holds, and check it again here.
    /// `dshc replay --partial` shows the part that dsh would keep.
    VALID_EVENTS_AFTER_DAMAGE = error("valid-events-after-damage");
}

/// The log as dsh's scan sees it.
#[derive(Debug)]
pub(super) struct Aftermath {
    container: Container,
    /// Something outside the scan makes dsh refuse the log.
    is_refused: bool,
    first: Option<Damage>,
    /// The last frame, where it is damaged and not only cut.
    broken_tail: Option<Fault>,
    /// Events of the frames that it swallows.
    swallowed: u64,
    /// The frame in which the file ends: its lines are scanned like those of a raw log (FORMAT §2.3).
    torn_frame: Option<u64>,
}

/// The first line that ends the scan.
#[derive(Debug)]
struct Damage {
    place: Place,
    /// The scan takes the line for an event, which is then refused.
    is_taken: bool,
    /// Whether the end of a turn stands in or behind it, and where.
    turn_end: Option<Place>,
    /// The row that comes next is the damage itself.
    row_follows: bool,
    /// What stands before it does not say where the inherited events end as the header has it, so it makes no log.
    lacks_boundary: bool,
    run: Option<Run>,
    /// The last record behind it, which belongs to the run unless something turns out to be wrong with it.
    last: Option<Run>,
    /// Events behind the run.
    more: u64,
}

/// Events without a gap.
#[derive(Debug)]
struct Run {
    first_seq: u64,
    next_seq: u64,
    start: Place,
    last_line: Option<u64>,
    /// A fault stands behind it.
    is_over: bool,
}

impl Aftermath {
    pub(super) fn new(container: Container) -> Self {
        Self { container, is_refused: false, first: None, broken_tail: None, swallowed: 0, torn_frame: None }
    }

    /// Takes a fault; `session` is what stands before it.
    pub(super) fn fault(&mut self, fault: &Fault, session: &Session) {
        if self.broken_tail.is_some() {
            // To dsh the log ends there.
            return;
        }
        let (is_taken, ends_turn) = match fault.kind {
            FaultKind::TornTail { .. } => {
                self.torn_frame = fault.place.frame;
                return;
            }
            FaultKind::BrokenTail { ref swallowed, .. } => {
                self.torn_frame = fault.place.frame;
                // dsh sees no line of a frame that it cannot decode.
                if swallowed.is_none() {
                    self.first.take_if(|damage| damage.place.frame == fault.place.frame);
                }
                self.broken_tail = Some(fault.clone());
                return;
            }
            FaultKind::Envelope { is_taken, ends_turn, .. } => (is_taken, ends_turn),
            ref kind if kind.is_of_container() => {
                self.is_refused = true;
                return;
            }
            _ => (false, false),
        };
        // A record whose numbers are taken comes behind its fault. Once a line has been dropped, its number may be right for
        // dsh, but that of a row, of which a part is taken, never is.
        let row_follows = match fault.kind {
            FaultKind::SeqRepeat { members, .. } => self.first.is_none() || members > 1,
            _ => false,
        };
        let ends_turn = ends_turn.then_some(fault.place);
        self.damage(fault.place, session);
        if let Some(damage) = &mut self.first {
            damage.is_taken |= is_taken && damage.place == fault.place;
            damage.turn_end = damage.turn_end.or(ends_turn);
            damage.row_follows = row_follows;
        }
    }

    fn damage(&mut self, place: Place, session: &Session) {
        match &mut self.first {
            Some(damage) => {
                damage.count_last();
                damage.row_follows = false;
                if let Some(run) = &mut damage.run {
                    run.is_over = true;
                }
            }
            first @ None => {
                *first = Some(Damage {
                    place,
                    is_taken: false,
                    turn_end: None,
                    row_follows: false,
                    lacks_boundary: session.seeds.refuses(&session.header, session.format),
                    run: None,
                    last: None,
                    more: 0,
                });
            }
        }
    }

    pub(super) fn record(&mut self, record: &Record) {
        if self.broken_tail.is_some() {
            self.swallowed = self.swallowed.saturating_add(record.body.events());
            return;
        }
        let Some(damage) = &mut self.first else { return };
        if let Body::Event(event) = &record.body
            && event.event_type == "turn/end"
            && !record.is_rescued
        {
            damage.turn_end.get_or_insert(record.place);
        }
        damage.count_last();
        if std::mem::take(&mut damage.row_follows) {
            return;
        }
        let (first_seq, events) = (record.body.first_seq(), record.body.events());
        damage.last = Some(Run {
            first_seq,
            next_seq: first_seq.saturating_add(events),
            start: record.place,
            last_line: record.place.line,
            is_over: false,
        });
    }

    /// The last record stands in the log before, or breaks a rule: it is no sound event that would be lost.
    pub(super) fn discount(&mut self) {
        if let Some(damage) = &mut self.first
            && damage.last.take().is_some()
            && let Some(run) = &mut damage.run
        {
            run.is_over = true;
        }
    }

    /// Whether dsh makes something else of the log than its whole content and what is torn off.
    pub(super) fn is_damaged(&self) -> bool {
        self.is_refused || self.first.is_some() || self.broken_tail.is_some()
    }

    /// Whether dsh takes the log to end before what is read now.
    pub(super) fn is_past_the_end(&self) -> bool {
        self.broken_tail.is_some()
    }

    /// An event breaks a rule, so that dsh refuses the log, if it gets as far and does not take the line for damaged.
    pub(super) fn violation(&mut self, fate: Fate, place: Place, session: &Session) {
        if self.broken_tail.is_some() {
            return;
        }
        match fate {
            Fate::Dropped => self.damage(place, session),
            Fate::Refused => self.is_refused |= self.first.is_none(),
            Fate::NeverDropped => self.is_refused = true,
        }
    }

    /// Says at the first damage what dsh makes of it, and what would be lost by that. `session` is all of the log.
    pub(super) fn tell(mut self, session: &Session, findings: &mut Findings) {
        match &mut self.first {
            Some(damage) => damage.count_last(),
            None => self.is_refused |= session.seeds.refuses(&session.header, session.format),
        }
        self.tell_torn(findings);
        if let Some(tail) = &self.broken_tail {
            self.tell_tail(tail, findings);
        }
        let Some(damage) = &self.first else { return };
        let fate = self.refusal(damage).unwrap_or_else(|| {
            findings.extend(deleted(damage));
            "dsh opens the log, and deletes everything from here on when it loads the session".to_owned()
        });
        let families = [line::RULES, numbering::RULES, surface::RULES];
        tell_at(damage.place, &families, &fate, findings);
    }

    /// Whether dsh takes the log to end at a bad line there, if nothing behind it forbids that.
    fn may_end_at(&self, place: Place) -> bool {
        self.container == Container::Raw || place.frame.is_some() && place.frame == self.torn_frame
    }

    fn refuses(&self) -> bool {
        self.is_refused || self.first.as_ref().is_some_and(|damage| self.refusal(damage).is_some())
    }

    /// That dsh refuses the log at its first damage, and why, unless it cuts the log off there.
    fn refusal(&self, damage: &Damage) -> Option<String> {
        let why = if damage.is_taken {
            "it takes the line for an event and then finds it invalid"
        } else if self.is_refused {
            return Some("dsh refuses the log, for more than this".to_owned());
        } else if !self.may_end_at(damage.place) {
            "no line of a whole frame may be bad"
        } else if let Some(place) = damage.turn_end {
            if place.line == damage.place.line {
                return Some("dsh refuses the log, since a turn ends in this line".to_owned());
            }
            let line = place.line.unwrap_or_default();
            return Some(format!(
                "dsh refuses the log, since a turn ends in line {line}: without that it would drop all from here on"
            ));
        } else if damage.lacks_boundary {
            "what stands before this does not say where the inherited events end"
        } else {
            return None;
        };
        Some(format!("dsh refuses the log: {why}"))
    }

    /// Says at a torn tail what dsh makes of it, where that is not to cut it off.
    fn tell_torn(&self, findings: &mut Findings) {
        let help = match &self.first {
            _ if self.broken_tail.is_some() => {
                "dsh does not come as far: it takes the log to end before this".to_owned()
            }
            _ if self.refuses() => "dsh refuses the log for something else, and cuts nothing off".to_owned(),
            Some(damage) => {
                let line = damage.place.line.unwrap_or_default();
                format!("dsh takes the log to end at line {line} already, and deletes all from there on")
            }
            None => return,
        };
        findings.amend(0, |finding| {
            if finding.is_of(&[&container::TORN_TAIL, &container::NO_FINAL_NEWLINE]) {
                finding.help.clone_from(&help);
            }
        });
    }

    /// Says at a damaged last frame what dsh makes of it, and what would be lost by that.
    fn tell_tail(&self, tail: &Fault, findings: &mut Findings) {
        let FaultKind::BrokenTail { swallowed, recovered, .. } = tail.kind else { return };
        let byte = tail.place.byte.unwrap_or_default();
        let is_refused = self.refuses();
        let fate = if is_refused {
            "dsh refuses the log, for more than this".to_owned()
        } else {
            format!(
                "dsh takes the frame for a torn tail: it opens the log, and deletes all from byte {byte} on"
            )
        };
        tell_at(tail.place, &[container::RULES], &fate, findings);
        let sound = match (swallowed, recovered) {
            (Some(next), _) => {
                let events = amount(self.swallowed, "event");
                format!("from byte {next} on other frames stand behind the damage, with {events}")
            }
            (None, 1..) => format!("{} of the damaged frame can be read", amount(recovered, "whole record")),
            (None, 0) => return,
        };
        if !is_refused {
            let message = format!(
                "{sound}: dsh opens this log without a word, and deletes all from byte {byte} on when it loads the session"
            );
            let help = "copy the file before dsh opens the session, and restore the frame from an older copy";
            findings.push(Finding::new(&VALID_EVENTS_AFTER_DAMAGE, tail.place, message).with_help(help));
        }
    }
}

impl Damage {
    /// Counts the last record: nothing is wrong with it.
    fn count_last(&mut self) {
        let Some(last) = self.last.take() else { return };
        match &mut self.run {
            None => self.run = Some(last),
            Some(run) if !run.is_over && run.next_seq == last.first_seq => {
                (run.next_seq, run.last_line) = (last.next_seq, last.last_line);
            }
            Some(run) => {
                run.is_over = true;
                self.more = self.more.saturating_add(last.next_seq.saturating_sub(last.first_seq));
            }
        }
    }
}

/// Adds what dsh makes of it to what these families said at `place`.
fn tell_at(place: Place, families: &[&[&Rule]], fate: &str, findings: &mut Findings) {
    findings.amend(0, |finding| {
        let is_it = families.iter().any(|family| finding.is_of(family));
        // What is refused for itself says so already.
        let is_told = finding.help.contains(surface::REFUSED);
        if is_it && !is_told && finding.place == place {
            finding.help = format!("{}; {fate}", finding.help);
        }
    });
}

/// What is to be said of the sound events behind damage at which dsh cuts the log off.
fn deleted(damage: &Damage) -> Option<Finding> {
    let run = damage.run.as_ref()?;
    let lines = match (run.start.line, run.last_line) {
        (Some(first), last) => format!(", {}", span("line", first, last.unwrap_or(first))),
        _ => String::new(),
    };
    let events = run.next_seq.saturating_sub(run.first_seq);
    let seqs = span("seq", run.first_seq, run.next_seq.saturating_sub(1));
    let stand = if events == 1 { "stands" } else { "stand" };
    let mut message = format!(
        "{} ({seqs}{lines}) {stand} behind the damage in line {}",
        amount(events, "sound event"),
        damage.place.line.unwrap_or_default()
    );
    if damage.more > 0 {
        message = format!("{message}, and {} more behind other damage", damage.more);
    }
    message.push_str(
        ": dsh opens this log as if they were not there, and deletes them when it loads the session",
    );
    let help = "copy the file before dsh opens the session, then mend the damaged line";
    let finding = Finding::new(&VALID_EVENTS_AFTER_DAMAGE, run.start, message);
    Some(finding.at_seq(run.first_seq).with_help(help))
}
