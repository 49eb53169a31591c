//! Images that a later event takes out of what the model is shown (`image/offload`, FORMAT §7.2).

use super::MessageView;
use crate::format::Format;
use crate::json::{self, Document, Object, Raw};
use crate::tokens::{self, host};

/// The event type.
pub(super) const OFFLOAD: &str = "image/offload";

/// What an offloaded block gains in its JSON text: `,"offloaded":true`.
const MARK: &str = ",\"offloaded\":true";

/// An image of a message, by what it costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Image {
    /// Whether the model is shown a placeholder.
    pub is_offloaded: bool,
    /// What the price of its message rises or falls by when it is offloaded, in host tokens.
    rise: i64,
}

/// The images of a message, depth first, as readers count them.
pub(super) fn of(message: &MessageView, format: &Format) -> Vec<Image> {
    // Most messages have none, and looking for the word is far cheaper than opening the blocks.
    if memchr::memmem::find(message.raw.get().as_bytes(), b"image").is_none() {
        return Vec::new();
    }
    let blocks = tokens::images(&message.content);
    blocks.into_iter().filter_map(|block| Image::of(block, format)).collect()
}

/// The message with the marks of [`offload`] on the images of these indexes.
pub(super) fn marked(message: Raw, indexes: &[u64]) -> Option<Document<'static>> {
    let view = MessageView::again(message)?;
    let text = message.get();
    let images = tokens::images(&view.content);
    let mut marked = String::with_capacity(text.len() + indexes.len() * MARK.len());
    let mut copied = 0;
    for index in indexes {
        let block = images.get(usize::try_from(*index).ok()?)?;
        // Its last byte is its closing brace.
        let end = json::place(message, *block)?.end - 1;
        marked.push_str(text.get(copied..end)?);
        marked.push_str(MARK);
        copied = end;
    }
    marked.push_str(text.get(copied..)?);
    Document::new(marked).ok()
}

/// Whether the images of these indexes are there and shown.
pub(super) fn check(images: &[Image], indexes: &[u64]) -> Result<(), String> {
    for index in indexes {
        let image = usize::try_from(*index).ok().and_then(|index| images.get(index));
        let image = image.ok_or_else(|| format!("names image {index}, which is not there"))?;
        if image.is_offloaded {
            return Err(format!("names image {index}, which is offloaded already"));
        }
    }
    Ok(())
}

/// Marks the images of these indexes. Gives what the price of the message changes by.
pub(super) fn offload(images: &mut [Image], indexes: &[u64]) -> i64 {
    let mut rise = 0_i64;
    for index in indexes {
        if let Some(image) = usize::try_from(*index).ok().and_then(|index| images.get_mut(index)) {
            image.is_offloaded = true;
            rise = rise.saturating_add(image.rise);
        }
    }
    rise
}

/// The targets of an `image/offload`: a node and the images of it (FORMAT §7.2).
pub(super) fn targets(data: Option<&Object>) -> Option<Vec<(u64, Vec<u64>)>> {
    let data = data.filter(|data| data.has_exactly(&["targets"], &[]))?;
    let targets = data.array("targets").filter(|targets| !targets.is_empty())?;
    targets.into_iter().map(target).collect()
}

fn target(raw: Raw) -> Option<(u64, Vec<u64>)> {
    let target = Object::of(raw).filter(|target| target.has_exactly(&["seq", "imageIndexes"], &[]))?;
    let indexes: Option<Vec<u64>> =
        target.array("imageIndexes")?.into_iter().map(json::strict_count).collect();
    let indexes = indexes.filter(|indexes| !indexes.is_empty() && indexes.is_sorted_by(|a, b| a < b))?;
    Some((target.get("seq").and_then(json::strict_count)?, indexes))
}

impl Image {
    fn of(block: Raw, format: &Format) -> Option<Self> {
        let flag = Object::of(block)?.get("offloaded");
        let now = host::block(block, format.unpriced_members);
        // The flag costs what it adds, unless it is free.
        let bare = json::stringify_len_without(block, &["offloaded"]);
        let mark = if format.unpriced_members.contains(&"offloaded") { 0 } else { MARK.len() as u64 };
        let rise = i64::try_from(host::text(bare.saturating_add(mark))).ok()? - i64::try_from(now).ok()?;
        Some(Self { is_offloaded: flag.is_some_and(json::is_true), rise })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format;

    const MESSAGE: &str = r#"{"id":"m","role":"user","source":{"kind":"user"},"content":[{"type":"image","n":1},{"type":"tool-result","content":[{"type":"text","text":"image"},{"type":"image","n":2, "offloaded" : true }]},{"type":"image"}]}"#;

    fn images_in(version: u64) -> Vec<Image> {
        let view = MessageView::again(json::leaked(MESSAGE)).unwrap();
        of(&view, format::of(version).unwrap())
    }

    #[test]
    fn images_are_counted_depth_first() {
        let flags: Vec<bool> = images_in(3).iter().map(|image| image.is_offloaded).collect();
        assert_eq!(flags, [false, true, false]);
        assert_eq!(check(&images_in(3), &[1]), Err("names image 1, which is offloaded already".into()));
        assert!(check(&images_in(3), &[3]).is_err() && check(&images_in(3), &[0, 2]).is_ok());
    }

    #[test]
    fn the_mark_costs_what_it_adds_unless_it_is_free() {
        // 22 units become 39, 16 become 33.
        let mut images = images_in(3);
        assert_eq!(offload(&mut images, &[0, 2]), (10 - 6) + (9 - 4));
        assert!(images.iter().all(|image| image.is_offloaded));
        assert_eq!(offload(&mut images_in(4), &[0, 2]), 0);
    }

    #[test]
    fn nothing_but_the_mark_is_added() {
        let marked = marked(json::leaked(MESSAGE), &[0, 2]).unwrap();
        let expected = MESSAGE.replace(r#""n":1}"#, r#""n":1,"offloaded":true}"#);
        let expected = expected.replace(r#"{"type":"image"}"#, r#"{"type":"image","offloaded":true}"#);
        assert_eq!(marked.get(), expected);
    }
}
