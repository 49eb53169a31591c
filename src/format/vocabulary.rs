//! Event types (FORMAT §6.3) and source kinds (FORMAT §6.1, §8.4).

/// What every version has.
pub(super) const COMMON: &[&str] = &[
    "agent-preset/selected",
    "agent/inbox/spliced",
    "approval/asked",
    "approval/decided",
    "approval/policy",
    "assistant/message",
    "command/done",
    "command/run",
    "compaction/end",
    "compaction/prune",
    "compaction/start",
    "compaction/summary",
    "feedback/record",
    "goal/change",
    "hook/invoked",
    "hook/result",
    "llm/retry",
    "llm/retry-started",
    "model/selection",
    "permission/preset",
    "plan/mode",
    "request/context",
    "request/header",
    "sandbox/mode",
    "schedule/change",
    "session-log-deepseek/delivery-accepted",
    "session/end-seed",
    "session/title",
    "session/title-llm-request",
    "step/end",
    "step/start",
    "subagent/descriptor",
    "subagent/model-selection-policy",
    "team/member",
    "team/message/delivered",
    "team/message/queued",
    "team/task",
    "todo/write",
    "tool-workflow/agent-end",
    "tool-workflow/agent-start",
    "tool-workflow/run-end",
    "tool-workflow/run-start",
    "tool/call",
    "tool/result",
    "turn/end",
    "turn/start",
    "user/message",
    "web/deepseek-search-llm-request",
];

/// What calls that a tool's own code makes were called up to format 2.
pub(super) const CODE_DISPATCH: &[&str] = &["tool/code-dispatch", "tool/code-dispatch-start"];

/// What an answer that came to nothing is called where streamed deltas are embedded.
pub(super) const ATTEMPT: &[&str] = &["assistant/attempt"];

/// What came with format 3, or under its number.
pub(super) const SINCE_3: &[&str] = &[
    "deliverables/presented",
    "feedback/message-delete",
    "feedback/message-put",
    "image/offload",
    "subagent/catalog",
    "system/message",
    "tool/ptc-dispatch",
    "tool/ptc-dispatch-start",
    "workspace/changes",
];

/// Source kinds that every version has.
pub(super) const SOURCES: &[&str] = &[
    "agent-instructions",
    "agent-message",
    "coordinator",
    "goal",
    "model",
    "session-reference",
    "skill-catalog",
    "skill-invocation",
    "subagent-report",
    "subagent-settled",
    "team-message",
    "tool",
    "user",
    "webhook",
];

/// Source kinds of what was of kind `plugin` up to format 3, and of what came with format 4.
pub(super) const SOURCES_SINCE_4: &[&str] = &[
    "compact-basic",
    "compact-checkpoint",
    "cordis-host-runner",
    "dsh-session-title-llm",
    "hooks-claude-code",
    "hooks-codex",
    "model-selection",
    "plan-mode",
    "ptc-mode",
    "repeat-tool-reminder",
    "runtime-context",
    "schedule",
    "system-prompt",
    "time-context",
    "tmux-context",
    "tool-cordis",
    "tool-goal",
    "tool-jobs",
    "tool-registry",
    "user-approval",
];
