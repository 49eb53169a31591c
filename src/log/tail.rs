//! The torn tail of a log: where it starts, and what can be read of it (FORMAT §2.3).

use super::lines::{Lines, Piece};
use super::{Container, FaultKind, Source, frames};
use std::io::{self, Read as _};

/// How much of a raw log is read at once, from its end on.
const STEP: u64 = 1 << 16;

/// What a writer that was stopped left behind the last whole line or frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TornTail {
    /// The byte of the file at which it starts.
    pub start: u64,
    /// How many whole lines a torn frame gives; of a torn line nothing is taken.
    pub recovered: u64,
}

impl TornTail {
    /// The torn tail of a log, if it has one. A tail that is damaged besides is an error, and so is a log without a whole
    /// header: to cut such a tail could lose more than it mends.
    pub(super) fn of(source: &Source) -> io::Result<Option<Self>> {
        let start = match source.container {
            Container::Raw => Some(last_line(source)?).filter(|start| *start < source.bytes),
            Container::Zstd => frames::walk(source.reader(0)?, 0)?.torn,
        };
        let Some(start) = start else { return Ok(None) };
        if start == 0 {
            return Err(damaged("the file ends inside its header"));
        }
        let recovered = match source.container {
            Container::Raw => 0,
            Container::Zstd => each_line(source, start, &mut |_| Ok(()))?,
        };
        Ok(Some(Self { start, recovered }))
    }
}

/// Gives the whole lines of the torn frame that starts at byte `start` to `visit`, without their line feeds, and tells how
/// many there are.
pub(super) fn each_line(
    source: &Source,
    start: u64,
    visit: &mut dyn FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<u64> {
    let mut lines = Lines::new(source, start)?;
    let mut count = 0;
    while let Some(piece) = lines.next()? {
        match piece {
            Piece::Line(line) if !line.bytes.is_empty() => {
                visit(line.bytes)?;
                count += 1;
            }
            Piece::Fault(FaultKind::TornTail { .. }, _) => {}
            // Nothing could be read of it, whatever it was.
            Piece::Fault(FaultKind::BrokenTail { swallowed: None, .. }, _) if count == 0 => {}
            Piece::Line(_) => return Err(damaged("the torn frame holds a blank line")),
            Piece::Fault(kind, _) => return Err(damaged(&kind.to_string())),
        }
    }
    Ok(count)
}

/// Whether `new` holds, in whole frames from byte `start` on, just the lines that can be read of the torn frame of `old`
/// there, and before `start` the same bytes.
pub(super) fn is_mended(old: &Source, new: &Source, start: u64) -> io::Result<bool> {
    if !is_same_before(old, new, start)? {
        return Ok(false);
    }
    let mut lines = Lines::new(new, start)?;
    let mut is_same = true;
    each_line(old, start, &mut |expected| {
        is_same &=
            matches!(lines.next()?, Some(Piece::Line(line)) if !line.recovered && line.bytes == expected);
        Ok(())
    })?;
    Ok(is_same && lines.next()?.is_none())
}

fn is_same_before(old: &Source, new: &Source, end: u64) -> io::Result<bool> {
    let mut readers = [old.reader(0)?.take(end), new.reader(0)?.take(end)];
    let mut rooms = [vec![0; 1 << 16], vec![0; 1 << 16]];
    let mut left = end;
    while left > 0 {
        let length = usize::try_from(left).unwrap_or(usize::MAX).min(1 << 16);
        for (reader, room) in readers.iter_mut().zip(&mut rooms) {
            room.truncate(length);
            reader.read_exact(room)?;
        }
        if rooms[0] != rooms[1] {
            return Ok(false);
        }
        left -= length as u64;
    }
    Ok(true)
}

/// Where the line starts in which a raw log ends: behind the last line feed.
fn last_line(source: &Source) -> io::Result<u64> {
    let mut end = source.bytes;
    while end > 0 {
        let start = end.saturating_sub(STEP);
        let mut bytes = Vec::new();
        source.reader(start)?.take(end - start).read_to_end(&mut bytes)?;
        if let Some(found) = memchr::memrchr(b'\n', &bytes) {
            return Ok(start + found as u64 + 1);
        }
        end = start;
    }
    Ok(0)
}

fn damaged(problem: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("the log is damaged besides: {problem}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::append::zstd_frame;

    fn of(bytes: &[u8]) -> io::Result<Option<(u64, u64)>> {
        let tail = TornTail::of(&Source::of_bytes(bytes))?;
        Ok(tail.map(|tail| (tail.start, tail.recovered)))
    }

    #[test]
    fn a_torn_line_starts_behind_the_last_line_feed() {
        assert_eq!(of(b"{}\n{}\n").unwrap(), None);
        assert_eq!(of(b"{}\n{}").unwrap(), Some((3, 0)), "a whole object without its line feed is torn too");
        let long = [b"{}\n{".as_slice(), &vec![b' '; 200_000]].concat();
        assert_eq!(of(&long).unwrap(), Some((3, 0)));
        assert!(of(b"{").is_err(), "no header");
    }

    #[test]
    fn whole_lines_of_a_torn_frame_are_counted() {
        let header = zstd_frame(b"{}\n").unwrap();
        let start = header.len() as u64;
        let frame = zstd_frame(b"{\"a\":1}\n{\"b\":2}\n").unwrap();
        let log = [header.clone(), frame].concat();
        assert_eq!(of(&log).unwrap(), None);
        assert_eq!(of(&log[..log.len() - 1]).unwrap(), Some((start, 2)), "only the checksum is cut");
        assert_eq!(of(&log[..header.len() + 2]).unwrap(), Some((start, 0)));
        assert!(of(&header[..header.len() - 1]).is_err(), "no header");
        let blank = [header, zstd_frame(b"{}\n\n{}\n").unwrap()].concat();
        assert!(of(&blank[..blank.len() - 1]).is_err(), "a blank line is damage of another kind");
    }

    #[test]
    fn a_mended_log_holds_the_same_lines() {
        let frame = |text: &str| zstd_frame(text.as_bytes()).unwrap();
        let header = frame("{}\n");
        let whole = frame("{\"a\":1}\n{\"b\":2}\n");
        let old = [&header[..], &whole[..whole.len() - 1]].concat();
        let is_same = |new: &[u8]| {
            let start = header.len() as u64;
            is_mended(&Source::of_bytes(&old), &Source::of_bytes(new), start).unwrap()
        };
        assert!(is_same(&[&header[..], &whole].concat()));
        assert!(!is_same(&old), "torn still");
        assert!(!is_same(&[&header[..], &frame("{\"a\":1}\n")].concat()), "a line is missing");
        assert!(!is_same(&[&header[..], &whole, &frame("{}\n")].concat()), "a line too many");
        assert!(!is_same(&[&header[..], &frame("{\"a\":1}\n{\"b\":3}\n")].concat()), "another line");
    }
}
