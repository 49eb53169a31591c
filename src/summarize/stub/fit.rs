//! Which bullets a budget has room for.
//!
//! Lines are first tried long. Where not all of them fit even when short, they are taken by rank, and one that
//! does not fit makes room for the next.

use super::lines::{Line, Size};
use super::text::{cut, units};
use crate::summarize::SECTIONS;
use std::collections::HashSet;

/// Lengths to try, in tenths of the usual ones.
const SCALES: [usize; 8] = [80, 60, 40, 30, 20, 15, 12, 10];

/// What a section without bullets says.
const NOTHING: &str = "(none)";

/// A rest of the budget below this holds no prompt.
const LEAST_PROMPT: usize = 40;

/// The summary's text in at most `room` UTF-16 code units; the bare headings where not even those fit.
pub(super) fn fit(lines: &[Line], room: usize) -> String {
    let mut picked = Vec::new();
    for scale in SCALES {
        let race = Race::run(lines, room, scale);
        picked = race.picked;
        if race.all_fit {
            break;
        }
    }
    render(lines, &picked)
}

struct Race {
    picked: Vec<Option<String>>,
    all_fit: bool,
}

impl Race {
    fn run(lines: &[Line], room: usize, scale: usize) -> Race {
        let mut race = Race { picked: vec![None; lines.len()], all_fit: true };
        let mut left = room.saturating_sub(units(&render(lines, &race.picked)));
        let mut begun = [false; SECTIONS.len()];
        let mut seen = HashSet::new();
        let mut order: Vec<_> = lines.iter().enumerate().collect();
        order.sort_by_key(|(index, line)| (line.rank, *index));
        for (index, line) in order {
            let Some(has_begun) = begun.get_mut(line.section) else { continue };
            if line.unless.is_some_and(|other| race.picked.get(other).is_some_and(Option::is_some)) {
                continue;
            }
            // The first bullet stands where "(none)" stood.
            let spare = if *has_begun { left } else { left + units(NOTHING) + 1 };
            let Some(text) = worded(line, room, scale, spare) else {
                race.all_fit = false;
                continue;
            };
            if !seen.insert(text.clone()) {
                continue;
            }
            left = spare.saturating_sub(cost(&text));
            *has_begun = true;
            if let Some(slot) = race.picked.get_mut(index) {
                *slot = Some(text);
            }
        }
        race
    }
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
    let mut bullets: [Vec<&str>; SECTIONS.len()] = Default::default();
    for (line, text) in lines.iter().zip(picked) {
        if let (Some(section), Some(text)) = (bullets.get_mut(line.section), text) {
            section.push(text);
        }
    }
    let mut out = String::new();
    for (name, bullets) in SECTIONS.iter().zip(bullets) {
        if !out.is_empty() {
            out.push('\n');
        }
        out.push_str("## ");
        out.push_str(name);
        out.push('\n');
        if bullets.is_empty() {
            out.push_str(NOTHING);
            out.push('\n');
        }
        for bullet in bullets {
            out.push_str("- ");
            out.push_str(bullet);
            out.push('\n');
        }
    }
    let end = out.trim_end().len();
    out.truncate(end);
    out
}

/// The frame's tags may not stand inside the frame. The other sign is as long as the one that it replaces.
fn without_frame(text: &str) -> String {
    text.replace("<compacted-summary>", "‹compacted-summary>")
        .replace("</compacted-summary>", "‹/compacted-summary>")
}
