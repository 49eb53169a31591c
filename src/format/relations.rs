//! What the rules between events ask of a format version (FORMAT §10.2).

/// The facts of one version that the rules between events need.
#[derive(Debug)]
pub struct Relations {
    /// When dsh checks them (FORMAT §9.2).
    pub checked: CheckedAt,
    /// The types of nested tool events: start, settlement (FORMAT §6.2).
    pub dispatch_types: [&'static str; 2],
    /// Which message ids a `TOOL_NOT_STARTED` repair may have (FORMAT §9.4).
    pub repair_ids: RepairIds,
    /// The `source` of a title request's message: members with their values (FORMAT §6.2).
    pub title_source: &'static [(&'static str, &'static str)],
    /// Whether the children that a session catalogues are checked (FORMAT §10.2).
    pub catalog: bool,
}

/// When dsh checks how the events of a log relate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckedAt {
    /// When it opens the log: a breach is an error.
    Load,
    /// When it upgrades the log: a breach bars no more than that.
    Upgrade,
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
