//! What is asked of models and how it is asked again (FORMAT §6.2).

use super::messages::ANY_ROLE;
use super::parts::{FAILURE, ROUTE, STEP, TURN};
use super::shape::{
    Condition, Kinds, Member, OBJECT, Others, POSITIVE, Range, Shape, TEXTS, Tagged, exact, exact_or, list,
    one, when,
};

/// What formats 0 to 2 share.
pub const COMMON: &[Member] = &[
    ("llm/retry-started", exact(&[RETRY_ID, TURN, STEP, RETRY])),
    ("model/selection", exact_or(&[PROVIDER, MODEL], &[("reasoningEffort", Shape::Name)])),
    ("request/context", exact_or(&[PROVIDER, MODEL], &[("contextWindow", POSITIVE)])),
    (
        "session/title",
        exact(&[("title", Shape::Name), ("messageSeqs", Shape::Seqs(0)), ("source", TITLE_SOURCE)]),
    ),
    (
        "session/title-llm-request",
        exact(&[
            ("titleProvider", Shape::Name),
            ("messageSeqs", Shape::Seqs(1)),
            ("route", ROUTE),
            ("system", Shape::Text),
            ("messages", list(&ANY_ROLE)),
            ("maxTokens", POSITIVE),
        ]),
    ),
    (
        "web/deepseek-search-llm-request",
        exact(&[("endpoint", Shape::Name), ("apiVersion", Shape::Name), ("body", SEARCH)]),
    ),
];

/// What is format 0's own: development builds left out ids that an upgrade adds, and kept messages in the header that it
/// drops (FORMAT §8.1).
pub const ONLY_0: &[Member] = &[
    ("llm/retry", Shape::IfHas { member: "retryId", then: &RETRIED, otherwise: &RETRIED_WITHOUT_ID }),
    (
        "request/header",
        exact_or(
            &[
                (
                    "header",
                    when(
                        &[CONFIG],
                        &[DEFAULTS, SYSTEM, TOOLS, ("messagePrefix", Shape::Array)],
                        &[Condition::DefaultsAreConfigured],
                    ),
                ),
                REASON,
            ],
            &[STARTS_SERIES],
        ),
    ),
];

/// What formats 1 and 2 share.
pub const SINCE_1: &[Member] = &[
    ("llm/retry", RETRIED),
    (
        "request/header",
        exact_or(
            &[
                ("header", when(&[CONFIG], &[DEFAULTS, SYSTEM, TOOLS], &[Condition::DefaultsAreConfigured])),
                REASON,
            ],
            &[STARTS_SERIES],
        ),
    ),
];

const PROVIDER: Member = ("provider", Shape::Name);
const MODEL: Member = ("model", Shape::Name);

const RETRY_ID: Member = ("retryId", Shape::Name);
const RETRY: Member = ("retry", POSITIVE);
const POLICY: Member = ("policyKey", Shape::Name);
const DELAY: Member = ("delayMs", Shape::Number(Range::Timer));
const FAILED: Member = ("failure", FAILURE);
const MODE: Member = ("mode", Shape::Any);
const LIMIT: Member = ("maxRetries", POSITIVE);

/// A retry: of a limited number, or for ever.
const RETRIED: Shape = Shape::Tagged(&by_mode(&[&[
    (
        "normal",
        when(
            &[RETRY_ID, TURN, STEP, PROVIDER, MODE, POLICY, RETRY, LIMIT, DELAY, FAILED],
            &[],
            &[Condition::RetryWithinLimit],
        ),
    ),
    ("always", exact(&[RETRY_ID, TURN, STEP, PROVIDER, MODE, POLICY, RETRY, DELAY, FAILED])),
]]));

const RETRIED_WITHOUT_ID: Shape = Shape::Tagged(&by_mode(&[&[
    (
        "normal",
        when(
            &[TURN, STEP, PROVIDER, MODE, POLICY, RETRY, LIMIT, DELAY, FAILED],
            &[],
            &[Condition::RetryWithinLimit],
        ),
    ),
    ("always", exact(&[TURN, STEP, PROVIDER, MODE, POLICY, RETRY, DELAY, FAILED])),
]]));

const fn by_mode(cases: &'static [&'static [Member]]) -> Tagged {
    Tagged { tag: "mode", what: Kinds::Value, cases, others: Others::Refused }
}

const CONFIG: Member = (
    "config",
    exact_or(
        &[PROVIDER, MODEL],
        &[
            ("reasoningEffort", Shape::Name),
            ("temperature", Shape::Number(Range::Finite)),
            ("maxTokens", POSITIVE),
            ("stop", TEXTS),
        ],
    ),
);
const DEFAULTS: Member =
    ("adapterDefaults", exact_or(&[], &[("reasoningEffort", Shape::True), ("maxTokens", Shape::True)]));
const SYSTEM: Member = ("system", Shape::Text);
const TOOLS: Member = ("tools", list(&TOOL));
const TOOL: Shape = exact(&[("name", Shape::Name), ("description", Shape::Text), ("parameters", OBJECT)]);
const REASON: Member = ("reason", Shape::OneOf(&["initial", "resume", "change", "series"]));
const STARTS_SERIES: Member = ("startsSeries", Shape::True);

const KIND: Member = ("kind", Shape::Any);

/// Who gave a session its title.
const TITLE_SOURCE: Shape = Shape::Tagged(&Tagged {
    tag: "kind",
    what: Kinds::Value,
    cases: &[&[
        ("provider", exact_or(&[KIND, PROVIDER], &[("model", ROUTE)])),
        ("fallback", exact(&[KIND])),
        ("user", exact(&[KIND])),
    ]],
    others: Others::Refused,
});

/// A search on the web: one question, one tool.
const SEARCH: Shape =
    exact(&[MODEL, ("max_tokens", POSITIVE), ("messages", one(&QUESTION)), ("tools", one(&SEARCH_TOOL))]);
const QUESTION: Shape = exact(&[("role", Shape::OneOf(&["user"])), ("content", one(&QUESTION_TEXT))]);
const QUESTION_TEXT: Shape = exact(&[("type", Shape::OneOf(&["text"])), ("text", Shape::Text)]);
const SEARCH_TOOL: Shape = exact(&[
    ("type", Shape::OneOf(&["web_search_20250305"])),
    ("name", Shape::OneOf(&["web_search"])),
    ("max_uses", POSITIVE),
]);
