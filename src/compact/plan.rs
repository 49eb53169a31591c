//! What a compaction would do to a session, judged before anything is written.

use super::checkpoint::Checkpoint;
use super::outcome::{Cache, Pass, Region};
use super::placement::Placement;
use super::records::{Bracket, SeqRange, derived_id};
use super::region;
use super::{Options, Stopped, transcript};
use crate::session::{Session, Task, TaskVisibility};
use crate::summarize::{Request, Transcript, Watch};
use std::ops::RangeInclusive;

/// A region and all that follows from it.
pub(super) struct Plan {
    pub(super) placement: Placement,
    pub(super) transcript: Transcript,
    /// The task, if the checkpoint must carry it.
    pub(super) carries: Option<Task>,
    /// How the task will be visible.
    pub(super) task_after: TaskVisibility,
}

impl Plan {
    /// Plans the compaction of a session, telling `pass` what is known on the way. `limit`: the host tokens that surface
    /// and header should stay below.
    pub(super) fn of(
        session: &Session,
        options: &Options,
        limit: Option<u64>,
        pass: &mut Pass,
        notes: &mut Vec<String>,
    ) -> Result<Self, Stopped> {
        let span = region::choose(session, options, limit, notes)?;
        let plan = Self::over(session, span, options);
        let bracket = &plan.placement.bracket;
        pass.region = Some(plan.region(options.choice.name()));
        pass.shadowed = Some(bracket.shadowed_tokens);
        pass.cache = Some(plan.cache(session));
        pass.task = Some(plan.task_after);
        if bracket.shadowed_figure != bracket.shadowed_tokens {
            notes.push(format!(
                "by the figures of earlier compactions dsh takes the surface for {} host tokens; this one is written as hiding {}, which keeps that estimate from going below zero, where dsh could not load the log",
                session.estimate.sum, bracket.shadowed_figure
            ));
        }
        if let Some(turn) = session.turns.open() {
            notes.push(format!("turn {turn} is open: the compaction stands inside it"));
        }
        Ok(plan)
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
        let bracket = Bracket {
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
        };
        Self {
            task_after: match (is_hidden, &carries) {
                (false, _) => session.task_visibility(),
                (true, Some(_)) => TaskVisibility::Carried,
                (true, None) => TaskVisibility::Lost,
            },
            transcript: transcript::of(nodes, session),
            carries,
            placement: Placement::new(bracket, span, session),
        }
    }

    /// What the summarizer is asked for: a text that leaves the checkpoint well below what it replaces.
    pub(super) fn request<'a>(
        &'a self,
        objection: &'a dyn Fn(&str) -> Option<String>,
        watch: &'a dyn Watch,
    ) -> Request<'a> {
        Request {
            transcript: &self.transcript,
            hidden: &self.placement.bracket.shadowed,
            carried: self.carried(),
            budget: self.budget(),
            objection,
            watch,
        }
    }

    /// The seq of the task, if the checkpoint carries it.
    pub(super) fn carried(&self) -> Option<u64> {
        self.carries.as_ref().map(|task| task.seq)
    }

    /// What a summary may cost, in host tokens as one text block.
    pub(super) fn budget(&self) -> u64 {
        let bracket = &self.placement.bracket;
        let room = bracket.shadowed_tokens.saturating_sub(self.framed("").host_tokens(bracket.format));
        (room / 2).max(room.min(80))
    }

    /// A summary in the frame of a checkpoint.
    pub(super) fn framed(&self, summary: &str) -> Checkpoint {
        Checkpoint::new(summary, self.carries.as_ref(), &self.placement.bracket.shadowed)
    }

    fn region(&self, chosen_by: &'static str) -> Region {
        let SeqRange { start, end } = self.placement.bracket.range();
        Region { start, end, seqs: self.placement.bracket.shadowed.clone(), chosen_by }
    }

    fn cache(&self, session: &Session) -> Cache {
        let behind = &session.surface.nodes()[self.placement.span.end() + 1..];
        Cache {
            first_changed_position: *self.placement.span.start(),
            host_tokens_after_it: behind.iter().map(|node| node.host_tokens).sum(),
        }
    }
}
