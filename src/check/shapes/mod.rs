//! Payloads, held against what the frozen codecs of dsh ask of them (FORMAT §6).
//!
//! What is asked stands in `format/payload/`; here it is read. `walk.rs` holds a value against a shape, `values.rs` and
//! `conditions.rs` say what a shape cannot, and `words.rs` says it to people. Which occasion counts, reading a log or
//! upgrading it, is for the caller to say. The first problem of an event is enough.

mod conditions;
mod values;
mod walk;
mod words;

#[cfg(test)]
mod tests;

use super::Finding;
use super::here::Here;
use super::path::{path, range_in};
use super::payload::Payload;
use super::registry::{Rule, rule_family};
use crate::format::Format;
use crate::format::payload::Rules;
use crate::log::{Event, Place};
use walk::Walk;

rule_family! {
    "payload";
    /// A payload lacks a member that its event type requires, or has one that it does not have.
    ///
    /// **What it means.** dsh's upgrades know each event type by its exact members. Here one is missing, or one is too
    /// many, in the payload or in an object inside it; the message says where.
    ///
    /// **Why it matters.** What dsh does not know it cannot carry into the next format, and it does not guess: it refuses
    /// the upgrade of the whole log. A later release, which reads only its own format, then cannot open the session. The
    /// release that wrote the log may read it all the same; but readers of format 3 look into system prompts, and refuse
    /// the log for one.
    ///
    /// **How it comes about.** Another program wrote the event, or edited it, or a plugin added a member of its own.
    /// Members of a later format in a log of an earlier one are found here too, such as `offloaded` of an image.
    ///
    /// **What to do.** Keep the log and go on with the release that wrote it. If the program that wrote the event is
    /// yours, make it write the members that the format has. dshc does not edit events.
    MEMBERS = error("payload-members");
    /// A member of a payload has a value that its event type does not admit.
    ///
    /// **What it means.** A text stands where a number belongs, a name is empty, a count is negative, a word is none of
    /// those that the format has, or two members contradict each other. The message names the value by its path, with
    /// what was found and what belongs there.
    ///
    /// **Why it matters.** dsh refuses to upgrade a log with such a value, and with it the whole session. Readers of the
    /// log's own format often do not look, and then act on the value as it is; those of format 3 look into system prompts,
    /// and refuse the log for one.
    ///
    /// **How it comes about.** Another program wrote the event or edited it, or a plugin of dsh did not check what it
    /// wrote.
    ///
    /// **What to do.** Keep the log and go on with the release that wrote it. If the program that wrote the event is
    /// yours, mend it, so that later logs are sound. dshc does not edit events.
    VALUE = error("payload-value");
    /// A content block is of a kind that a format does not have.
    ///
    /// **What it means.** A message, a result or a stream holds a block whose `type` is not among those that dsh can carry
    /// over. Formats 0 and 1 let any kind pass; format 2 knows `text`, `reasoning`, `image`, `file`, `tool-call` and
    /// `tool-result`, and its upgrade takes no other.
    ///
    /// **Why it matters.** dsh cannot tell whether an unknown block holds references that an upgrade must renumber, so it
    /// refuses the log. It stays readable in its own format.
    ///
    /// **How it comes about.** A plugin or an adapter of a model brought its own kind of block, or a fork of dsh wrote the
    /// log.
    ///
    /// **What to do.** Read the log in its own format, with the release that wrote it or with dshc. A replacement by a
    /// compaction does not help: the event stays in the log.
    CONTENT_KIND = error("content-kind");
    /// A message comes from a kind of source that a format does not have.
    ///
    /// **What it means.** The `source.kind` of a message is not among those that dsh can carry over. Formats 0 and 1 let
    /// any kind pass; the upgrade from format 2 takes only those that dsh's own packages write.
    ///
    /// **Why it matters.** A source may name other events, and an upgrade would have to renumber them. dsh does not guess,
    /// and refuses the log. It stays readable in its own format.
    ///
    /// **How it comes about.** A plugin wrote a message under a kind of its own where it should have used the kind
    /// `plugin` with its name, or a later dsh wrote the log.
    ///
    /// **What to do.** Read the log in its own format, with the release that wrote it or with dshc. If the plugin is yours,
    /// let it write the source `{"kind":"plugin","plugin":"<its name>"}`, which every format up to 3 takes.
    SOURCE_KIND = error("source-kind");
}

/// Why a payload would be refused.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Problem {
    /// The rule that it breaks.
    pub(super) rule: &'static Rule,
    /// Where, what was found, what was expected: `data.turn is "1", not an integer of at least 0`.
    pub(super) message: String,
}

/// Holds an event against the rules of one occasion. `in_bracket` says whether a `compaction/start` stands before it without
/// its end, and no `session/end-seed` between: upgrades take from there the ids that development builds left out.
///
/// The event must be as readers take it: an old shape that they convert is converted before.
pub(super) fn check(
    event: &Event,
    payload: &Payload,
    rules: &'static Rules,
    in_bracket: bool,
) -> Option<Problem> {
    let shape = rules.shape(&event.event_type)?;
    let broken = Walk::new(rules, event.seq, in_bracket).payload(event.data, payload.get(), shape).err()?;
    let at = range_in(event.data, broken.at).start;
    Some(Problem { rule: broken.rule, message: format!("{} {}", path(event.data, at), broken.what) })
}

/// What readers of the log's own format ask beside what the session asks of every event. They refuse a log for it wherever
/// the event stands.
pub(super) fn on_reading(here: &Here, format: &Format) -> Option<Finding> {
    let problem = check(here.event, here.payload, format.asked_on_reading, false)?;
    let help = "dsh refuses the whole log for it; another tool or a damaged writer left this";
    Some(problem.finding(here.event, here.place).with_help(help))
}

impl Problem {
    /// The finding that tells of it.
    pub(super) fn finding(self, event: &Event, place: Place) -> Finding {
        Finding::new(self.rule, place, format!("{}: {}", event.event_type, self.message)).at_seq(event.seq)
    }
}
