//! Anthropic's messages: the request, and the events of a streamed answer.

use super::draft::{Draft, Stop};
use super::fault::Fault;
use super::terms::{Terms, Thinking};
use super::{refusal, words};
use crate::json::{self, Document, Text};
use crate::summarize::Prompt;
use serde::{Deserialize, Serialize};

/// The version of the API that is spoken, a header that each request must have.
pub(super) const VERSION: &str = "2023-06-01";

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    max_tokens: u64,
    system: &'a str,
    messages: [Message<'a>; 1],
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<Thinking>,
}

#[derive(Serialize)]
struct Message<'a> {
    role: &'static str,
    content: &'a str,
}

/// The request's body.
pub(super) fn body(
    model: &str,
    prompt: &Prompt,
    max_tokens: u64,
    terms: Terms,
) -> Result<String, serde_json::Error> {
    serde_json::to_string(&Body {
        model,
        max_tokens: terms.cap_for(max_tokens),
        system: &prompt.instructions,
        messages: [Message { role: "user", content: &prompt.text }],
        stream: true,
        thinking: terms.thinking(),
    })
}

#[derive(Deserialize)]
struct Event {
    r#type: Option<Document<'static>>,
    message: Option<Begun>,
    content_block: Option<Part>,
    delta: Option<Part>,
    usage: Option<Document<'static>>,
    error: Option<Document<'static>>,
}

/// The message as it begins.
#[derive(Deserialize)]
struct Begun {
    usage: Option<Document<'static>>,
}

/// A content block as it begins, more of one, or what the end changes in the message.
#[derive(Deserialize)]
struct Part {
    r#type: Option<Document<'static>>,
    text: Option<Document<'static>>,
    thinking: Option<Document<'static>>,
    stop_reason: Option<Document<'static>>,
}

/// Takes one event's data into the draft; tells whether it ends the stream. Events of unknown types say nothing.
pub(super) fn take(data: &str, draft: &mut Draft) -> Result<bool, Fault> {
    let event: Event = serde_json::from_str(data).map_err(|error| super::no_json(data, &error))?;
    let kind = event.r#type.as_ref().and_then(Document::text).unwrap_or_default();
    match &*kind.to_str() {
        "message_start" => take_usage(event.message.and_then(|message| message.usage).as_ref(), draft),
        "content_block_start" | "content_block_delta" => {
            for part in event.content_block.into_iter().chain(event.delta) {
                take_part(&part, draft)?;
            }
        }
        "message_delta" => {
            take_usage(event.usage.as_ref(), draft);
            let reason =
                event.delta.as_ref().and_then(|delta| delta.stop_reason.as_ref()).and_then(Document::text);
            draft.stop = reason.map(|reason| stop(&reason)).or(draft.stop.take());
        }
        "message_stop" => return Ok(true),
        "error" => {
            return Err(refusal::of_stream(
                &event.error.map(|error| words::of_error(error.raw())).unwrap_or_default(),
            ));
        }
        _ => {}
    }
    Ok(false)
}

/// A block, or more of one. Of a block that is neither text nor thinking, only tools' are known to be asked for.
fn take_part(part: &Part, draft: &mut Draft) -> Result<(), Fault> {
    let kind = part.r#type.as_ref().and_then(Document::text).unwrap_or_default();
    match &*kind.to_str() {
        "text" | "text_delta" => {
            part.text.as_ref().and_then(Document::text).map_or(Ok(()), |text| draft.say(&text))
        }
        "thinking" | "thinking_delta" => {
            part.thinking
                .as_ref()
                .and_then(Document::text)
                .into_iter()
                .for_each(|thought| draft.think(&thought));
            Ok(())
        }
        kind if kind.ends_with("tool_use") => {
            draft.call();
            Ok(())
        }
        _ => Ok(()),
    }
}

/// Figures that come later are those of the whole so far. What was read from a cache, or into it, is told apart.
fn take_usage(usage: Option<&Document>, draft: &mut Draft) {
    // Figures that are none spoil no answer.
    let Some(usage) = usage.and_then(Document::object) else { return };
    if let Some(fresh) = usage.count("input_tokens") {
        let cached = ["cache_creation_input_tokens", "cache_read_input_tokens"];
        let cached = cached.into_iter().filter_map(|member| usage.count(member));
        draft.usage.0 = Some(cached.fold(fresh, u64::saturating_add));
    }
    if let Some(written) = usage.count("output_tokens") {
        draft.usage.1 = Some(written);
    }
}

fn stop(reason: &Text) -> Stop {
    match &*reason.to_str() {
        "end_turn" | "stop_sequence" => Stop::Done,
        "max_tokens" => Stop::Cap,
        "model_context_window_exceeded" => Stop::Window,
        "refusal" => Stop::Filter,
        "tool_use" => Stop::Tool,
        other => Stop::Other(json::clip(other).into_owned()),
    }
}
