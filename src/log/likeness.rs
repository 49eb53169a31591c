//! How much of two logs' text is the same, whatever their containers.

use super::Source;
use super::unpacked::Unpacked;
use super::zstd_text::Part;
use std::io;

/// What two texts have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Likeness {
    /// They are the same text.
    Equal,
    /// All of the first is the beginning of the second.
    FirstIsPrefix,
    /// All of the second is the beginning of the first.
    SecondIsPrefix,
    /// They differ from this line on; the header is line 1.
    DifferFrom(u64),
}

/// Compares two logs' text byte by byte, in bounded memory. Of a damaged frame what could be decoded counts.
pub fn compare(first: &Source, second: &Source) -> io::Result<Likeness> {
    let (mut first, mut second) = (Text::of(first)?, Text::of(second)?);
    let mut line = 1;
    loop {
        match (first.fill()?, second.fill()?) {
            (false, false) => return Ok(Likeness::Equal),
            (false, true) => return Ok(Likeness::FirstIsPrefix),
            (true, false) => return Ok(Likeness::SecondIsPrefix),
            (true, true) => {}
        }
        let (left, right) = (first.rest(), second.rest());
        let length = left.len().min(right.len());
        let same = left.iter().zip(right).take_while(|(left, right)| left == right).count();
        line += memchr::memchr_iter(b'\n', &left[..same]).count() as u64;
        if same < length {
            return Ok(Likeness::DifferFrom(line));
        }
        first.start += length;
        second.start += length;
    }
}

/// A log's text, a piece at a time.
struct Text {
    unpacked: Unpacked,
    buffer: Vec<u8>,
    /// How much of the buffer has been compared.
    start: usize,
    has_ended: bool,
}

impl Text {
    fn of(source: &Source) -> io::Result<Self> {
        let unpacked = Unpacked::of(source, 0)?;
        Ok(Self { unpacked, buffer: Vec::new(), start: 0, has_ended: false })
    }

    fn rest(&self) -> &[u8] {
        &self.buffer[self.start..]
    }

    /// Makes sure that there is text to compare; false at the end.
    fn fill(&mut self) -> io::Result<bool> {
        while self.rest().is_empty() {
            if self.has_ended {
                return Ok(false);
            }
            self.buffer.clear();
            self.start = 0;
            let part = self.unpacked.next(&mut self.buffer)?;
            self.has_ended = matches!(part, Part::End | Part::Torn(_));
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::append::zstd_frame;

    fn zstd(texts: &[&str]) -> Source {
        let frames: Vec<Vec<u8>> = texts.iter().map(|text| zstd_frame(text.as_bytes()).unwrap()).collect();
        Source::of_bytes(&frames.concat())
    }

    fn likeness(first: &Source, second: &Source) -> Likeness {
        compare(first, second).unwrap()
    }

    #[test]
    fn containers_and_frames_do_not_matter() {
        let raw = Source::of_bytes(b"head\none\ntwo\n");
        assert_eq!(likeness(&raw, &zstd(&["head\n", "one\ntwo\n"])), Likeness::Equal);
        assert_eq!(
            likeness(&zstd(&["head\n", "one\n", "two\n"]), &zstd(&["head\none\ntwo\n"])),
            Likeness::Equal
        );
        assert_eq!(likeness(&raw, &zstd(&["head\n", "", "one\n", "two\nthree\n"])), Likeness::FirstIsPrefix);
        assert_eq!(likeness(&raw, &zstd(&["head\n", "one\n"])), Likeness::SecondIsPrefix);
        assert_eq!(likeness(&Source::of_bytes(b""), &Source::of_bytes(b"")), Likeness::Equal);
    }

    #[test]
    fn the_first_line_that_differs_is_told() {
        let raw = Source::of_bytes(b"head\none\ntwo\n");
        assert_eq!(likeness(&raw, &zstd(&["head\n", "one\n", "tWo\n"])), Likeness::DifferFrom(3));
        assert_eq!(likeness(&raw, &zstd(&["Head\n"])), Likeness::DifferFrom(1));
    }

    #[test]
    fn a_torn_frame_counts_as_far_as_it_goes() {
        let whole = [zstd_frame(b"head\n").unwrap(), zstd_frame(b"one\ntwo\n").unwrap()].concat();
        let torn = Source::of_bytes(&whole[..whole.len() - 3]);
        assert_eq!(likeness(&torn, &Source::of_bytes(b"head\none\ntwo\nthree\n")), Likeness::FirstIsPrefix);
    }

    #[test]
    fn long_texts_are_compared_to_their_ends() {
        let text = "0123456789abcde\n".repeat(40_000);
        let longer = format!("{text}more\n");
        let (left, right) = (Source::of_bytes(text.as_bytes()), zstd(&["0123456789abcde\n", &longer[16..]]));
        assert_eq!(likeness(&left, &right), Likeness::FirstIsPrefix);
        let other = longer.replace("more", "less");
        assert_eq!(likeness(&right, &Source::of_bytes(other.as_bytes())), Likeness::DifferFrom(40_001));
    }
}
