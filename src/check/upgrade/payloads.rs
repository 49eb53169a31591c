//! Payloads, held against what each step asks of them (FORMAT §8).

use super::chain::Chain;
use super::here::Here;
use crate::check::{Finding, shapes};
use crate::format::payload::Rules;

/// What the steps ask, and what of the log they need for it. The rules that a breach belongs to are those of `shapes/`.
#[derive(Debug)]
pub(super) struct Payloads {
    /// What each step asks, with the format into which it leads.
    asked: Vec<(u64, &'static Rules)>,
    /// A compaction is open: ids that development builds left out are its own.
    in_bracket: bool,
}

impl Payloads {
    pub(super) fn new(chain: &Chain) -> Self {
        Self { asked: chain.asked().collect(), in_bracket: false }
    }

    /// Looks at an event. The first step that refuses it is told: what it does not take, no other gets to see.
    pub(super) fn event(&mut self, here: &Here) -> Option<Finding> {
        let problems = self.asked.iter().filter_map(|(to, rules)| {
            shapes::check(here.event, here.payload, rules, self.in_bracket).map(|problem| (to, problem))
        });
        let finding = { problems }.next().map(|(to, problem)| {
            let mut finding = problem.finding(here.event, here.place);
            finding.message = format!("the upgrade to format {to} refuses {}", finding.message);
            let help = "dsh opens the log in its own format, where fewer readers look into payloads; another tool or a \
                        plugin wrote the event";
            finding.with_help(help)
        });
        match &*here.event.event_type {
            "compaction/start" => self.in_bracket = true,
            "compaction/end" | "session/end-seed" => self.in_bracket = false,
            _ => {}
        }
        finding
    }
}
