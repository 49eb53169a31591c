//! The results that close the calls of an interrupted turn, alike in every version but for where a `tool/result` keeps them
//! (FORMAT §9.4).

/// What the result says of a call that has no other.
#[derive(Debug)]
pub struct RepairResult {
    /// The error's `name`.
    pub error_name: &'static str,
    /// The error's `code`.
    pub code: &'static str,
    /// The one text block.
    pub text: &'static str,
}

/// How the id of such a result begins; the call's id, a dash and the event's seq follow.
pub const INTERRUPTED_RESULT_ID: &str = "interrupted-tool-result-";

/// The call has no `tool/call`. The text is part of the format: readers compare it.
pub const NOT_STARTED: RepairResult = RepairResult {
    error_name: "ToolNotStartedError",
    code: "TOOL_NOT_STARTED",
    text: "The tool call was interrupted before the Harness recorded it as started. Retry it if it is still needed.",
};

/// The call has its `tool/call`, and no result. The text is free.
pub const OUTCOME_UNKNOWN: RepairResult = RepairResult {
    error_name: "ToolOutcomeUnknownError",
    code: "TOOL_OUTCOME_UNKNOWN",
    text: "The log records that this tool call started, and no result: the session was interrupted, so the outcome is \
           unknown. Check what the call has changed before it is made again.",
};
