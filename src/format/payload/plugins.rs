//! Events of plugins, and the harness's own notes (FORMAT §6.3).

use super::parts::ROUTE;
use super::shape::{
    COUNT, Condition, INTEGER, Kinds, Member, NAMES, Others, POSITIVE, Range, Shape, Tagged, at_least, exact,
    exact_or, list, open, when,
};

/// What formats 0 to 2 share.
pub const COMMON: &[Member] = &[
    ("agent-preset/selected", exact(&[("agentPreset", Shape::Text)])),
    (
        "approval/asked",
        exact_or(&[ID, ("toolName", Shape::Name)], &[("callId", Shape::Name), ("reason", Shape::Text)]),
    ),
    (
        "approval/decided",
        exact(&[ID, ("outcome", Shape::OneOf(&["allowed-once", "rejected", "cancelled", "unavailable"]))]),
    ),
    ("approval/policy", exact_or(&[("policy", Shape::OneOf(&["ask", "never"]))], DELEGATED)),
    (
        "command/done",
        exact_or(
            &[("commandId", Shape::Name), ("kind", Shape::OneOf(&["success", "error"]))],
            &[("text", Shape::Text), ("sourceEventSeq", Shape::Earlier)],
        ),
    ),
    (
        "command/run",
        exact_or(
            &[
                ("commandId", Shape::Name),
                ("name", Shape::Name),
                ("source", exact(&[("kind", Shape::OneOf(&["user"]))])),
            ],
            &[("args", Shape::Text)],
        ),
    ),
    ("feedback/record", exact(&[("text", Shape::Name)])),
    ("goal/change", GOAL_CHANGE),
    (
        "hook/invoked",
        exact_or(
            &[
                ("turn", COUNT),
                ("point", Shape::Name),
                ("dialect", Shape::OneOf(&["claude-code", "codex"])),
                ("handlerId", Shape::Name),
            ],
            &[("matcher", Shape::Text)],
        ),
    ),
    (
        "hook/result",
        exact_or(
            &[
                ("turn", COUNT),
                ("point", Shape::Name),
                ("handlerId", Shape::Name),
                ("decision", Shape::Name),
                ("durationMs", Shape::Number(Range::FromZero)),
            ],
            &[("exitCode", INTEGER), ("stderrSummary", Shape::Text)],
        ),
    ),
    ("permission/preset", exact(&[("preset", Shape::Name)])),
    ("plan/mode", exact(&[("active", Shape::Bool)])),
    (
        "sandbox/mode",
        exact_or(
            &[("mode", Shape::OneOf(&["read-only", "workspace-write", "danger-full-access"]))],
            DELEGATED,
        ),
    ),
    ("schedule/change", SCHEDULE_CHANGE),
    (
        "subagent/model-selection-policy",
        when(
            &[("allowedModels", Shape::List { of: &ROUTE, least: 1, most: usize::MAX })],
            &[],
            &[Condition::DistinctModels],
        ),
    ),
    ("todo/write", exact(&[("todos", list(&TODO))])),
];

/// What is format 0's own.
pub const ONLY_0: &[Member] = &[
    ("session-log-deepseek/delivery-accepted", DELIVERY),
    ("session/end-seed", exact(&[])),
    ("subagent/descriptor", DESCRIPTOR),
];

/// What is format 1's own: descriptors of other versions than the released one pass.
pub const ONLY_1: &[Member] = &[
    (
        "session-log-deepseek/delivery-accepted",
        Shape::IfNumber {
            member: DELIVERED_FORMAT,
            number: 1,
            then: &DELIVERY_WITH_FORMAT,
            otherwise: &FOREIGN_DELIVERY,
        },
    ),
    ("session/end-seed", exact(&[])),
    (
        "subagent/descriptor",
        Shape::IfNumber {
            member: "version",
            number: 3,
            then: &DESCRIPTOR,
            otherwise: &open(&[("version", COUNT)], &[]),
        },
    ),
];

/// What is format 2's own, with what was admitted under its number later.
pub const ONLY_2: &[Member] = &[
    ("feedback/message-delete", exact(&[("sessionId", Shape::Text), ("messageId", Shape::Text)])),
    ("feedback/message-put", exact(&[("sessionId", Shape::Text), ("item", FEEDBACK)])),
    (
        "session-log-deepseek/delivery-accepted",
        Shape::IfNumber {
            member: DELIVERED_FORMAT,
            number: 2,
            then: &DELIVERY_WITH_FORMAT,
            otherwise: &FOREIGN_DELIVERY,
        },
    ),
    ("session/end-seed", exact_or(&[], &[("inherited", Shape::True)])),
    ("subagent/descriptor", DESCRIPTOR),
];

const ID: Member = ("id", Shape::Name);
const KIND: Member = ("kind", Shape::Any);
const PROVIDER: Member = ("provider", Shape::Name);

/// A setting that came from the agent above.
const DELEGATED: &[Member] = &[("source", Shape::OneOf(&["delegation"]))];

const TODO: Shape =
    exact(&[("content", Shape::Text), ("status", Shape::OneOf(&["pending", "in_progress", "completed"]))]);

const FEEDBACK: Shape = exact_or(
    &[
        ("messageId", Shape::Text),
        ("rating", Shape::OneOf(&["positive", "negative"])),
        ("version", Shape::Text),
        ("createdAt", COUNT),
        ("updatedAt", COUNT),
    ],
    &[("note", Shape::Text)],
);

/// What a goal became, or that it was dropped.
pub const GOAL_CHANGE: Shape = Shape::Tagged(&Tagged {
    tag: "operation",
    what: Kinds::Value,
    cases: &[&[
        (
            "clear",
            exact(&[
                CHANGE_KIND,
                CHANGE_VERSION,
                OPERATION,
                ("cleared", exact(&[ID, ("revision", POSITIVE)])),
                ("clearedAt", COUNT),
            ]),
        ),
        ("create", GOAL_KEPT),
        ("edit", GOAL_KEPT),
        ("pause", GOAL_KEPT),
        ("resume", GOAL_KEPT),
        ("complete", GOAL_KEPT),
        ("block", GOAL_KEPT),
    ]],
    others: Others::Refused,
});

const CHANGE_KIND: Member = ("kind", Shape::OneOf(&["goal/change"]));
const CHANGE_VERSION: Member = ("version", Shape::Exactly(1));
const OPERATION: Member = ("operation", Shape::Any);

const GOAL_KEPT: Shape = exact(&[
    CHANGE_KIND,
    CHANGE_VERSION,
    OPERATION,
    ("goal", GOAL),
    ("roundsStarted", COUNT),
    ("createdAt", COUNT),
    ("updatedAt", COUNT),
]);

/// A goal; one that is blocked says why.
const GOAL: Shape = Shape::Tagged(&Tagged {
    tag: "phase",
    what: Kinds::Value,
    cases: &[&[
        (
            "blocked",
            exact(&[
                ID,
                ("revision", POSITIVE),
                ("objective", Shape::Name),
                ("phase", Shape::Any),
                ("maxGoalRounds", POSITIVE),
                ("blockedReason", exact(&[("code", Shape::Name), ("message", Shape::Name)])),
            ]),
        ),
        ("active", GOAL_NOT_BLOCKED),
        ("paused", GOAL_NOT_BLOCKED),
        ("complete", GOAL_NOT_BLOCKED),
    ]],
    others: Others::Refused,
});

const GOAL_NOT_BLOCKED: Shape = exact(&[
    ID,
    ("revision", POSITIVE),
    ("objective", Shape::Name),
    ("phase", Shape::Any),
    ("maxGoalRounds", POSITIVE),
]);

const SCHEDULE_CHANGE: Shape = Shape::Tagged(&Tagged {
    tag: "operation",
    what: Kinds::Value,
    cases: &[&[
        ("create", exact(&[CHANGE_VERSION, OPERATION, ("schedule", SCHEDULE)])),
        ("delete", exact(&[CHANGE_VERSION, OPERATION, ("id", Shape::Trimmed)])),
        (
            "dispatch",
            exact_or(&[CHANGE_VERSION, OPERATION, ("id", Shape::Trimmed)], &[("acceptedAt", Shape::Instant)]),
        ),
    ]],
    others: Others::Refused,
});

/// When a prompt is to be given: after a while, at a time, or every so often.
const SCHEDULE: Shape = Shape::Tagged(&Tagged {
    tag: "kind",
    what: Kinds::Value,
    cases: &[&[
        ("after", exact(&[SCHEDULE_ID, KIND, PROMPT, ("afterSeconds", POSITIVE), SCHEDULED_AT])),
        ("at", exact(&[SCHEDULE_ID, KIND, PROMPT, SCHEDULED_AT])),
        ("every", exact(&[SCHEDULE_ID, KIND, PROMPT, ("everySeconds", at_least(300)), SCHEDULED_AT])),
    ]],
    others: Others::Refused,
});

const SCHEDULE_ID: Member = ("id", Shape::Trimmed);
const PROMPT: Member = ("prompt", Shape::Name);
const SCHEDULED_AT: Member = ("scheduledAt", Shape::Instant);

/// How far a log was delivered. Its seqs mean this log's events only where the format is this log's.
const DELIVERED_FORMAT: &str = "sessionFormatVersion";
const DELIVERY: Shape = exact(&[("sessionId", Shape::Name), ("throughSeq", Shape::Earlier)]);
const DELIVERY_WITH_FORMAT: Shape =
    exact(&[("sessionId", Shape::Name), ("throughSeq", Shape::Earlier), (DELIVERED_FORMAT, COUNT)]);
const FOREIGN_DELIVERY: Shape =
    exact_or(&[("sessionId", Shape::Any), ("throughSeq", Shape::Any)], &[(DELIVERED_FORMAT, COUNT)]);

/// What a subagent is and may do.
const DESCRIPTOR: Shape = Shape::Tagged(&Tagged {
    tag: "mode",
    what: Kinds::Value,
    cases: &[&[
        ("one-shot", exact_or(&[DESCRIPTOR_VERSION, MODE, PROVIDER], &[("label", Shape::Text)])),
        (
            "continuable",
            when(
                &[DESCRIPTOR_VERSION, MODE, PROVIDER, ("label", Shape::Name)],
                &[
                    ("agentProvider", Shape::Name),
                    ("agentModel", Shape::Name),
                    ("agentReasoningEffort", Shape::Name),
                    ("persona", Shape::Name),
                    ("toolFilter", when(&[], &[("allow", NAMES), ("deny", NAMES)], &[Condition::NotEmpty])),
                ],
                &[Condition::AgentRoute],
            ),
        ),
    ]],
    others: Others::Refused,
});

const DESCRIPTOR_VERSION: Member = ("version", Shape::Exactly(3));
const MODE: Member = ("mode", Shape::Any);
