//! What the replacement of a tool result may not change (FORMAT §7.2).

use super::MessageView;
use crate::format::ToolResult;
use crate::json::{self, Document, Object, Raw};
use std::borrow::Cow;

/// All of the payload of a `tool/result` but what the tool answered. Two are equal if they mean the same.
#[derive(Debug, Clone)]
pub(super) struct RewriteIdentity(Box<str>);

impl RewriteIdentity {
    pub(super) fn of(payload: Raw, message: &MessageView, shape: ToolResult) -> Option<Self> {
        let content = message.members.get("content")?;
        let rest = match shape {
            ToolResult::Flat => "0".into(),
            ToolResult::Wrapped => {
                let block = message.content.first().copied().filter(|block| Object::of(*block).is_some())?;
                let answer = Object::of(block).and_then(|block| block.get("content"));
                answer.map_or(Some(Cow::Borrowed(block.get())), |answer| {
                    with(block, answer, "0").map(Cow::Owned)
                })?
            }
        };
        Some(Self(with(payload, content, &rest)?.into()))
    }

    fn digest(&self) -> Option<json::Digest> {
        Document::new(&*self.0).ok().map(|payload| json::digest(payload.raw()))
    }
}

impl PartialEq for RewriteIdentity {
    fn eq(&self, other: &Self) -> bool {
        // Most rewrites keep the very text.
        self.0 == other.0 || self.digest() == other.digest()
    }
}

/// The text of `whole` with `text` in the place of `part`.
fn with(whole: Raw, part: Raw, text: &str) -> Option<String> {
    let place = json::place(whole, part)?;
    let whole = whole.get();
    Some([whole.get(..place.start)?, text, whole.get(place.end..)?].concat())
}
