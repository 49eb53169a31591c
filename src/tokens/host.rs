//! Host tokens: dsh's own estimate of what the model-visible history costs (FORMAT §7.5).
//!
//! Four UTF-16 code units make a token, rounded up per string; blocks, messages and headers cost 4 on top.
//! Blocks that dsh itself would stumble over (a `text` without text) are priced like those of unknown type.
//! `free` names the members of a block that cost nothing in the log's format.

use super::parts::{MAX_DEPTH, Part, parts};
use crate::json::{self, Kind, Object, Raw};

/// UTF-16 code units that make one token.
const UNITS: u64 = 4;

/// What each block, message and header part costs beside its text.
const OVERHEAD: u64 = 4;

/// The host tokens of a message with this content.
///
/// An `assistant/message` without content costs nothing (FORMAT §7.5): that is the caller's to know.
#[must_use]
pub fn message(content: &[Raw], free: &[&str]) -> u64 {
    blocks(content, free).saturating_add(OVERHEAD)
}

/// The host tokens of a system prompt that is a message: its texts as one; blocks cost nothing on top.
#[must_use]
pub fn system(content: &[Raw]) -> u64 {
    let texts =
        parts(content).map(|part| if let Part::Text(value) = part { json::utf16_len(value) } else { 0 });
    if content.is_empty() { 0 } else { text(texts.fold(0, u64::saturating_add)) }
}

/// The host tokens of content blocks, those inside tool results included.
#[must_use]
pub fn blocks(content: &[Raw], free: &[&str]) -> u64 {
    parts(content).map(|part| price(&part, free)).fold(0, u64::saturating_add)
}

/// The host tokens of one content block.
#[must_use]
pub fn block(block: Raw, free: &[&str]) -> u64 {
    blocks(&[block], free)
}

/// The host tokens of a text block of `utf16_len` UTF-16 code units.
#[must_use]
pub fn text(utf16_len: u64) -> u64 {
    tokens(utf16_len).saturating_add(OVERHEAD)
}

/// The host tokens of a request header: its system prompt (formats 0 to 2) and its tools.
///
/// What is absent or empty costs nothing: dsh drops it before it counts.
#[must_use]
pub fn header(system: Option<Raw>, tools: Option<Raw>) -> u64 {
    let system = system.map_or(0, |system| match json::text(system) {
        Some(prompt) if prompt.is_empty() => 0,
        Some(prompt) => text(prompt.utf16_len()),
        None => text(json::stringify_len(system)),
    });
    let tools = tools.map_or(0, |tools| match (json::kind(tools), json::stringify_len(tools)) {
        (Kind::Array, 2) => 0,
        (_, len) => text(len),
    });
    system.saturating_add(tools)
}

/// What dsh's meter finds in a content block that it cannot price, as `has …`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Problem {
    /// The meter fails.
    Fails(String),
    /// The price is no number, nor is any sum that it is part of.
    NoNumber(String),
}

/// Why a content block cannot be priced; one of a type that the meter does not know always can. Results nested deeper
/// than any is priced are not looked into.
#[must_use]
pub fn problem(block: Raw) -> Option<Problem> {
    let mut left = vec![(block, 0)];
    while let Some((raw, depth)) = left.pop() {
        if json::is_null(raw) {
            return Some(Problem::Fails("has a content block that is null".to_owned()));
        }
        let Some(block) = Object::of(raw) else { continue };
        let needs: &[&str] = match &*block.text("type").unwrap_or_default().to_str() {
            "text" | "reasoning" => &["text"],
            "tool-call" => &["name", "arguments"],
            "tool-result" => {
                let Some(content) = block.array("content") else {
                    let what = "has a tool-result block without a content array".to_owned();
                    return Some(Problem::Fails(what));
                };
                let inner = content.into_iter().filter(|_| depth < MAX_DEPTH);
                left.extend(inner.map(|block| (block, depth + 1)));
                &[]
            }
            _ => &[],
        };
        for key in needs {
            match block.get(key).map(json::kind) {
                // An array has a length too.
                Some(Kind::String | Kind::Array) => {}
                Some(Kind::Null) | None => {
                    return Some(Problem::Fails(format!("has a content block without its {key}")));
                }
                Some(_) => {
                    return Some(Problem::NoNumber(format!("has a content block whose {key} is no text")));
                }
            }
        }
    }
    None
}

fn price(part: &Part, free: &[&str]) -> u64 {
    match part {
        Part::Text(value) => text(json::utf16_len(*value)),
        Part::Call { name, arguments } => {
            tokens(json::utf16_len(*name)).saturating_add(text(json::utf16_len(*arguments)))
        }
        Part::Result => OVERHEAD,
        Part::Other(block) => text(json::stringify_len_without(*block, free)),
    }
}

fn tokens(utf16_len: u64) -> u64 {
    utf16_len.div_ceil(UNITS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> Raw<'_> {
        json::leaked(text)
    }

    fn block(block: Raw) -> u64 {
        super::block(block, &[])
    }

    #[test]
    fn prices_are_those_worked_out_by_hand() {
        for (json, expected) in [
            (r#"{"type":"text","text":""}"#, 4),
            (r#"{"type":"text","text":"abcd"}"#, 1 + 4),
            (r#"{"type":"text","text":"abcde"}"#, 2 + 4),
            (r#"{"type":"reasoning","text":"abcde","signature":"free of charge"}"#, 2 + 4),
            // UTF-16 units: one for a CJK character, two for an emoji, one for half of it.
            (r#"{"type":"text","text":"压缩会话日志"}"#, 2 + 4),
            (r#"{"type":"text","text":"🦀🦀x"}"#, 2 + 4),
            (r#"{"type":"text","text":"\ud83e\udd80\ud83e\udd80"}"#, 1 + 4),
            (r#"{"type":"text","text":"\ud83e\ud83e\ud83e\ud83e"}"#, 1 + 4),
            (r#"{"type":"text","text":"\u0061\n\\\"e"}"#, 2 + 4),
            (
                r#"{"type":"tool-call","id":"call-000000001","name":"shell","arguments":"{\"a\":1}"}"#,
                2 + 2 + 4,
            ),
            (r#"{"type":"tool-call","id":"","name":"","arguments":""}"#, 4),
            // The last of a repeated key wins, spellings do not count.
            (r#"{"type":"image","text":"abcde","t\u0079pe":"text","text":"a"}"#, 1 + 4),
        ] {
            assert_eq!(block(raw(json)), expected, "{json}");
        }
        let content = [raw(r#"{"type":"text","text":"abcde"}"#), raw(r#"{"type":"text","text":""}"#)];
        assert_eq!((blocks(&content, &[]), message(&content, &[]), message(&[], &[])), (10, 14, 4));
        assert_eq!((text(0), text(1), text(4), text(u64::MAX)), (4, 5, 5, (1 << 62) + 4));
    }

    #[test]
    fn blocks_of_unknown_type_or_shape_cost_their_json() {
        for (json, units) in [
            (r#"{ "type": "image", "size": 1.0 }"#, r#"{"type":"image","size":1}"#.len()),
            (r#"{"type":"\ud83d"}"#, r#"{"type":"\ud83d"}"#.len()),
            (r#"{"type":"会话"}"#, 13),
            (r#"{"type":"text"}"#, 15),
            (r#"{"type":"text","text":[]}"#, 25),
            (r#"{"type":"text","text":12}"#, 25),
            (r#"{"type":"tool-call","name":"a"}"#, 31),
            (r#"{"type":"tool-result","content":"text"}"#, 39),
            (r#"{"type":1}"#, 10),
            ("{}", 2),
            ("null", 4),
            (r#""text""#, 6),
            ("[]", 2),
        ] {
            assert_eq!(block(raw(json)), text(units as u64), "{json}");
        }
    }

    #[test]
    fn tool_results_cost_what_is_in_them() {
        let inner = r#"{"type":"text","text":"abcde"},{"type":"reasoning","text":""}"#;
        let result =
            format!(r#"{{"type":"tool-result","toolCallId":"c","isError":true,"content":[{inner}]}}"#);
        assert_eq!(block(raw(&result)), 10 + 4);
        let nested = format!(r#"{{"type":"tool-result","toolCallId":"d","content":[{result},{inner}]}}"#);
        assert_eq!(block(raw(&nested)), 14 + 10 + 4);
        assert_eq!(block(raw(r#"{"type":"tool-result","content":[]}"#)), 4);
    }

    #[test]
    fn tool_results_nested_beyond_reason_are_priced_in_linear_time() {
        let nested = |depth: usize| {
            let inner = r#"{"type":"text","text":"abcde"}"#;
            let opening = r#"{"type":"tool-result","content":["#.repeat(depth);
            format!("{opening}{inner}{}", "]}".repeat(depth))
        };
        assert_eq!(block(raw(&nested(64))), 64 * 4 + 6);
        let too_deep = nested(1).len() as u64;
        assert_eq!(block(raw(&nested(65))), 64 * 4 + text(too_deep));
        assert!(block(raw(&nested(20_000))) > 20_000);
    }

    #[test]
    fn a_known_type_without_its_text_is_what_dshs_meter_fails_over() {
        for sound in [
            r#"{"type":"text","text":""}"#,
            // What has a length is priced by it.
            r#"{"type":"text","text":[]}"#,
            r#"{"type":"acme"}"#,
            "5",
            r#"{"type":"tool-result","content":[]}"#,
        ] {
            assert_eq!(problem(raw(sound)), None, "{sound}");
        }
        for broken in [
            "null",
            r#"{"type":"text"}"#,
            r#"{"type":"reasoning","text":null}"#,
            r#"{"type":"tool-call","id":"a","name":"sh"}"#,
            r#"{"type":"tool-result","content":"text"}"#,
            r#"{"type":"tool-result","content":[{"type":"text"}]}"#,
        ] {
            assert!(matches!(problem(raw(broken)), Some(Problem::Fails(_))), "{broken}");
        }
        let what = "has a content block whose text is no text".to_owned();
        assert_eq!(problem(raw(r#"{"type":"text","text":12}"#)), Some(Problem::NoNumber(what)));
    }

    #[test]
    fn what_is_free_costs_nothing() {
        let image = raw(r#"{"type":"image","attachment":{},"offloaded":true}"#);
        let bare = r#"{"type":"image","attachment":{}}"#.len() as u64;
        assert_eq!(super::block(image, &["offloaded"]), text(bare));
        assert_eq!(block(image), text(bare + r#","offloaded":true"#.len() as u64));
    }

    #[test]
    fn a_system_prompt_is_one_text() {
        let content = [raw(r#"{"type":"text","text":"abc"}"#), raw(r#"{"type":"text","text":"de"}"#)];
        assert_eq!((system(&content), system(&[])), (2 + 4, 0));
    }

    #[test]
    fn headers_cost_their_prompt_and_their_tools() {
        assert_eq!(header(None, None), 0);
        assert_eq!(header(Some(raw(r#""""#)), None), 0);
        assert_eq!(header(Some(raw(r#""会话abc""#)), None), 2 + 4);
        assert_eq!(header(None, Some(raw("[ ]"))), 0);
        assert_eq!(header(None, Some(raw(r#"[ {"name":"sh"} ]"#))), 4 + 4);
        assert_eq!(header(Some(raw(r#""a""#)), Some(raw("[0]"))), 5 + 5);
    }
}
