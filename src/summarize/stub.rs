//! The summarizer without a model.
//!
//! `walk` reads the region once and gathers its `facts`; `merge` puts an earlier summary's bullets among it;
//! `lines` words the facts as bullets with a rank each; `fit` picks the bullets that the budget has room for.

mod calls;
mod commands;
mod earlier;
mod facts;
mod fit;
mod lines;
mod merge;
mod problems;
mod talk;
mod tally;
mod text;
mod walk;
mod words;

#[cfg(test)]
mod tests;

use super::{Request, SummarizeError, Summarizer, Summary};

/// The most that a summary may cost in host tokens, however large the budget is: more would be read past.
const MOST_HOST_TOKENS: u64 = 2_000;

/// Makes a summary from the region's own text alone: same region, same summary.
#[derive(Debug, Clone, Copy, Default)]
pub struct Stub;

impl Summarizer for Stub {
    fn kind(&self) -> &'static str {
        "stub"
    }

    fn is_free(&self) -> bool {
        true
    }

    /// Always answers. A budget below the bare eight headings gets just those, for the caller's gate to refuse.
    fn summarize(&self, request: &Request) -> Result<Summary, SummarizeError> {
        let facts = walk::gather(request.transcript);
        let text = fit::fit(&lines::lines(&facts), room(request.budget));
        Ok(Summary { text, provider: "dshc".to_owned(), model: "stub".to_owned() })
    }
}

/// The UTF-16 code units that a text of so many host tokens may have (FORMAT §7.5, one text block).
fn room(budget: u64) -> usize {
    let tokens = budget.min(MOST_HOST_TOKENS).saturating_sub(4);
    usize::try_from(tokens.saturating_mul(4)).unwrap_or(usize::MAX)
}
