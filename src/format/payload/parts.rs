//! What payloads of several families share.

use super::shape::{COUNT, Member, POSITIVE, Range, Shape, exact, exact_or};

/// Where in the conversation an event belongs.
pub const TURN: Member = ("turn", COUNT);
pub const STEP: Member = ("step", COUNT);

/// A provider and one of its models.
pub const ROUTE: Shape = exact(&[("provider", Shape::Name), ("model", Shape::Name)]);

/// What a model used up, in the provider's tokens (FORMAT §6.1).
pub const USAGE: Shape = exact_or(
    &[("inputTokens", COUNT), ("outputTokens", COUNT)],
    &[
        ("totalTokens", COUNT),
        ("cacheReadTokens", COUNT),
        ("cacheWriteTokens", COUNT),
        ("reasoningTokens", COUNT),
    ],
);

/// Why a request to a model failed (FORMAT §6.1).
pub const FAILURE: Shape = exact_or(
    &[("message", Shape::Name), ("code", Shape::Name)],
    &[
        ("status", Shape::Integer { least: 100, most: 599 }),
        ("providerRetryAfterMs", Shape::Number(Range::Positive)),
        ("requestId", Shape::Name),
    ],
);

/// A picture that is kept beside the log (FORMAT §6.1).
pub const IMAGE: Shape = exact_or(
    &[
        ("attachmentId", Shape::Name),
        ("mediaType", Shape::OneOf(&["image/png", "image/jpeg", "image/webp", "image/gif"])),
        ("bytes", COUNT),
        ("width", POSITIVE),
        ("height", POSITIVE),
    ],
    &[("name", Shape::Text), ("originalDimensions", DIMENSIONS)],
);

const DIMENSIONS: Shape = exact(&[("width", POSITIVE), ("height", POSITIVE)]);
