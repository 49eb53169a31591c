//! The kinds of disagreement that stay, each with its reason.

use super::verdicts::{Ours, Theirs};

/// A kind of disagreement.
pub struct Kind {
    /// Its name, also that of its case in `fixtures/disagreements`.
    pub name: &'static str,
    /// Why it stays.
    pub reason: &'static str,
    pub side: Side,
}

/// Who alone refuses the log.
pub enum Side {
    /// The official packages. Whether a log that they refuse is of the kind.
    Official(fn(&Ours, &Theirs) -> bool),
    /// `verify`. Whether an error of this code is of the kind; all errors of a log must be of some.
    Verify(fn(&str, &Ours, &Theirs) -> bool),
}

use Side::{Official, Verify};

pub const KINDS: &[Kind] = &[
    Kind {
        name: "torn-tail",
        reason: "the strict codecs read whole records only; dsh itself cuts a torn tail off and goes on, so that verify \
                 warns of it",
        side: Official(|ours, theirs| {
            let cut = [
                "Unterminated",
                "Unexpected end of JSON",
                "in JSON at position",
                "unexpected end of file",
                "Data corruption detected",
            ];
            let is_opened = theirs.version() != Some(0) || theirs.reader["loads"] == true;
            (ours.has("torn-tail") || ours.has("no-final-newline"))
                && is_opened
                && theirs.says("strict", &cut)
        }),
    },
    Kind {
        name: "development-builds",
        reason: "compactions of development builds have no id, which upgrades add; verify notes it, and only a session at \
                 work is refused for it",
        side: Official(|ours, theirs| {
            let no_id = ["compactionId must be a non-empty string"];
            ours.has("compaction-id-invalid") && theirs.says("invariants", &no_id)
        }),
    },
    Kind {
        name: "negative-zero",
        reason: "the judge builds a session from the events as a fork does, which takes no -0 and no number beyond all \
                 bounds; what opens the log takes both",
        side: Official(|_, theirs| {
            let is_opened = theirs.reader["loads"] == true;
            is_opened && theirs.says("reader", &["is not losslessly JSON-serializable"])
        }),
    },
    Kind {
        name: "ranged-sources",
        reason: "late writers of format 0 wrote sources as ranges, and its strict codec reads them; the published reader is \
                 an earlier one",
        side: Official(|ours, theirs| {
            ours.has("range-encoded-provenance")
                && theirs.says("reader", &["must densely contain non-negative safe integers"])
        }),
    },
    Kind {
        name: "empty-id",
        reason: "the judge cannot lay the log where dsh looks for it, since no directory is named after an empty id; the \
                 codecs of all formats take one",
        side: Official(|_, theirs| theirs.says("reader", &["the header names no session id"])),
    },
    Kind {
        name: "records-alone",
        reason: "the codecs are given records: what stands between them, and how they are framed, is for the reader; only \
                 that of format 0 is published, and it drops what stands behind a blank line without a word",
        side: Verify(|code, ours, theirs| {
            let is_unread = theirs.version() == Some(0) && ours.has("blank-line");
            let between = ["blank-line", "valid-events-after-damage"];
            let around = [
                "not-a-log",
                "official-reader-refuses",
                "frame-magic",
                "trailing-garbage",
                "header-frame",
                "unfinished-line",
                "no-header",
            ];
            is_unread || between.contains(&code) || (theirs.version() != Some(0) && around.contains(&code))
        }),
    },
    Kind {
        name: "format-1-is-a-step",
        reason: "the codec of format 1 looks at envelopes alone, since no release keeps logs in it; verify holds it to \
                 what all other formats refuse",
        side: Verify(|_, _, theirs| theirs.version() == Some(1)),
    },
    Kind {
        name: "messages-unread",
        reason: "the codecs of formats 2 and 3 look at no message but a system prompt, and that of 2 at no more of a \
                 marker than it needs; the loaders of their releases, never published, do as those of other formats",
        side: Verify(|code, _, theirs| {
            let codes = ["message-shape", "payload-shape", "tool-result-rewrite", "call-id-invalid"];
            let is_surface = code.starts_with("surface-") || codes.contains(&code);
            matches!(theirs.version(), Some(2 | 3)) && is_surface
        }),
    },
    Kind {
        name: "shadowed-nodes",
        reason: "the price of what a prune hides, and in format 0 what it or a summary says to hide, are looked at only \
                 when dsh upgrades the log; nothing that is published upgrades format 3",
        side: Verify(|code, _, theirs| {
            let codes = ["shadowed-seqs", "shadowed-range", "shadowed-tokens-invalid"];
            codes.contains(&code) && (theirs.version() == Some(3) || theirs.upgrade_refusal().is_some())
        }),
    },
    Kind {
        name: "cannot-go-on",
        reason: "dsh opens the log, but work cannot go on: providers refuse calls without results, a lock that nobody \
                 holds bars every further compaction, a queue of messages that does not fit together ends the resume, and \
                 so does an estimate that cannot be kept; no judge goes so far, but that of format 0 as to the estimate",
        side: Verify(|code, _, theirs| {
            let stuck = [
                "call-without-result",
                "result-without-call",
                "orphaned-lock",
                "orphaned-summary",
                "inbox-splice",
            ];
            let estimate = ["estimate-below-zero", "shadow-price-range"];
            stuck.contains(&code) || (theirs.version() != Some(0) && estimate.contains(&code))
        }),
    },
];

/// The kinds that stay where an upgrade to format 3 is asked for. What no upgrade looks at is an error all the same.
pub const KINDS_TO_3: &[Kind] = &[
    Kind {
        name: "torn-tail",
        reason: "the strict codecs read whole records only; dsh itself cuts a torn tail off and goes on",
        side: Official(|ours, _| ours.has("torn-tail") || ours.has("no-final-newline")),
    },
    Kind {
        name: "own-format",
        reason: "the log is refused, or is of no use, in its own format already; upgrades see records alone, and do not ask \
                 for it",
        side: Verify(|code, ours, _| ours.own_errors.iter().any(|own| own == code)),
    },
    Kind {
        name: "negative-zero",
        reason: "a time, seq or source spelt -0, which readers of the format take for 0 and upgrades refuse; no writer spells it so",
        side: Official(|_, theirs| {
            let words = [
                "time must be a safe integer",
                "event seq must be a non-negative safe integer",
                "sourceEventSeqs member must be a non-negative safe integer",
            ];
            theirs.strict_refusal().is_some_and(|why| words.iter().any(|words| why.contains(words)))
        }),
    },
];
