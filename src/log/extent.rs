//! How far a frame reaches, where its bytes lie at hand (FORMAT §2.2).

use super::frames::MAGIC;

/// The largest block of a frame.
const MAX_BLOCK: u64 = 1 << 17;

/// The largest window that the decoder takes.
const MAX_WINDOW: u64 = 1 << 27;

/// What the bytes at a frame's start tell of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    /// All of it is there.
    Whole(Frame),
    /// It goes on behind the bytes.
    Beyond,
    /// No frame, or one that breaks a rule. The step by step walk tells which.
    Odd,
}

/// A frame of which all bytes are there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Frame {
    /// Its bytes.
    pub length: usize,
    /// How many bytes its text has at most; `None` if a decoder might not take it whole as it takes it step by step.
    pub text: Option<u64>,
}

/// The frame header's descriptor byte.
#[derive(Debug, Clone, Copy)]
pub(super) struct Descriptor(pub u8);

impl Descriptor {
    /// A bit is set that must not be. dsh takes the unused one for reserved too.
    pub(super) fn is_reserved(self) -> bool {
        self.0 & 0x18 != 0
    }

    fn is_single_segment(self) -> bool {
        self.0 & 0x20 != 0
    }

    pub(super) fn has_checksum(self) -> bool {
        self.0 & 4 != 0
    }

    fn dictionary_bytes(self) -> usize {
        [0, 1, 2, 4][usize::from(self.0 & 3)]
    }

    fn content_size_bytes(self) -> usize {
        match self.0 >> 6 {
            0 => usize::from(self.is_single_segment()),
            power => 1 << power,
        }
    }

    /// The header's bytes: magic number, descriptor, and the rest.
    pub(super) fn header_bytes(self) -> usize {
        let window = usize::from(!self.is_single_segment());
        5 + window + self.dictionary_bytes() + self.content_size_bytes()
    }
}

/// A block header.
#[derive(Debug, Clone, Copy)]
pub(super) struct Block(u32);

impl Block {
    pub(super) fn of(bytes: [u8; 3]) -> Self {
        Self(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], 0]))
    }

    pub(super) fn is_last(self) -> bool {
        self.0 & 1 == 1
    }

    pub(super) fn is_reserved(self) -> bool {
        self.kind() == 3
    }

    fn kind(self) -> u32 {
        (self.0 >> 1) & 3
    }

    /// At most 2 MiB.
    fn size(self) -> u32 {
        self.0 >> 3
    }

    /// The bytes behind the block header.
    pub(super) fn body(self) -> u32 {
        if self.kind() == 1 { 1 } else { self.size() }
    }
}

/// Looks at the frame that starts at `bytes[0]`.
pub(super) fn of(bytes: &[u8]) -> Extent {
    let [a, b, c, d, descriptor, rest @ ..] = bytes else { return Extent::Beyond };
    let descriptor = Descriptor(*descriptor);
    if [*a, *b, *c, *d] != MAGIC || descriptor.is_reserved() {
        return Extent::Odd;
    }
    let mut at = descriptor.header_bytes();
    let Some(fields) = rest.get(..at - 5) else { return Extent::Beyond };
    let sizes = Sizes::of(descriptor, fields);
    let mut text = Some(0_u64);
    loop {
        let Some(block) = bytes.get(at..).and_then(|rest| rest.first_chunk::<3>()) else {
            return Extent::Beyond;
        };
        let block = Block::of(*block);
        if block.is_reserved() {
            return Extent::Odd;
        }
        at += 3 + block.body() as usize;
        text = text.zip(sizes.text_of(block)).map(|(text, more)| text + more);
        if block.is_last() {
            break;
        }
    }
    let length = at + if descriptor.has_checksum() { 4 } else { 0 };
    if length > bytes.len() {
        return Extent::Beyond;
    }
    Extent::Whole(Frame { length, text: text.and_then(|text| sizes.limit(text)) })
}

/// What a frame header says of sizes.
struct Sizes {
    content: Option<u64>,
    window: u64,
}

impl Sizes {
    /// Reads the header's fields behind the descriptor.
    fn of(descriptor: Descriptor, fields: &[u8]) -> Self {
        let content = fields.get(fields.len() - descriptor.content_size_bytes()..).unwrap_or_default();
        let content = (!content.is_empty()).then(|| {
            let number = content.iter().rev().fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
            // A size of two bytes counts from 256.
            if content.len() == 2 { number + 256 } else { number }
        });
        let window = match (content, fields.first()) {
            (Some(content), _) if descriptor.is_single_segment() => content,
            (_, Some(byte)) => {
                let base = 1_u64 << (10 + (byte >> 3));
                base + base / 8 * u64::from(byte & 7)
            }
            (_, None) => 0,
        };
        Self { content, window }
    }

    /// How much text a block has at most; `None` if it is larger than a block may be.
    fn text_of(&self, block: Block) -> Option<u64> {
        let (size, largest) = (u64::from(block.size()), self.window.min(MAX_BLOCK));
        if size > largest {
            return None;
        }
        Some(if block.kind() == 2 { largest } else { size })
    }

    /// How much text the frame has at most, by what its blocks come to; `None` if it is more than its window shows
    /// at once, or the window is more than a decoder takes.
    fn limit(&self, blocks: u64) -> Option<u64> {
        let text = self.content.unwrap_or(blocks);
        Some(text).filter(|text| *text <= self.window && self.window <= MAX_WINDOW)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::append::zstd_frame;

    fn whole(bytes: &[u8]) -> Frame {
        match of(bytes) {
            Extent::Whole(frame) => frame,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_frame_of_dsh_is_measured() {
        let frame = zstd_frame(&b"{\"seq\":0}\n".repeat(1000)).unwrap();
        let behind = [&frame[..], b"and so on"].concat();
        assert_eq!(whole(&behind), Frame { length: frame.len(), text: Some(MAX_BLOCK) });
        for cut in 0..frame.len() {
            assert_eq!(of(&frame[..cut]), Extent::Beyond, "cut to {cut} bytes");
        }
    }

    #[test]
    fn a_stated_size_limits_the_text() {
        for length in [0, 1, 255, 256, 70_000, 300_000] {
            let frame = zstd::bulk::compress(&vec![b'a'; length], 3).unwrap();
            assert_eq!(whole(&frame), Frame { length: frame.len(), text: Some(length as u64) });
        }
    }

    #[test]
    fn what_is_no_plain_frame_is_left_to_the_walk() {
        let frame = zstd_frame(b"text\n").unwrap();
        let changed = |at: usize, byte: u8| {
            let mut frame = frame.clone();
            frame[at] = byte;
            of(&frame)
        };
        assert_eq!(of(&[0; 9]), Extent::Odd);
        assert_eq!(changed(4, 0x0c), Extent::Odd, "a reserved bit of the header");
        assert_eq!(changed(6, frame[6] | 6), Extent::Odd, "a reserved kind of block");
        let Extent::Whole(frame) = changed(5, 0xff) else { panic!() };
        assert_eq!(frame.text, None, "a window of nearly 4 TiB");
    }
}
