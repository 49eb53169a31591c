//! The events that the rules look at.

use crate::format::{Family, Relations as Facts};

/// What an event is to the rules, by its type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    TurnStart,
    TurnEnd,
    StepStart,
    StepEnd,
    AssistantChunk,
    AssistantAttempt,
    AssistantMessage,
    SystemMessage,
    DeveloperMessage,
    UserMessage,
    ToolCall,
    ToolResult,
    RequestHeader,
    Retry,
    RetryStarted,
    Title,
    TitleRequest,
    CommandRun,
    CommandDone,
    Delivery,
    Catalog,
    EndSeed,
    DispatchStart,
    DispatchSettle,
}

impl Kind {
    /// `None` for an event that no rule of the version looks into.
    pub(super) fn of(event_type: &str, facts: &Facts) -> Option<Self> {
        Self::named(event_type, facts)
            .filter(|kind| kind.family().is_none_or(|family| facts.families.contains(&family)))
    }

    /// What only those versions look into that check this family.
    fn family(self) -> Option<Family> {
        match self {
            Self::DispatchStart | Self::DispatchSettle => Some(Family::Nested),
            Self::RequestHeader | Self::Retry | Self::RetryStarted => Some(Family::Retries),
            Self::UserMessage | Self::Title | Self::TitleRequest => Some(Family::Titles),
            Self::CommandRun | Self::CommandDone => Some(Family::Commands),
            Self::Delivery | Self::EndSeed => Some(Family::Deliveries),
            Self::Catalog => Some(Family::Catalog),
            _ => None,
        }
    }

    fn named(event_type: &str, facts: &Facts) -> Option<Self> {
        Some(match event_type {
            "turn/start" => Self::TurnStart,
            "turn/end" => Self::TurnEnd,
            "step/start" => Self::StepStart,
            "step/end" => Self::StepEnd,
            "assistant/chunk" => Self::AssistantChunk,
            "assistant/attempt" => Self::AssistantAttempt,
            "assistant/message" => Self::AssistantMessage,
            "system/message" => Self::SystemMessage,
            "developer/message" => Self::DeveloperMessage,
            "user/message" => Self::UserMessage,
            "tool/call" => Self::ToolCall,
            "tool/result" => Self::ToolResult,
            "request/header" => Self::RequestHeader,
            "llm/retry" => Self::Retry,
            "llm/retry-started" => Self::RetryStarted,
            "session/title" => Self::Title,
            "session/title-llm-request" => Self::TitleRequest,
            "command/run" => Self::CommandRun,
            "command/done" => Self::CommandDone,
            "session-log-deepseek/delivery-accepted" => Self::Delivery,
            "subagent/catalog" => Self::Catalog,
            "session/end-seed" => Self::EndSeed,
            // The nested events of tools have another name in each format.
            other => match facts.dispatch_types {
                [start, _] if other == start => Self::DispatchStart,
                [_, settle] if other == settle => Self::DispatchSettle,
                _ => return None,
            },
        })
    }
}
