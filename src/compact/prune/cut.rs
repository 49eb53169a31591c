//! What of an oversized answer stays: its texts taken as one, dsh cuts out the middle (FORMAT §7.4).

use crate::json::{self, Object, Raw};
use std::borrow::Cow;
use std::ops::Range;

/// An answer with more text than this is oversized. Here and below: in Unicode code points, half a surrogate pair being
/// one.
const MOST: usize = 8_192;
/// How much of its beginning stays.
const HEAD: usize = 4_096;
/// How much of its end stays.
const TAIL: usize = 1_024;

/// Whether a message is long enough to hold an oversized answer: no code point takes less than a byte.
pub(super) fn may_be_oversized(message: Raw) -> bool {
    message.get().len() > MOST
}

/// The array of the blocks of an oversized answer, without the middle of its text; `None` for any other. Blocks without
/// text stay where they are. Texts that are cut keep the spelling of what stays; those of which nothing stays go.
pub(super) fn cut(blocks: &[Raw]) -> Option<String> {
    let texts: Vec<Option<Text>> = blocks.iter().map(|block| Text::of(*block)).collect();
    let total: usize = texts.iter().flatten().map(|text| text.length).sum();
    if total <= MOST {
        return None;
    }
    let mut middle = Middle { range: HEAD..total - TAIL, at: 0, is_marked: false };
    let kept = blocks.iter().zip(&texts).filter_map(|(block, text)| match text {
        None => Some(block.get().into()),
        Some(text) => middle.cut_out_of(*block, text),
    });
    Some(format!("[{}]", kept.collect::<Vec<Cow<str>>>().join(",")))
}

/// The text of a block, and its length.
struct Text<'a> {
    raw: Raw<'a>,
    length: usize,
}

impl<'a> Text<'a> {
    fn of(block: Raw<'a>) -> Option<Self> {
        let block = Object::of(block).filter(|block| block.has_text("type", "text"))?;
        let raw = block.get("text").filter(|raw| json::kind(*raw) == json::Kind::String)?;
        Some(Self { raw, length: json::code_points(raw).count() })
    }
}

/// What is cut out of all texts together.
struct Middle {
    range: Range<usize>,
    /// Where the next text begins.
    at: usize,
    /// Whether a text says already that something is left out.
    is_marked: bool,
}

impl Middle {
    /// A block without its part of the middle; `None` where no text stays.
    fn cut_out_of<'a>(&mut self, block: Raw<'a>, text: &Text) -> Option<Cow<'a, str>> {
        let start = self.at;
        self.at += text.length;
        let head = self.range.start.saturating_sub(start).min(text.length);
        let tail = self.range.end.saturating_sub(start).min(text.length);
        if head == tail {
            return Some(block.get().into()).filter(|_| text.length > 0);
        }
        let is_marked = std::mem::replace(&mut self.is_marked, true);
        let mut points = json::code_points(text.raw);
        let mut left: String = points.by_ref().take(head).collect();
        if !is_marked {
            left.push_str(&self.marker());
        }
        left.extend(points.skip(tail - head));
        let short = json::splice(block, text.raw, &format!("\"{left}\"")).filter(|_| !left.is_empty())?;
        Some(short.get().to_owned().into())
    }

    /// As JSON spells it.
    fn marker(&self) -> String {
        let middle = self.range.len();
        format!("\\n\\n[{middle} characters are left out here; the session log keeps them]\\n\\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A text block of this text, as JSON spells it, and an unknown member.
    fn text(spelling: &str) -> String {
        format!(r#"{{"type":"text", "text" : "{spelling}","x":1.0}}"#)
    }

    const IMAGE: &str = r#"{"type":"image", "n":1.0}"#;

    fn cut_of(blocks: &[&str]) -> Option<String> {
        let blocks: Vec<Raw> = blocks.iter().map(|block| json::leaked(block)).collect();
        cut(&blocks)
    }

    fn marker(left_out: usize) -> String {
        format!("\\n\\n[{left_out} characters are left out here; the session log keeps them]\\n\\n")
    }

    #[test]
    fn nothing_is_cut_up_to_the_limit() {
        // The second text is as long in code points, three times as long in code units.
        for text in
            [text(&"a".repeat(MOST)), text(&format!("{}{}", "🦀".repeat(8_000), r"\ud83d".repeat(192)))]
        {
            assert_eq!(cut_of(&[&text, IMAGE]), None);
            assert!(cut_of(&[&text, IMAGE, r#"{"type":"text","text":"b"}"#]).is_some());
        }
        assert_eq!(cut_of(&[]), None);
        let reasoning = text(&"a".repeat(MOST + 1)).replace(r#""type":"text""#, r#""type":"reasoning""#);
        assert_eq!(cut_of(&[&reasoning]), None, "only text blocks count");
    }

    #[test]
    fn beginning_and_end_stay_as_they_are_spelt() {
        let (head, tail) =
            (r"\u00e9".repeat(HEAD - 1) + r"\ud83d", r"\ude00".to_owned() + &"\u{1f980}".repeat(TAIL - 1));
        let long = text(&format!("{head}{}{tail}", r"\n".repeat(5_000)));
        let expected = text(&format!("{head}{}{tail}", marker(5_000)));
        assert_eq!(cut_of(&[&long]), Some(format!("[{expected}]")));
    }

    #[test]
    fn the_texts_are_cut_as_one() {
        let (short, half) = ("a".repeat(96), "b".repeat(4_000));
        let blocks =
            [&text(&half), IMAGE, &text(&short), &text("c"), &text(&half), IMAGE, &text(&half), &text("d")];
        // 12,098 in all: the middle begins with "c" and ends 1,023 before the end of the last long text.
        let expected = [
            &text(&half),
            IMAGE,
            &text(&short),
            &text(&marker(12_098 - 5_120)),
            IMAGE,
            &text(&"b".repeat(1_023)),
            &text("d"),
        ];
        assert_eq!(cut_of(&blocks), Some(format!("[{}]", expected.join(","))));
    }

    #[test]
    fn texts_that_are_empty_go_and_unknown_blocks_stay() {
        let (long, odd) = (text(&"a".repeat(9_000)), r#"{"type":"text","text":["a"]}"#);
        let cut = cut_of(&[&text(""), odd, "null", &long, &text("")]).unwrap();
        let short = text(&format!("{}{}{}", "a".repeat(HEAD), marker(9_000 - 5_120), "a".repeat(TAIL)));
        assert_eq!(cut, format!("[{odd},null,{short}]"));
    }

    #[test]
    fn what_was_cut_is_not_cut_again() {
        let cut = cut_of(&[&text(&"a".repeat(900_000))]).unwrap();
        let blocks = json::array(json::leaked(&cut)).unwrap();
        assert_eq!(super::cut(&blocks), None);
    }

    #[test]
    fn the_last_of_two_texts_is_the_one_that_counts() {
        let long = "a".repeat(9_000);
        let block = format!(r#"{{"text":"b","type":"text","text":"{long}"}}"#);
        assert!(cut_of(&[&block]).unwrap().starts_with(r#"[{"text":"b","type":"text","text":"aaa"#));
        assert_eq!(cut_of(&[&format!(r#"{{"text":"{long}","type":"text","text":"b"}}"#)]), None);
    }
}
