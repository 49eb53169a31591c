//! Streamed deltas, as far as upgrades look into them: at the content blocks that they begin and end (FORMAT §5.2).

use super::shape::{Kinds, Member, OBJECT, Others, Shape, Tagged, list, open};

/// The stream of a message or an attempt.
pub const EMBEDDED: Member = ("stream", list(&Shape::Tagged(RECORD)));

/// One record of a stream. Runs of deltas are not looked into.
const RECORD: &Tagged = &Tagged {
    tag: "type",
    what: Kinds::Value,
    cases: &[&[("chunk", open(&[("chunk", CHUNK)], &[]))]],
    others: Others::Are(&OBJECT),
};

/// A chunk as the model's adapter gave it.
pub const CHUNK: Shape = Shape::Tagged(&Tagged {
    tag: "type",
    what: Kinds::Value,
    cases: &[&[
        ("block-start", open(&[("blockType", Shape::BlockKind)], &[])),
        ("block-end", open(&[("block", Shape::Block)], &[])),
    ]],
    others: Others::Are(&OBJECT),
});
