//! What the rules between events ask of a format version (FORMAT §10.2), and where its streams stand (§5).

/// The facts of one version that the rules between events need.
#[derive(Debug)]
pub struct Relations {
    /// When dsh checks them (FORMAT §9.2).
    pub checked: Checked,
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
pub enum Checked {
    /// When it opens the log: a breach is an error.
    AtLoad,
    /// When it upgrades the log: a breach bars no more than that.
    AtUpgrade,
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

/// Where streamed deltas stand (FORMAT §5).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// As events and packed rows of their own.
    Rows,
    /// Inside the message or attempt that they led to.
    Embedded,
}

impl Relations {
    /// Formats 0 to 2.
    pub const V0_TO_V2: Self = Self {
        checked: Checked::AtUpgrade,
        dispatch_types: ["tool/code-dispatch-start", "tool/code-dispatch"],
        repair_ids: RepairIds::OwnSeq,
        title_source: &[("kind", "plugin"), ("plugin", "dsh-session-title-llm")],
        catalog: false,
    };
    /// Format 3.
    pub const V3: Self = Self {
        dispatch_types: ["tool/ptc-dispatch-start", "tool/ptc-dispatch"],
        repair_ids: RepairIds::AnyNumber,
        ..Self::V0_TO_V2
    };
    /// Format 4.
    pub const V4: Self = Self {
        checked: Checked::AtLoad,
        repair_ids: RepairIds::AnyNumberOrFork,
        title_source: &[("kind", "dsh-session-title-llm")],
        catalog: true,
        ..Self::V3
    };
}
