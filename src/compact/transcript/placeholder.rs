//! The line that stands in a transcript for a block that is no text: what it was, never its data.

use crate::json::{self, Object, Raw};

/// The most characters of one word about a block: names come from anywhere.
const MOST: usize = 100;

/// `[image: wrong.png, image/png, 640x480, 2048 bytes]`, or as much of that as the block tells (FORMAT §6.1).
/// Blocks of unknown type are asked for the same members, and for those that other APIs use.
pub(super) fn of(block: Raw) -> String {
    let Some(block) = Object::of(block) else { return "[unknown]".to_owned() };
    let attachment = block.object("attachment");
    let holders = [attachment.as_ref(), Some(&block)];
    let text = |keys: &[&str]| {
        let values = holders.iter().flatten().flat_map(|holder| keys.iter().map(|key| holder.text(key)));
        values.flatten().map(|value| word(&value.to_str())).find(|word| !word.is_empty())
    };
    let count =
        |key| holders.iter().flatten().find_map(|holder| holder.get(key).and_then(json::strict_count));
    let size = count("width").zip(count("height")).map(|(width, height)| format!("{width}x{height}"));
    let facts = [
        text(&["name", "filename", "toolName"]),
        text(&["mediaType", "mimeType", "media_type"]),
        size,
        count("bytes").map(|bytes| format!("{bytes} bytes")),
        block.get("offloaded").is_some_and(json::is_true).then(|| "no longer shown".to_owned()),
    ];
    let facts: Vec<String> = facts.into_iter().flatten().collect();
    let kind = block.text("type").map(|kind| word(&kind.to_str())).filter(|kind| !kind.is_empty());
    let kind = kind.unwrap_or_else(|| "unknown".to_owned());
    if facts.is_empty() { format!("[{kind}]") } else { format!("[{kind}: {}]", facts.join(", ")) }
}

/// On one line, and not long.
fn word(text: &str) -> String {
    let line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(MOST).collect();
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_told_by_what_it_says_of_itself() {
        for (block, expected) in [
            (
                r#"{"type":"image","attachment":{"attachmentId":"a1","mediaType":"image/png","bytes":2048,"width":640,"height":480,"name":"wrong.png"}}"#,
                "[image: wrong.png, image/png, 640x480, 2048 bytes]",
            ),
            (
                r#"{"type":"image","attachment":{"mediaType":"image/gif","width":1},"offloaded":true}"#,
                "[image: image/gif, no longer shown]",
            ),
            (
                r#"{"type":"file","attachment":{"attachmentId":"a2","name":"a\n[b] \ud83d.txt","bytes":7}}"#,
                "[file: a [b] \u{fffd}.txt, 7 bytes]",
            ),
            (r#"{"type":"tool-addition","toolName":"grep"}"#, "[tool-addition: grep]"),
            (r#"{"type":"audio","mimeType":"audio/ogg","data":"T2dnUw=="}"#, "[audio: audio/ogg]"),
            (r#"{"type":"acme","name":5,"attachment":"x","bytes":-1}"#, "[acme]"),
            (r#"{"type":""}"#, "[unknown]"),
            ("{}", "[unknown]"),
            ("null", "[unknown]"),
        ] {
            assert_eq!(of(json::leaked(block)), expected, "{block}");
        }
        let long = format!(r#"{{"type":"file","name":"{}"}}"#, "x".repeat(5_000));
        assert_eq!(of(json::leaked(&long)).len(), MOST + "[file: ]".len());
    }
}
