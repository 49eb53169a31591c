//! The events that the rules look at.

use crate::format::Relations as Facts;

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
    RequestContext,
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
    /// `None` for an event that no rule looks at.
    pub(super) fn of(event_type: &str, facts: &Facts) -> Option<Self> {
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
            "request/context" => Self::RequestContext,
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
