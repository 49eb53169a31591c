//! The summarizer without a model.
//!
//! `walk` reads the region once and gathers its `facts`; `lines` words them as bullets with a rank each, those of
//! an `earlier` summary among them. What the budget has room for is picked here: lines are first tried long; where
//! not all fit even when short, they are taken by rank, and one that does not fit makes room for the next.

mod earlier;
mod facts;
mod lines;
mod walk;

#[cfg(test)]
mod tests;

use super::identifiers::{calls, signs, words};
use super::text::{self, cut, units, without_frame};
use super::{Request, SECTIONS, SummarizeError, Summarizer, Summary};
use lines::{Line, Size};
use std::collections::HashSet;

/// The most that a summary may cost in host tokens, however large the budget is: more would be read past.
const MOST_HOST_TOKENS: u64 = 2_000;

/// Lengths to try, in tenths of the usual ones.
const SCALES: [usize; 3] = [60, 20, 10];

/// What a section without bullets says.
const NOTHING: &str = "(none)";

/// A rest of the budget below this holds no prompt.
const LEAST_PROMPT: usize = 40;

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
        let facts = walk::gather(request.transcript, request.carried);
        let text = fit(&lines::lines(&facts), room(request.budget));
        Ok(Summary::own(text, "stub"))
    }
}

/// The UTF-16 code units that a text of so many host tokens may have (FORMAT §7.5, one text block).
fn room(budget: u64) -> usize {
    let tokens = budget.min(MOST_HOST_TOKENS).saturating_sub(4);
    usize::try_from(tokens.saturating_mul(4)).unwrap_or(usize::MAX)
}

/// The summary's text in at most `room` UTF-16 code units; the bare headings where not even those fit.
fn fit(lines: &[Line], room: usize) -> String {
    let mut picked = Vec::new();
    for scale in SCALES {
        let all_fit;
        (picked, all_fit) = pick(lines, room, scale);
        if all_fit {
            break;
        }
    }
    render(lines, &picked)
}

/// Each line's text if there is room for it, and whether there is for all.
fn pick(lines: &[Line], room: usize, scale: usize) -> (Vec<Option<String>>, bool) {
    let mut picked = vec![None; lines.len()];
    let mut all_fit = true;
    let mut left = room.saturating_sub(units(&render(lines, &picked)));
    let mut begun = [false; SECTIONS.len()];
    let mut seen = HashSet::new();
    let mut order: Vec<_> = lines.iter().zip(&mut picked).collect();
    order.sort_by_key(|(line, _)| line.rank);
    for (line, slot) in order {
        let Some(has_begun) = begun.get_mut(line.section) else { continue };
        // The first bullet stands where "(none)" stood.
        let spare = if *has_begun { left } else { left + units(NOTHING) + 1 };
        let Some(text) = worded(line, room, scale, spare) else {
            all_fit = false;
            continue;
        };
        if seen.insert(text.clone()) {
            left = spare.saturating_sub(cost(&text));
            *has_begun = true;
            *slot = Some(text);
        }
    }
    (picked, all_fit)
}

/// The bullet's text if it fits into `spare` units.
fn worded(line: &Line, room: usize, scale: usize, spare: usize) -> Option<String> {
    let most = match line.size {
        Size::Long => (room / 7).clamp(90, 1_100) * scale / 10,
        Size::Plain => (room / 26).clamp(48, 280) * scale / 10,
        Size::Whole => usize::MAX,
    };
    let word = |most| without_frame(&format!("{}{}", cut(&line.text, most), line.tail));
    let text = word(most);
    if cost(&text) <= spare {
        return Some(text).filter(|text| !text.is_empty());
    }
    let rest = spare.saturating_sub(cost(&line.tail));
    (line.size == Size::Long && rest >= LEAST_PROMPT).then(|| word(rest))
}

/// What a bullet costs: its mark and its line end too.
fn cost(text: &str) -> usize {
    units(text) + 3
}

fn render(lines: &[Line], picked: &[Option<String>]) -> String {
    let section = |(section, name)| {
        let of_section = lines.iter().zip(picked).filter(|(line, _)| line.section == section);
        let bullets: Vec<_> =
            of_section.filter_map(|(_, text)| text.as_ref().map(|text| format!("- {text}"))).collect();
        let body = if bullets.is_empty() { NOTHING.to_owned() } else { bullets.join("\n") };
        format!("## {name}\n{body}")
    };
    SECTIONS.iter().enumerate().map(section).collect::<Vec<_>>().join("\n\n")
}
