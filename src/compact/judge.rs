//! Whether a summary may take the region's place, and what it costs there.

use super::checkpoint::Checkpoint;
use super::exact::ExactTokens;
use super::gates::{Gates, Objection, Recall};
use super::meter::Meter;
use super::plan::Plan;
use super::{Options, Pass, Reason};
use crate::session::Session;
use crate::summarize::Summary;
use crate::tokens::Tokenizer;

const HELP_LARGER: &str = "name a larger region, or keep less of the tail";

/// Judges the summaries of one plan.
pub(super) struct Judge<'a> {
    plan: &'a Plan,
    gates: Gates<'a>,
    /// What counts exactly, and the figures without a checkpoint.
    exact: Option<(Tokenizer, ExactTokens)>,
}

/// A summary that may take the region's place.
pub(super) struct Judged {
    pub(super) summary: Summary,
    pub(super) checkpoint: Checkpoint,
    recall: Recall,
    exact: Option<ExactTokens>,
}

/// A text in its frame, and what is known of it.
struct Framed {
    text: String,
    checkpoint: Checkpoint,
    recall: Recall,
    exact: Option<ExactTokens>,
}

impl<'a> Judge<'a> {
    /// Reads what the region names, and counts it where that was asked for. `is_model`: a model makes the summaries.
    pub(super) fn of(plan: &'a Plan, session: &Session, options: &Options, is_model: bool) -> Self {
        let gates = Gates::of(&plan.transcript, plan.carried(), is_model, options.gates);
        let exact = Meter::new(options.counting).tokenizer().map(|tokenizer| {
            (*tokenizer, ExactTokens::of(tokenizer, session.surface.nodes(), &plan.placement.span))
        });
        Self { plan, gates, exact }
    }

    /// The exact figures that are known without a summary.
    pub(super) fn exact(&self) -> Option<ExactTokens> {
        self.exact.map(|(_, figures)| figures)
    }

    /// Whether any text at all could take the region's place; told before a model is asked for one.
    pub(super) fn has_room(&self) -> Result<(), Reason> {
        let bracket = &self.plan.placement.bracket;
        let (frame, shadowed) = (self.plan.framed("").host_tokens(bracket.format), bracket.shadowed_tokens);
        if frame < shadowed {
            return Ok(());
        }
        let message = format!(
            "a checkpoint costs {frame} host tokens without any summary, the region costs {shadowed}"
        );
        Err(Reason::new("not_smaller", message, HELP_LARGER))
    }

    /// What is wrong with a text, if anything is.
    pub(super) fn objection(&self, text: &str) -> Option<String> {
        self.judge(text).err().map(|objection| objection.message)
    }

    /// Takes a summary, completed where that was asked for, or says why not.
    pub(super) fn admit(&self, summary: Summary) -> Result<Judged, Reason> {
        let Framed { text, checkpoint, recall, exact } = self.judge(&summary.text)?;
        Ok(Judged { summary: Summary { text, ..summary }, checkpoint, recall, exact })
    }

    fn judge(&self, text: &str) -> Result<Framed, Objection> {
        let admitted = self.gates.admit(text, self.plan.budget())?;
        let checkpoint = self.plan.framed(&admitted.text);
        let bracket = &self.plan.placement.bracket;
        let (price, shadowed) = (checkpoint.host_tokens(bracket.format), bracket.shadowed_tokens);
        if price >= shadowed {
            return Err(Objection {
                code: "not_smaller",
                message: format!(
                    "the checkpoint would cost {price} host tokens, the region costs {shadowed}"
                ),
                help: HELP_LARGER,
            });
        }
        let exact = self.exact.map(|(tokenizer, figures)| figures.with(&tokenizer, &checkpoint));
        match exact.and_then(|exact| exact.objection()) {
            Some(objection) => Err(objection),
            None => Ok(Framed { text: admitted.text, checkpoint, recall: admitted.recall, exact }),
        }
    }
}

impl Judged {
    /// Tells a pass what is known of the summary.
    pub(super) fn tell(&self, pass: &mut Pass, notes: &mut Vec<String>) {
        if let Some(summarizer) = &mut pass.summarizer {
            summarizer.recall = Some(self.recall.clone());
        }
        pass.tokens = self.exact;
        notes.extend(self.exact.and_then(|exact| exact.note()));
    }
}
