//! Streamed deltas, which the upgrade to format 2 gathers into the message or attempt that they make up (FORMAT §8.2).

use super::chain::Chain;
use super::citations::{Deltas, names_exactly};
use super::here::{Here, refusal};
use super::renumbering::{Renumbering, Repair};
use crate::check::Finding;
use crate::check::finding::Findings;
use crate::check::registry::rule_family;
use crate::check::relations;
use crate::json::{self, Kind, Object};
use crate::log::{Header, PackedRow, Place};
use std::ops::RangeInclusive;

rule_family! {
    "upgrade";
    /// A message does not cite the streamed deltas before it, though they are of its step.
    ///
    /// **What it means.** Deltas of the message's turn and step stand before it and belong to nothing else so far, and
    /// the message has no list of sources. Whether they make it up cannot be told.
    ///
    /// **Why it matters.** From format 2 on the deltas stand inside the message. The upgrade does not guess: it refuses
    /// the session. dsh opens the log in its own format.
    ///
    /// **How it comes about.** dsh writes the list with every streamed message, and an empty one where nothing was
    /// streamed. Another tool wrote or changed the message, or the end of an earlier attempt is missing.
    ///
    /// **What to do.** Keep the log for the release that wrote it. In a copy, `sourceEventSeqs` can be given to the
    /// message: all deltas since the last settled attempt in order, or an empty list if they are not its own.
    UNCITED = error("upgrade-deltas-uncited");
    /// A message cites other streamed deltas than exactly those of one attempt, in order.
    ///
    /// **What it means.** The message's list of sources is not the complete list, in order, of the deltas that were
    /// streamed since the last attempt settled: some are left out, some are of another attempt, or what is cited is no
    /// delta.
    ///
    /// **Why it matters.** From format 2 on the deltas stand inside the message. The upgrade refuses to embed a part, or
    /// what it cannot find. dsh opens the log in its own format.
    ///
    /// **How it comes about.** Deltas were lost, repeated or moved, the list was shortened, or another tool wrote it.
    ///
    /// **What to do.** Restore the deltas from a copy of the log. If they are gone, keep the log for the release that
    /// wrote it: the message itself is whole.
    INCOMPLETE = error("upgrade-deltas-incomplete");
    /// The boundary of inherited events lies inside one streamed answer.
    ///
    /// **What it means.** The header says how many events were inherited, and that number falls between the first delta
    /// of an attempt and its last one, or its message.
    ///
    /// **Why it matters.** The upgrade makes one event of the attempt, and that cannot be inherited in part. It refuses
    /// the session. dsh opens the log in its own format.
    ///
    /// **How it comes about.** dsh forks between events that belong together, never inside an answer. The header's
    /// `seedLength` was changed, or events before the boundary were lost or added.
    ///
    /// **What to do.** Compare with the parent's log: as many of its events as `seedLength` says stand at the beginning
    /// of this one. A wrong number can be mended in a copy.
    SEED_SPLITS = error("upgrade-seed-splits-attempt");
    /// Streamed deltas that became no message stand outside their step.
    ///
    /// **What it means.** Deltas that no message cites become an `assistant/attempt` of their own, where the last of
    /// them stands. Their turn and step are not the open ones there.
    ///
    /// **Why it matters.** Format 2 holds an attempt to the open step, so what the upgrade makes is refused. dsh opens
    /// the log in its own format.
    ///
    /// **How it comes about.** The boundaries of the step were lost or moved, or deltas stand where another tool put
    /// them.
    ///
    /// **What to do.** Mend the boundaries of the turn and step first, where they are damaged. Else keep the log for the
    /// release that wrote it.
    OUTSIDE_STEP = error("upgrade-attempt-outside-step");
    /// A streamed delta holds no chunk.
    ///
    /// **What it means.** An `assistant/chunk` has no payload object, or its member `chunk` is missing, null or, from
    /// format 3 on, no object.
    ///
    /// **Why it matters.** The upgrade cannot gather the delta into its message and refuses the session. dsh opens the
    /// log in its own format, where no reader looks into deltas.
    ///
    /// **How it comes about.** A damaged writer or another tool left it; dsh writes a chunk with every delta.
    ///
    /// **What to do.** Restore the line from a copy of the log. The message does not depend on it: without the delta, it
    /// must not stand in the message's list of sources either.
    EMPTY = error("upgrade-delta-empty");
}

/// The event of one delta.
pub(super) const CHUNK: &str = "assistant/chunk";

/// A turn and a step as an event names them.
type Step = (Option<u64>, Option<u64>);

/// The attempt that has not settled, and what depends on how it does.
#[derive(Debug)]
pub(super) struct Attempts {
    /// The format into which the step leads.
    to: u64,
    /// The format from which on a chunk must be an object, if the chain goes so far.
    to_object: Option<u64>,
    /// Events before this one are inherited.
    cut: u64,
    open: Option<Attempt>,
    /// Events were lost: what was streamed since the last attempt settled is not known.
    is_unsure: bool,
    deltas: Deltas,
    renumbering: Renumbering,
}

/// Deltas of one turn and step.
#[derive(Debug)]
struct Attempt {
    step: Step,
    spans: Vec<RangeInclusive<u64>>,
    /// A chunk has ended it: the next delta begins another one.
    is_finished: bool,
    last: (u64, Place),
    /// Whether its step was open at the last delta.
    is_in_step: bool,
    /// A delta was told to stand outside its step, by what holds a log of this format to it already.
    is_told: bool,
}

/// Streamed deltas as they come: one, or a run.
#[derive(Debug)]
struct Streamed {
    seqs: RangeInclusive<u64>,
    step: Step,
    place: Place,
    finishes: bool,
}

impl Attempts {
    pub(super) fn new(chain: &Chain, header: &Header) -> Option<Self> {
        let to = chain.first(|step| step.gathers_chunks)?;
        Some(Self {
            to,
            to_object: chain.first(|step| step.looks_into_chunks),
            cut: header.seed_length.unwrap_or(0),
            open: None,
            is_unsure: false,
            deltas: Deltas::default(),
            renumbering: Renumbering::new(to, header),
        })
    }

    pub(super) fn doubt(&mut self) {
        (self.open, self.is_unsure) = (None, true);
        self.renumbering.doubt();
    }

    /// Looks at an event. `repaired` is the number in the id of a result for a call that never started, `may_be_open`
    /// says whether a turn and step are open here.
    pub(super) fn event(
        &mut self,
        here: &mut Here,
        ends_turn: bool,
        repaired: Option<u64>,
        may_be_open: impl Fn(Option<u64>, Option<u64>) -> bool,
    ) {
        let (seq, place) = (here.event.seq, here.place);
        let repair = repaired.map(|number| Repair { number, at: (seq, place) });
        if ends_turn {
            self.settle(here.findings);
            self.renumbering.insert(seq);
        }
        let is_marker = here.is("session/end-seed");
        match &*here.event.event_type {
            CHUNK => {
                self.check_chunk(here);
                let chunk = here.payload.get().and_then(|data| data.object("chunk"));
                let finishes = chunk.is_some_and(|chunk| chunk.has_text("type", "finish"));
                let streamed = Streamed { seqs: seq..=seq, step: named(here), place, finishes };
                return self.stream(&streamed, here.findings, may_be_open);
            }
            "assistant/message" => {
                self.message(here);
                return self.renumbering.pass(seq, is_marker, None, here.findings);
            }
            "turn/end" | "step/end" | "llm/retry" | "llm/retry-started" => self.settle(here.findings),
            "user/message" if holds_goal_change(here) => {
                // The change becomes an event of its own; neither waits.
                self.renumbering.insert(seq);
                self.renumbering.pass(seq, is_marker, None, here.findings);
                return self.deltas.check(here, self.to);
            }
            _ => {}
        }
        self.deltas.check(here, self.to);
        if self.open.is_some() {
            self.renumbering.wait(seq, is_marker, repair);
        } else {
            self.renumbering.pass(seq, is_marker, repair, here.findings);
        }
    }

    /// Looks at a run of deltas.
    pub(super) fn row(
        &mut self,
        row: &PackedRow,
        place: Place,
        findings: &mut Findings,
        may_be_open: impl Fn(Option<u64>, Option<u64>) -> bool,
    ) {
        let last = row.first_seq.saturating_add(row.members.saturating_sub(1));
        let streamed =
            Streamed { seqs: row.first_seq..=last, step: (row.turn, row.step), place, finishes: false };
        self.stream(&streamed, findings, may_be_open);
    }

    /// The log ends.
    pub(super) fn finish(&mut self, findings: &mut Findings) {
        self.settle(findings);
    }

    fn check_chunk(&self, here: &mut Here) {
        let chunk = here.payload.get().and_then(|data| data.get("chunk"));
        let to = match chunk.map(json::kind) {
            None | Some(Kind::Null) => Some(self.to),
            Some(Kind::Object) => None,
            Some(_) => self.to_object,
        };
        if let Some(to) = to {
            let help =
                "no reader of the log's own format looks into it; another tool or a damaged writer left it";
            here.refuse(&EMPTY, to, "a streamed delta without a chunk", help);
        }
    }

    fn stream(
        &mut self,
        streamed: &Streamed,
        findings: &mut Findings,
        may_be_open: impl Fn(Option<u64>, Option<u64>) -> bool,
    ) {
        let (first, last) = (*streamed.seqs.start(), *streamed.seqs.end());
        if self.open.as_ref().is_some_and(|open| open.is_finished || open.step != streamed.step) {
            self.settle(findings);
        }
        self.renumbering.release(findings);
        self.deltas.add(streamed.seqs.clone());
        let at = (last, streamed.place);
        let (turn, step) = streamed.step;
        let is_in_step = may_be_open(turn, step);
        let open = self.open.get_or_insert_with(|| Attempt {
            step: streamed.step,
            spans: Vec::new(),
            is_finished: false,
            last: at,
            is_in_step,
            is_told: false,
        });
        open.is_told |= findings.tells(relations::OUTSIDE_STEP, first);
        let begins = open.spans.first().map_or(first, |span| *span.start());
        let splits = (begins < self.cut) != (last < self.cut);
        match open.spans.last_mut() {
            Some(span) if span.end().checked_add(1) == Some(first) => *span = *span.start()..=last,
            _ => open.spans.push(streamed.seqs.clone()),
        }
        (open.last, open.is_in_step, open.is_finished) = (at, is_in_step, streamed.finishes);
        if splits {
            findings.push(self.split(at));
            // Told once for the attempt.
            self.open = None;
            self.is_unsure = true;
        }
    }

    fn message(&mut self, here: &mut Here) {
        if self.open.as_ref().is_some_and(|open| open.step != named(here)) {
            return self.settle(here.findings);
        }
        let list = here.event.source_event_seqs.and_then(json::array);
        let was_unsure = std::mem::take(&mut self.is_unsure);
        let Some(list) = list else {
            if self.open.take().is_some() && !was_unsure {
                let what = "a message that has no list of the streamed deltas before it that make it up";
                let help = "dsh writes the list with every message that was streamed";
                here.refuse(&UNCITED, self.to, what, help);
            }
            return self.renumbering.release(here.findings);
        };
        if list.is_empty() {
            self.is_unsure = was_unsure;
            return self.settle(here.findings);
        }
        let open = self.open.take();
        let spans = open.as_ref().map_or(&[][..], |open| &open.spans);
        if !names_exactly(&list, spans) && !was_unsure {
            let what = if spans.is_empty() {
                "a message that cites streamed deltas where none has come since the last attempt settled"
            } else {
                "a message that does not cite exactly the streamed deltas of one attempt, in order"
            };
            let help = "deltas or citations were lost, or another tool wrote them";
            here.refuse(&INCOMPLETE, self.to, what, help);
        } else if spans.first().is_some_and(|span| *span.start() < self.cut && here.event.seq >= self.cut) {
            here.findings.push(self.split((here.event.seq, here.place)));
        }
        self.renumbering.release(here.findings);
    }

    /// The deltas so far become an attempt that produced no message.
    fn settle(&mut self, findings: &mut Findings) {
        self.is_unsure = false;
        let Some(open) = self.open.take() else { return self.renumbering.release(findings) };
        if !open.is_in_step && !open.is_told {
            let what = "streamed deltas that became no message and stand outside their turn and step";
            let help = "a boundary of the step was lost or moved, or another tool put the deltas there";
            findings.push(refusal(&OUTSIDE_STEP, open.last, self.to, what, help));
        }
        self.renumbering.insert(open.last.0);
        self.renumbering.release(findings);
    }

    fn split(&self, at: (u64, Place)) -> Finding {
        let what = format!(
            "a streamed answer that is inherited in part: the header says that {} events are inherited",
            self.cut
        );
        refusal(&SEED_SPLITS, at, self.to, &what, "the header's seedLength does not fit the log")
    }
}

fn named(here: &Here) -> Step {
    let number = |key| here.payload.get().and_then(|data: &Object| data.count(key));
    (number("turn"), number("step"))
}

/// Whether a prompt of a goal tells of a change, as early builds wrote it.
fn holds_goal_change(here: &Here) -> bool {
    let source = here.payload.get().and_then(|data| data.object("source"));
    source.is_some_and(|source| source.has_text("kind", "goal") && source.get("change").is_some())
}
