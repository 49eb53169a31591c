//! The summarizer that asks a model.
//!
//! The region becomes a plain transcript (`rendering`) of `units` that no cut may part; where a `window` is given and
//! the whole does not fit, the units are put to the model in parts, each with the summary of the parts before it.
//! `prompt` words what is asked.

mod prompt;
mod rendering;
mod units;
mod window;

#[cfg(test)]
mod tests;

use super::{Model, Prompt, Request, SummarizeError, Summarizer, Summary, Usage, Watch};
use prompt::Part;
use units::Unit;
use window::{Rooms, estimate};

/// The most that a summary may cost in host tokens, however large the budget is: more would be read past.
const MOST_HOST_TOKENS: u64 = 4_000;

/// Puts a region to a model.
pub struct Live {
    model: Box<dyn Model>,
    window: Option<u64>,
}

impl Live {
    /// Asks `model`, in one call.
    #[must_use]
    pub fn new(model: Box<dyn Model>) -> Self {
        Self { model, window: None }
    }

    /// Asks in as few calls as fit into `window`: the tokens that the model can read and write in one call. What a text
    /// has of them is estimated, rather too high than too low.
    #[must_use]
    pub fn within(self, window: Option<u64>) -> Self {
        Self { window, ..self }
    }

    /// The most that the summary may cost, in host tokens. Half of the tokens that the model may write: text that is
    /// denser than prose has more of them. A twelfth of the window: four times that goes to the answer and to what it
    /// is merged with, and the transcript is to have most of the room.
    fn limit(&self, request: &Request) -> u64 {
        let cap = self.model.max_tokens().map_or(u64::MAX, |most| most / 2);
        let share = self.window.map_or(u64::MAX, |window| window / 12);
        request.budget.min(MOST_HOST_TOKENS).min(cap).min(share)
    }

    /// The tokens of the window that are kept free for an answer.
    fn answer_room(&self, request: &Request) -> u64 {
        self.model.max_tokens().unwrap_or_else(|| self.limit(request).saturating_mul(2))
    }

    /// What is to be asked, in parts that fit.
    fn plan(&self, request: &Request) -> Result<Plan, SummarizeError> {
        let units = units::of(request.transcript, request.carried);
        let limit = self.limit(request);
        let whole = Plan {
            instructions: prompt::instructions(limit, request.carried, false),
            parts: vec![units::joined(&units)],
        };
        let Some(window) = self.window else { return Ok(whole) };
        let instructions = prompt::instructions(limit, request.carried, true);
        let rooms =
            Rooms::of(window, self.answer_room(request), &whole.instructions, &instructions, units.len());
        if units.iter().map(Unit::tokens).sum::<u64>() <= rooms.whole {
            return Ok(whole);
        }
        let pieces = window::split(&units, &rooms)
            .map_err(|misfits| rooms.refusal(&misfits, self.model.max_tokens().is_some()))?;
        Ok(Plan { instructions, parts: pieces.into_iter().map(units::joined).collect() })
    }
}

impl Summarizer for Live {
    fn kind(&self) -> &'static str {
        self.model.kind()
    }

    fn is_free(&self) -> bool {
        false
    }

    fn admits(&self, request: &Request) -> Result<(), SummarizeError> {
        self.plan(request).map(drop)
    }

    fn summarize(&self, request: &Request) -> Result<Summary, SummarizeError> {
        let plan = self.plan(request)?;
        let mut talk =
            Talk { live: self, request, instructions: &plan.instructions, calls: 0, usage: Some(NOTHING) };
        let text = talk.fold(&plan.parts)?;
        Ok(Summary {
            text,
            provider: self.model.provider().to_owned(),
            model: self.model.name().to_owned(),
            calls: talk.calls,
            usage: talk.usage,
            max_tokens: self.model.max_tokens(),
        })
    }
}

/// What is asked: the transcript in parts, oldest first, at least one.
struct Plan {
    instructions: String,
    parts: Vec<String>,
}

/// All calls for one summary.
struct Talk<'a> {
    live: &'a Live,
    request: &'a Request<'a>,
    instructions: &'a str,
    calls: u64,
    /// Of all calls; `None` once one has not told.
    usage: Option<Usage>,
}

const NOTHING: Usage = Usage { input_tokens: 0, output_tokens: 0 };

impl Talk<'_> {
    /// Asks part by part; each answer goes into the next question. The last one is the summary.
    fn fold(&mut self, parts: &[String]) -> Result<String, SummarizeError> {
        let (mut so_far, mut question): (Option<String>, _) = (None, String::new());
        for (index, transcript) in parts.iter().enumerate() {
            let part = Part { number: index + 1, of: parts.len() };
            if let Some(so_far) = &so_far {
                self.check_room(so_far, part)?;
            }
            question = prompt::question(part, so_far.as_deref(), transcript);
            let stage = if part.is_whole() { String::new() } else { format!("{part}, ") };
            so_far = Some(self.ask(question.clone(), &stage)?);
        }
        self.mended(so_far.unwrap_or_default(), &question)
    }

    /// A model that is told how much it may write has not written more. A program may have.
    fn check_room(&self, so_far: &str, part: Part) -> Result<(), SummarizeError> {
        let (needs, room) = (estimate(so_far), self.live.answer_room(self.request));
        if self.live.model.max_tokens().is_some() || self.live.window.is_none() || needs <= room {
            return Ok(());
        }
        Err(SummarizeError::Failed {
            message: format!(
                "the summary that {part} is to be merged with takes about {needs} tokens of the window, and {room} are kept for it"
            ),
            help: "give --summarizer-window more, or let the summarizer write less".into(),
        })
    }

    /// The answer, or the one that the model gives when it is told what is wrong with that.
    fn mended(&mut self, answer: String, question: &str) -> Result<String, SummarizeError> {
        let Some(objection) = (self.request.objection)(&answer) else { return Ok(answer) };
        let questions = [Some(question), None].map(|question| prompt::mending(question, &answer, &objection));
        let Some(question) = questions.into_iter().find(|question| self.fits(question)) else {
            return Ok(answer);
        };
        self.ask(question, "mending the summary, ").map_err(|error| match error {
            SummarizeError::Failed { message, help } => SummarizeError::Failed {
                message: format!("{objection}; when asked once more: {message}"),
                help,
            },
            other => other,
        })
    }

    fn fits(&self, question: &str) -> bool {
        let needs = estimate(self.instructions)
            .saturating_add(estimate(question))
            .saturating_add(self.live.answer_room(self.request));
        self.live.window.is_none_or(|window| needs <= window)
    }

    fn ask(&mut self, text: String, stage: &str) -> Result<String, SummarizeError> {
        let watch = self.request.watch;
        if watch.is_cancelled() {
            return Err(SummarizeError::Cancelled);
        }
        let prompt = Prompt { instructions: self.instructions.to_owned(), text };
        let answer = self.live.model.ask(&prompt, &Staged { watch, stage })?;
        self.calls += 1;
        self.usage = self.usage.zip(answer.usage).map(|(all, one)| Usage {
            input_tokens: all.input_tokens.saturating_add(one.input_tokens),
            output_tokens: all.output_tokens.saturating_add(one.output_tokens),
        });
        let text = answer.text.trim();
        if text.is_empty() {
            return Err(SummarizeError::Failed {
                message: format!("{} answered without a text", self.live.model.name()),
                help: "try again, or another model".into(),
            });
        }
        Ok(text.to_owned())
    }
}

/// Says which part a stage is of.
struct Staged<'a> {
    watch: &'a dyn Watch,
    stage: &'a str,
}

impl Watch for Staged<'_> {
    fn stage(&self, stage: &str) {
        self.watch.stage(&format!("{}{stage}", self.stage));
    }

    fn received(&self, tokens: u64) {
        self.watch.received(tokens);
    }

    fn is_cancelled(&self) -> bool {
        self.watch.is_cancelled()
    }
}
