//! What a compaction would do to a session, judged before anything is written.

use super::checkpoint::Checkpoint;
use super::outcome::{Cache, Pass, Reason, Region};
use super::records::{Bracket, SeqRange, derived_id};
use super::region;
use super::{Options, Stopped, transcript};
use crate::format::Seeded;
use crate::session::{Folded, LockState, Owner, Session, Task, TaskVisibility};
use crate::summarize::{Request, Transcript, Watch};
use std::ops::RangeInclusive;

/// A region and all that follows from it.
pub(super) struct Plan {
    pub(super) span: RangeInclusive<usize>,
    pub(super) transcript: Transcript,
    pub(super) bracket: Bracket,
    /// The task, if the checkpoint must carry it.
    pub(super) carries: Option<Task>,
    /// How the task will be visible.
    pub(super) task_after: TaskVisibility,
    /// The whole surface as it was, by seq and host tokens.
    surface: Vec<(u64, u64)>,
}

impl Plan {
    /// Plans the compaction of a session, telling `pass` what is known on the way. `limit`: the host tokens that surface
    /// and header should stay below.
    pub(super) fn of(
        folded: &Folded,
        options: &Options,
        limit: Option<u64>,
        pass: &mut Pass,
        notes: &mut Vec<String>,
    ) -> Result<Self, Stopped> {
        let session = &folded.session;
        if let Some(reason) = objection(folded) {
            return Err(Stopped::Refused(reason));
        }
        let span = region::choose(session, options, limit, notes)?;
        let plan = Self::over(session, span, options);
        pass.region = Some(plan.region(options.choice.name()));
        pass.shadowed = Some(plan.bracket.shadowed_tokens);
        pass.cache = Some(plan.cache(session));
        pass.task = Some(plan.task_after);
        if plan.bracket.shadowed_figure != plan.bracket.shadowed_tokens {
            notes.push(format!(
                "by the figures of earlier compactions dsh takes the surface for {} host tokens; this one is written as hiding {}, which keeps that estimate from going below zero, where dsh could not load the log",
                session.estimate.sum, plan.bracket.shadowed_figure
            ));
        }
        if let Some(turn) = session.turns.open() {
            notes.push(format!("turn {turn} is open: the compaction stands inside it"));
        }
        Ok(plan)
    }

    /// Makes the plan fit a session to which others have appended since: what was summarized must still be there as it
    /// was, in an open turn the whole surface (FORMAT §7.4). Says what has changed where it cannot.
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

    fn over(session: &Session, span: RangeInclusive<usize>, options: &Options) -> Self {
        let nodes = &session.surface.nodes()[span.clone()];
        let id = |what| derived_id(&session.header.id, session.events, what);
        let is_hidden = session.task.as_ref().is_some_and(|task| {
            let shown = session.surface.chain(task.seq).last().copied();
            nodes.iter().any(|node| Some(node.seq) == shown)
        });
        let price = nodes.iter().map(|node| node.host_tokens).sum();
        let carries = session.task.clone().filter(|_| is_hidden && options.keep_task);
        Self {
            task_after: match (is_hidden, &carries) {
                (false, _) => session.task_visibility(),
                (true, Some(_)) => TaskVisibility::Carried,
                (true, None) => TaskVisibility::Lost,
            },
            transcript: transcript::of(nodes, session),
            carries,
            bracket: Bracket {
                format: session.format,
                compaction_id: id("compaction"),
                checkpoint_id: id("checkpoint"),
                start_seq: session.events,
                next_seq: session.events + 1,
                turn: session.turns.open(),
                time: session.last_time.unwrap_or_default(),
                shadowed: nodes.iter().map(|node| node.seq).collect(),
                shadowed_tokens: price,
                shadowed_figure: session.estimate.figure_for(price, session.surface.host_tokens()),
            },
            surface: figures(session),
            span,
        }
    }

    /// What the summarizer is asked for: a text that leaves the checkpoint well below what it replaces.
    pub(super) fn request<'a>(
        &'a self,
        objection: &'a dyn Fn(&str) -> Option<String>,
        watch: &'a dyn Watch,
    ) -> Request<'a> {
        let frame = self.framed("").host_tokens(self.bracket.format);
        let room = self.bracket.shadowed_tokens.saturating_sub(frame);
        Request {
            transcript: &self.transcript,
            hidden: &self.bracket.shadowed,
            carried: self.carries.as_ref().map(|task| task.seq),
            budget: (room / 2).max(room.min(80)),
            objection,
            watch,
        }
    }

    /// Frames a summary, or says why the result would be no gain.
    pub(super) fn checkpoint(&self, summary: &str) -> Result<Checkpoint, Reason> {
        if summary.trim().is_empty() {
            return Err(Reason::new("summary", "the summary is empty", "try another summarizer"));
        }
        let checkpoint = self.framed(summary);
        let (price, shadowed) = (checkpoint.host_tokens(self.bracket.format), self.bracket.shadowed_tokens);
        if price >= shadowed {
            let message =
                format!("the checkpoint would cost {price} host tokens, the region costs {shadowed}");
            return Err(Reason::new(
                "not_smaller",
                message,
                "name a larger region, or keep less of the tail",
            ));
        }
        Ok(checkpoint)
    }

    fn framed(&self, summary: &str) -> Checkpoint {
        Checkpoint::new(summary, self.carries.as_ref(), &self.bracket.shadowed)
    }

    /// The surface's seqs after the commit.
    pub(super) fn surface_after(&self, session: &Session) -> Vec<u64> {
        let mut seqs = session.surface.seqs().to_vec();
        seqs.splice(self.span.clone(), [self.bracket.checkpoint_seq()]);
        seqs
    }

    fn region(&self, chosen_by: &'static str) -> Region {
        let SeqRange { start, end } = self.bracket.range();
        Region { start, end, seqs: self.bracket.shadowed.clone(), chosen_by }
    }

    fn cache(&self, session: &Session) -> Cache {
        let behind = &session.surface.nodes()[self.span.end() + 1..];
        Cache {
            first_changed_position: *self.span.start(),
            host_tokens_after_it: behind.iter().map(|node| node.host_tokens).sum(),
        }
    }
}

/// The nodes of the surface, by seq and host tokens.
fn figures(session: &Session) -> Vec<(u64, u64)> {
    session.surface.nodes().iter().map(|node| (node.seq, node.host_tokens)).collect()
}

/// What forbids every compaction of the log.
fn objection(folded: &Folded) -> Option<Reason> {
    if let Some(damage) = &folded.damage {
        let line = damage.place().line.map_or_else(String::new, |line| format!("line {line}: "));
        let (code, help) = if damage.is_unsupported() {
            ("unsupported", "only what wrote the event knows what it means: compact the session there")
        } else {
            ("damaged", "`dshc verify` names all that is wrong with the log")
        };
        return Some(Reason::new(code, format!("{line}{damage}"), help));
    }
    if let Some(torn) = &folded.torn {
        return Some(Reason::new(
            "damaged",
            torn.clone(),
            "open the session in dsh once, which cuts the torn bytes off, or say --break-lock if nothing has it open",
        ));
    }
    let session = &folded.session;
    if session.format.header.seeded == Seeded::Flag
        && let Some(problem) = session.seeds.problem(&session.header, session.format, session.events)
    {
        return Some(Reason::new("damaged", problem, "dsh refuses the log; restore it from a copy"));
    }
    let LockState::Held(lock) = folded.session.lock() else { return None };
    let (state, help) = match lock.owner {
        Owner::Open => (
            format!("turn {}, which owns it, is open", lock.turn.unwrap_or_default()),
            "if dsh is running, wait for it; if it crashed, resume the session in dsh, which frees the lock, or say --break-lock",
        ),
        Owner::Ended => (
            format!("turn {}, which owns it, has ended", lock.turn.unwrap_or_default()),
            "it can no longer be closed; resume the session in dsh, which writes session/end-seed and so frees it, or say --break-lock if nothing has the session open",
        ),
        Owner::None => (
            match lock.turn {
                Some(turn) => format!("turn {turn}, which is to own it, never was"),
                None => "no turn owns it".into(),
            },
            "if dsh is running, wait for it; if it crashed, resume the session in dsh, which frees the lock, or say --break-lock",
        ),
    };
    let id = lock.compaction_id.map_or_else(String::new, |id| format!(" ({id})"));
    let message = format!("a compaction is under way since seq {}{id}: {state}", lock.start_seq);
    Some(Reason::new("busy", message, help))
}
