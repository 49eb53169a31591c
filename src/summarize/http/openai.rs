//! Chat completions: the request, and the chunks of a streamed answer.
//!
//! As OpenAI's API has them, and DeepSeek, ollama, llama.cpp and vLLM after it. A thinking model's thoughts come in
//! `reasoning_content`, or in `reasoning` (ollama, newer vLLM).

use super::draft::{Draft, Stop};
use super::fault::Fault;
use super::terms::{Cap, Switch, Terms, Thinking};
use super::{refusal, words};
use crate::json::{self, Document};
use crate::summarize::Prompt;
use serde::{Deserialize, Serialize};

/// What ends a stream.
const END: &str = "[DONE]";

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    messages: [Message<'a>; 2],
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<StreamOptions>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<Thinking>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_effort: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    chat_template_kwargs: Option<TemplateArguments>,
}

#[derive(Serialize)]
struct Message<'a> {
    role: &'static str,
    content: &'a str,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

#[derive(Serialize)]
struct TemplateArguments {
    enable_thinking: bool,
}

/// The request's body.
pub(super) fn body(
    model: &str,
    prompt: &Prompt,
    max_tokens: u64,
    terms: Terms,
) -> Result<String, serde_json::Error> {
    let cap = Some(terms.cap_for(max_tokens));
    serde_json::to_string(&Body {
        model,
        messages: [
            Message { role: "system", content: &prompt.instructions },
            Message { role: "user", content: &prompt.text },
        ],
        stream: true,
        stream_options: terms.asks_usage.then_some(StreamOptions { include_usage: true }),
        max_tokens: cap.filter(|_| terms.cap == Cap::Tokens),
        max_completion_tokens: cap.filter(|_| terms.cap == Cap::CompletionTokens),
        thinking: terms.thinking(),
        reasoning_effort: (terms.switch == Switch::Effort).then_some("none"),
        chat_template_kwargs: (terms.switch == Switch::Template)
            .then_some(TemplateArguments { enable_thinking: false }),
    })
}

#[derive(Deserialize)]
struct Chunk {
    choices: Option<Vec<Choice>>,
    usage: Option<Document<'static>>,
    error: Option<Document<'static>>,
}

#[derive(Deserialize)]
struct Choice {
    index: Option<Document<'static>>,
    delta: Option<Delta>,
    finish_reason: Option<Document<'static>>,
}

/// Texts are read as any value: a member that holds something else says nothing.
#[derive(Deserialize)]
struct Delta {
    content: Option<Document<'static>>,
    reasoning_content: Option<Document<'static>>,
    reasoning: Option<Document<'static>>,
    refusal: Option<Document<'static>>,
    tool_calls: Option<Document<'static>>,
    function_call: Option<Document<'static>>,
}

/// Takes one event's data into the draft; tells whether it ends the stream. The usage comes after the reason for
/// stopping, so that reason alone ends nothing; and an end without a reason is none, for some servers send the mark
/// after an error as well.
pub(super) fn take(data: &str, draft: &mut Draft) -> Result<bool, Fault> {
    if data.trim() == END {
        return Ok(true);
    }
    let chunk: Chunk = serde_json::from_str(data).map_err(|error| super::no_json(data, &error))?;
    if let Some(error) = chunk.error {
        return Err(refusal::of_stream(&words::of_error(error.raw())));
    }
    // Figures that are none spoil no answer.
    if let Some(usage) = chunk.usage.as_ref().and_then(Document::object) {
        draft.usage = (usage.count("prompt_tokens"), usage.count("completion_tokens"));
    }
    for choice in chunk.choices.unwrap_or_default() {
        // Only one answer is asked for.
        if choice.index.as_ref().and_then(|index| json::count(index.raw())).is_none_or(|index| index == 0) {
            take_choice(choice, draft)?;
        }
    }
    Ok(false)
}

fn take_choice(choice: Choice, draft: &mut Draft) -> Result<(), Fault> {
    if let Some(delta) = choice.delta {
        for thought in
            [&delta.reasoning_content, &delta.reasoning].into_iter().flatten().filter_map(Document::text)
        {
            draft.think(&thought);
        }
        if let Some(text) = delta.content.as_ref().and_then(Document::text) {
            draft.say(&text)?;
        }
        if let Some(text) = delta.refusal.as_ref().and_then(Document::text) {
            draft.refuse(&text);
        }
        let calls = delta
            .tool_calls
            .as_ref()
            .and_then(|calls| json::array(calls.raw()))
            .is_some_and(|calls| !calls.is_empty());
        if calls || delta.function_call.is_some() {
            draft.call();
        }
    }
    if let Some(reason) =
        choice.finish_reason.as_ref().and_then(Document::text).filter(|reason| !reason.is_empty())
    {
        draft.stop = Some(match &*reason.to_str() {
            "stop" => Stop::Done,
            "length" => Stop::Cap,
            "content_filter" => Stop::Filter,
            "tool_calls" | "function_call" => Stop::Tool,
            "insufficient_system_resource" => Stop::Interrupted,
            other => Stop::Other(json::clip(other).into_owned()),
        });
    }
    Ok(())
}
