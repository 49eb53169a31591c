//! What a line that is no JSON still holds: whole records, stubs of broken ones, NUL bytes.

use super::reader::parse_line;
use crate::format::Format;
use crate::json::Tape;
use serde_json::value::RawValue;
use std::collections::HashSet;
use std::fmt;
use std::ops::Range;

const BOM: char = '\u{feff}';

/// How many whole records a message lists.
const LISTED: usize = 8;

/// What a line that is no JSON holds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Debris {
    /// NUL bytes outside whole records.
    pub nuls: u64,
    /// Byte order marks outside whole records, alone or beside NULs.
    pub boms: u64,
    /// Other bytes, white space aside, outside whole records: the stubs of broken ones.
    pub stub: u64,
    /// Whether each stub is the beginning of the record behind it, which a writer began twice.
    pub repeats: bool,
    /// The first whole records: the column in the line, from 1 and in bytes, and the seq.
    pub records: Vec<(u64, u64)>,
    /// How many whole records there are.
    pub count: u64,
    /// How many of them stand in the line already, byte for byte.
    pub copies: u64,
    /// Whether their numbers go on from the records before, copies aside.
    pub goes_on: bool,
    /// Whether a broken record stands behind them: only the next number tells whether it is lost.
    pub ends_broken: bool,
}

impl Debris {
    /// Whether the line costs no event: its records go on, or it holds NULs alone.
    #[must_use]
    pub fn loses_nothing(&self) -> bool {
        if self.count == 0 { self.stub == 0 && self.boms == 0 } else { self.goes_on && !self.ends_broken }
    }

    pub(super) fn help(&self) -> &'static str {
        match (self.loses_nothing(), self.count) {
            (true, 0) => "remove the line; a gap in the numbers behind it tells whether it took records away",
            (true, _) if self.copies > 0 => {
                "nothing is lost: give each whole record a line of its own, once, and remove the rest"
            }
            (true, 1) => "keep exactly the whole record and its line feed",
            (true, _) => "give each whole record a line of its own, and remove the rest",
            (false, 0) => "the record is lost, unless a copy has it",
            (false, _) if self.goes_on => {
                "give each whole record a line of its own; the broken one behind them is lost, unless a copy has it"
            }
            (false, _) => {
                "a record before the whole ones is lost, or they stand elsewhere too; look for a copy"
            }
        }
    }
}

impl fmt::Display for Debris {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = |count: u64, what: &str| match count {
            0 => None,
            1 => Some(format!("1 {what} byte")),
            _ => Some(format!("{count} {what} bytes")),
        };
        let stub = (self.stub > 0).then(|| format!("a {}-byte stub of a broken record", self.stub));
        let stub = if self.stub > 0 && self.count == 0 { bytes(self.stub, "other") } else { stub };
        let listed: Vec<String> =
            self.records.iter().map(|(column, seq)| format!("seq {seq} at column {column}")).collect();
        let more = self.count.saturating_sub(self.records.len() as u64);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let records = match self.count {
            0 => None,
            1 => Some(format!("1 whole record ({})", listed.join(", "))),
            count => Some(format!("{count} whole records ({}{more})", listed.join(", "))),
        };
        let boms = match self.boms {
            0 => None,
            1 => Some("a byte order mark".to_owned()),
            count => Some(format!("{count} byte order marks")),
        };
        let parts: Vec<String> =
            [bytes(self.nuls, "NUL"), boms, stub, records].into_iter().flatten().collect();
        write!(f, "line is not JSON: it holds {}", parts.join(" and "))?;
        match self.copies {
            0 => {}
            1 => f.write_str(", one of them the copy of another")?,
            copies => write!(f, ", {copies} of them copies of others")?,
        }
        match (self.count, self.stub, self.loses_nothing()) {
            (0, ..) => Ok(()),
            (_, 1.., true) if self.repeats => {
                f.write_str("; the stub is the beginning of the record behind it, so nothing is lost")
            }
            (.., true) => f.write_str("; the numbers go on, so nothing is lost"),
            (.., false) if self.goes_on => f.write_str("; the record behind them is broken"),
            (.., false) => f.write_str("; the numbers do not go on"),
        }
    }
}

/// A whole record within a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Whole {
    pub range: Range<usize>,
    pub first_seq: u64,
    pub events: u64,
}

/// How much is read of beginnings that come to nothing. Each costs up to the whole line, and a line may hold as many
/// as it has braces.
#[derive(Debug)]
pub(super) struct Patience {
    /// Bytes beyond each line's own share. One amount for all lines of a log: it may have millions of hopeless ones.
    reserve: usize,
}

impl Default for Patience {
    fn default() -> Self {
        Self { reserve: 16 << 20 }
    }
}

impl Patience {
    /// How often a line may be read over before it takes from the reserve.
    const READINGS: usize = 8;

    /// Lets `search` use up a line's share and what is left of the reserve.
    fn spend<R>(&mut self, line: &str, search: impl FnOnce(&mut usize) -> R) -> R {
        let share = line.len().saturating_mul(Self::READINGS);
        let mut left = share.saturating_add(self.reserve);
        let found = search(&mut left);
        self.reserve = self.reserve.min(left);
        found
    }
}

/// Searches `line`, which is no JSON, for whole records. Where its numbers go on from `expected`, they are given to
/// be read; the first that falls back ends them.
pub(super) fn search(
    line: &str,
    format: &Format,
    expected: u64,
    patience: &mut Patience,
) -> (Debris, Vec<Whole>) {
    let mut records = patience.spend(line, |left| whole_records(line, format, left));
    let mut debris =
        Debris { repeats: true, count: records.len() as u64, goes_on: true, ..Debris::default() };
    debris.records =
        records.iter().take(LISTED).map(|whole| (whole.range.start as u64 + 1, whole.first_seq)).collect();
    let mut from = 0;
    let ends = records.iter().map(|whole| (whole.range.start, whole.range.end));
    for (start, end) in ends.chain([(line.len(), line.len())]) {
        let stretch = &line[from..start];
        let nuls = memchr::memchr_iter(0, stretch.as_bytes()).count();
        debris.nuls += nuls as u64;
        let stub =
            stretch.trim_matches(|character: char| character == '\0' || character.is_ascii_whitespace());
        if !stub.is_empty() && stub.chars().all(|character| character == BOM) {
            debris.boms += stub.chars().count() as u64;
        } else if !stub.is_empty() {
            let inner_nuls = memchr::memchr_iter(0, stub.as_bytes()).count();
            debris.stub += (stub.len() - inner_nuls) as u64;
            debris.ends_broken = start == line.len() && debris.count > 0;
            // A cut may fall within a character.
            debris.repeats &= line[start..end].starts_with(stub.trim_end_matches('\u{fffd}'));
        }
        from = end;
    }
    let mut seen = HashSet::new();
    records.retain(|whole| seen.insert(&line[whole.range.clone()]));
    debris.copies = debris.count.saturating_sub(records.len() as u64);
    let mut next = expected;
    let fall_back = records.iter().position(|whole| {
        let falls_back = whole.first_seq < next;
        debris.goes_on &= whole.first_seq == next;
        next = whole.first_seq + whole.events;
        falls_back
    });
    records.truncate(fall_back.unwrap_or(records.len()));
    (debris, records)
}

/// The records that stand in `line` whole, each as far to the left as it can begin. `left` is how many bytes may yet
/// be read of beginnings that come to nothing.
fn whole_records(line: &str, format: &Format, left: &mut usize) -> Vec<Whole> {
    let mut records = Vec::new();
    let mut tape = Tape::default();
    let mut at = 0;
    while let Some(found) = memchr::memchr(b'{', &line.as_bytes()[at..]) {
        let start = at + found;
        let mut values = serde_json::Deserializer::from_str(&line[start..]).into_iter::<&RawValue>();
        let value = values.next();
        let end = start + values.byte_offset();
        match value {
            Some(Ok(raw)) => {
                if let Ok(body) = parse_line(raw.get(), &mut tape, format, 0) {
                    records.push(Whole {
                        range: start..end,
                        first_seq: body.first_seq(),
                        events: body.events(),
                    });
                }
                at = end;
            }
            Some(Err(error)) => {
                *left = left.saturating_sub(error.column().max(1));
                if *left == 0 {
                    break;
                }
                at = start + 1;
            }
            None => break,
        }
    }
    records
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format;

    fn event(seq: u64) -> String {
        format!(r#"{{"type":"todo/write","seq":{seq},"time":1,"data":{{"a":{{"type":"text"}}}}}}"#)
    }

    fn found(line: &str, expected: u64) -> (Debris, usize) {
        let (debris, records) = search(line, format::ALL[0], expected, &mut Patience::default());
        (debris, records.len())
    }

    #[test]
    fn a_stub_before_its_own_record_is_a_beginning() {
        let whole = event(3);
        for cut in 1..whole.len() - 1 {
            let (debris, given) = found(&format!("{}{whole}", &whole[..cut]), 3);
            assert_eq!((debris.count, debris.stub, given), (1, cut as u64, 1), "{cut}");
            assert_eq!(debris.records, [(cut as u64 + 1, 3)], "{cut}");
            assert!(debris.repeats && debris.loses_nothing(), "{cut}");
        }
        let (debris, _) = found(&format!("{}{whole}", &event(2)[..30]), 3);
        assert!(!debris.repeats && debris.loses_nothing());
        assert_eq!(
            debris.to_string(),
            "line is not JSON: it holds a 30-byte stub of a broken record and 1 whole record (seq 3 at column 31); the \
             numbers go on, so nothing is lost"
        );
    }

    #[test]
    fn whole_records_in_a_row_are_all_found() {
        let line: String = (5..20).map(event).collect();
        let (debris, given) = found(&line, 5);
        assert_eq!((debris.count, debris.stub, given, debris.records.len()), (15, 0, 15, 8));
        assert!(debris.to_string().contains("15 whole records (seq 5 at column 1,"), "{debris}");
        assert!(debris.to_string().contains(" and 7 more)"), "{debris}");
        let (debris, given) = found(&format!("{}{}", event(5), event(5)), 5);
        assert_eq!((given, debris.copies, debris.loses_nothing()), (1, 1, true));
        assert!(
            debris
                .to_string()
                .ends_with("one of them the copy of another; the numbers go on, so nothing is lost")
        );
        assert!(debris.help().starts_with("nothing is lost: "));
        let (debris, given) = found(&format!("{}{}", event(5), event(5).replace(":1,", ":2,")), 5);
        assert_eq!((given, debris.copies, debris.loses_nothing()), (1, 0, false));
        let (debris, given) = found(&format!("{}{}", &event(5)[..20], event(6)), 5);
        assert_eq!((given, debris.loses_nothing()), (1, false));
    }

    #[test]
    fn nuls_stand_alone_or_beside_records() {
        let (debris, given) = found("\0\0\0", 1);
        assert_eq!((debris.nuls, debris.stub, given, debris.loses_nothing()), (3, 0, 0, true));
        assert_eq!(debris.to_string(), "line is not JSON: it holds 3 NUL bytes");
        for line in [format!("\0\0{}", event(1)), format!("{}\0\0", event(1))] {
            let (debris, given) = found(&line, 1);
            assert_eq!((debris.nuls, debris.stub, given, debris.loses_nothing()), (2, 0, 1, true));
        }
        let (debris, given) = found(&event(1).replace("todo", "to\0\0do"), 1);
        assert_eq!((debris.nuls, given, debris.loses_nothing()), (2, 0, false));
        assert!(debris.to_string().ends_with("it holds 2 NUL bytes and 67 other bytes"), "{debris}");
    }

    #[test]
    fn a_byte_order_mark_is_no_stub() {
        let (debris, given) = found(&format!("\u{feff}{}", event(1)), 1);
        assert_eq!((debris.boms, debris.stub, given, debris.loses_nothing()), (1, 0, 1, true));
        assert!(
            debris.to_string().contains("holds a byte order mark and 1 whole record (seq 1 at column 4)"),
            "{debris}"
        );
        assert!(!found("\u{feff}", 1).0.loses_nothing());
    }

    #[test]
    fn the_lines_of_a_log_share_one_reserve() {
        let mut patience = Patience { reserve: 1 << 16 };
        let mut count = |line: &str| search(line, format::ALL[0], 0, &mut patience).0.count;
        let deep = "{\"a\":".repeat(150) + "}" + &event(0);
        assert_eq!(count(&deep), 1);
        assert_eq!(count(&deep), 0);
        // What a line's own length pays for is found as before.
        let whole = event(0);
        assert_eq!(count(&format!("{}{whole}", &whole[..whole.len() - 2])), 1);
        assert_eq!(count(&deep), 0);
    }

    #[test]
    fn hopeless_lines_take_bounded_time() {
        let (debris, given) = found(&"{\"a\":".repeat(300_000), 0);
        assert_eq!((debris.count, given), (0, 0));
        let (debris, _) = found(&"{".repeat(1_000_000), 0);
        assert_eq!(debris.stub, 1_000_000);
    }
}
