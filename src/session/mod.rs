//! What a log means: one pass over its events that keeps the surface, the turns, the locks and the task.
//!
//! [`Session`] is the state after some event; [`fold()`] brings a log to one. `check/` and `compact/` read it.
//! Nothing of what the log hides is kept but its seqs.

mod brackets;
mod fold;
mod message;
mod node;
mod pairing;
mod surface;
mod task;
mod turns;

#[cfg(test)]
mod properties;

pub use brackets::{Lock, LockState, Owner};
pub use fold::{Folded, ReplayError, Stop, TornTail, fold};
pub use message::{MessageView, ShapeError, is_checkpoint_source};
pub use node::Node;
pub use pairing::{Bar, Pairing, Unanswered};
pub use surface::{Surface, SurfaceError, short_list};
pub use task::{Task, TaskVisibility};
pub use turns::Turns;

use crate::format::{Format, MessageKind, SurfaceType};
use crate::json::{self, Object};
use crate::log::{Event, Header, PackedRow};
use crate::tokens::host;
use brackets::Brackets;

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
    /// Turns and steps.
    pub turns: Turns,
    /// The first human prompt.
    pub task: Option<Task>,
    /// Host tokens of the latest request header (FORMAT §7.5).
    pub header_tokens: u64,
    /// The model's context window by the last `request/context` that names one, in tokens.
    pub context_window: Option<u64>,
    brackets: Brackets,
    keep: Keep,
}

/// Why an event cannot follow the ones before it. dsh refuses a log that holds it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Violation {
    /// The event breaks a rule of the surface.
    #[error(transparent)]
    Surface(#[from] SurfaceError),
    /// The event's payload is not what its type requires.
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// A type that no reader of this version knows, and that the log says must be understood (FORMAT §4.2).
    #[error("event type \"{0}\" is unknown in this format and not marked ignorable")]
    UnknownType(String),
    /// A type of old development builds that every reader refuses.
    #[error("event type \"{0}\" was retired before any release")]
    RetiredType(String),
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
            turns: Turns::default(),
            task: None,
            header_tokens: 0,
            context_window: None,
            brackets: Brackets::default(),
            keep,
        }
    }

    /// Takes the next event. On a violation nothing has changed; [`Session::pass_over`] leaves the event out.
    pub fn apply(&mut self, event: &Event) -> Result<(), Violation> {
        self.admit(event)?;
        if let Some(surface_type) = self.format.surface_type(&event.event_type) {
            self.apply_message(event, surface_type)?;
        } else {
            surface::refuse_markers(event)?;
            self.apply_log_only(event)?;
        }
        self.pass_over(event);
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
        self.task.as_ref().map_or(TaskVisibility::None, |task| task.visibility(&self.surface))
    }

    /// Which calls of the surface have which results.
    #[must_use]
    pub fn pairing(&self) -> Pairing {
        Pairing::of(self.surface.nodes(), self.turns.open())
    }

    fn admit(&self, event: &Event) -> Result<(), Violation> {
        let event_type = &*event.event_type;
        if self.format.retired.contains(&event_type) {
            return Err(Violation::RetiredType(event_type.to_owned()));
        }
        if !event.ignorable && !self.format.knows(event_type) {
            return Err(Violation::UnknownType(event_type.to_owned()));
        }
        Ok(())
    }

    fn apply_message(&mut self, event: &Event, surface_type: &SurfaceType) -> Result<(), Violation> {
        let message = MessageView::of(event, surface_type)?;
        let node = Node::new(event, surface_type, &message, self.format, self.turns.current(), self.keep);
        let is_append = self.surface.apply(event, self.format, node)?;
        if !is_append {
            self.brackets.replaced(event.seq);
        } else if self.task.is_none() && surface_type.kind == MessageKind::User && message.is_human() {
            self.task = Some(Task::new(event.seq, &message));
        }
        Ok(())
    }

    fn apply_log_only(&mut self, event: &Event) -> Result<(), ShapeError> {
        match &*event.event_type {
            "turn/start" | "turn/end" | "step/start" | "step/end" => self.turns.apply(event)?,
            "compaction/start" | "compaction/summary" | "compaction/end" => self.brackets.apply(event),
            "session/end-seed" => self.brackets.end_seed(),
            "tool/call" if event.payload().is_none() => {
                return Err(ShapeError::new("tool/call", "has no payload object"));
            }
            "request/header" => self.header_tokens = self.request_header(event)?,
            "request/context" => {
                let window = event.payload().and_then(|data| data.count("contextWindow"));
                self.context_window = window.or(self.context_window);
            }
            _ => {}
        }
        Ok(())
    }

    /// Checks a `request/header` as readers do, and prices it.
    fn request_header(&self, event: &Event) -> Result<u64, ShapeError> {
        let wrong = |what: &str| ShapeError::new("request/header", what);
        let data = event.payload().ok_or_else(|| wrong("has no payload object"))?;
        if data.text("reason").is_some_and(|reason| reason == *"fallback") {
            return Err(wrong("has the retired reason \"fallback\""));
        }
        let header = data.object("header").ok_or_else(|| wrong("has no header object"))?;
        let config = header.object("config");
        let config = config
            .filter(message::names_model)
            .ok_or_else(|| wrong("lacks config.provider and config.model"))?;
        if config.get("reasoningEffort").is_some_and(|raw| json::text(raw).is_none_or(|text| text.is_empty()))
        {
            return Err(wrong("has a config.reasoningEffort that is no text"));
        }
        if !header.get("adapterDefaults").is_none_or(|raw| are_adapter_defaults(raw, &config)) {
            return Err(wrong("has adapterDefaults that do not match its config"));
        }
        let system = header.get("system").filter(|_| self.format.system_in_header);
        Ok(host::header(system, header.get("tools")))
    }
}

/// Each default is `true` and names a setting that the config holds.
fn are_adapter_defaults(raw: &json::Raw, config: &Object) -> bool {
    Object::of(raw).is_some_and(|defaults| {
        defaults.names().all(|name| {
            let name = name.to_str();
            ["reasoningEffort", "maxTokens"].contains(&&*name)
                && defaults.get(&name).is_some_and(json::is_true)
                && config.get(&name).is_some()
        })
    })
}

impl MessageKind {
    /// Whether the event's payload is the message itself, not a member of it.
    fn is_payload(self) -> bool {
        self == Self::User
    }
}
