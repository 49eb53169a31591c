//! `sourceEventSeqs`: which earlier events a message was made from (FORMAT §4.1).

use crate::format::Format;
use crate::json::{self, Raw};
use std::fmt;
use std::ops::RangeInclusive;

/// A checked list of sources, kept as ranges, so that a long one stays small.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SourceSeqs {
    /// Disjoint, in rising order.
    ranges: Vec<RangeInclusive<u64>>,
}

/// Why a list of sources is refused (FORMAT §7.2).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SourceError {
    /// It is no array.
    #[error("the list of sources is no array")]
    NotAnArray,
    /// It has no members, on an event that must cite something if it cites at all.
    #[error("the list of sources is empty: an event that names none carries no list")]
    Empty,
    /// A member is neither a count nor a pair of counts in order.
    #[error("the list of sources holds {0}, which is neither a seq nor a range of seqs")]
    Member(String),
    /// A seq stands in it twice.
    #[error("the list of sources names seq {0} twice")]
    Duplicate(u64),
    /// A list with ranges must rise.
    #[error("the list of sources holds ranges, so it must rise, and {0} does not")]
    NotRising(u64),
    /// A seq that is not earlier than the event's own.
    #[error("the list of sources names seq {0}, which the event itself does not follow")]
    NotEarlier(u64),
}

impl fmt::Display for SourceSeqs {
    /// As many ranges as fit a sentence.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MOST: usize = 8;
        for (index, range) in self.ranges.iter().take(MOST).enumerate() {
            let comma = if index > 0 { ", " } else { "" };
            match (range.start(), range.end()) {
                (start, end) if start == end => write!(f, "{comma}{start}")?,
                (start, end) => write!(f, "{comma}{start}..{end}")?,
            }
        }
        if self.ranges.len() > MOST { f.write_str(", …") } else { Ok(()) }
    }
}

impl SourceSeqs {
    /// Reads and checks the list of the event `seq`. Ranges are taken in every version: late writers of
    /// format 0 used them (FORMAT §4.1).
    pub fn parse(raw: Raw, seq: u64, may_be_empty: bool, format: &Format) -> Result<Self, SourceError> {
        let members = json::elements(raw).ok_or(SourceError::NotAnArray)?;
        if members.clone().next().is_none() && !may_be_empty {
            return Err(SourceError::Empty);
        }
        let mut has_ranges = false;
        let mut ranges: Vec<RangeInclusive<u64>> = Vec::new();
        let mut rising = None;
        for member in members {
            let range = if let Some(single) = format.count(member) {
                single..=single
            } else if let Some((first, last)) = pair(member, format) {
                has_ranges = true;
                first..=last
            } else {
                return Err(SourceError::Member(member.get().chars().take(40).collect()));
            };
            match ranges.last_mut() {
                Some(last) if range.start() <= last.end() => {
                    rising.get_or_insert(*range.start());
                    ranges.push(range);
                }
                // Runs of single seqs are joined as they come.
                Some(last) if *range.start() == last.end() + 1 => *last = *last.start()..=*range.end(),
                _ => ranges.push(range),
            }
        }
        if let Some(seq) = rising.filter(|_| has_ranges) {
            return Err(SourceError::NotRising(seq));
        }
        ranges.sort_unstable_by_key(|range| *range.start());
        if let Some(two) = ranges.windows(2).find(|two| two[1].start() <= two[0].end()) {
            return Err(SourceError::Duplicate(*two[1].start()));
        }
        match ranges.last() {
            Some(last) if *last.end() >= seq => {
                Err(SourceError::NotEarlier((*last.end()).min(seq.max(*last.start()))))
            }
            _ => Ok(Self { ranges }),
        }
    }

    /// Whether `seq` is among the sources.
    #[must_use]
    pub fn contains(&self, seq: u64) -> bool {
        let behind = self.ranges.partition_point(|range| *range.end() < seq);
        self.ranges.get(behind).is_some_and(|range| range.contains(&seq))
    }

    /// The cited events as ranges, disjoint and in rising order.
    pub fn ranges(&self) -> impl Iterator<Item = &RangeInclusive<u64>> {
        self.ranges.iter()
    }

    /// How many events are cited.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.ranges.iter().map(|range| range.end() - range.start() + 1).sum()
    }
}

fn pair(raw: Raw, format: &Format) -> Option<(u64, u64)> {
    match json::array(raw)?.as_slice() {
        [first, last] => {
            Some((format.count(*first)?, format.count(*last)?)).filter(|(first, last)| first <= last)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format;

    fn parse(list: &str) -> Result<SourceSeqs, SourceError> {
        SourceSeqs::parse(json::leaked(list), 100, false, format::ALL[0])
    }

    #[test]
    fn plain_and_ranged_lists_name_the_same_events() {
        let plain = parse("[1,2,3,4,9,10,12,13,14]").unwrap();
        assert_eq!(plain, parse("[[1,4],9,10,[12,14]]").unwrap());
        assert_eq!((plain.count(), plain.to_string().as_str()), (9, "1..4, 9..10, 12..14"));
        assert!(plain.contains(4) && plain.contains(9) && !plain.contains(5) && !plain.contains(15));
        assert_eq!(parse("[[7,7]]").unwrap().count(), 1);
    }

    #[test]
    fn a_plain_list_need_not_rise() {
        let list = parse("[45,46,9,26,37,40]").unwrap();
        assert!([9, 26, 37, 40, 45, 46].iter().all(|seq| list.contains(*seq)));
        assert_eq!(parse("[5,[1,3]]"), Err(SourceError::NotRising(1)));
    }

    #[test]
    fn broken_lists_are_named() {
        assert_eq!(parse("5"), Err(SourceError::NotAnArray));
        assert_eq!(parse("[]"), Err(SourceError::Empty));
        assert!(SourceSeqs::parse(json::leaked("[]"), 1, true, format::ALL[0]).is_ok());
        assert_eq!(parse("[1,-1]"), Err(SourceError::Member("-1".into())));
        assert_eq!(parse("[[3,1]]"), Err(SourceError::Member("[3,1]".into())));
        assert_eq!(parse("[3,1,3]"), Err(SourceError::Duplicate(3)));
        assert_eq!(parse("[3,100]"), Err(SourceError::NotEarlier(100)));
        assert_eq!(parse("[[0,9007199254740991]]"), Err(SourceError::NotEarlier(100)));
    }
}
