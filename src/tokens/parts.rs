//! The parts of content blocks that cost tokens, the same for every way of counting them.

use crate::json::{self, Kind, Object, Raw};

/// Tool results nested deeper than this count as blocks of unknown type: dsh nests none, and opening one costs
/// a scan of all that is in it.
pub(super) const MAX_DEPTH: u32 = 64;

/// One priced part of a message (FORMAT §6.1).
#[derive(Debug)]
pub(super) enum Part<'a> {
    /// The text of a `text` or `reasoning` block.
    Text(Raw<'a>),
    /// A `tool-call` block; its arguments are a JSON string of their own.
    Call { name: Raw<'a>, arguments: Raw<'a> },
    /// The wrapper of a `tool-result` block, whose inner blocks are parts of their own.
    Result,
    /// A block of another type, or one that lacks what its type promises.
    Other(Raw<'a>),
}

/// The parts of `content`, the last first; a tool result comes before the parts that stand in it.
pub(super) fn parts<'a>(content: &[Raw<'a>]) -> impl Iterator<Item = Part<'a>> {
    let mut waiting: Vec<(Raw<'a>, u32)> = content.iter().map(|block| (*block, 0)).collect();
    std::iter::from_fn(move || {
        let (block, depth) = waiting.pop()?;
        Some(match open(block) {
            Some(Opened::Part(part)) => part,
            Some(Opened::Blocks(inner)) if depth < MAX_DEPTH => {
                waiting.extend(inner.into_iter().map(|block| (block, depth + 1)));
                Part::Result
            }
            Some(Opened::Blocks(_)) | None => Part::Other(block),
        })
    })
}

/// The image blocks of `content`, those inside tool results where they stand.
#[must_use]
pub fn images<'a>(content: &[Raw<'a>]) -> Vec<Raw<'a>> {
    let is_image = |block: Raw| Object::of(block).is_some_and(|block| block.has_text("type", "image"));
    let others =
        parts(content).filter_map(|part| if let Part::Other(block) = part { Some(block) } else { None });
    let mut images: Vec<Raw> = others.filter(|block| is_image(*block)).collect();
    images.reverse();
    images
}

enum Opened<'a> {
    Part(Part<'a>),
    Blocks(Vec<Raw<'a>>),
}

/// Reads a block of a known type; `None` for any other and where a member is missing or of the wrong kind.
fn open(block: Raw<'_>) -> Option<Opened<'_>> {
    let members = Object::of(block)?;
    let string = |key| members.get(key).filter(|raw| json::kind(*raw) == Kind::String);
    Some(match &*members.text("type")?.to_str() {
        "text" | "reasoning" => Opened::Part(Part::Text(string("text")?)),
        "tool-call" => Opened::Part(Part::Call { name: string("name")?, arguments: string("arguments")? }),
        "tool-result" => Opened::Blocks(members.get("content").and_then(json::array)?),
        _ => return None,
    })
}
