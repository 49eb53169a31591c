//! Characters that do not survive everywhere: what is no UTF-8, and halves of surrogate pairs (FORMAT §0.4).

use super::Finding;
use super::path::{path, range_in};
use super::registry::rule_family;
use crate::log::{Event, Place};

rule_family! {
    "line";
    /// A record holds bytes that are no UTF-8, which dsh reads as U+FFFD.
    ///
    /// **What it means.** A line holds bytes that begin no character. The rest of it is sound JSON. The place
    /// is given as an offset in the text.
    ///
    /// **Why it matters.** dsh opens the log, but shows and sends the replacement character in their stead;
    /// what stood there is lost to the model. The bytes in the file stay.
    ///
    /// **How it comes about.** A character was cut in two when output was shortened by bytes, a tool wrote
    /// another encoding, or a bit flipped on the disk. In the last case other damage may be near.
    ///
    /// **What to do.** The log can be used as it is. `dshc compact` leaves the bytes as they are. If the text
    /// matters, take it from a copy.
    INVALID_UTF8 = warning("invalid-utf8");
    /// A text holds the escape of one half of a surrogate pair.
    ///
    /// **What it means.** An escape from `\ud800` to `\udfff` stands without its other half. The finding
    /// gives the path to it and the number of such escapes in the event. Streamed deltas may part a pair and
    /// are not looked at.
    ///
    /// **Why it matters.** dsh takes it, and so does its surface. Strict JSON parsers refuse the whole line,
    /// which makes naive tools see the session as damaged, and a model's provider may refuse the request.
    ///
    /// **How it comes about.** JavaScript cuts text between UTF-16 units. A tool result that is shortened at
    /// a fixed length loses half of an emoji or of a rare character.
    ///
    /// **What to do.** Nothing is to be done in the log: the bytes are legal there, and `dshc replay --format
    /// messages` and `dshc compact` give them out unchanged. A plugin that shortens text should cut between
    /// characters.
    LONE_SURROGATE = warning("lone-surrogate");
}

/// A record whose line is no UTF-8 from `text_byte` of the text on.
pub(super) fn invalid_utf8(text_byte: u64, seq: u64, mut place: Place) -> Finding {
    place.text_byte = Some(text_byte);
    // Without frames the text is the file.
    if place.frame.is_none() {
        place.byte = Some(text_byte);
    }
    let message = format!("byte {text_byte} of the text begins no UTF-8 character; dsh reads U+FFFD there");
    Finding::new(&INVALID_UTF8, place, message)
        .at_seq(seq)
        .with_help("the log can be used as it is; the characters are lost, unless a copy has them")
}

/// Halves of surrogate pairs in an event's payload. Streamed deltas may part a pair, and are not looked at.
pub(super) fn lone_surrogates(event: &Event, place: Place) -> Option<Finding> {
    let text = event.data.get();
    if event.event_type == "assistant/chunk" || memchr::memmem::find(text.as_bytes(), b"\\u").is_none() {
        return None;
    }
    let mut halves = halves(text);
    if halves.is_empty() {
        return None;
    }
    if let Some(stream) = event.payload().and_then(|data| data.get("stream")) {
        let stream = range_in(event.data, stream);
        halves.retain(|at| !stream.contains(at));
    }
    let first = *halves.first()?;
    let escape = text.get(first..first + 6)?;
    let mut message = format!("{escape}, half of a surrogate pair, at {}", path(event.data, first));
    if halves.len() > 1 {
        message = format!("{message}; {} of them in this event", halves.len());
    }
    let help = "dsh reads it and compaction keeps it as it stands; strict readers of JSON refuse the line, and a model's \
                provider needs U+FFFD in its place";
    Some(Finding::new(&LONE_SURROGATE, place, message).at_seq(event.seq).with_help(help))
}

/// Where the escapes of half pairs stand in JSON text.
fn halves(text: &str) -> Vec<usize> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut paired_until = 0;
    for at in memchr::memmem::find_iter(bytes, b"\\u") {
        if at < paired_until || !is_escape(bytes, at) {
            continue;
        }
        match surrogate(bytes, at) {
            Some(Half::High) if surrogate(bytes, at + 6) == Some(Half::Low) => paired_until = at + 12,
            Some(_) => found.push(at),
            None => {}
        }
    }
    found
}

/// Whether the backslash at `at` is not itself escaped.
fn is_escape(bytes: &[u8], at: usize) -> bool {
    bytes[..at].iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 0
}

#[derive(Debug, PartialEq, Eq)]
enum Half {
    High,
    Low,
}

/// The half of a surrogate pair whose escape stands at `at`.
fn surrogate(bytes: &[u8], at: usize) -> Option<Half> {
    match bytes.get(at..at + 6)? {
        [b'\\', b'u', b'd' | b'D', b'8' | b'9' | b'a' | b'b' | b'A' | b'B', ..] => Some(Half::High),
        [b'\\', b'u', b'd' | b'D', b'c'..=b'f' | b'C'..=b'F', ..] => Some(Half::Low),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::Severity;
    use super::super::testing::{HEADER, check_bytes, check_events, codes, event, frame, only};
    use super::*;

    #[test]
    fn halves_are_told_from_pairs_and_from_escaped_backslashes() {
        for (text, expected) in [
            (r#""\ud83d""#, &[1][..]),
            (r#""\uDE00x""#, &[1]),
            (r#""\ud83d\ude00""#, &[]),
            (r#""\uD83D\uDE00\ud83d""#, &[13]),
            (r#""\ud83d\ud83d\ude00""#, &[1]),
            (r#""\ude00\ud83d""#, &[1, 7]),
            (r#""\\ud83d""#, &[]),
            (r#""\\\ud83d""#, &[3]),
            (r#""\ud83d\\ude00""#, &[1]),
            (r#""\ud7ff\u00d8""#, &[]),
            (r#""\ud83d \ude00""#, &[1, 8]),
        ] {
            assert_eq!(halves(text), expected, "{text}");
        }
    }

    #[test]
    fn a_half_is_told_with_its_path() {
        let told = |data: &str| only(check_events(&[event(0, "todo/write", data)])).message;
        assert_eq!(
            told(r#"{"a":[{"b c":"x\ud83d"}],"d":"\udc00"}"#),
            r#"\ud83d, half of a surrogate pair, at data.a[0]["b c"]; 2 of them in this event"#
        );
        assert_eq!(
            told(r#"{"a":{"\udc00":1}}"#),
            r"\udc00, half of a surrogate pair, at the name of a member of data.a"
        );
        let deep = format!(r#"{{"a":{}"\ud800"{}}}"#, "[".repeat(100_000), "]".repeat(100_000));
        assert!(told(&deep).ends_with("[0]…"));
    }

    #[test]
    fn deltas_may_part_a_pair() {
        let log = [
            event(0, "assistant/chunk", r#"{"turn":1,"step":1,"chunk":{"text":"\ud83d"}}"#),
            event(1, "todo/write", r#"{"stream":["\ud83d","\ude00"]}"#),
        ];
        assert_eq!(codes(&check_events(&log)), [""; 0]);
        let log = [event(0, "todo/write", r#"{"stream":["\ud83d"],"text":"\ude00"}"#)];
        assert!(only(check_events(&log)).message.ends_with("at data.text"));
    }

    #[test]
    fn bytes_that_are_no_utf8_are_warned_of() {
        let line = [event(0, "todo/write", r#"{"a":"X"}"#).as_bytes(), b"\n"].concat();
        let at = line.iter().position(|byte| *byte == b'X').unwrap();
        let bad = |line: &[u8]| {
            line.iter().map(|byte| if *byte == b'X' { 0xff } else { *byte }).collect::<Vec<u8>>()
        };
        let offset = HEADER.len() + 1 + at;
        let raw = only(check_bytes(&[format!("{HEADER}\n").as_bytes(), &bad(&line)].concat()));
        assert_eq!((raw.code, raw.severity, raw.seq), ("invalid-utf8", Severity::Warning, Some(0)));
        let at = Some(offset as u64);
        assert_eq!((raw.place.line, raw.place.byte, raw.place.text_byte), (Some(2), at, at));
        let head = frame(&format!("{HEADER}\n"));
        let frame = zstd::bulk::compress(&bad(&line), 3).unwrap();
        let packed = only(check_bytes(&[head.clone(), frame].concat()));
        assert_eq!((packed.place.byte, packed.place.text_byte), (Some(head.len() as u64), at));
    }
}
