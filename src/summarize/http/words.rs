//! A server's own words about an error, out of the shapes in which servers send them.

use crate::json::{self, Kind, Object, Raw};
use crate::wording::clipped;

/// The longest that a message shows of a server's words, in characters.
const LONGEST: usize = 300;

/// What an error object says: its message, and what kind of error it is, by the server's names.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Words {
    pub(super) message: String,
    pub(super) kind: Option<String>,
    /// The HTTP status that the error would have had, where the object names one.
    pub(super) status: Option<u16>,
}

/// The words in the body of an answer that tells an error: of the JSON shapes that are usual, else its beginning.
pub(super) fn of_body(body: &[u8]) -> Words {
    let text = String::from_utf8_lossy(body);
    json::parse(text.trim())
        .ok()
        .and_then(|body| of_json(body.raw()))
        .unwrap_or_else(|| Words { message: text.into_owned(), ..Words::default() })
}

/// `{"error": {"message"}}` (OpenAI, Anthropic, and who follows them), `{"error": "…"}` (ollama), `{"message"}`
/// (older vLLM), `{"detail"}` (FastAPI), and any of them as the only element of an array.
fn of_json(body: Raw) -> Option<Words> {
    let body = match json::kind(body) {
        Kind::Array => json::array(body)?.first().copied()?,
        _ => body,
    };
    let object = Object::of(body)?;
    match object.get("error") {
        Some(error) if json::kind(error) != Kind::Null => Some(of_error(error)),
        _ => {
            let said = object
                .name("message")
                .or_else(|| object.name("detail"))
                .map(|text| text.into_str().into_owned());
            let said = said.or_else(|| object.get("detail").map(|detail| detail.get().to_owned()));
            said.map(|message| Words { message, ..Words::default() })
        }
    }
}

/// What the member `error` of an answer, or of an event, says.
pub(super) fn of_error(error: Raw) -> Words {
    let Some(object) = Object::of(error) else {
        let message =
            json::text(error).map_or_else(|| error.get().to_owned(), |text| text.into_str().into_owned());
        return Words { message, ..Words::default() };
    };
    let code = object.count("code").and_then(|code| u16::try_from(code).ok());
    Words {
        message: object
            .name("message")
            .map_or_else(|| error.get().to_owned(), |text| text.into_str().into_owned()),
        kind: object.name("type").map(|text| text.into_str().into_owned()),
        status: code.filter(|code| (400..600).contains(code)),
    }
}

/// The words on one line, without control characters, cut where they are long.
pub(super) fn shown(words: &str) -> String {
    let mut shown = String::new();
    for word in words.split(|character: char| character.is_whitespace() || character.is_control()) {
        if !word.is_empty() {
            shown.push_str(if shown.is_empty() { "" } else { " " });
            shown.push_str(word);
        }
    }
    clipped(&shown, LONGEST).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_shapes_are_known() {
        for (body, expected) in [
            (
                r#"{"error":{"message":"no such model","type":"invalid_request_error","code":"x"}}"#,
                "no such model",
            ),
            (
                r#"{"type":"error","error":{"type":"not_found_error","message":"model: m"},"request_id":"r"}"#,
                "model: m",
            ),
            (r#"{"error":"model 'm' not found"}"#, "model 'm' not found"),
            (r#"{"object":"error","message":"too long","code":400}"#, "too long"),
            (r#"{"detail":"Not Found"}"#, "Not Found"),
            (r#"{"detail":[{"msg":"field required"}]}"#, r#"[{"msg":"field required"}]"#),
            (r#"[{"error":{"code":400,"message":"bad"}}]"#, "bad"),
            (r#"{"error":null,"message":"m"}"#, "m"),
            (r#"{"error":{"message":"half \ud83d"}}"#, "half \u{fffd}"),
            ("<html>\n<h1>Bad Gateway</h1>", "<html>\n<h1>Bad Gateway</h1>"),
            (r#"{"other":1}"#, r#"{"other":1}"#),
            ("", ""),
        ] {
            assert_eq!(of_body(body.as_bytes()).message, expected, "{body}");
        }
    }

    #[test]
    fn an_error_in_a_stream_may_name_its_kind_and_status() {
        let words =
            of_error(json::leaked(r#"{"type":"overloaded_error","message":"Overloaded","code":529}"#));
        assert_eq!((words.kind.as_deref(), words.status), (Some("overloaded_error"), Some(529)));
        let words = of_error(json::leaked(r#"{"message":"m","code":1}"#));
        assert_eq!(words.status, None);
    }

    #[test]
    fn words_are_shown_on_one_line_and_cut() {
        assert_eq!(shown(" a\r\n\tb\u{1b}[31m c "), "a b [31m c");
        let long = shown(&"é".repeat(1_000));
        assert_eq!(long.chars().count(), LONGEST + 1);
        assert!(long.ends_with('…'));
    }
}
