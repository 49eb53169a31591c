//! What dsh's upgrades to a later format would refuse (FORMAT §8): every reason, where a user asks for it.
//!
//! dsh rewrites a log step by step and stops at the first refusal. Here nothing is rewritten: each file states the
//! refusals of one step, or of one family that several steps share, as conditions over the log's own events, and
//! `pass.rs` shows them every event once. What readers of the log's own format refuse has rules of its own.

pub(super) mod attempts;
pub(super) mod chain;
pub(super) mod citations;
pub(super) mod deliveries;
pub(super) mod generated;
mod here;
pub(super) mod interrupted;
mod payloads;
pub(super) mod prompts;
pub(super) mod renumbering;
pub(super) mod results;
pub(super) mod seeds;
pub(super) mod unknown;

pub(super) use chain::unneeded;

use super::finding::Findings;
use super::losses::Losses;
use super::payload::Payload;
use super::relations::{Relations, WHILE_OPEN};
use crate::format::Format;
use crate::log::{Event, Header, PackedRow, Place};
use attempts::Attempts;
use chain::Chain;
use deliveries::Deliveries;
use generated::Generated;
use here::Here;
use interrupted::{Before, Interrupted};
use payloads::Payloads;
use prompts::Prompts;
use results::Results;
use seeds::Seeds;
use unknown::UnknownEvents;

/// What readers of the log's own format make of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// They know its type and can read it.
    Known,
    /// They do not know its type, and pass over it.
    Unknown,
    /// They refuse its type or its shape.
    LeftOut,
}

/// The upgrades to the format that is asked for, each with what it knows of the events so far.
#[derive(Debug)]
pub(super) struct Upgrades {
    unknown: UnknownEvents,
    payloads: Payloads,
    interrupted: Option<Interrupted>,
    attempts: Option<Attempts>,
    prompts: Option<Prompts>,
    generated: Option<Generated>,
    results: Option<Results>,
    deliveries: Deliveries,
    seeds: Seeds,
    /// How the events of the result must relate.
    relations: Option<Relations>,
    /// What breaks rules that readers of the log's own format may hold it to as well: told where they do not.
    held: Findings,
}

impl Upgrades {
    /// The upgrades that lead from `format` to the format `target`; `None` where there are none.
    pub(super) fn new(header: &Header, format: &'static Format, target: u64) -> Option<Self> {
        let chain = Chain::new(format, target)?;
        let relations = chain.relations();
        Some(Self {
            unknown: UnknownEvents::new(&chain),
            payloads: Payloads::new(&chain),
            interrupted: Interrupted::new(&chain),
            attempts: Attempts::new(&chain, header),
            prompts: Prompts::new(&chain),
            generated: Generated::new(&chain),
            results: Results::new(&chain),
            deliveries: Deliveries::new(&chain, header, relations.is_some()),
            seeds: Seeds::new(&chain, header),
            relations: relations.map(|facts| Relations::new(facts, header)),
            held: Findings::default(),
        })
    }

    /// Events were lost.
    pub(super) fn doubt(&mut self) {
        self.relations.iter_mut().for_each(Relations::doubt);
        self.attempts.iter_mut().for_each(Attempts::doubt);
        self.prompts.iter_mut().for_each(Prompts::doubt);
        self.interrupted.iter_mut().for_each(Interrupted::doubt);
        self.seeds.doubt();
    }

    /// Looks at an event, in the shape that readers give it.
    pub(super) fn event<'e>(
        &mut self,
        event: &Event<'e>,
        payload: &Payload<'e>,
        place: Place,
        standing: Standing,
        losses: &Losses,
        findings: &mut Findings,
    ) {
        let here = &mut Here { event, payload, place, findings };
        if standing == Standing::Unknown {
            self.unknown.event(here);
        }
        let is_told = self.deliveries.event(here);
        if standing != Standing::LeftOut && !is_told {
            self.held.extend(self.payloads.event(here));
        }
        let before = self.interrupted.as_mut().map_or(Before::Nothing, |interrupted| interrupted.event(here));
        let repaired = self.relate(here, before, standing, losses);
        // The rules between events say it better, where they do.
        if let Some(interrupted) = &self.interrupted
            && before == Before::Refuses
            && ![&self.held, &*here.findings].iter().any(|told| told.tells(WHILE_OPEN, event.seq))
        {
            interrupted.refuse(here);
        }
        if let Some(attempts) = &mut self.attempts {
            attempts.event(here, before == Before::Ends, repaired, may_be_open(self.relations.as_ref()));
        }
        self.prompts.iter_mut().for_each(|prompts| prompts.event(here));
        self.generated.iter_mut().for_each(|generated| generated.event(here));
        self.results.iter_mut().for_each(|results| results.event(here));
        self.seeds.event(here);
    }

    /// Holds an event to the ones before it. Tells the number in its id, if it is a result for a call that never started.
    fn relate(&mut self, here: &Here, before: Before, standing: Standing, losses: &Losses) -> Option<u64> {
        let relations = self.relations.as_mut()?;
        if before == Before::Ends {
            relations.interrupt();
        }
        // Deltas are held to the step of the attempt that they make up.
        let is_gathered = self.attempts.is_some() && here.is(attempts::CHUNK);
        match standing {
            Standing::Known if !is_gathered => {
                relations.event(here.event, here.payload, here.place, losses, &mut self.held);
            }
            Standing::LeftOut => relations.left_out(here.event),
            Standing::Known | Standing::Unknown => {}
        }
        relations.take_repaired()
    }

    /// Looks at a run of streamed deltas.
    pub(super) fn row(&mut self, row: &PackedRow, place: Place, findings: &mut Findings) {
        if let Some(attempts) = &mut self.attempts {
            attempts.row(row, place, findings, may_be_open(self.relations.as_ref()));
        }
        self.interrupted.iter_mut().for_each(Interrupted::row);
        self.seeds.row(row);
    }

    /// Tells what could not be told before the log's end.
    pub(super) fn finish(mut self, findings: &mut Findings) {
        self.attempts.iter_mut().for_each(|attempts| attempts.finish(findings));
        self.deliveries.finish(findings);
        if let Some(relations) = self.relations.take() {
            relations.finish(&mut self.held);
        }
        findings.extend_with_new(self.held);
    }
}

/// Whether a turn and step are open, or may be.
fn may_be_open(relations: Option<&Relations>) -> impl Fn(Option<u64>, Option<u64>) -> bool {
    move |turn, step| relations.is_none_or(|relations| relations.may_be_open(turn, step))
}
