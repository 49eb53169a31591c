//! Which events a check never saw: rules over the others must not blame the log twice for them.

use std::ops::Range;

/// Events that stood on lines that could not be read, that are missing, or that broke a rule and were left out.
#[derive(Debug, Default)]
pub(super) struct Losses {
    /// In rising order.
    ranges: Vec<Range<u64>>,
    /// From this seq on nothing has been read since.
    since: Option<u64>,
}

impl Losses {
    /// Something could not be read where `seq` belongs. What is lost shows at the next record.
    pub(super) fn unread(&mut self, seq: u64) {
        self.since.get_or_insert(seq);
    }

    /// A record of the seq `first` was read. Gives the events that were lost right before it.
    pub(super) fn read_on(&mut self, first: u64) -> Option<Range<u64>> {
        let since = self.since.take().filter(|since| *since < first)?;
        self.add(since..first);
        Some(since..first)
    }

    /// An event of the surface was left out.
    pub(super) fn left_out(&mut self, seq: u64) {
        self.add(seq..seq + 1);
    }

    fn add(&mut self, range: Range<u64>) {
        match self.ranges.last_mut() {
            Some(last) if last.end == range.start => last.end = range.end,
            _ => self.ranges.push(range),
        }
    }

    /// Whether nothing has been lost so far.
    pub(super) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Whether nothing has been lost so far, and nothing may have been since the last record.
    pub(super) fn is_whole(&self) -> bool {
        self.is_empty() && self.since.is_none()
    }

    /// Whether `seq` is lost.
    pub(super) fn contains(&self, seq: u64) -> bool {
        self.first_between(seq, Some(seq)).is_some()
    }

    /// The first lost seq from `from` to `to`, both inclusive; without `to`, to the last event that was read.
    pub(super) fn first_between(&self, from: u64, to: Option<u64>) -> Option<u64> {
        let range = self.ranges.get(self.ranges.partition_point(|range| range.end <= from))?;
        let first = range.start.max(from);
        to.is_none_or(|to| first <= to).then_some(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_line_loses_what_is_missing_behind_it() {
        let mut losses = Losses::default();
        losses.unread(5);
        assert_eq!(losses.read_on(5), None, "nothing is missing");
        assert!(losses.is_empty());
        losses.unread(7);
        losses.unread(8);
        assert_eq!(losses.read_on(9), Some(7..9));
        losses.left_out(12);
        assert_eq!(losses.first_between(0, None), Some(7));
        assert_eq!(losses.first_between(8, Some(20)), Some(8));
        assert_eq!(losses.first_between(9, Some(11)), None);
        assert!(losses.contains(12) && !losses.contains(13));
    }
}
