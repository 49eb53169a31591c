//! The kinds of disagreement that stay, each with its reason.

use super::verdicts::{Ours, Theirs};

/// A kind of disagreement.
pub struct Kind {
    /// Its name, also that of its case in `fixtures/disagreements`.
    pub name: &'static str,
    /// Why it stays.
    pub reason: &'static str,
    /// Whether a disagreement is of this kind.
    pub applies: fn(&Ours, &Theirs) -> bool,
}

/// First what something official refuses and `verify` does not, then what `verify` alone refuses.
pub const KINDS: &[Kind] = &[
    Kind {
        name: "torn-tail",
        reason: "the strict codecs read whole records only; dsh itself cuts a torn tail off and goes on, so that verify \
                 warns of it",
        applies: |ours, theirs| {
            let cut =
                ["Unterminated", "Unexpected end of JSON", "in JSON at position", "unexpected end of file"];
            let is_opened = theirs.version() != Some(0) || theirs.reader["loads"] == true;
            !ours.refuses && ours.has("torn-tail") && is_opened && theirs.says("strict", &cut)
        },
    },
    Kind {
        name: "development-builds",
        reason: "compactions of development builds have no id, which upgrades add; verify notes it, and only a session at \
                 work is refused for it",
        applies: |ours, theirs| {
            let no_id = ["compactionId must be a non-empty string"];
            !ours.refuses && ours.has("compaction-id-invalid") && theirs.says("invariants", &no_id)
        },
    },
    Kind {
        name: "negative-zero",
        reason: "the judge builds a session from the events as a fork does, which takes no -0 and no number beyond all \
                 bounds; what opens the log takes both",
        applies: |ours, theirs| {
            !ours.refuses
                && theirs.reader["loads"] == true
                && theirs.says("reader", &["is not losslessly JSON-serializable"])
        },
    },
    Kind {
        name: "format-1-is-a-step",
        reason: "the codec of format 1 looks at envelopes alone, since no release keeps logs in it; verify holds it to \
                 what the next step refuses at once",
        applies: |ours, theirs| {
            ours.refuses
                && theirs.version() == Some(1)
                && theirs.refusal().is_none()
                && theirs.upgrade_refusal().is_some()
        },
    },
    Kind {
        name: "messages-unread",
        reason: "the codecs of formats 2 and 3 look at no message but a system prompt, and that of 2 at no more of a \
                 marker than it needs; the loaders of their releases, never published, do as those of other formats",
        applies: |ours, theirs| {
            let codes = ["message-shape", "payload-shape", "tool-result-rewrite"];
            let mut messages =
                ours.errors().filter(|code| code.starts_with("surface-") || codes.contains(code));
            matches!(theirs.version(), Some(2 | 3)) && theirs.refusal().is_none() && messages.next().is_some()
        },
    },
    Kind {
        name: "shadowed-nodes",
        reason: "what a summary or a prune of format 0 says to hide is compared with the surface only when dsh upgrades \
                 the log",
        applies: |ours, theirs| {
            let codes = ["shadowed-seqs", "shadowed-range", "shadowed-tokens-invalid"];
            ours.only(&codes) && theirs.refusal().is_none() && theirs.upgrade_refusal().is_some()
        },
    },
    Kind {
        name: "unpaired-call",
        reason: "dsh opens a history with a call that has no result, or a result without its call; providers refuse it",
        applies: |ours, theirs| {
            ours.only(&["call-without-result", "result-without-call"]) && theirs.refusal().is_none()
        },
    },
    Kind {
        name: "held-lock",
        reason: "a compaction without its end is one at work to dsh's checks; in a log at rest it bars every further one",
        applies: |ours, theirs| {
            ours.only(&["orphaned-lock", "orphaned-summary"]) && theirs.refusal().is_none()
        },
    },
];
