//! The members of a request that not every server takes, and what is left out once one was refused.

use serde::Serialize;

/// The tokens that an answer's cap is raised by where the model cannot be kept from thinking: thinking counts
/// toward the cap.
const THINKING: u64 = 8_192;

/// How a server is told that its model is not to think.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Switch {
    /// No way is known.
    Unknown,
    /// `"thinking": {"type": "disabled"}`: DeepSeek, Anthropic.
    Thinking,
    /// `"reasoning_effort": "none"`: OpenAI, ollama.
    Effort,
    /// `"chat_template_kwargs": {"enable_thinking": false}`: llama.cpp, vLLM.
    Template,
    /// The way that was known is refused: the model thinks always, or never.
    Refused,
}

/// The value of [`Switch::Thinking`], which both dialects have.
#[derive(Serialize)]
pub(super) struct Thinking {
    r#type: &'static str,
}

/// What the cap on an answer is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cap {
    /// `max_tokens`: all but OpenAI's own newer models.
    Tokens,
    /// `max_completion_tokens`: OpenAI.
    CompletionTokens,
}

/// What a server is asked beyond what each knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Terms {
    pub(super) switch: Switch,
    pub(super) cap: Cap,
    /// Whether it is asked to tell the usage: `"stream_options": {"include_usage": true}`.
    pub(super) asks_usage: bool,
}

impl Terms {
    /// The cap of an answer of `max_tokens`, with room for the thinking where that is known to be needed.
    pub(super) fn cap_for(self, max_tokens: u64) -> u64 {
        max_tokens.saturating_add(if self.switch == Switch::Refused { THINKING } else { 0 })
    }

    /// The member `thinking`, where that is the switch.
    pub(super) fn thinking(self) -> Option<Thinking> {
        (self.switch == Switch::Thinking).then_some(Thinking { r#type: "disabled" })
    }

    /// Terms that a server which refused these in such words may accept; `None` where the words name none of them.
    pub(super) fn instead(self, words: &str) -> Option<Self> {
        let names = |member: &str| words.contains(member);
        if self.cap == Cap::Tokens && names("max_completion_tokens") {
            return Some(Self { cap: Cap::CompletionTokens, ..self });
        }
        if self.asks_usage && (names("stream_options") || names("include_usage")) {
            return Some(Self { asks_usage: false, ..self });
        }
        let names_switch = match self.switch {
            Switch::Unknown | Switch::Refused => false,
            Switch::Thinking => names("thinking"),
            Switch::Effort => names("reasoning") || names("think"),
            Switch::Template => names("chat_template") || names("enable_thinking"),
        };
        names_switch.then_some(Self { switch: Switch::Refused, ..self })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TERMS: Terms = Terms { switch: Switch::Effort, cap: Cap::Tokens, asks_usage: true };

    #[test]
    fn a_refused_member_is_left_out_or_spelt_otherwise() {
        let instead = |words| TERMS.instead(words);
        let cap = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.";
        assert_eq!(instead(cap), Some(Terms { cap: Cap::CompletionTokens, ..TERMS }));
        assert_eq!(instead("stream_options: extra fields"), Some(Terms { asks_usage: false, ..TERMS }));
        let effort = "Unrecognized request argument supplied: reasoning_effort";
        assert_eq!(instead(effort), Some(Terms { switch: Switch::Refused, ..TERMS }));
        assert_eq!(instead("max_tokens is too large: 8192"), None);
        assert_eq!(Terms { switch: Switch::Template, ..TERMS }.instead("reasoning"), None);
    }

    #[test]
    fn each_member_is_given_up_once() {
        let mut terms = TERMS;
        let words = "max_completion_tokens stream_options reasoning_effort thinking";
        let mut times = 0;
        while let Some(other) = terms.instead(words) {
            terms = other;
            times += 1;
        }
        assert_eq!(times, 3);
    }

    #[test]
    fn thinking_that_cannot_be_switched_off_has_room() {
        assert_eq!(TERMS.cap_for(100), 100);
        assert_eq!(Terms { switch: Switch::Refused, ..TERMS }.cap_for(100), 100 + THINKING);
        assert_eq!(Terms { switch: Switch::Refused, ..TERMS }.cap_for(u64::MAX), u64::MAX);
    }
}
