//! Event types that no step of the chain can carry over (FORMAT §4.2, §8).

use super::chain::Chain;
use super::here::Here;
use crate::check::registry::rule_family;
use crate::check::wording::quoted;

rule_family! {
    "upgrade";
    /// An event of an unknown type bars the upgrade, though readers may pass it by.
    ///
    /// **What it means.** The log holds an event of a type that its format does not have. It says of itself that readers
    /// may ignore it, so dsh opens the log. An upgrade refuses it all the same.
    ///
    /// **Why it matters.** Up to format 3 an upgrade gives events new numbers and rewrites what refers to them. In an
    /// event that it does not know it cannot tell a number from a reference, so it refuses the whole session. A newer
    /// dsh then cannot open it.
    ///
    /// **How it comes about.** A plugin or another tool wrote events of its own into the log.
    ///
    /// **What to do.** Keep the log for the release that wrote it. A copy without these events can be upgraded, if what
    /// they say is not needed; numbers and references behind them must then be made dense again. From format 3 to 4
    /// such events are carried over.
    UNKNOWN = error("upgrade-unknown-event");
}

/// What may be unknown.
#[derive(Debug)]
pub(super) struct UnknownEvents {
    chain: Chain,
}

impl UnknownEvents {
    pub(super) fn new(chain: &Chain) -> Self {
        Self { chain: *chain }
    }

    /// Looks at an event of a type that the log's format does not have.
    pub(super) fn event(&self, here: &mut Here) {
        let event_type = &*here.event.event_type;
        let refuses = self.chain.first(|step| step.refuses_unknown && !step.also_takes.contains(&event_type));
        if let Some(to) = refuses {
            let what =
                format!("an event of the unknown type {}, though it is marked ignorable", quoted(event_type));
            let help = "dsh opens the log in its own format, where it passes over the event; no upgrade can carry it over";
            here.refuse(&UNKNOWN, to, &what, help);
        }
    }
}
