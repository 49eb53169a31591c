//! Which of our codes say what the official codecs say first. What is wrong with an event as such comes before how it relates
//! to others, so that codes of its shape stand in some rows.

/// What a refusal of the codecs holds, all of it, and the codes that tell the same. The first row that fits counts.
const REASONS: &[(&[&str], &[&str])] = &[
    (&["does not cite its complete v1 chunk attempt"], &["upgrade-deltas-uncited"]),
    (
        &["chunk provenance is not one complete ordered attempt"],
        &["upgrade-deltas-incomplete", "surface-sources-invalid"],
    ),
    (&["splits one Assistant attempt"], &["upgrade-seed-splits-attempt"]),
    (&["surface before first step"], &["upgrade-message-before-step"]),
    (&["changed request prompt outside an open step"], &["upgrade-prompt-outside-step"]),
    (&["assistant/attempt does not match"], &["upgrade-attempt-outside-step", "event-outside-step"]),
    // An id in the refusal may read like another one.
    (
        &["tool/call", "does not match one advertised"],
        &["call-not-advertised", "call-started-twice", "call-differs", "call-id-invalid"],
    ),
    (&["step/start does not match"], &["step-outside-turn", "step-start-while-open", "step-number"]),
    (&["step/end does not match"], &["step-end-unmatched"]),
    (&["does not match an open turn and step"], &["event-outside-step", "message-shape"]),
    (&["is outside an open turn"], &["event-outside-turn"]),
    (
        &["has seq gap"],
        &[
            "seq-fork",
            "seq-gap",
            "seq-order",
            "seq-repeat",
            "seq-overlap",
            "invalid-envelope",
            "malformed-row",
        ],
    ),
    (&["turn/end", "crosses an open step"], &["turn-end-in-step"]),
    (&["leaves unresolved tool call"], &["call-unresolved", "turn-end-in-step"]),
    (&["does not close the prior turn"], &["turn-start-while-open", "upgrade-turn-left-open"]),
    (&["does not open expected turn"], &["turn-start-while-open", "turn-number"]),
    (&["turn/end", "has no matching open turn"], &["turn-end-unmatched"]),
    (
        &["not the exact TOOL_NOT_STARTED"],
        &["result-not-started", "upgrade-repair-number", "payload-value", "call-id-invalid"],
    ),
    (&["overlaps an open compaction"], &["compaction-start-while-open"]),
    (&["crosses an open compaction"], &["compaction-bracket-crosses-turn", "orphaned-lock"]),
    (
        &["compaction", "has no matching"],
        &[
            "compaction-end-without-start",
            "compaction-summary-without-start",
            "compaction-checkpoint-without-start",
            "compaction-id-mismatch",
            "compaction-id-invalid",
            "upgrade-seed-splits-compaction",
            "message-shape",
        ],
    ),
    (&["compaction/end changes its owner"], &["compaction-owner-turn"]),
    (&["compaction", "does not match the open turn"], &["compaction-owner-turn"]),
    (&["successful compaction/end requires"], &["compaction-end-without-summary"]),
    (&["compaction/summary repeats"], &["compaction-summary-repeated"]),
    (
        &["targets consumed assistant/chunk"],
        &[
            "upgrade-delta-cited",
            "surface-range-unknown",
            "surface-marker-invalid",
            "surface-op-dialect",
            "surface-sources-invalid",
            "shadowed-seqs",
        ],
    ),
    (&["omit a shadowed"], &["surface-sources-incomplete", "surface-sources-invalid"]),
    (
        &["not on the current surface"],
        &[
            "surface-range-unknown",
            "surface-range-reversed",
            "surface-marker-invalid",
            "surface-op-dialect",
            "message-shape",
        ],
    ),
    (&["requires a surfaceOp"], &["surface-marker-missing", "message-shape"]),
    (&["has unexpected field surfaceOp"], &["surface-marker-forbidden"]),
    (&["repeats advertised"], &["call-advertised-twice"]),
    (&["has no advertised tool lifecycle"], &["result-not-advertised", "message-shape"]),
    (&["command/done", "has no prior"], &["command-done-unmatched", "command-id-invalid"]),
    (&["command/run repeats"], &["command-repeated"]),
    (&["has no unique start"], &["dispatch-not-started", "dispatch-settled-twice"]),
    (&["does not match its start"], &["dispatch-differs", "dispatch-id-invalid"]),
    (&["repeats subCallId"], &["dispatch-started-twice"]),
    (&["parentCallId does not"], &["dispatch-parent", "dispatch-id-invalid"]),
    (&["changes its rootCallId"], &["dispatch-root-changed", "dispatch-id-invalid"]),
    (&["llm/retry-started", "pairs no prior"], &["retry-started-unmatched", "retry-id-invalid"]),
    (&["repeats one scheduled"], &["retry-started-twice"]),
    (&["llm/retry reuses"], &["retry-id-reused"]),
    (&["delivery marker claims"], &["upgrade-delivery-claim"]),
    (&["delivery marker names"], &["upgrade-delivery-session", "delivery-session"]),
    (&["inheritedEventCount exceeds"], &["seed-length"]),
    (&["collides with"], &["upgrade-id-taken"]),
    (&["must cite earlier human"], &["title-sources", "message-shape"]),
    (
        &["unknown historical event type"],
        &["unknown-required-event", "upgrade-unknown-event", "retired-event", "invalid-envelope"],
    ),
];

/// The codes that tell what `refusal` says; none where the table does not know it.
pub fn codes_of(refusal: &str) -> Option<&'static [&'static str]> {
    let fits = |(words, _): &&(&[&str], _)| words.iter().all(|word| refusal.contains(word));
    REASONS.iter().find(fits).map(|(_, codes)| *codes)
}
