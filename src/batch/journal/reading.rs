//! A journal as a run finds it.

use super::line::{Line, LogKey, SCHEMA};
use super::{Damage, Kind, Past, Revision};
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};

/// No line is so long; what is, is none of a journal.
const LONGEST: u64 = 1 << 20;

/// What a journal holds for runs of a kind.
pub(super) struct Found {
    pub(super) past: HashMap<LogKey, (Revision, Past)>,
    pub(super) damage: Damage,
    /// The bytes of whole lines.
    length: u64,
    /// Whether the last of them has no line feed.
    lacks_line_feed: bool,
}

/// Reads a journal from its beginning; `None` if it is none.
pub(super) fn read(file: &File, kind: &Kind) -> io::Result<Option<Found>> {
    let mut found =
        Found { past: HashMap::new(), damage: Damage::default(), length: 0, lacks_line_feed: false };
    let mut input = BufReader::new(file);
    let mut line = Vec::new();
    loop {
        line.clear();
        (&mut input).take(LONGEST).read_until(b'\n', &mut line)?;
        if line.is_empty() {
            return Ok(Some(found));
        }
        let is_first = found.length == 0;
        let is_whole = line.last() == Some(&b'\n');
        match Line::parse(&line) {
            Some(line) => found.take(line, kind),
            None if is_first && (is_whole || !is_beginning(&line)) => return Ok(None),
            None if !is_whole && input.fill_buf()?.is_empty() => {
                found.damage.is_torn = true;
                return Ok(Some(found));
            }
            None => found.damage.unread_lines += 1,
        }
        found.length += line.len() as u64;
        found.lacks_line_feed = !is_whole;
    }
}

/// Whether a torn first line may be one of a journal.
fn is_beginning(line: &[u8]) -> bool {
    let whole = format!("{{\"schema\":\"{SCHEMA}\"");
    line.iter().zip(whole.as_bytes()).all(|(found, expected)| found == expected)
}

impl Found {
    /// Takes a line. The last one of a log counts; one without a revision says that the log is to be done again.
    fn take(&mut self, line: Line, kind: &Kind) {
        if !line.is_of(kind) {
            return;
        }
        let (log, revision, past) = line.told();
        match revision {
            Some(revision) => _ = self.past.insert(log, (revision, past)),
            None => _ = self.past.remove(&log),
        }
    }

    /// Cuts off a torn line, or ends the last one, so that the next can be appended; the bytes of the file then.
    pub(super) fn mend(&self, file: &mut File) -> io::Result<u64> {
        if self.damage.is_torn {
            file.set_len(self.length)?;
        }
        if !self.lacks_line_feed {
            return Ok(self.length);
        }
        file.seek(SeekFrom::Start(self.length))?;
        file.write_all(b"\n")?;
        Ok(self.length + 1)
    }
}
