//! Where a message came from (FORMAT §6.1).

use super::plugins::GOAL_CHANGE;
use super::shape::{
    COUNT, Condition, Kinds, Member, Others, POSITIVE, Shape, Tagged, exact, exact_or, list, open, when,
};

/// Sources of format 0; other kinds than the known ones pass as they are.
pub const V0: &Tagged = &by_kind(&[KNOWN, &[("session-reference", REFERENCES_OF_0)]], Others::Named);

/// Sources of format 1: references may say which format they were taken from.
pub const V1: &Tagged = &by_kind(&[KNOWN, &[("session-reference", REFERENCES_OF_1)]], Others::Named);

/// Sources of format 2: no others than the known ones, for the next format's sake.
pub const V2: &Tagged =
    &by_kind(&[KNOWN, &[("session-reference", REFERENCES_OF_2), ("agent-message", RELAY)]], Others::Refused);

/// The source of what a model said.
pub const MODEL: Shape = exact_or(
    &[("kind", Shape::OneOf(&["model"])), ("provider", Shape::Name), ("model", Shape::Name)],
    &[("replayState", Shape::Any)],
);

/// The source of what a tool answered.
pub const TOOL: Shape = exact(&[("kind", Shape::OneOf(&["tool"])), ("callId", Shape::Name)]);

/// The source of a system prompt in format 3.
pub const SYSTEM: Shape = Shape::All(&[open(&[("kind", Shape::OneOf(&["plugin"]))], &[]), PLUGIN]);

/// The source of a user message of format 0: it may carry the change of a goal, and an upgrade adds the id of a
/// checkpoint's bracket (FORMAT §8.1).
pub const OF_USER_IN_0: Shape = Shape::Tagged(&by_kind(
    &[&[("goal", GOAL_WITH_CHANGE), ("plugin", PLUGIN_OF_USER_IN_0)]],
    Others::Are(&Shape::Source),
));

/// The source of another user message of formats 0 and 1: it may carry the change of a goal.
pub const WITH_CHANGE: Shape =
    Shape::Tagged(&by_kind(&[&[("goal", GOAL_WITH_CHANGE)]], Others::Are(&Shape::Source)));

/// The source of a user message of formats 0 and 1 as format 2 has it: an upgrade takes the change of a goal out, and
/// leaves a source in which nothing can be wrong (FORMAT §8.2).
pub const CARRIED_TO_2: Shape = Shape::Tagged(&by_kind(
    &[&[
        ("goal", Shape::IfHas { member: "change", then: &Shape::Any, otherwise: &Shape::Source }),
        ("plugin", PLUGIN_OF_USER_IN_0),
    ]],
    Others::Are(&Shape::Source),
));

const fn by_kind(cases: &'static [&'static [Member]], others: Others) -> Tagged {
    Tagged { tag: "kind", what: Kinds::Source, cases, others }
}

const KIND: Member = ("kind", Shape::Any);

const KNOWN: &[Member] = &[
    ("user", exact_or(&[KIND], &[("rpcId", Shape::Name), ("clientTimeZone", Shape::Name)])),
    ("plugin", PLUGIN),
    ("model", MODEL),
    ("tool", TOOL),
    (
        "agent-instructions",
        exact_or(
            &[KIND, ("form", Shape::OneOf(&["instructions"])), ("changes", list(&INSTRUCTIONS_CHANGE))],
            &[("baseline", Shape::True), ("baselineIdentity", Shape::Name)],
        ),
    ),
    (
        "team-message",
        exact(&[
            KIND,
            ("teamId", Shape::Name),
            ("messageId", Shape::Name),
            ("senderId", Shape::Name),
            ("senderName", Shape::Text),
        ]),
    ),
    ("goal", exact(&[KIND, ("goalId", Shape::Name), ("revision", POSITIVE), ("round", POSITIVE)])),
    ("skill-invocation", exact(&[KIND, ("name", Shape::Name), ("form", Shape::OneOf(&["instructions"]))])),
    (
        "skill-catalog",
        exact_or(
            &[KIND, ("form", Shape::OneOf(&["catalog"])), ("entries", list(&SKILL))],
            &[("update", Shape::True)],
        ),
    ),
    ("coordinator", RELAY),
    ("subagent-report", RELAY),
    (
        "subagent-settled",
        exact(&[
            KIND,
            ("form", Shape::OneOf(&["notice"])),
            ("summary", Shape::Text),
            ("senderSessionId", Shape::Name),
        ]),
    ),
    (
        "webhook",
        exact(&[
            KIND,
            ("provider", Shape::Name),
            ("source", Shape::Name),
            ("deliveryId", Shape::Name),
            ("ruleId", Shape::Name),
            ("form", Shape::OneOf(&["notice"])),
            ("summary", Shape::Text),
        ]),
    ),
];

const INSTRUCTIONS_CHANGE: Shape = exact_or(
    &[("action", Shape::OneOf(&["set", "replace", "remove"])), ("scope", Shape::Text), ("path", Shape::Text)],
    &[("digest", Shape::Text)],
);

const SKILL: Shape = exact(&[("name", Shape::Name), ("description", Shape::Text)]);

/// What another session sent.
const RELAY: Shape = exact(&[KIND, ("form", Shape::OneOf(&["relay"])), ("senderSessionId", Shape::Name)]);

/// A goal whose change the message itself states: not a round of it, and the change owes the rest.
const GOAL_WITH_CHANGE: Shape = Shape::IfHas {
    member: "change",
    then: &exact(&[
        KIND,
        ("goalId", Shape::Name),
        ("revision", POSITIVE),
        ("round", Shape::Exactly(0)),
        ("change", GOAL_CHANGE),
    ]),
    otherwise: &Shape::Source,
};

/// A plugin; that of compaction names its bracket.
const PLUGIN: Shape = Shape::Tagged(&by_plugin(&[&[("compact", CHECKPOINT)]]));

const PLUGIN_OF_USER_IN_0: Shape = Shape::Tagged(&by_plugin(&[&[("compact", CHECKPOINT_IN_0)]]));

const fn by_plugin(cases: &'static [&'static [Member]]) -> Tagged {
    Tagged { tag: "plugin", what: Kinds::Value, cases, others: Others::Are(&OTHER_PLUGIN) }
}

const OTHER_PLUGIN: Shape =
    Shape::All(&[exact_or(&[KIND, ("plugin", Shape::Name)], &[FORM, SECTIONS, SUMMARY]), OF_FORM]);

const CHECKPOINT: Shape = Shape::All(&[
    exact_or(
        &[KIND, ("plugin", Shape::Any), ("compactionId", Shape::Name)],
        &[FORM, SECTIONS, SUMMARY, COMMAND],
    ),
    OF_FORM,
]);

const CHECKPOINT_IN_0: Shape = Shape::All(&[
    when(
        &[KIND, ("plugin", Shape::Any)],
        &[("compactionId", Shape::Name), FORM, SECTIONS, SUMMARY, COMMAND],
        &[Condition::IdOrBracket],
    ),
    OF_FORM,
]);

const COMMAND: Member = ("sourceCommandId", Shape::Name);
const FORM: Member =
    ("form", Shape::OneOf(&["instructions", "catalog", "snapshot", "notice", "relay", "recall"]));
const SECTIONS: Member = ("sections", Shape::Any);
const SUMMARY: Member = ("summary", Shape::Any);

/// What the form of a plugin's message asks for. Without a form nothing is looked at.
const OF_FORM: Shape = Shape::IfHas {
    member: "form",
    then: &Shape::Tagged(&Tagged {
        tag: "form",
        what: Kinds::Value,
        cases: &[&[
            ("snapshot", open(&[("sections", list(&SECTION))], &[NO_SUMMARY])),
            ("notice", open(&[("summary", Shape::Text)], &[NO_SECTIONS])),
        ]],
        others: Others::Are(&open(&[], &[NO_SECTIONS, NO_SUMMARY])),
    }),
    otherwise: &Shape::Any,
};

const SECTION: Shape = exact(&[("name", Shape::Name), ("text", Shape::Text)]);
const NO_SECTIONS: Member = ("sections", Shape::Barred("only a snapshot has sections"));
const NO_SUMMARY: Member = ("summary", Shape::Barred("only a notice has a summary"));

const REFERENCES_OF_0: Shape =
    references(&[KIND, RECALL, RECALL_VERSION, ("references", list(&REFERENCE_OF_0))]);
const REFERENCES_OF_1: Shape =
    references(&[KIND, RECALL, RECALL_VERSION, ("references", list(&REFERENCE_OF_1))]);
const REFERENCES_OF_2: Shape =
    references(&[KIND, RECALL, RECALL_VERSION, ("references", list(&REFERENCE_OF_2))]);

const fn references(members: &'static [Member]) -> Shape {
    when(members, &[], &[Condition::References])
}

const RECALL: Member = ("form", Shape::OneOf(&["recall"]));
const RECALL_VERSION: Member = ("version", Shape::Exactly(1));

const REFERENCE_OF_0: Shape = exact(REFERENCE);
const REFERENCE_OF_1: Shape =
    exact_or(REFERENCE, &[("capturedFormatVersion", Shape::Integer { least: 1, most: 1 })]);
const REFERENCE_OF_2: Shape =
    exact_or(REFERENCE, &[("capturedFormatVersion", Shape::Integer { least: 1, most: 2 })]);

/// How much of another session a message recalls.
const REFERENCE: &[Member] = &[
    ("sessionId", Shape::Name),
    ("label", Shape::Text),
    ("capturedThroughSeq", Shape::OrNull(&COUNT)),
    ("compacted", Shape::Bool),
    ("originalMessages", COUNT),
    ("retainedMessages", COUNT),
    ("omittedMessages", COUNT),
    ("omittedBytes", COUNT),
    ("truncated", Shape::Bool),
    ("inputIndex", COUNT),
];
