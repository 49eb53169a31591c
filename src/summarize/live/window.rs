//! How much fits into a model's window, and which units go together.

use super::super::SummarizeError;
use super::prompt::{self, Part};
use super::units::Unit;

/// How many units that do not fit are named.
const NAMED: usize = 8;

/// About how many tokens a text is, for a model whose tokenizer is not known; rather more than fewer.
///
/// Letters of ASCII and blanks go by four, as all code units do for dsh's host tokens (FORMAT §7.5). Those are too few
/// where text is denser than prose: so other ASCII (digits, signs, line ends) counts three times as much, and any other
/// code unit, of CJK above all, is a token by itself. On session logs, lock files and prose that comes to 1.0 to 1.4
/// times what `o200k_base` counts, where host tokens are down to 0.66 times.
pub(super) fn estimate(text: &str) -> u64 {
    let quarters = |c: char| match c {
        'a'..='z' | 'A'..='Z' | ' ' => 1,
        _ if c.is_ascii() => 3,
        _ => 4 * c.len_utf16() as u64,
    };
    text.chars().map(quarters).sum::<u64>().div_ceil(4)
}

/// The tokens that are left for the transcript.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Rooms {
    window: u64,
    answer: u64,
    /// In one call for all of it.
    pub(super) whole: u64,
    /// In the first of several calls.
    pub(super) first: u64,
    /// In each call after that, which is given the summary so far too.
    pub(super) next: u64,
}

impl Rooms {
    /// The rooms beside an answer of `answer` tokens and the instructions of one call or of several, of which
    /// there are at most `parts`.
    pub(super) fn of(window: u64, answer: u64, instructions: &str, folding: &str, parts: usize) -> Self {
        let last = Part { number: parts, of: parts.max(2) };
        let room = |instructions, part, so_far| {
            let question = estimate(&prompt::question(part, so_far, ""));
            window.saturating_sub(answer).saturating_sub(estimate(instructions)).saturating_sub(question)
        };
        Self {
            window,
            answer,
            whole: room(instructions, Part::WHOLE, None),
            first: room(folding, last, None),
            next: room(folding, last, Some("")).saturating_sub(answer),
        }
    }

    /// Why `misfits` cannot be put to the model, which may be told how much it is to write.
    pub(super) fn refusal(&self, misfits: &[&Unit], has_cap: bool) -> SummarizeError {
        let Self { window, answer, next, .. } = self;
        if *next == 0 {
            return SummarizeError::Unfit {
                message: format!(
                    "a window of {window} tokens has no room for a part of the transcript: the answer and the summary so far may take {answer} each, and the instructions need theirs"
                ),
                help: format!(
                    "give --summarizer-window more{}",
                    if has_cap { ", or lower --max-tokens" } else { "" }
                ),
            };
        }
        let mut names: Vec<String> = misfits
            .iter()
            .take(NAMED)
            .map(|unit| format!("{unit} (about {} tokens)", unit.tokens()))
            .collect();
        if let Some(more) = misfits.len().checked_sub(NAMED).filter(|more| *more > 0) {
            names.push(format!("{more} more"));
        }
        SummarizeError::Unfit {
            message: format!(
                "what may not be parted does not fit into the summarizer's window: {}; of its {window} tokens {next} are left for one part of the transcript",
                names.join(", ")
            ),
            help: "give --summarizer-window more, shorten tool results with --prune, leave it out with --region, or do without a model: --strategy drop".into(),
        }
    }
}

/// The fewest runs of units that fit, oldest first; or the units that fit into no call.
pub(super) fn split<'a>(units: &'a [Unit], rooms: &Rooms) -> Result<Vec<&'a [Unit]>, Vec<&'a Unit>> {
    let (mut pieces, mut misfits) = (Vec::new(), Vec::new());
    let (mut start, mut used, mut room) = (0, 0_u64, rooms.first);
    for (index, unit) in units.iter().enumerate() {
        let tokens = unit.tokens();
        if index > start && used.saturating_add(tokens) > room {
            pieces.extend(units.get(start..index));
            (start, used, room) = (index, 0, rooms.next);
        }
        if index == start && tokens > room {
            misfits.push(unit);
        }
        used = used.saturating_add(tokens);
    }
    pieces.extend(units.get(start..));
    if misfits.is_empty() { Ok(pieces) } else { Err(misfits) }
}
