//! Compaction brackets: start, summary, checkpoint and end belong together (FORMAT §10.1).

mod rules;

use super::binding::{Id, Ids, Owner};
use super::failures::{Failures, Surface};
use super::finding::Findings;
use super::here::Here;
use super::registry::Rule;
use super::{Finding, locks, shadow};
use crate::json::Object;
use crate::log::Place;
use crate::session::is_checkpoint_source;
pub(super) use rules::RULES;
use rules::{
    CHECKPOINT_WITHOUT_START, CHECKPOINT_WITHOUT_SUMMARY, CROSSES_TURN, END_WITHOUT_START,
    END_WITHOUT_SUMMARY, ID_INVALID, ID_MISMATCH, OWNER_TURN, START_WHILE_OPEN, SUMMARY_REPEATED,
    SUMMARY_WITHOUT_REPLACEMENT, SUMMARY_WITHOUT_START,
};

#[cfg(test)]
mod tests;

const HELP: &str = "another tool or a damaged writer left this; dsh's own checks refuse the session for it";

/// The bracket that is open, and what is not known about it.
#[derive(Debug, Default)]
pub(super) struct Brackets {
    open: Option<Open>,
    /// Events were lost, among them perhaps a start or an end: whether a bracket is open is not known.
    in_doubt: bool,
    /// Events were lost, among them perhaps a turn boundary.
    turn_in_doubt: bool,
    pub(super) failures: Failures,
}

/// A `compaction/start` without its end.
#[derive(Debug)]
pub(super) struct Open {
    pub(super) seq: u64,
    pub(super) place: Place,
    ids: Ids,
    pub(super) owner: Owner,
    pub(super) summary: Option<(u64, Place)>,
    /// The checkpoint.
    pub(super) replacement: Option<u64>,
    pub(super) crossing: Option<Crossing>,
    owner_is_told: bool,
    /// The surface at the start: its last node, and how often it had been replaced.
    surface: Surface,
}

/// The first turn boundary inside a bracket. It is legal only if a seed boundary voids the bracket later.
#[derive(Debug)]
pub(super) struct Crossing {
    pub(super) seq: u64,
    place: Place,
    event_type: String,
}

impl Brackets {
    pub(super) fn open(&self) -> Option<&Open> {
        self.open.as_ref()
    }

    /// Whether the open bracket may have ended on a line that was lost.
    pub(super) fn is_in_doubt(&self) -> bool {
        self.in_doubt
    }

    /// Events were lost.
    pub(super) fn doubt(&mut self) {
        (self.in_doubt, self.turn_in_doubt) = (true, true);
    }

    /// Looks at an event.
    pub(super) fn event(&mut self, here: &mut Here) {
        match &*here.event.event_type {
            "compaction/start" => self.start(here),
            "compaction/summary" => {
                self.summary(here);
                shadow::check(here);
            }
            "compaction/prune" => shadow::check(here),
            "compaction/end" => self.end(here),
            "session/end-seed" => self.end_seed(here),
            "turn/start" | "turn/end" => self.turn_boundary(here),
            "user/message" if here.event.is_replacement() => self.replacement(here),
            _ => {}
        }
    }

    fn start(&mut self, here: &mut Here) {
        let ids = here.own_ids();
        let owner = Owner::of(here.payload.get());
        if let Some(open) = self.open.take().filter(|_| !self.in_doubt) {
            open.tell_crossing(here.findings);
            here.findings.extend(locks::left_behind(&open));
            let message = format!("a compaction starts while the one of seq {} has not ended", open.seq);
            here.tell_relating(&START_WHILE_OPEN, message, open.seq, "the start that has no end");
        }
        let mut open = Open {
            seq: here.event.seq,
            place: here.place,
            ids,
            owner,
            summary: None,
            replacement: None,
            crossing: None,
            owner_is_told: false,
            surface: Surface::of(here.session),
        };
        self.check_owner(&mut open, here);
        self.open = Some(open);
        self.in_doubt = false;
    }

    fn summary(&mut self, here: &mut Here) {
        let ids = here.own_ids();
        let Some(mut open) = self.open.take() else {
            return self.tell_unless_in_doubt(
                &SUMMARY_WITHOUT_START,
                "the summary belongs to no open compaction",
                here,
            );
        };
        if !self.in_doubt {
            here.compare(&ids, &open);
            self.check_owner(&mut open, here);
            if let Some((first, _)) = open.summary {
                let message = format!("the compaction has its summary at seq {first} already");
                here.tell_relating(&SUMMARY_REPEATED, message, first, "the first summary");
            }
        }
        open.summary.get_or_insert((here.event.seq, here.place));
        self.open = Some(open);
    }

    fn end(&mut self, here: &mut Here) {
        let ids = here.own_ids();
        let error = here.payload.get().and_then(|data| data.get("error"));
        if let Some(error) = error {
            let surface = self.open.as_ref().map_or_else(|| Surface::of(here.session), |open| open.surface);
            self.failures.add(error, surface, here.event.seq, here.place);
        }
        let Some(mut open) = self.open.take() else {
            self.tell_unless_in_doubt(&END_WITHOUT_START, "the end belongs to no open compaction", here);
            self.in_doubt = false;
            return;
        };
        if !self.in_doubt {
            here.compare(&ids, &open);
            let owner = Owner::of(here.payload.get());
            if owner != open.owner {
                let message = format!("the end names {owner}, the start of its bracket {}", open.owner);
                here.tell_relating(&OWNER_TURN, message, open.seq, "the start");
            } else if open.crossing.is_none() {
                self.check_owner(&mut open, here);
            }
            if error.is_none() && open.summary.is_none() {
                let message = "the compaction ends without an error, but has no summary";
                here.tell_relating(&END_WITHOUT_SUMMARY, message, open.seq, "the start");
            }
            let summary = open.summary.filter(|_| error.is_none() && open.replacement.is_none());
            let is_whole =
                |(seq, _): &(u64, Place)| here.losses.first_between(*seq, Some(here.event.seq)).is_none();
            if let Some((summary, place)) = summary.filter(is_whole) {
                let message =
                    "the compaction ended well, but no checkpoint took the place of what its summary names";
                let help = "the surface is as it was, and nothing is lost: compact the region again";
                let finding = Finding::new(&SUMMARY_WITHOUT_REPLACEMENT, place, message).at_seq(summary);
                here.findings.push(finding.with_help(help).relating(here.event.seq, "the end"));
            }
            open.tell_crossing(here.findings);
        }
        self.in_doubt = false;
    }

    /// A seed boundary voids an open bracket, and with it what stood against the bracket.
    fn end_seed(&mut self, here: &mut Here) {
        if let Some(open) = self.open.take().filter(|_| !self.in_doubt) {
            here.findings.push(locks::expired(&open, here.event.seq));
        }
        self.in_doubt = false;
    }

    fn turn_boundary(&mut self, here: &mut Here) {
        self.turn_in_doubt = false;
        if let Some(open) = self.open.as_mut().filter(|_| !self.in_doubt) {
            let event_type = here.event.event_type.to_string();
            open.crossing.get_or_insert(Crossing { seq: here.event.seq, place: here.place, event_type });
        }
    }

    /// A replacing message is bound to a bracket by its source alone (FORMAT §7.4).
    fn replacement(&mut self, here: &mut Here) {
        let source = here.payload.get().and_then(|data| data.object("source"));
        let format = here.session.format;
        if !source.as_ref().is_some_and(|source| is_checkpoint_source(source, format)) {
            return;
        }
        let ids = here.ids(source.as_ref());
        let mut open = self.open.take();
        match &mut open {
            None => self.tell_unless_in_doubt(
                &CHECKPOINT_WITHOUT_START,
                "the checkpoint replaces nodes outside any open compaction",
                here,
            ),
            Some(open) if !self.in_doubt => {
                here.compare(&ids, open);
                if open.summary.is_none() {
                    let message =
                        "the checkpoint replaces nodes, and its compaction has no summary before it";
                    here.tell_relating(&CHECKPOINT_WITHOUT_SUMMARY, message, open.seq, "the start");
                }
            }
            Some(_) => {}
        }
        if let Some(open) = &mut open {
            open.replacement.get_or_insert(here.event.seq);
        }
        self.open = open;
    }

    fn tell_unless_in_doubt(&self, rule: &Rule, message: &str, here: &mut Here) {
        if !self.in_doubt {
            here.tell(rule, message);
        }
    }

    /// A bracket with a turn lies within that turn, one without lies between turns. Told once a bracket.
    fn check_owner(&self, open: &mut Open, here: &mut Here) {
        if self.turn_in_doubt || open.owner_is_told {
            return;
        }
        let problem = match (open.owner, here.session.turns.open()) {
            (Owner::NoTurn, None) => return,
            (Owner::Turn(turn), Some(current)) if turn == current => return,
            (Owner::Invalid, _) => "its turn must be a number or null".to_owned(),
            (owner, None) => format!("its bracket names {owner}, but no turn is open"),
            (owner, Some(current)) => format!("its bracket names {owner}, but turn {current} is open"),
        };
        let message = format!("{}: {problem}", here.event.event_type);
        if open.seq == here.event.seq {
            here.tell(&OWNER_TURN, message);
        } else {
            here.tell_relating(&OWNER_TURN, message, open.seq, "the start");
        }
        open.owner_is_told = true;
    }
}

impl Open {
    /// The start's compaction id, for people.
    pub(super) fn name(&self) -> String {
        self.ids.compaction.to_string()
    }

    fn tell_crossing(&self, findings: &mut Findings) {
        if let Some(crossing) = &self.crossing {
            let message = format!(
                "{} stands inside the bracket of the compaction that starts at seq {} (id {}, {})",
                crossing.event_type,
                self.seq,
                self.name(),
                self.owner
            );
            let finding = Finding::new(&CROSSES_TURN, crossing.place, message).at_seq(crossing.seq);
            let help = "a bracket lies within its turn or between turns, unless a session/end-seed behind the boundary \
                        voids it before it ends or another one starts; dsh's own checks refuse the session for it";
            findings.push(finding.with_help(help).relating(self.seq, "the start of the bracket"));
        }
    }
}

impl Here<'_, '_> {
    fn tell(&mut self, rule: &Rule, message: impl Into<String>) {
        let finding = self.finding(rule, message);
        self.findings.push(finding);
    }

    /// Tells what is wrong and which earlier event has to do with it.
    fn tell_relating(&mut self, rule: &Rule, message: impl Into<String>, seq: u64, what: &str) {
        let finding = self.finding(rule, message).relating(seq, what);
        self.findings.push(finding);
    }

    fn finding(&self, rule: &Rule, message: impl Into<String>) -> Finding {
        Finding::new(rule, self.place, message).at_seq(self.event.seq).with_help(HELP)
    }

    /// Reads the ids of an event and tells what is wrong with them.
    fn ids(&mut self, object: Option<&Object>) -> Ids {
        let ids = Ids::of(object, self.session.format);
        if ids.compaction == Id::Absent {
            let message = format!("{} has no compactionId", self.event.event_type);
            let help = "development builds wrote none, and upgrades add it; dsh's own checks refuse a session that is at work so";
            let finding = Finding::new(&ID_INVALID, self.place, message).at_seq(self.event.seq);
            self.findings.push(finding.with_help(help).noted());
        }
        for key in ids.invalid() {
            let message = format!("{} must have a {key} that is a text and not empty", self.event.event_type);
            self.tell(&ID_INVALID, message);
        }
        ids
    }

    fn own_ids(&mut self) -> Ids {
        self.ids(self.payload.get())
    }

    fn compare(&mut self, ids: &Ids, open: &Open) {
        for (key, found, expected) in ids.differences(&open.ids) {
            let message = format!("{} has {key} {found}, its bracket {expected}", self.event.event_type);
            self.tell_relating(&ID_MISMATCH, message, open.seq, "the start of the bracket");
        }
    }
}
