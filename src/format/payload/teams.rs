//! Teams and workflows of agents (FORMAT §6.3).

use super::messages::CONTENT;
use super::shape::{Member, NAMES, POSITIVE, Shape, TEXTS, exact, exact_or};

/// What formats 0 to 2 share.
pub const COMMON: &[Member] = &[
    ("team/member", exact(&[VERSION, TEAM, ("member", MEMBER)])),
    (
        "team/message/delivered",
        exact(&[VERSION, TEAM, ("messageId", Shape::Name), ("targetId", Shape::Name)]),
    ),
    ("team/message/queued", exact(&[VERSION, TEAM, ("message", MESSAGE)])),
    ("team/task", exact(&[VERSION, TEAM, ("task", TASK)])),
    (
        "tool-workflow/agent-end",
        exact(&[RUN, SEQ, ("outcome", Shape::OneOf(&["completed", "failed", "cancelled"]))]),
    ),
    (
        "tool-workflow/agent-start",
        exact_or(&[RUN, SEQ, ("label", Shape::Text), ("childId", Shape::Name)], &[("phase", Shape::Text)]),
    ),
    (
        "tool-workflow/run-end",
        exact(&[RUN, ("stopReason", Shape::OneOf(&["completed", "cancelled", "error"]))]),
    ),
    ("tool-workflow/run-start", exact(&[RUN, ("name", Shape::Name)])),
];

const VERSION: Member = ("version", Shape::Exactly(1));
const TEAM: Member = ("teamId", Shape::Name);
const RUN: Member = ("runId", Shape::Name);
const SEQ: Member = ("seq", POSITIVE);
const ID: Member = ("id", Shape::Name);

const MEMBER: Shape = exact_or(
    &[
        ID,
        ("name", Shape::Text),
        ("description", Shape::Text),
        ("provider", Shape::Text),
        ("context", Shape::OneOf(&["fresh", "fork"])),
        ("phase", Shape::OneOf(&["provisioning", "active", "failed"])),
    ],
    &[("error", Shape::Text)],
);

const TASK: Shape = exact_or(
    &[
        ID,
        ("revision", POSITIVE),
        ("subject", Shape::Text),
        ("description", Shape::Text),
        ("status", Shape::OneOf(&["pending", "in_progress", "completed", "deleted"])),
        ("blockedBy", NAMES),
        ("writeScopes", TEXTS),
    ],
    &[("ownerId", Shape::Name)],
);

const MESSAGE: Shape = exact(&[
    ID,
    ("senderId", Shape::Name),
    ("senderName", Shape::Text),
    ("targetId", Shape::Name),
    ("delivery", Shape::OneOf(&["quiet", "wakeup"])),
    CONTENT,
]);
