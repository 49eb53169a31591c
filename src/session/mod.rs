//! What a log means: one pass over its events that keeps the surface, the turns, the locks and the task.
//!
//! [`Session`] is the state after some event; [`fold()`] brings a log to one. `check/` and `compact/` read it.
//! Nothing of what the log hides is kept but its seqs.

mod brackets;
mod estimate;
mod fold;
mod images;
mod marker;
mod message;
mod node;
mod old_payload;
mod pairing;
mod rewrite;
mod seeds;
mod shape;
mod surface;
mod task;
mod tools;
mod turns;
mod unknown;
mod violation;

#[cfg(test)]
mod properties;

pub use brackets::{Lock, LockState, Owner};
pub use estimate::{Claim, Estimate};
pub use fold::{Folded, ReplayError, Stop, fold, fold_into};
pub use message::{CLOSING_TAG, MessageView, OPENING_TAG, is_checkpoint_source};
pub use node::Node;
pub use old_payload::{Conversions, Converted};
pub use pairing::{Bar, Pairing, Unanswered};
pub use seeds::{Marker, Seeds};
pub use shape::ShapeError;
pub use surface::{Surface, SurfaceError};
pub use task::{Task, TaskVisibility};
pub use turns::Turns;
pub use unknown::{Unknown, UnknownEvents, origin};
pub use violation::{Fate, Violation};

use crate::format::{Format, MessageKind, SurfaceType, SystemPrompt};
use crate::json;
use crate::log::{Event, Header, PackedRow};
use crate::tokens::host;
use brackets::Brackets;
use marker::Replacement;
use tools::Tools;

/// Whether the messages of the surface are kept, or only their figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// Messages too: for all that shows or replaces them.
    Messages,
    /// Figures alone: for checks.
    Figures,
}

/// The state of a session right after one of its events.
#[derive(Debug)]
pub struct Session {
    /// The log's header.
    pub header: Header,
    /// The facts of the log's version.
    pub format: &'static Format,
    /// Events so far; the next one's seq.
    pub events: u64,
    /// Time of the last event, Unix epoch in milliseconds.
    pub last_time: Option<i64>,
    /// Type of the last event.
    pub last_type: String,
    /// The model-visible history.
    pub surface: Surface,
    /// What dsh takes the surface to cost.
    pub estimate: Estimate,
    /// Turns and steps.
    pub turns: Turns,
    /// The first human prompt.
    pub task: Option<Task>,
    /// Where the events that were inherited from another session end.
    pub seeds: Seeds,
    /// The events in a shape of development builds.
    pub converted: Conversions,
    /// Host tokens of the latest request header (FORMAT §7.5).
    pub header_tokens: u64,
    /// The model's context window by the last `request/context` that names one, in tokens.
    pub context_window: Option<u64>,
    /// Event types that readers do not know, and how often events of each were passed over: because the log says that
    /// they may be, or because they were allowed.
    pub unknown: UnknownEvents,
    allowed: Unknown,
    tools: Tools,
    brackets: Brackets,
    keep: Keep,
}

impl Session {
    /// The state before the first event.
    #[must_use]
    pub fn new(header: Header, format: &'static Format, keep: Keep) -> Self {
        Self {
            header,
            format,
            events: 0,
            last_time: None,
            last_type: String::new(),
            surface: Surface::default(),
            estimate: Estimate::default(),
            turns: Turns::default(),
            task: None,
            header_tokens: 0,
            context_window: None,
            seeds: Seeds::default(),
            converted: Conversions::default(),
            unknown: UnknownEvents::default(),
            allowed: Unknown::Refused,
            tools: Tools::default(),
            brackets: Brackets::default(),
            keep,
        }
    }

    /// The same, past event types that dshc does not know.
    #[must_use]
    pub fn allowing(self, allowed: Unknown) -> Self {
        Self { allowed, ..self }
    }

    /// Takes the next event. On a violation nothing has changed; [`Session::pass_over`] leaves the event out. Gives
    /// the event as it was taken, if readers convert what the log holds.
    pub fn apply(&mut self, event: &Event) -> Result<Option<Converted>, Violation> {
        let Err(violation) = self.apply_current(event) else {
            self.pass_over(event);
            return Ok(None);
        };
        let Some(converted) = self.convert(event)? else { return Err(violation) };
        let current = converted.event(event);
        self.apply_current(&current)?;
        self.pass_over(&current);
        self.converted.count(&converted, event.seq);
        Ok(Some(converted))
    }

    /// What readers take an event for that is refused as it stands: it may be one of a development build.
    pub fn convert(&self, event: &Event) -> Result<Option<Converted>, ShapeError> {
        if !self.format.converts_old_payloads {
            return Ok(None);
        }
        let replacement = event.surface_op.and_then(|op| Replacement::parse(op, self.format).ok().flatten());
        let replaced_id = replacement.and_then(|replacement| self.surface.message_id(replacement.start));
        old_payload::convert(event, &self.header.id, replaced_id)
    }

    fn apply_current(&mut self, event: &Event) -> Result<(), Violation> {
        if let Some(surface_type) = self.format.surface_type(&event.event_type) {
            return self.apply_message(event, surface_type);
        }
        let is_known = self.format.knows(&event.event_type);
        if !is_known {
            self.admit(event)?;
        }
        marker::refuse_markers(event, is_known, self.format)?;
        if is_known {
            self.apply_log_only(event)?;
        } else {
            self.unknown.passed_over(event);
        }
        Ok(())
    }

    /// Counts an event without any effect on the session.
    pub fn pass_over(&mut self, event: &Event) {
        self.events = event.seq + 1;
        self.last_time = Some(event.time);
        event.event_type.as_ref().clone_into(&mut self.last_type);
    }

    /// Takes a run of streamed deltas: they move the numbering and the clock alone.
    pub fn apply_row(&mut self, row: &PackedRow) {
        self.events = row.first_seq + row.members;
        self.last_time = Some(row.last_time);
        "assistant/chunk".clone_into(&mut self.last_type);
    }

    /// The compaction lock (FORMAT §7.4).
    #[must_use]
    pub fn lock(&self) -> LockState {
        self.brackets.lock(&self.turns)
    }

    /// How the task can be seen.
    #[must_use]
    pub fn task_visibility(&self) -> TaskVisibility {
        self.task.as_ref().map_or(TaskVisibility::None, Task::visibility)
    }

    /// Which calls of the surface have which results.
    #[must_use]
    pub fn pairing(&self) -> Pairing {
        Pairing::of(self.surface.nodes(), self.turns.open())
    }

    /// Whether an event of a type that readers do not know may be passed over.
    fn admit(&self, event: &Event) -> Result<(), Violation> {
        let event_type = &*event.event_type;
        // Such an event is not passed over, whatever it says and whoever allows it: it is converted.
        if self.format.converts_old_payloads && old_payload::is_old_name(event_type) {
            return Err(Violation::UnknownType(event_type.to_owned()));
        }
        if self.allowed.allows(event_type) {
            return Ok(());
        }
        // Readers refuse these by name, whatever the event says of itself.
        if self.format.retired.contains(&event_type) {
            return Err(Violation::RetiredType(event_type.to_owned()));
        }
        if event.ignorable {
            Ok(())
        } else {
            Err(Violation::UnknownType(json::clip(event_type).into_owned()))
        }
    }

    fn apply_message(&mut self, event: &Event, surface_type: &SurfaceType) -> Result<(), Violation> {
        let message = MessageView::of(event, surface_type, self.format)?;
        if surface_type.kind == MessageKind::Developer
            && let Some(problem) = self.tools.problem(&message)
        {
            return Err(ShapeError::new(surface_type.name, problem).into());
        }
        let node = Node::new(event, surface_type, &message, self.format, self.turns.current(), self.keep);
        let is_append = self.surface.apply(event, self.format, node)?;
        let Some(node) = self.surface.latest() else { return Ok(()) };
        if !is_append {
            self.estimate.replaced(node);
            self.brackets.replaced(event.seq);
            self.task.iter_mut().for_each(|task| task.replaced(node, &message));
            return Ok(());
        }
        self.estimate.appended(node);
        if self.task.is_none() && surface_type.kind == MessageKind::User && message.is_human() {
            self.task = Some(Task::new(event.seq, &message));
        }
        Ok(())
    }

    fn apply_log_only(&mut self, event: &Event) -> Result<(), ShapeError> {
        shape::check_log_only(event, self.format)?;
        match &*event.event_type {
            "turn/start" | "turn/end" => {
                self.turns.apply(event, self.format)?;
                self.brackets.turn_boundary(event.seq);
            }
            "step/start" | "step/end" => self.turns.apply(event, self.format)?,
            "compaction/start" | "compaction/end" => self.brackets.apply(event),
            "compaction/summary" => {
                self.brackets.apply(event);
                self.estimate.claims(event.seq, event.payload().as_ref());
            }
            "compaction/prune" => self.estimate.claims(event.seq, event.payload().as_ref()),
            "session/end-seed" => {
                self.brackets.end_seed();
                self.seeds.marker(event, self.format);
            }
            "request/header" => self.request_header(event)?,
            "request/context" => {
                let window = event.payload().and_then(|data| data.count("contextWindow"));
                self.context_window = window.or(self.context_window);
            }
            images::OFFLOAD => {
                let wrong = |problem: String| ShapeError::new(images::OFFLOAD, problem);
                let targets = images::targets(event.payload().as_ref());
                let targets = targets.ok_or_else(|| {
                    wrong("must have exactly targets, each of a seq and imageIndexes that rise".into())
                })?;
                self.surface.offload(&targets).map_err(wrong)?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Checks a `request/header` as readers do, prices it and notes which tools it offers.
    fn request_header(&mut self, event: &Event) -> Result<(), ShapeError> {
        let data = event.payload();
        let header = shape::request_header(data.as_ref(), self.format)?;
        let tools = header.get("tools");
        let has_prompt = self.format.system_prompt == SystemPrompt::RequestHeader;
        self.header_tokens = host::header(header.get("system").filter(|_| has_prompt), tools);
        if self.format.surface_types.iter().any(|surface| surface.kind == MessageKind::Developer) {
            self.tools.offered(event.seq, tools);
        }
        Ok(())
    }
}

impl MessageKind {
    /// Whether the event's payload is the message itself, not a member of it.
    fn is_payload(self) -> bool {
        self == Self::User
    }
}
