//! What the rules between events ask of a format version (FORMAT §10.2).

/// The facts of one version that the rules between events need.
#[derive(Debug)]
pub struct Relations {
    /// Who in dsh checks them (FORMAT §9.2).
    pub checked: CheckedBy,
    /// Who in dsh checks that a mark of delivery of the log's own format goes to an earlier event.
    pub late_marks: CheckedBy,
    /// Who in dsh checks that such a mark names the session.
    pub foreign_marks: CheckedBy,
    /// What a call must have come from, and what its result.
    pub calls: CallRule,
    /// Event types that stand in some turn, beside those that name theirs.
    pub in_turn: &'static [&'static str],
    /// What is checked beyond turns, steps and tool calls.
    pub families: &'static [Family],
    /// Which events must have an object for a payload.
    pub needs_object: NeedsObject,
    /// The types of nested tool events: start, settlement (FORMAT §6.2).
    pub dispatch_types: [&'static str; 2],
    /// Which message ids a `TOOL_NOT_STARTED` repair may have (FORMAT §9.4).
    pub repair_ids: RepairIds,
    /// The `source` of a title request's message: members with their values (FORMAT §6.2).
    pub title_source: &'static [(&'static str, &'static str)],
}

/// Who in dsh checks how the events of a log relate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckedBy {
    /// Its invariant checks, which watch over a session at work; it opens the log without them.
    Invariants,
    /// The next upgrade alone, when it looks at what it has made.
    Upgrade,
    /// The strict reader of the format, which upgrades use; dsh opens the log without it.
    Codec,
    /// Whatever opens the log.
    Load,
    /// Nothing.
    Nobody,
}

/// What is asked of tool calls and their results (FORMAT §6.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallRule {
    /// A result answers a call that has started in the step, or says that it answers none that has.
    Started,
    /// A call starts that a message of the step makes, and has its result before the step ends.
    Advertised,
}

/// What relates beside turns, steps and tool calls (FORMAT §10.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// Calls that a tool's own code makes.
    Nested,
    /// Attempts to ask the model again.
    Retries,
    /// Titles and the prompts that they are made from.
    Titles,
    /// Commands of the user.
    Commands,
    /// Marks of delivery.
    Deliveries,
    /// The catalog of child sessions.
    Catalog,
}

/// Which events must have an object for a payload, so that the checks can look into it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NeedsObject {
    /// Those that a rule looks into.
    WhereLooked,
    /// All but those of these types.
    AllBut(&'static [&'static str]),
}

/// The ids of the results that dsh writes for calls that never started (FORMAT §9.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RepairIds {
    /// `interrupted-…`, ending with the event's own seq.
    OwnSeq,
    /// `interrupted-…`, ending with any number: upgrades renumber.
    AnyNumber,
    /// Those, and `forked-…` with free text.
    AnyNumberOrFork,
}
