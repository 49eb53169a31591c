//! What the frozen codecs of dsh ask of payloads (FORMAT §6), as data; `check/payloads/` holds events against it.
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

use super::{ALL, Format};
pub use shape::{Condition, Kinds, Member, Members, Others, Range, Shape, Tagged};

/// What is asked of the payloads of one format, and when.
#[derive(Debug)]
pub struct Occasions {
    /// What the strict codec of the format asks as it reads a log.
    pub read: &'static Rules,
    /// What an upgrade to the next format asks of a log of this one.
    pub leave: &'static Rules,
    /// What an upgrade to the next format asks besides of a log that was of an earlier one: of its events as they stand
    /// there, since what upgrades make of them is always sound.
    pub pass_on: &'static Rules,
}

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

/// What the upgrade of a log of `from` to version `to` asks of payloads: each step's rules, with the version that it
/// leaves. An event that breaks none of them is taken all the way.
pub fn on_the_way(from: &Format, to: u64) -> impl Iterator<Item = (u64, &'static Rules)> {
    let first = from.version;
    let steps = ALL.iter().filter(move |format| (first..to).contains(&format.version));
    steps.map(move |format| {
        let asked = &format.asked;
        (format.version, if format.version == first { asked.leave } else { asked.pass_on })
    })
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

/// Format 0. Streamed chunks are looked into only where they are gathered.
pub(super) const OF_0: Occasions = Occasions {
    read: NOTHING,
    leave: &Rules {
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
    },
    pass_on: NOTHING,
};

/// Format 1. What comes from format 0 has been looked at more strictly.
pub(super) const OF_1: Occasions = Occasions {
    read: NOTHING,
    leave: &Rules {
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
    },
    pass_on: NOTHING,
};

/// Format 2. What comes from formats 0 and 1 keeps its streams in events of their own, and may be of development builds.
pub(super) const OF_2: Occasions = Occasions {
    read: NOTHING,
    leave: &Rules {
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
    },
    pass_on: &Rules {
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
    },
};

/// Format 3. What an upgrade to format 4 asks is not known (FORMAT §12.2).
pub(super) const OF_3: Occasions = Occasions {
    read: &Rules { types: &[messages::CODEC_OF_3, requests::CODEC_OF_3], ..NO_RULES },
    leave: NOTHING,
    pass_on: NOTHING,
};

/// Format 4, whose codec is not public (FORMAT §12.2).
pub(super) const OF_4: Occasions = Occasions { read: NOTHING, leave: NOTHING, pass_on: NOTHING };

const NOTHING: &Rules = &NO_RULES;
const NO_RULES: Rules = Rules { types: &[], blocks: blocks::OPEN, sources: sources::V1 };

#[cfg(test)]
mod tests {
    use super::*;

    fn occasions() -> impl Iterator<Item = &'static Rules> {
        ALL.iter().flat_map(|format| [format.asked.read, format.asked.leave, format.asked.pass_on])
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
        for version in 0..3 {
            let format = super::super::of(version).unwrap();
            let mut types = format.vocabulary.iter().flat_map(|part| part.iter());
            // Streamed deltas are looked into where they have been gathered.
            let is_asked =
                |name: &&str| *name == "assistant/chunk" || format.asked.leave.shape(name).is_some();
            assert!(types.all(is_asked), "format {version}");
        }
    }

    #[test]
    fn each_step_of_an_upgrade_is_asked_once() {
        let steps = |from, to| {
            let from = super::super::of(from).unwrap();
            on_the_way(from, to).map(|(version, _)| version).collect::<Vec<_>>()
        };
        assert_eq!(steps(0, 3), [0, 1, 2]);
        assert_eq!(steps(2, 3), [2]);
        assert_eq!(steps(3, 3), [0; 0]);
    }
}
