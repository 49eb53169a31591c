//! What a model streamed: as events and rows of their own, or as a list inside the message (FORMAT §5).

use super::dice::Dice;
use super::prose::Text;
use std::io::{self, Write};

/// One member of a stream, in the order in which it came.
pub enum Part<'a> {
    /// A chunk that is no delta, as JSON.
    Chunk(String),
    /// The deltas of one block.
    Deltas {
        /// What kind of block.
        kind: Kind<'a>,
        /// The block's number in the message.
        index: u64,
        /// The pieces.
        text: &'a Text,
        /// What stands before the first piece and behind the last, of the call's JSON.
        around: [&'a str; 2],
    },
}

/// The kinds of deltas.
#[derive(Clone, Copy)]
pub enum Kind<'a> {
    /// Words of the answer.
    Text,
    /// Words of the reasoning.
    Reasoning,
    /// Arguments of a tool call.
    Call {
        /// The call's id.
        id: &'a str,
        /// The tool.
        name: &'a str,
    },
}

impl Kind<'_> {
    /// The type of a row.
    pub fn row(self) -> &'static str {
        match self {
            Self::Text => "text-chunks",
            Self::Reasoning => "reasoning-chunks",
            Self::Call { .. } => "tool-call-chunks",
        }
    }

    /// Writes the members that say which block it is, and opens the list of pieces.
    fn head(self, out: &mut Vec<u8>) -> io::Result<()> {
        match self {
            Self::Call { id, name } => write!(out, r#""id":"{id}","name":"{name}","#),
            _ => Ok(()),
        }
    }

    fn pieces(self) -> &'static str {
        if matches!(self, Self::Call { .. }) { "args" } else { "texts" }
    }
}

/// The pieces of a block; the JSON around a call's arguments goes with the first and the last.
pub fn pieces<'a>(text: &'a Text, around: [&'a str; 2]) -> impl Iterator<Item = [&'a str; 3]> {
    let last = text.ends.len().saturating_sub(1);
    text.pieces().enumerate().map(move |(place, piece)| {
        [if place == 0 { around[0] } else { "" }, piece, if place == last { around[1] } else { "" }]
    })
}

/// Writes the members of a row that stand behind its place: the block, the times between the pieces, the pieces.
pub fn row_members(
    out: &mut Vec<u8>,
    kind: Kind,
    text: &Text,
    around: [&str; 2],
    times: &[u64],
    times_first: bool,
) -> io::Result<()> {
    if !times_first {
        kind.head(out)?;
    }
    out.extend_from_slice(b"\"dt\":[");
    for (place, time) in times.iter().enumerate() {
        write!(out, "{}{time}", if place == 0 { "" } else { "," })?;
    }
    out.extend_from_slice(b"],");
    if times_first {
        kind.head(out)?;
    }
    write!(out, r#""{}":["#, kind.pieces())?;
    for (place, parts) in pieces(text, around).enumerate() {
        out.extend_from_slice(if place == 0 { b"\"" } else { b",\"" });
        for part in parts {
            out.extend_from_slice(part.as_bytes());
        }
        out.push(b'"');
    }
    out.push(b']');
    Ok(())
}

/// The delta of one piece.
pub fn delta(out: &mut Vec<u8>, kind: Kind, index: u64, parts: [&str; 3]) -> io::Result<()> {
    let (name, member) = match kind {
        Kind::Text => ("text-delta", "text"),
        Kind::Reasoning => ("reasoning-delta", "text"),
        Kind::Call { .. } => ("tool-call-delta", "argumentsDelta"),
    };
    write!(out, r#"{{"type":"{name}","index":{index},"#)?;
    kind.head(out)?;
    write!(out, r#""{member}":""#)?;
    for part in parts {
        out.extend_from_slice(part.as_bytes());
    }
    out.extend_from_slice(b"\"}");
    Ok(())
}

/// The milliseconds between so many pieces.
pub fn times(pieces: usize, dice: &mut Dice) -> Vec<u64> {
    (1..pieces).map(|_| dice.within([4, 60])).collect()
}
