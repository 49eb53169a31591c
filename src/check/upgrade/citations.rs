//! References to streamed deltas, which no event can keep once they are gathered (FORMAT §8.2).

use super::here::Here;
use crate::check::registry::rule_family;
use crate::json::{self, Raw};
use crate::wording::short_list;
use std::ops::RangeInclusive;

rule_family! {
    "upgrade";
    /// An event refers to a streamed delta, which the upgrade gathers into the message that it is part of.
    ///
    /// **What it means.** Up to format 1 the deltas of a streamed answer are events of their own. From format 2 on they
    /// stand inside the message or attempt that they make up and have no number, so a reference to one has nothing to
    /// name.
    ///
    /// **Why it matters.** The upgrade refuses the session. dsh opens the log in its own format.
    ///
    /// **How it comes about.** dsh itself lets only the finished `assistant/message` cite deltas. Another tool, or a
    /// damaged number, made the list of sources of another event, or a command's result.
    ///
    /// **What to do.** Keep the log for the release that wrote it. The reference can be mended in a copy where it is
    /// clear what it should name: the message that the deltas make up.
    CITED = error("upgrade-delta-cited");
}

/// The deltas so far.
#[derive(Debug, Default)]
pub(super) struct Deltas {
    /// Runs of them, in rising order.
    runs: Vec<RangeInclusive<u64>>,
}

impl Deltas {
    pub(super) fn add(&mut self, run: RangeInclusive<u64>) {
        match self.runs.last_mut() {
            Some(last) if last.end().checked_add(1) == Some(*run.start()) => {
                *last = *last.start()..=*run.end();
            }
            _ => self.runs.push(run),
        }
    }

    /// Looks at what an event refers to, but for the message that deltas make up.
    pub(super) fn check(&self, here: &mut Here, to: u64) {
        let mut cited = Vec::new();
        for source in here.event.source_event_seqs.and_then(json::array).unwrap_or_default() {
            cited.extend(ends(source).and_then(|range| self.first_in(&range)));
        }
        if here.is("command/done") {
            let source = here.payload.get().and_then(|data| data.count("sourceEventSeq"));
            cited.extend(source.filter(|seq| self.first_in(&(*seq..=*seq)).is_some()));
        }
        if !cited.is_empty() {
            let what = format!(
                "a {} that refers to streamed deltas, which are gathered into their message: {}",
                here.event.event_type,
                short_list(cited.iter())
            );
            here.refuse(&CITED, to, &what, "only the message that they make up may cite deltas");
        }
    }

    fn first_in(&self, range: &RangeInclusive<u64>) -> Option<u64> {
        let run = self.runs.get(self.runs.partition_point(|run| run.end() < range.start()))?;
        let first = *run.start().max(range.start());
        range.contains(&first).then_some(first)
    }
}

/// What a member of a list of sources names: one event, or all from one to another.
fn ends(source: Raw) -> Option<RangeInclusive<u64>> {
    if let Some(seq) = json::count(source) {
        return Some(seq..=seq);
    }
    match json::array(source)?[..] {
        [first, last] => Some(json::count(first)?..=json::count(last)?),
        _ => None,
    }
}

/// Whether a list of sources names exactly `spans`, in order.
pub(super) fn names_exactly(list: &[Raw], spans: &[RangeInclusive<u64>]) -> bool {
    let mut expected = spans.iter().cloned();
    let mut left = expected.next();
    for source in list {
        let Some(mut cited) = ends(*source).filter(|cited| !cited.is_empty()) else { return false };
        loop {
            let Some(span) = &left else { return false };
            if cited.start() != span.start() {
                return false;
            }
            let (cited_end, span_end) = (*cited.end(), *span.end());
            if cited_end < span_end {
                left = Some(cited_end + 1..=span_end);
                break;
            }
            left = expected.next();
            if cited_end == span_end {
                break;
            }
            cited = span_end + 1..=cited_end;
        }
    }
    left.is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_name_spans_in_order() {
        let named = |list: &str, spans: &[RangeInclusive<u64>]| {
            names_exactly(&json::array(json::leaked(list)).unwrap(), spans)
        };
        let spans = [3..=5, 8..=8];
        for (list, exact) in [
            ("[3,4,5,8]", true),
            ("[[3,5],8]", true),
            ("[3,[4,5],[8,8]]", true),
            ("[3,4,5]", false),
            ("[3,4,8]", false),
            ("[3,4,5,8,9]", false),
            ("[8,3,4,5]", false),
            ("[[3,8]]", false),
            ("[[5,3],8]", false),
            ("[\"3\"]", false),
        ] {
            assert_eq!(named(list, &spans), exact, "{list}");
        }
        assert!(named("[[3,8]]", &[3..=5, 6..=8]), "a range may cover neighbours");
        assert!(named("[]", &[]));
    }

    #[test]
    fn deltas_are_found_in_ranges() {
        let mut deltas = Deltas::default();
        for run in [2..=3, 4..=4, 9..=9] {
            deltas.add(run);
        }
        assert_eq!(deltas.runs, [2..=4, 9..=9]);
        assert_eq!(deltas.first_in(&(0..=2)), Some(2));
        assert_eq!(deltas.first_in(&(4..=20)), Some(4));
        assert_eq!(deltas.first_in(&(5..=8)), None);
        assert_eq!(deltas.first_in(&(10..=20)), None);
    }
}
