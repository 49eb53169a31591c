//! Turns, steps, messages and tool calls (FORMAT §6.1, §6.2).

use super::parts::{FAILURE, STEP, TURN, USAGE};
use super::shape::{
    COUNT, Condition, Kinds, Member, Others, POSITIVE, Shape, Tagged, exact, exact_or, list, open, when,
};
use super::{sources, stream};

/// What formats 0 to 2 share.
pub const COMMON: &[Member] = &[
    ("step/end", exact(&[TURN, STEP])),
    ("step/start", exact(&[TURN, STEP])),
    (
        "tool/call",
        exact(&[TURN, STEP, ("callId", Shape::Name), ("name", Shape::Name), ("arguments", Shape::Text)]),
    ),
];

/// Turns of format 0: they may have the shape of development builds, which an upgrade converts (FORMAT §8.1).
pub const TURNS_OF_0: &[Member] = &[
    ("turn/end", exact(&[("turn", POSITIVE), ("reason", Shape::Tagged(&by_kind(&[REASONS, REASONS_OF_0])))])),
    ("turn/start", Shape::IfHas { member: "trigger", then: &TRIGGERED, otherwise: &exact(&[TURN]) }),
];

/// Turns of formats 1 and 2.
pub const TURNS: &[Member] = &[
    ("turn/end", exact(&[TURN, ("reason", Shape::Tagged(&by_kind(&[REASONS, REASONS_SINCE_1])))])),
    ("turn/start", exact(&[TURN])),
];

/// What is format 0's own but for turns.
pub const ONLY_0: &[Member] = &[(
    "user/message",
    when(&[ID, USER, CONTENT, ("source", sources::OF_USER_IN_0)], &[], &[Condition::StatesGoalChange]),
)];

/// What is format 1's own.
pub const ONLY_1: &[Member] = &[("user/message", QUEUED_UP_TO_1)];

/// What formats 0 and 1 share.
pub const UP_TO_1: &[Member] = &[
    ("agent/inbox/spliced", exact_or(&[TARGET, START, ("inserted", list(&QUEUED_UP_TO_1))], SPLICE_OPTIONS)),
    ("assistant/message", exact_or(&[TURN, STEP, ("message", ASSISTANT)], ASSISTANT_OPTIONS)),
    ("tool/code-dispatch", exact(&[ROOT, PARENT, SUB, NAME, LOSSLESS_ARGUMENTS, IS_ERROR, CONTENT])),
    ("tool/code-dispatch-start", exact(&[ROOT, PARENT, SUB, NAME, LOSSLESS_ARGUMENTS])),
    (
        "tool/result",
        exact_or(&[TURN, STEP, ("message", ANSWER)], &[("error", ERROR), ("meta", Shape::Lossless)]),
    ),
];

/// What is format 2's own, but for what holds or held streams.
pub const FROM_2: &[Member] = &[
    ("agent/inbox/spliced", exact_or(&[TARGET, START, ("inserted", list(&QUEUED))], SPLICE_OPTIONS)),
    ("tool/code-dispatch", exact(&[ROOT, PARENT, SUB, NAME, ARGUMENTS, IS_ERROR, CONTENT])),
    ("tool/code-dispatch-start", exact(&[ROOT, PARENT, SUB, NAME, ARGUMENTS])),
    (
        "tool/result",
        when(
            &[TURN, STEP, ("message", ANSWER)],
            &[("error", ERROR), ("meta", Shape::Any)],
            &[Condition::RepairId, Condition::ErrorOfError],
        ),
    ),
];

/// Messages of format 2 in its own logs.
pub const ONLY_2: &[Member] = &[
    ("assistant/attempt", exact(&[TURN_FROM_1, STEP_FROM_1, stream::EMBEDDED])),
    (
        "assistant/message",
        exact_or(&[TURN_FROM_1, STEP_FROM_1, ("message", ASSISTANT), stream::EMBEDDED], ASSISTANT_OPTIONS),
    ),
    ("user/message", QUEUED),
];

/// Messages of formats 0 and 1 as format 2 has them: an upgrade gathers the streams from events of their own.
pub const CARRIED_TO_2: &[Member] = &[
    // Whether it holds a chunk at all is asked where deltas are gathered.
    ("assistant/chunk", Shape::IfObject(&open(&[], &[("chunk", Shape::IfObject(&stream::CHUNK))]))),
    ("assistant/message", exact_or(&[TURN_FROM_1, STEP_FROM_1, ("message", ASSISTANT)], ASSISTANT_OPTIONS)),
    ("user/message", exact(&[ID, USER, CONTENT, ("source", sources::CARRIED_TO_2)])),
];

/// What readers of format 3 ask of system prompts (FORMAT §6.2, §9.1).
pub const READ_IN_3: &[Member] = &[(
    "system/message",
    exact(&[
        TURN_FROM_1,
        STEP_FROM_1,
        ("message", exact(&[ID, ("role", Shape::OneOf(&["system"])), CONTENT, ("source", sources::SYSTEM)])),
    ]),
)];

/// A message of `title-llm-request`: of any role and source.
pub const ANY_ROLE: Shape = exact(&[
    ID,
    ("role", Shape::OneOf(&["system", "user", "assistant"])),
    CONTENT,
    ("source", Shape::Source),
]);

/// The content blocks of a message or result.
pub const CONTENT: Member = ("content", Shape::Blocks);
const ID: Member = ("id", Shape::Name);
const USER: Member = ("role", Shape::OneOf(&["user"]));

/// A user message that waits for its turn.
const QUEUED: Shape = exact(&[ID, USER, CONTENT, ("source", Shape::Source)]);
const QUEUED_UP_TO_1: Shape =
    when(&[ID, USER, CONTENT, ("source", sources::WITH_CHANGE)], &[], &[Condition::StatesGoalChange]);

const TARGET: Member = ("target", Shape::OneOf(&["next-turn", "next-step"]));
const START: Member = ("start", COUNT);
const SPLICE_OPTIONS: &[Member] = &[("removedCount", COUNT), ("outcome", Shape::OneOf(&["canceled"]))];

const TURN_FROM_1: Member = ("turn", POSITIVE);
const STEP_FROM_1: Member = ("step", POSITIVE);

const ASSISTANT: Shape =
    exact(&[ID, ("role", Shape::OneOf(&["assistant"])), CONTENT, ("source", sources::MODEL)]);
const ASSISTANT_OPTIONS: &[Member] = &[("usage", USAGE), ("interrupted", Shape::True)];

/// What a tool answered.
const ANSWER: Shape =
    when(&[ID, USER, CONTENT, ("source", sources::TOOL)], &[], &[Condition::AnswersItsCall]);
const ERROR: Shape = exact(&[("name", Shape::Name), ("code", Shape::Name)]);

const ROOT: Member = ("rootCallId", Shape::Name);
const PARENT: Member = ("parentCallId", Shape::Name);
const SUB: Member = ("subCallId", Shape::Name);
const NAME: Member = ("name", Shape::Name);
const ARGUMENTS: Member = ("arguments", Shape::Any);
const LOSSLESS_ARGUMENTS: Member = ("arguments", Shape::Lossless);
const IS_ERROR: Member = ("isError", Shape::Bool);

/// What started a turn, as development builds told it.
const TRIGGERED: Shape = exact(&[("turn", POSITIVE), ("trigger", open(&[("kind", Shape::Name)], &[]))]);

/// How a turn may end. Other kinds than the known ones pass as they are.
const fn by_kind(cases: &'static [&'static [Member]]) -> Tagged {
    Tagged { tag: "kind", what: Kinds::Value, cases, others: Others::Named }
}

const KIND: Member = ("kind", Shape::Any);

const REASONS: &[Member] = &[
    ("completed", exact(&[KIND])),
    ("blocked", exact(&[KIND])),
    ("max-tokens", exact(&[KIND])),
    ("interrupted", exact(&[KIND])),
];

const REASONS_SINCE_1: &[Member] = &[("aborted", ABORTED), ("error", FAILED)];

const ABORTED: Shape = exact(&[KIND, ("reason", Shape::Tagged(CAUSE))]);
const FAILED: Shape = exact(&[KIND, ("error", FAILURE)]);

/// Why a turn was aborted.
const CAUSE: &Tagged = &Tagged {
    tag: "kind",
    what: Kinds::Value,
    cases: &[&[
        ("hook", exact(&[KIND, ("reason", Shape::Text)])),
        ("user", exact(&[KIND])),
        ("parent", exact(&[KIND])),
        ("disposed", exact(&[KIND])),
        ("legacy", exact(&[KIND])),
    ]],
    others: Others::Refused,
};

/// The same ends as development builds told them.
const REASONS_OF_0: &[Member] = &[
    ("aborted", Shape::IfHas { member: "reason", then: &ABORTED, otherwise: &exact(&[KIND]) }),
    ("disposed", exact(&[KIND])),
    ("error", Shape::IfHas { member: "error", then: &FAILED, otherwise: &FAILED_IN_STEP }),
];

const FAILED_IN_STEP: Shape = Shape::IfHas {
    member: "failure",
    then: &exact(&[KIND, STEP, ("failure", FAILURE)]),
    otherwise: &exact_or(&[KIND, STEP, ("message", Shape::Name)], &[("code", Shape::Name)]),
};
