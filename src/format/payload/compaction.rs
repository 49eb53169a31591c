//! Compactions (FORMAT §6.2).

use super::parts::USAGE;
use super::shape::{COUNT, Condition, Member, Shape, exact, exact_or, when};

/// What formats 1 and 2 share.
pub const SINCE_1: &[Member] = &[
    ("compaction/end", exact_or(&[ID, OWNER], &[COMMAND, ERROR])),
    ("compaction/start", exact_or(&[ID, OWNER], &[COMMAND])),
    (
        "compaction/summary",
        when(
            &[ID, SUMMARY, RANGE, SEQS, TOKENS, PROVIDER, MODEL],
            &[COMMAND, MAX_TOKENS, USED, RAW_OUTPUT, STREAM_CALL],
            &[Condition::RangeOfSeqs, Condition::StreamCallKeepsOutput],
        ),
    ),
];

/// What is format 0's own: development builds wrote no ids, and an upgrade adds them (FORMAT §8.1).
pub const ONLY_0: &[Member] = &[
    ("compaction/end", when(&[OWNER], &[ID, COMMAND, ERROR], &[Condition::IdOrBracket])),
    ("compaction/start", exact_or(&[OWNER], &[ID, COMMAND])),
    (
        "compaction/summary",
        when(
            &[SUMMARY, RANGE, SEQS, TOKENS, PROVIDER, MODEL],
            &[ID, COMMAND, MAX_TOKENS, USED, RAW_OUTPUT, STREAM_CALL],
            &[Condition::IdOrBracket, Condition::RangeOfSeqs, Condition::StreamCallKeepsOutput],
        ),
    ),
];

/// What formats 0 to 2 share.
pub const COMMON: &[Member] =
    &[("compaction/prune", when(&[RANGE, SEQS, TOKENS], &[], &[Condition::RangeOfSeqs]))];

const ID: Member = ("compactionId", Shape::Name);
const COMMAND: Member = ("sourceCommandId", Shape::Name);
const OWNER: Member = ("turn", Shape::OrNull(&COUNT));
const ERROR: Member = ("error", Shape::Text);
const SUMMARY: Member = ("summary", Shape::Blocks);
const RANGE: Member = ("shadowedRange", exact(&[("start", Shape::Earlier), ("end", Shape::Earlier)]));
const SEQS: Member = ("shadowedSeqs", Shape::Seqs(1));
const TOKENS: Member = ("shadowedTokenCount", COUNT);
const PROVIDER: Member = ("provider", Shape::Name);
const MODEL: Member = ("model", Shape::Name);
const MAX_TOKENS: Member = ("maxTokens", COUNT);
const USED: Member = ("usage", USAGE);
const RAW_OUTPUT: Member = ("rawOutput", Shape::Blocks);
const STREAM_CALL: Member = ("llmStreamCall", Shape::True);
