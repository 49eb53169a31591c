//! The summarizer that asks a model.

use super::{Model, Prompt, Request, SummarizeError, Summarizer, Summary};

/// Puts a region to a model.
pub struct Live {
    model: Box<dyn Model>,
    window: Option<u64>,
}

impl Live {
    /// Asks `model`.
    #[must_use]
    pub fn new(model: Box<dyn Model>) -> Self {
        Self { model, window: None }
    }

    /// With a window of so many tokens, which the model can read and write in one call.
    #[must_use]
    pub fn within(self, window: Option<u64>) -> Self {
        Self { window, ..self }
    }
}

impl Summarizer for Live {
    fn kind(&self) -> &'static str {
        self.model.kind()
    }

    fn is_free(&self) -> bool {
        false
    }

    fn summarize(&self, request: &Request) -> Result<Summary, SummarizeError> {
        request.watch.stage("asking");
        let prompt = Prompt { instructions: String::new(), text: format!("{:?}", request.transcript) };
        let answer = self.model.ask(&prompt, request.watch)?;
        Ok(Summary {
            text: answer.text,
            provider: self.model.provider().to_owned(),
            model: self.model.name().to_owned(),
            calls: 1,
            usage: answer.usage,
            max_tokens: self.model.max_tokens(),
        })
    }
}
