//! How many there are of each kind.

use crate::json;
use std::collections::BTreeMap;

/// Counts by name. A log of nothing but new names must not fill the memory, so only so many are told apart.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Kinds {
    named: BTreeMap<String, u64>,
    /// How many there are of further names.
    pub others: u64,
}

impl Kinds {
    /// How many names of one log are told apart. The formats have fewer than this together.
    const MOST: usize = 256;

    /// Counts `count` more of `name`; long names are clipped.
    pub(super) fn add(&mut self, name: &str, count: u64) {
        if let Some(known) = self.named.get_mut(name) {
            *known = known.saturating_add(count);
            return;
        }
        let name = json::clip(name);
        if let Some(known) = self.named.get_mut(&*name) {
            *known = known.saturating_add(count);
        } else if self.named.len() < Self::MOST {
            self.named.insert(name.into_owned(), count);
        } else {
            self.others = self.others.saturating_add(count);
        }
    }

    /// Counts all of another log too; the names of both are told apart.
    pub(super) fn add_all(&mut self, other: &Self) {
        for (name, count) in &other.named {
            let known = self.named.entry(name.clone()).or_default();
            *known = known.saturating_add(*count);
        }
        self.others = self.others.saturating_add(other.others);
    }

    /// The counts by name.
    #[must_use]
    pub fn named(&self) -> &BTreeMap<String, u64> {
        &self.named
    }

    /// The names with their counts, the greatest first.
    #[must_use]
    pub fn by_count(&self) -> Vec<(&str, u64)> {
        let mut counts: Vec<_> = self.named.iter().map(|(name, count)| (name.as_str(), *count)).collect();
        counts.sort_by(|(_, left), (_, right)| right.cmp(left));
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_counted_up_to_a_limit() {
        let mut kinds = Kinds::default();
        kinds.add("b", 2);
        kinds.add("a", 1);
        kinds.add("b", 3);
        assert_eq!(kinds.by_count(), [("b", 5), ("a", 1)]);
        for number in 0..300 {
            kinds.add(&format!("new/{number}"), 2);
        }
        assert_eq!((kinds.named().len(), kinds.others), (256, 2 * (302 - 256)));
        kinds.add("a", 1);
        assert_eq!(kinds.named()["a"], 2);
    }

    #[test]
    fn sums_lose_no_name() {
        let mut sum = Kinds::default();
        for log in 0..2 {
            let mut kinds = Kinds::default();
            (0..300).for_each(|number| kinds.add(&format!("log {log}, {number}"), 1));
            sum.add_all(&kinds);
            sum.add_all(&kinds);
        }
        assert_eq!((sum.named().len(), sum.others), (512, 4 * 44));
        assert_eq!(sum.named()["log 1, 0"], 2);
    }
}
