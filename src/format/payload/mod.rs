//! What the frozen codecs of dsh ask of payloads (FORMAT §6), as data; `check/shapes/` holds events against it.
//!
//! dsh asks twice: little as it reads a log of a format, exact members and values as it upgrades the log to the next one
//! (FORMAT §9.2). Each file here is one family of event types.

mod blocks;
mod compaction;
mod messages;
mod parts;
mod plugins;
mod requests;
mod shape;
mod sources;
mod stream;
mod teams;

pub use shape::{Condition, Kinds, Member, Members, Others, Range, Shape, Tagged};

/// The shapes of payloads at one occasion.
#[derive(Debug)]
pub struct Rules {
    /// By event type, in sorted parts that occasions share. Of other types nothing is asked.
    pub types: &'static [&'static [Member]],
    /// The content blocks.
    pub blocks: &'static Tagged,
    /// The sources of messages, but for those that must be of one kind.
    pub sources: &'static Tagged,
}

impl Rules {
    /// The shape of the payload of `event_type`, if anything is asked of it.
    #[must_use]
    pub fn shape(&self, event_type: &str) -> Option<&'static Shape> {
        let find = |part: &&'static [Member]| {
            let index = part.binary_search_by(|(name, _)| (*name).cmp(event_type)).ok()?;
            part.get(index).map(|(_, shape)| shape)
        };
        self.types.iter().find_map(find)
    }
}

/// Upgrades from format 0. Streamed chunks are looked into only where they are gathered.
pub(super) const LEAVING_0: &Rules = &Rules {
    types: &[
        messages::COMMON,
        messages::UP_TO_1,
        messages::TURNS_OF_0,
        messages::ONLY_0,
        compaction::COMMON,
        compaction::ONLY_0,
        requests::COMMON,
        requests::ONLY_0,
        plugins::COMMON,
        plugins::ONLY_0,
        teams::COMMON,
    ],
    blocks: blocks::OPEN,
    sources: sources::V0,
};

/// Upgrades from format 1. What comes from format 0 has been looked at more strictly.
pub(super) const LEAVING_1: &Rules = &Rules {
    types: &[
        messages::COMMON,
        messages::UP_TO_1,
        messages::TURNS,
        messages::ONLY_1,
        compaction::COMMON,
        compaction::SINCE_1,
        requests::COMMON,
        requests::SINCE_1,
        plugins::COMMON,
        plugins::ONLY_1,
        teams::COMMON,
    ],
    blocks: blocks::OPEN,
    sources: sources::V1,
};

/// Upgrades from format 2.
pub(super) const LEAVING_2: &Rules = &Rules {
    types: &[
        messages::COMMON,
        messages::FROM_2,
        messages::TURNS,
        messages::ONLY_2,
        compaction::COMMON,
        compaction::SINCE_1,
        requests::COMMON,
        requests::SINCE_1,
        plugins::COMMON,
        plugins::ONLY_2,
        teams::COMMON,
    ],
    blocks: blocks::CLOSED,
    sources: sources::V2,
};

/// Upgrades through format 2: logs of formats 0 and 1 keep their streams in events of their own, and may be of development
/// builds.
pub(super) const PASSING_2: &Rules = &Rules {
    types: &[
        messages::FROM_2,
        messages::CARRIED_TO_2,
        compaction::ONLY_0,
        requests::COMMON,
        plugins::ONLY_2,
        teams::COMMON,
    ],
    blocks: blocks::CLOSED,
    sources: sources::V2,
};

/// Readers of format 3.
pub(super) const READ_IN_3: &Rules = &Rules { types: &[messages::READ_IN_3], ..NO_RULES };

/// Nothing is asked, or what is asked is not public (FORMAT §12.2).
pub(super) const NOTHING: &Rules = &NO_RULES;
const NO_RULES: Rules = Rules { types: &[], blocks: blocks::OPEN, sources: sources::V1 };

#[cfg(test)]
mod tests {
    use super::super::ALL;
    use super::*;

    fn occasions() -> impl Iterator<Item = &'static Rules> {
        let steps = ALL.iter().filter_map(|format| format.upgrade.as_ref());
        let asked = steps.flat_map(|step| [step.asked, step.asked_of_earlier]);
        asked.chain(ALL.iter().map(|format| format.asked_on_reading))
    }

    #[test]
    fn each_type_is_found_and_has_one_shape() {
        for rules in occasions() {
            for part in rules.types {
                assert!(part.is_sorted_by_key(|(name, _)| *name), "{:?}", part.first().map(|(name, _)| name));
            }
            let mut names: Vec<_> =
                rules.types.iter().flat_map(|part| part.iter().map(|(name, _)| name)).collect();
            let all = names.len();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), all);
        }
    }

    #[test]
    fn upgrades_ask_of_every_type_that_they_take() {
        for format in ALL.iter().filter(|format| format.version < 3) {
            let mut types = format.vocabulary.iter().flat_map(|part| part.iter());
            let asked = format.upgrade.as_ref().unwrap().asked;
            // Streamed deltas are looked into where they have been gathered.
            let is_asked = |name: &&str| *name == "assistant/chunk" || asked.shape(name).is_some();
            assert!(types.all(is_asked), "format {}", format.version);
        }
    }
}
