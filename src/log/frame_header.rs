//! What a Zstandard frame says of itself before its data (RFC 8878, 3.1.1.1).

use super::Source;
use super::frames::MAGIC;
use std::io::{self, Read as _};
use zstd::zstd_safe;

/// The longest frame header, in bytes: magic number, descriptor, window, dictionary, content size.
const LONGEST: u64 = 4 + 1 + 1 + 4 + 8;

/// What the header of a frame says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameHeader {
    /// How many bytes of text it holds, if it says so.
    pub content_size: Option<u64>,
    /// How many of the last bytes of text a decoder must keep at hand.
    pub window: u64,
    /// Whether a checksum of the text follows the data.
    pub has_checksum: bool,
}

impl FrameHeader {
    /// Reads the header of the frame that starts at byte `start` of the file; `None` if none starts there.
    pub fn at(source: &Source, start: u64) -> io::Result<Option<Self>> {
        let mut bytes = Vec::new();
        source
            .reader(start)?
            .take(LONGEST.min(source.bytes.saturating_sub(start)))
            .read_to_end(&mut bytes)?;
        Ok(Self::parse(&bytes))
    }

    fn parse(bytes: &[u8]) -> Option<Self> {
        let &[descriptor, window, ..] = bytes.strip_prefix(&MAGIC)? else { return None };
        let content_size = zstd_safe::get_frame_content_size(bytes).ok()?;
        let is_single_segment = descriptor & 0x20 != 0;
        let window = if is_single_segment { content_size? } else { window_size(window) };
        Some(Self { content_size, window, has_checksum: descriptor & 4 != 0 })
    }
}

/// A power of two from 1 KiB on, and up to seven eighths of it more.
fn window_size(byte: u8) -> u64 {
    let base = 1_u64 << (10 + (byte >> 3));
    base + base / 8 * u64::from(byte & 7)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::append::zstd_frame;

    #[test]
    fn frames_say_what_they_hold() {
        let header = |bytes: &[u8]| FrameHeader::at(&Source::of_bytes(bytes), 0).unwrap();
        // As dsh writes them: FORMAT §2.2.
        let written = FrameHeader { content_size: None, window: 2 << 20, has_checksum: true };
        assert_eq!(header(&zstd_frame(b"{}\n").unwrap()), Some(written));
        let whole = zstd::bulk::compress(&[b' '; 1000], 3).unwrap();
        let single = FrameHeader { content_size: Some(1000), window: 1000, has_checksum: false };
        assert_eq!(header(&whole), Some(single));
        for none in [&b""[..], b"{}\n", &whole[..5]] {
            assert_eq!(header(none), None, "{none:?}");
        }
        assert_eq!([0x00, 0x58, 0x68, 0x6f].map(window_size), [1 << 10, 2 << 20, 8 << 20, 15 << 20]);
    }
}
