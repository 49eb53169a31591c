//! The words in which the shape of a payload is written down.
//!
//! A shape says which JSON values are admitted. What members of one object owe to each other, and no shape can say, is a
//! [`Condition`] beside it. `check/shapes/` reads both; nothing here looks at a value.

use crate::json::MAX_SAFE_INTEGER;

/// Which values are admitted. Counts and integers are safe ones, and `-0` is none of them (FORMAT §0.4).
#[derive(Debug)]
pub enum Shape {
    /// Anything.
    Any,
    /// Anything, so long as no number in it is `-0` or too large for a double.
    Lossless,
    /// Nothing; the text says why the member must not be there.
    Barred(&'static str),
    /// `null`, or what the other shape admits.
    OrNull(&'static Shape),
    /// What the other shape admits, or no object.
    IfObject(&'static Shape),
    /// `true` or `false`.
    Bool,
    /// `true`.
    True,
    /// This number, however it is spelt.
    Exactly(u32),
    /// An integer in a range, both ends included.
    Integer {
        /// The least that is admitted.
        least: i64,
        /// The most that is admitted.
        most: i64,
    },
    /// A finite number, but no `-0`.
    Number(Range),
    /// The seq of an earlier event.
    Earlier,
    /// Seqs of earlier events, none twice; at least so many.
    Seqs(usize),
    /// A string.
    Text,
    /// A string that is not empty.
    Name,
    /// A string that is not empty and neither begins nor ends with white space.
    Trimmed,
    /// A string that is an instant as JavaScript's `toISOString` writes it, of the years 0001 to 9999.
    Instant,
    /// One of these strings.
    OneOf(&'static [&'static str]),
    /// An array of whatever elements.
    Array,
    /// An array of one shape.
    List {
        /// What each element is.
        of: &'static Shape,
        /// How few elements there may be.
        least: usize,
        /// How many there may be.
        most: usize,
    },
    /// An object.
    Object(Members),
    /// An object that has one of several shapes, told by a member.
    Tagged(&'static Tagged),
    /// An object whose shape depends on whether it has a member.
    IfHas {
        /// The member.
        member: &'static str,
        /// The shape if it has.
        then: &'static Shape,
        /// The shape if it has not.
        otherwise: &'static Shape,
    },
    /// An object whose shape depends on the number that a member is.
    IfNumber {
        /// The member.
        member: &'static str,
        /// The number.
        number: u32,
        /// The shape if the member is it.
        then: &'static Shape,
        /// The shape if the member is something else or missing.
        otherwise: &'static Shape,
    },
    /// All of these at once.
    All(&'static [Shape]),
    /// One content block of the format.
    Block,
    /// Content blocks of the format.
    Blocks,
    /// The kind of a content block of the format.
    BlockKind,
    /// The source of a message of the format.
    Source,
}

/// A range of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Range {
    /// Every finite number.
    Finite,
    /// Zero and more.
    FromZero,
    /// More than zero.
    Positive,
    /// Zero to 2^31 − 1, the longest that a timer of JavaScript waits, in milliseconds.
    Timer,
}

/// A member's name and value.
pub type Member = (&'static str, Shape);

/// The members of an object.
#[derive(Debug)]
pub struct Members {
    /// Those that must be there.
    pub required: &'static [Member],
    /// Those that may.
    pub optional: &'static [Member],
    /// Whether there may be no others.
    pub is_closed: bool,
    /// What they owe to each other.
    pub conditions: &'static [Condition],
}

/// Objects whose shape is told by a member.
#[derive(Debug)]
pub struct Tagged {
    /// The member that tells.
    pub tag: &'static str,
    /// What a tag that is not admitted is called.
    pub what: Kinds,
    /// Shapes by tag, in parts that formats share.
    pub cases: &'static [&'static [Member]],
    /// What holds for other tags, and where the tag is missing.
    pub others: Others,
}

/// What the tags of a [`Tagged`] are kinds of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kinds {
    /// Of content blocks.
    Content,
    /// Of message sources.
    Source,
    /// Of anything else.
    Value,
}

/// What holds for tags that have no case.
#[derive(Debug)]
pub enum Others {
    /// They are not admitted.
    Refused,
    /// Any that is a string and not empty, with whatever members.
    Named,
    /// They are of this shape.
    Are(&'static Shape),
}

/// What members of one object owe to each other. It is asked once the members have their shapes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Condition {
    /// `compactionId` is there, or a bracket is open from which an upgrade takes it (FORMAT §8.1).
    IdOrBracket,
    /// `llmStreamCall` comes with `rawOutput`.
    StreamCallKeepsOutput,
    /// `shadowedRange` names the ends of `shadowedSeqs`.
    RangeOfSeqs,
    /// `retry` is no more than `maxRetries`.
    RetryWithinLimit,
    /// What `adapterDefaults` marks is in `config`.
    DefaultsAreConfigured,
    /// `agentProvider` and `agentModel` come together.
    AgentRoute,
    /// At least one member is there.
    NotEmpty,
    /// No provider and model stand twice in `allowedModels`.
    DistinctModels,
    /// The counts in each of `references` add up, they are numbered from 0, and no session stands twice.
    References,
    /// A tool's message holds exactly one `tool-result` block, for the call that its source names.
    AnswersItsCall,
    /// A source that carries the change of a goal names that goal, and the message says the change and no more
    /// (FORMAT §8.2).
    StatesGoalChange,
    /// A result for a call that never started has the id that dsh gives it, with any number (FORMAT §9.4).
    RepairId,
    /// Error details belong to a result that is an error (FORMAT §6.2).
    ErrorOfError,
}

/// A count: an integer from zero on.
pub const COUNT: Shape = Shape::Integer { least: 0, most: LARGEST };
/// A count from one on.
pub const POSITIVE: Shape = at_least(1);
/// Any integer.
pub const INTEGER: Shape = Shape::Integer { least: -LARGEST, most: LARGEST };
/// Any object.
pub const OBJECT: Shape = open(&[], &[]);
/// An array of names.
pub const NAMES: Shape = list(&Shape::Name);
/// An array of strings.
pub const TEXTS: Shape = list(&Shape::Text);

const LARGEST: i64 = MAX_SAFE_INTEGER.cast_signed();

/// An integer of at least so much.
pub const fn at_least(least: i64) -> Shape {
    Shape::Integer { least, most: LARGEST }
}

/// An array of one shape.
pub const fn list(of: &'static Shape) -> Shape {
    Shape::List { of, least: 0, most: usize::MAX }
}

/// An array of exactly one element.
pub const fn one(of: &'static Shape) -> Shape {
    Shape::List { of, least: 1, most: 1 }
}

/// An object of exactly these members.
pub const fn exact(required: &'static [Member]) -> Shape {
    exact_or(required, &[])
}

/// An object of exactly these members, the second ones where they are there.
pub const fn exact_or(required: &'static [Member], optional: &'static [Member]) -> Shape {
    when(required, optional, &[])
}

/// The same, if conditions hold besides.
pub const fn when(
    required: &'static [Member],
    optional: &'static [Member],
    conditions: &'static [Condition],
) -> Shape {
    Shape::Object(Members { required, optional, is_closed: true, conditions })
}

/// An object of these members and whatever others.
pub const fn open(required: &'static [Member], optional: &'static [Member]) -> Shape {
    given(required, optional, &[])
}

/// The same, if conditions hold besides.
pub const fn given(
    required: &'static [Member],
    optional: &'static [Member],
    conditions: &'static [Condition],
) -> Shape {
    Shape::Object(Members { required, optional, is_closed: false, conditions })
}
