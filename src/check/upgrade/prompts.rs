//! The system prompt, which the upgrade to format 3 makes a node of the surface (FORMAT §8.3).

use super::chain::Chain;
use super::here::Here;
use crate::check::registry::rule_family;
use crate::format::Format;
use crate::json::{self, Digest, Kind};

rule_family! {
    "upgrade";
    /// A message stands before the first step, where the upgrade has no place for the system prompt.
    ///
    /// **What it means.** From format 3 on the first node of the surface holds the system prompt. The upgrade puts it
    /// right behind the first `step/start`. A message that stands before that would come first.
    ///
    /// **Why it matters.** The upgrade does not change the order of messages, so it refuses the session. dsh opens the
    /// log in its own format.
    ///
    /// **How it comes about.** A plugin gave the model context before the first turn, or prompts were written outside a
    /// turn. The log is sound.
    ///
    /// **What to do.** Keep the log for the release that wrote it, or begin a new session. Where the message is not
    /// needed any more, a copy without it can be upgraded once its numbers are dense again.
    BEFORE_STEP = error("upgrade-message-before-step");
    /// The system prompt changes outside a step, where the upgrade has no place for it.
    ///
    /// **What it means.** A `request/header` gives a system prompt that differs from the one before, and no step is open.
    /// In format 3 a prompt is a message of the step that it belongs to.
    ///
    /// **Why it matters.** The upgrade does not change the order of events, so it refuses the session. dsh opens the log
    /// in its own format.
    ///
    /// **How it comes about.** dsh writes the header inside a step. The start of the step was lost, or another tool wrote
    /// the header.
    ///
    /// **What to do.** Mend the boundaries of the step first, where they are damaged. Else keep the log for the release
    /// that wrote it.
    OUTSIDE_STEP = error("upgrade-prompt-outside-step");
}

/// The prompt so far and where it may stand.
#[derive(Debug)]
pub(super) struct Prompts {
    to: u64,
    format: &'static Format,
    /// A step has started, or may have.
    has_head: bool,
    /// Whether a step is open; `None` where events were lost.
    is_in_step: Option<bool>,
    /// The prompt in force; `None` for an empty one.
    prompt: Option<Digest>,
}

impl Prompts {
    pub(super) fn new(chain: &Chain) -> Option<Self> {
        let to = chain.first(|step| step.promotes_prompt)?;
        Some(Self { to, format: chain.from(), has_head: false, is_in_step: Some(false), prompt: None })
    }

    /// Among lost events may be a start.
    pub(super) fn doubt(&mut self) {
        (self.has_head, self.is_in_step) = (true, None);
    }

    pub(super) fn event(&mut self, here: &mut Here) {
        match &*here.event.event_type {
            "step/start" => (self.has_head, self.is_in_step) = (true, Some(true)),
            "step/end" | "turn/end" => self.is_in_step = Some(false),
            "request/header" => self.header(here),
            other if !self.has_head && self.format.surface_type(other).is_some() => {
                let what = "a message before the first step, where the system prompt has no place before it";
                let help = "the upgrade puts the system prompt first on the surface, behind the first step/start, and \
                            moves no message";
                here.refuse(&BEFORE_STEP, self.to, what, help);
            }
            _ => {}
        }
    }

    fn header(&mut self, here: &mut Here) {
        let header = here.payload.get().and_then(|data| data.object("header"));
        let prompt = header.and_then(|header| header.get("system"));
        let prompt =
            prompt.filter(|raw| json::kind(*raw) == Kind::String && raw.get() != "\"\"").map(json::digest);
        if prompt == self.prompt {
            return;
        }
        self.prompt = prompt;
        if self.is_in_step == Some(false) {
            let what = "a request/header that changes the system prompt outside a step";
            let help = "a prompt becomes a message of the open step; the start of the step may be missing";
            here.refuse(&OUTSIDE_STEP, self.to, what, help);
        }
    }
}
