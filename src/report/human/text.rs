//! Text fit for one line of a terminal.

use crate::json::{Object, Raw};
use crate::session::MessageView;

/// How deep tool results within tool results are looked into; dsh nests none.
const NESTING: usize = 4;

/// The first words of a message: its texts, its calls, a name for what is neither.
pub(super) fn first_words(message: &MessageView, width: usize) -> String {
    let mut line = String::new();
    append_blocks(&message.content, width, NESTING, &mut line);
    clip(&line, width)
}

fn append_blocks(blocks: &[Raw], width: usize, depth: usize, line: &mut String) {
    for block in blocks.iter().filter_map(|block| Object::of(*block)) {
        if line.chars().count() > width {
            return;
        }
        if !line.is_empty() {
            line.push(' ');
        }
        let text = |key| block.text(key).unwrap_or_default().into_str().into_owned();
        match &*text("type") {
            "text" => line.push_str(&text("text")),
            "tool-call" => line.extend(["→ ", &text("name"), " ", &text("arguments")]),
            "tool-result" if depth > 0 => {
                append_blocks(&block.array("content").unwrap_or_default(), width, depth - 1, line);
            }
            "reasoning" => line.push_str("(reasoning)"),
            other => line.extend(["[", other, "]"]),
        }
    }
}

/// At most `width` characters on one line, control characters left out, "…" where something is cut off.
pub(super) fn clip(text: &str, width: usize) -> String {
    let mut words = String::new();
    for word in text.split_whitespace() {
        if words.chars().count() > width {
            break;
        }
        if !words.is_empty() {
            words.push(' ');
        }
        words.extend(word.chars().take(width + 1).filter(|character| !character.is_control()));
    }
    if words.chars().count() <= width {
        return words;
    }
    let mut clipped: String = words.chars().take(width.saturating_sub(1)).collect();
    clipped.push('…');
    clipped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_is_clipped_on_one_line() {
        assert_eq!(clip("a\n b\tc\u{7}", 10), "a b c");
        assert_eq!(clip("abcdefgh", 5), "abcd…");
        assert_eq!(clip("会话压缩日志", 4), "会话压…");
        assert_eq!(clip("", 4), "");
    }
}
