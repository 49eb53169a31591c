//! Content blocks (FORMAT §6.1).

use super::parts::IMAGE;
use super::shape::{COUNT, Kinds, Member, Others, Shape, Tagged, exact, exact_or};

/// Blocks of formats 0 and 1: others than the known ones pass as they are.
pub const OPEN: &Tagged =
    &Tagged { tag: "type", what: Kinds::Content, cases: &[KNOWN], others: Others::Named };

/// Blocks of format 2: no others, for the next format's sake.
pub const CLOSED: &Tagged = &Tagged {
    tag: "type",
    what: Kinds::Content,
    cases: &[KNOWN, &[("file", FILE)]],
    others: Others::Refused,
};

const TYPE: Member = ("type", Shape::Any);

const KNOWN: &[Member] = &[
    ("text", TEXT),
    ("reasoning", TEXT),
    ("image", exact(&[TYPE, ("attachment", IMAGE)])),
    ("tool-call", exact(&[TYPE, ("id", Shape::Name), ("name", Shape::Name), ("arguments", Shape::Text)])),
    (
        "tool-result",
        exact_or(
            &[TYPE, ("toolCallId", Shape::Name), ("content", Shape::Blocks)],
            &[("isError", Shape::Bool)],
        ),
    ),
];

const TEXT: Shape = exact(&[TYPE, ("text", Shape::Text)]);

const FILE: Shape = exact(&[
    TYPE,
    ("attachment", exact(&[("attachmentId", Shape::Name), ("name", Shape::Text), ("bytes", COUNT)])),
]);
