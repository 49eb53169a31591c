//! What a summary must meet before it takes a region's place: one file a gate. Only `compact/` calls it.
//!
//! A model's text must be one (`text`), have the eight sections (`sections`), not go round in circles (`repetition`)
//! and not repeat an earlier checkpoint (`copied`). How many of the region's identifiers it names (`recall`) is told
//! of every summary, and is a gate where that was asked for. That a checkpoint is smaller than what it hides is judged
//! where it is framed, and in exact tokens by [`super::exact`].

mod copied;
mod headings;
mod recall;
mod repetition;
mod sections;
mod text;

#[cfg(test)]
mod tests;

pub use recall::Recall;

use super::Reason;
use super::checkpoint::TASK_LABEL;
use crate::summarize::{Entry, Transcript};
use recall::Named;

/// What is asked of a summary beyond its form.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct GateOptions {
    /// The share of the region's identifiers, from 0 to 1, that must be named.
    pub min_recall: Option<f64>,
    /// Whether those that are not are added under the last section, as far as there is room.
    pub complete_identifiers: bool,
}

/// What is wrong with a summary, in words for the model that made it, for people, and for the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Objection {
    /// The code of the reason: `summary`, `recall` or `not_smaller`.
    pub(super) code: &'static str,
    /// What was found, and what was expected.
    pub(super) message: String,
    /// What the user can do about it.
    pub(super) help: &'static str,
}

impl Objection {
    fn form(message: impl Into<String>) -> Self {
        let help = "run it again, or name a model that keeps to what it is asked for";
        Self { code: "summary", message: message.into(), help }
    }
}

impl From<Objection> for Reason {
    fn from(objection: Objection) -> Self {
        Self::new(objection.code, objection.message, objection.help)
    }
}

/// A summary that may take the region's place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Admitted {
    /// The text, with what was added to it.
    pub(super) text: String,
    /// What it names.
    pub(super) recall: Recall,
}

/// The gates for the summaries of one region.
#[derive(Debug)]
pub(super) struct Gates<'a> {
    transcript: &'a Transcript,
    is_model: bool,
    options: GateOptions,
    named: Named,
}

impl<'a> Gates<'a> {
    /// Reads what the region names, once for all its summaries. `carried` is the seq of the task that stands beside the
    /// summary; `is_model` says that a model makes the text, so that its form is to be judged too.
    pub(super) fn of(
        transcript: &'a Transcript,
        carried: Option<u64>,
        is_model: bool,
        options: GateOptions,
    ) -> Self {
        let beside = transcript.entries.iter().filter_map(|entry| match entry {
            Entry::Human { seq, text } if Some(*seq) == carried => Some(text.as_str()),
            _ => None,
        });
        Self { transcript, is_model, options, named: Named::of(transcript, &beside.collect::<Vec<_>>()) }
    }

    /// Judges a summary, completes it where that was asked for, and tells what it names. The completed text costs at
    /// most `room` host tokens as one text block (FORMAT §7.5); one that costs more already is left as it is.
    pub(super) fn admit(&self, summary: &str, room: u64) -> Result<Admitted, Objection> {
        if self.is_model {
            text::judge(summary)?;
            sections::judge(summary)?;
            repetition::judge(summary, self.transcript)?;
            copied::judge(summary, self.transcript)?;
        } else if summary.trim().is_empty() {
            return Err(Objection::form("the summary is empty"));
        }
        let text = if self.options.complete_identifiers {
            self.named.complete(summary, room)
        } else {
            summary.to_owned()
        };
        let recall = self.named.recall(&text);
        if let Some(least) = self.options.min_recall.filter(|least| recall.share() < *least) {
            return Err(self.named.objection(&text, &recall, least));
        }
        Ok(Admitted { text, recall })
    }
}
