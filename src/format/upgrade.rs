//! What dsh's upgrade from one format to the next refuses (FORMAT §8).

use super::payload::Rules;
use super::{ALL, Format, Relations};

/// The facts of one step of dsh's upgrade chain.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own, and none excludes another")]
pub struct Upgrade {
    /// The format into which it leads.
    pub to: u64,
    /// Whether an unknown event is refused even where readers may ignore it (FORMAT §4.2).
    pub refuses_unknown: bool,
    /// Event types that are taken all the same (FORMAT §6.3).
    pub also_takes: &'static [&'static str],
    /// Whether streamed deltas are gathered into the message or attempt that they make up, so that nothing may cite
    /// them any more (FORMAT §8.2).
    pub gathers_chunks: bool,
    /// Whether the chunk of each streamed delta must be an object; else it must only be there.
    pub looks_into_chunks: bool,
    /// Whether an event comes to mark where inherited events end, where the header gave their number (FORMAT §8.2).
    pub marks_seed: bool,
    /// Whether a turn that was left open ends where the next one starts behind a queued prompt (FORMAT §8.2).
    pub ends_interrupted_turns: bool,
    /// Whether the system prompt becomes a node of the surface, its first one (FORMAT §8.3).
    pub promotes_prompt: bool,
    /// Whether the answers of tools lose their wrapper (FORMAT §8.4).
    pub flattens_results: bool,
    /// Whether no mark of delivery may claim the format into which it leads (FORMAT §8.3, §8.4).
    pub bars_claims: bool,
    /// What it asks of the payloads of a log of the format from which it leads.
    pub asked: &'static Rules,
    /// What it asks besides of a log that was of an earlier format: of its events as they stand there, since what
    /// upgrades make of them is always sound.
    pub asked_of_earlier: &'static Rules,
    /// How the events of the result must relate, with the names that they have in this format; `None` where that is not
    /// looked at (FORMAT §9.2, §10.2).
    pub relations: Option<Relations>,
}

impl Format {
    /// The steps by which dsh upgrades a log of this format to format `target`, in order.
    pub fn steps_to(&self, target: u64) -> impl Iterator<Item = &'static Upgrade> + use<> {
        let passed = self.version..target;
        let formats = ALL.iter().filter(move |format| passed.contains(&format.version));
        formats.filter_map(|format| format.upgrade.as_ref())
    }

    /// What each of these steps asks of payloads, with the format into which it leads. An event that breaks none of the
    /// rules is taken all the way.
    pub fn asked_on_the_way_to(&self, target: u64) -> impl Iterator<Item = (u64, &'static Rules)> + use<> {
        let steps = self.steps_to(target).enumerate();
        steps.map(|(index, step)| (step.to, if index == 0 { step.asked } else { step.asked_of_earlier }))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{NEWEST, of};
    use super::*;

    #[test]
    fn each_step_leads_to_the_next_format() {
        for format in ALL {
            let to = format.upgrade.as_ref().map(|step| step.to);
            assert_eq!(to, (format.version < NEWEST.version).then_some(format.version + 1));
        }
    }

    #[test]
    fn steps_lead_from_the_log_to_the_target() {
        let steps = |from, target| of(from).unwrap().steps_to(target).map(|step| step.to).collect::<Vec<_>>();
        assert_eq!(steps(0, 3), [1, 2, 3]);
        assert_eq!(steps(2, 4), [3, 4]);
        assert_eq!(steps(3, 3), [0; 0]);
        assert_eq!(steps(4, 1), [0; 0]);
    }
}
