//! What dsh's upgrade from one format to the next refuses (FORMAT §8).

use super::Relations;

/// The facts of one step of dsh's upgrade chain.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own, and none excludes another")]
pub struct Upgrade {
    /// Whether an unknown event is refused even where readers may ignore it (FORMAT §4.2).
    pub refuses_unknown: bool,
    /// Event types that are taken all the same (FORMAT §6.3).
    pub also_takes: &'static [&'static str],
    /// Whether streamed deltas are gathered into the message or attempt that they make up, so that nothing may cite
    /// them any more (FORMAT §8.2).
    pub gathers_chunks: bool,
    /// Whether a turn that was left open ends where the next one starts behind a queued prompt (FORMAT §8.2).
    pub ends_interrupted_turns: bool,
    /// Whether the system prompt becomes a node of the surface, its first one (FORMAT §8.3).
    pub promotes_prompt: bool,
    /// Whether the answers of tools lose their wrapper (FORMAT §8.4).
    pub flattens_results: bool,
    /// The format that no mark of delivery may claim yet (FORMAT §8.3, §8.4).
    pub unclaimable: Option<u64>,
    /// How the events of the result must relate, with the names that they have in this format; `None` where that is not
    /// looked at (FORMAT §9.2, §10.2).
    pub relations: Option<Relations>,
}
