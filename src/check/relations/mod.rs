//! The rules between events (FORMAT §10.2): what must have come before an event, and what must not.
//!
//! dsh stops at the first breach; here every one is named. Each file is one family of rules and keeps what it needs of the
//! past: what is open, and ids that may not come twice; no payload. After a breach, and after lost events, a family takes
//! up what the log says and goes on, so that one cause is told once. `watch.rs` decides whether breaches are told at all.

mod calls;
pub(super) mod commands;
pub(super) mod dispatch;
pub(super) mod head;
mod here;
pub(super) mod inherited;
mod kind;
pub(super) mod repair;
pub(super) mod retries;
mod started;
pub(super) mod titles;
pub(super) mod tools;
pub(super) mod turns;

#[cfg(test)]
mod demos;
#[cfg(test)]
pub(super) mod testing;

use super::finding::Findings;
use super::losses::Losses;
use super::payload::Payload;
use super::registry::rule_family;
use super::wording::number;
use crate::format::{NeedsObject, Relations as Facts};
use crate::log::{Event, Header, PackedRow, Place};
use here::Here;
use kind::Kind;

/// The code of a turn that starts while another one has not ended.
pub(super) const WHILE_OPEN: &str = turns::WHILE_OPEN;
/// The code of an event that names another turn and step than the open ones.
pub(super) const OUTSIDE_STEP: &str = turns::OUTSIDE_STEP.code;

rule_family! {
    "relations";
    /// An event that other events depend on has no payload object.
    ///
    /// **What it means.** The `data` of an event which opens or closes something, or names another event, is
    /// null, a text or a list. Nothing can be read from it, so what it would have opened or closed is in
    /// doubt, and the rules between events say less from there on. In formats 2 and 3 nearly every event must
    /// have an object there.
    ///
    /// **Why it matters.** Format 4 refuses to open the log at this event. Readers of the earlier formats
    /// open many such logs without looking, but dsh's invariant checks in format 0, the strict readers of
    /// formats 2 and 3 and every upgrade do look.
    ///
    /// **How it comes about.** A plugin emits an event of one of dsh's own types with nothing in it, as a
    /// mere signal. Or an edit by hand broke the line and mended it to the wrong thing.
    ///
    /// **What to do.** A plugin that wants a signal needs a type of its own, marked `ignorable`. For the log,
    /// take a copy that ends before the event; findings behind it may only follow from it.
    PAYLOAD = error("relation-payload");
}

/// All families, each with what it knows of the events so far.
#[derive(Debug)]
pub(super) struct Relations {
    facts: &'static Facts,
    /// Events were lost.
    has_gaps: bool,
    turns: turns::Turns,
    calls: calls::Calls,
    dispatch: dispatch::Dispatch,
    retries: retries::Retries,
    titles: titles::Titles,
    commands: commands::Commands,
    inherited: inherited::Inherited,
    head: head::Head,
}

impl Relations {
    pub(super) fn new(facts: &'static Facts, header: &Header) -> Self {
        Self {
            facts,
            has_gaps: false,
            turns: turns::Turns::default(),
            calls: calls::Calls::new(facts.calls),
            dispatch: dispatch::Dispatch::default(),
            retries: retries::Retries::default(),
            titles: titles::Titles::default(),
            commands: commands::Commands::default(),
            inherited: inherited::Inherited::new(header),
            head: head::Head::default(),
        }
    }

    /// Events were lost: what was open need not be open any more.
    pub(super) fn doubt(&mut self) {
        self.turns.doubt();
        self.doubt_all_but_turns();
    }

    fn doubt_all_but_turns(&mut self) {
        self.has_gaps = true;
        self.calls.doubt();
        self.retries.doubt();
        self.inherited.doubt();
        self.head.doubt();
    }

    /// The open turn ends without an event that says so.
    pub(super) fn interrupt(&mut self) {
        self.turns.interrupt();
        self.calls.open(turns::Boundary::Sound);
    }

    /// Whether this turn and step are open, or may be.
    pub(super) fn may_be_open(&self, turn: Option<u64>, step: Option<u64>) -> bool {
        self.turns.may_be_open(turn, step)
    }

    /// The number in the id of the last event, if it is the result that dsh writes for a call that never started.
    pub(super) fn take_repaired(&mut self) -> Option<u64> {
        self.calls.take_repaired()
    }

    /// An event was left out because it broke a rule of another kind.
    pub(super) fn left_out(&mut self, event: &Event) {
        match Kind::of(&event.event_type, self.facts) {
            Some(Kind::TurnStart | Kind::TurnEnd | Kind::StepStart | Kind::StepEnd | Kind::EndSeed) => {
                self.doubt();
            }
            Some(_) => self.doubt_all_but_turns(),
            None => {}
        }
    }

    /// Looks at an event of a type that the version knows.
    pub(super) fn event(
        &mut self,
        event: &Event,
        payload: &Payload,
        place: Place,
        losses: &Losses,
        findings: &mut Findings,
    ) {
        let (facts, event_type) = (self.facts, &*event.event_type);
        if facts.in_turn.contains(&event_type)
            && let Some(problem) = self.turns.outside_turn(event_type, event.is_replacement())
        {
            findings.push(here::finding(&turns::OUTSIDE_TURN, event.seq, place, facts, problem));
        }
        let kind = Kind::of(event_type, facts);
        let is_looked_into = match facts.needs_object {
            NeedsObject::WhereLooked => kind.is_some(),
            NeedsObject::AllBut(opaque) => kind.is_some() || !opaque.contains(&event_type),
        };
        if !is_looked_into {
            return;
        }
        let Some(data) = payload.get() else {
            let message = format!("the payload of {event_type} is no object");
            findings.push(here::finding(&PAYLOAD, event.seq, place, facts, message));
            if kind.is_some() {
                self.doubt();
            }
            return;
        };
        if let Some(kind) = kind {
            let has_gaps = self.has_gaps;
            self.look(kind, &mut Here { event, data, place, facts, has_gaps, losses, findings });
        }
    }

    /// Looks at a run of streamed deltas, which names one turn and step for all.
    pub(super) fn row(&mut self, row: &PackedRow, place: Place, findings: &mut Findings) {
        let claim = turns::Claim { turn: row.turn, step: row.step, seq: row.first_seq };
        if let Err(problem) = self.turns.claim(claim) {
            let [turn, step] = [row.turn, row.step].map(number);
            let message = format!("a packed row names turn {turn}, step {step}, but {problem}");
            findings.push(here::finding(&turns::OUTSIDE_STEP, row.first_seq, place, self.facts, message));
        }
    }

    /// Tells what could not be told before the log's end.
    pub(super) fn finish(self, findings: &mut Findings) {
        self.inherited.finish(findings);
    }

    fn look(&mut self, kind: Kind, here: &mut Here) {
        self.head.event(kind, here);
        match kind {
            Kind::TurnStart => {
                let boundary = self.turns.start(here);
                self.calls.open(boundary);
            }
            Kind::TurnEnd => {
                let boundary = self.turns.end(here);
                self.calls.close_turn(boundary, here);
            }
            Kind::StepStart => {
                let boundary = self.turns.step_start(here);
                self.calls.open(boundary);
            }
            Kind::StepEnd => {
                let boundary = self.turns.step_end(here);
                self.calls.close_step(boundary, here);
            }
            Kind::AssistantChunk | Kind::AssistantAttempt | Kind::SystemMessage | Kind::DeveloperMessage => {
                self.turns.require_step(here);
            }
            Kind::AssistantMessage => {
                let is_in_step = self.turns.require_step(here);
                self.calls.advertise(is_in_step, here);
            }
            Kind::ToolCall => {
                let is_in_step = self.turns.require_step(here);
                self.calls.call(is_in_step, here);
            }
            Kind::ToolResult => self.result(here),
            Kind::UserMessage => self.titles.message(here),
            Kind::RequestHeader => self.retries.header(here),
            Kind::Retry => self.retries.retry(&self.turns, here),
            Kind::RetryStarted => self.retries.started(here),
            Kind::Title => self.titles.title(here),
            Kind::TitleRequest => self.titles.request(here),
            Kind::CommandRun => self.commands.run(here),
            Kind::CommandDone => self.commands.done(here),
            Kind::Delivery => self.inherited.delivery(here),
            Kind::Catalog => self.inherited.catalog(here),
            Kind::EndSeed => self.inherited.end_seed(here),
            Kind::DispatchStart => self.dispatch.start(here),
            Kind::DispatchSettle => self.dispatch.settle(here),
        }
    }

    fn result(&mut self, here: &mut Here) {
        repair::check_fork(here);
        if here.event.is_replacement() {
            if let Some(problem) = self.turns.outside_turn(here.name(), true) {
                here.tell(&turns::OUTSIDE_TURN, problem);
            }
        } else {
            let is_in_step = self.turns.require_step(here);
            self.calls.result(is_in_step, here);
        }
    }
}
