//! Distinct texts in order of first appearance, each with what is counted about it.

use super::text::{CUT, is_cut_of, is_same};
use std::collections::HashMap;

/// A region may name any number of things; those beyond this are not told apart.
const MOST_ITEMS: usize = 20_000;

/// How many texts that were cut are compared with every other one.
const MOST_CUT: usize = 256;

#[derive(Debug)]
pub(super) struct Tally<T> {
    items: Vec<Item<T>>,
    index: HashMap<String, usize>,
    cut: Vec<usize>,
}

#[derive(Debug)]
pub(super) struct Item<T> {
    pub text: String,
    pub data: T,
}

impl<T> Default for Tally<T> {
    fn default() -> Self {
        Tally { items: Vec::new(), index: HashMap::new(), cut: Vec::new() }
    }
}

impl<T: Default> Tally<T> {
    /// What is counted about `text`, new if it is; `None` for no text and where there is no more room.
    pub(super) fn slot(&mut self, text: &str) -> Option<&mut T> {
        let at = match self.index.get(text) {
            Some(&at) => at,
            None => self.add(text)?,
        };
        self.items.get_mut(at).map(|item| &mut item.data)
    }

    fn add(&mut self, text: &str) -> Option<usize> {
        if text.is_empty() || self.items.len() >= MOST_ITEMS {
            return None;
        }
        self.index.insert(text.to_owned(), self.items.len());
        self.items.push(Item { text: text.to_owned(), data: T::default() });
        Some(self.items.len() - 1)
    }

    /// Like [`Tally::slot`] for texts that an earlier summary may have cut: the same text, cut, is the same
    /// item, and the longer form is kept.
    pub(super) fn slot_of_cut(&mut self, text: &str) -> Option<&mut T> {
        if self.index.contains_key(text) {
            return self.slot(text);
        }
        if let Some(at) = self.same(text) {
            self.lengthen(at, text);
        } else {
            let at = self.add(text)?;
            if text.ends_with(CUT) && self.cut.len() < MOST_CUT {
                self.cut.push(at);
            }
        }
        self.slot(text)
    }

    fn same(&self, text: &str) -> Option<usize> {
        let of = |at: &usize| self.items.get(*at).is_some_and(|item| is_same(&item.text, text));
        if text.ends_with(CUT) && self.cut.len() < MOST_CUT {
            (0..self.items.len()).find(of)
        } else {
            self.cut.iter().copied().find(of)
        }
    }

    fn lengthen(&mut self, at: usize, text: &str) {
        if let Some(item) = self.items.get_mut(at).filter(|item| is_cut_of(&item.text, text)) {
            text.clone_into(&mut item.text);
        }
        self.index.insert(text.to_owned(), at);
    }

    pub(super) fn items(&self) -> &[Item<T>] {
        &self.items
    }

    pub(super) fn items_mut(&mut self) -> &mut [Item<T>] {
        &mut self.items
    }

    /// What is counted about `text`, or about the text that it is the cut form of.
    pub(super) fn find(&self, text: &str) -> Option<&T> {
        let of_cut = || self.items.iter().find(|item| is_cut_of(text, &item.text));
        let item = match self.index.get(text) {
            Some(&at) => self.items.get(at),
            None if text.ends_with(CUT) => of_cut(),
            None => None,
        };
        item.map(|item| &item.data)
    }

    /// The items with the highest figures first, ties by first appearance.
    pub(super) fn ranked<K: Ord>(&self, figure: impl Fn(&Item<T>) -> K) -> Vec<&Item<T>> {
        let mut items: Vec<_> = self.items.iter().collect();
        items.sort_by_cached_key(|item| std::cmp::Reverse(figure(item)));
        items
    }
}

impl Tally<u64> {
    pub(super) fn count(&mut self, text: &str, by: u64) {
        if let Some(count) = self.slot(text) {
            *count = count.saturating_add(by);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_text_and_the_whole_one_are_one_item() {
        let mut tally = Tally::<u64>::default();
        let whole = "Fix the parser so that it stops on the first error";
        for text in ["Fix the parser so that it stops on…", whole, "Fix the parser so that it stops…", "Fix…"]
        {
            *tally.slot_of_cut(text).unwrap() += 1;
        }
        let items: Vec<_> = tally.items().iter().map(|item| (item.text.as_str(), item.data)).collect();
        assert_eq!(items, [(whole, 3), ("Fix…", 1)]);
    }

    #[test]
    fn ranking_is_stable() {
        let mut tally = Tally::default();
        for (text, by) in [("a", 1), ("b", 2), ("c", 1), ("", 9)] {
            tally.count(text, by);
        }
        let ranked: Vec<_> = tally.ranked(|item| item.data).iter().map(|item| item.text.clone()).collect();
        assert_eq!(ranked, ["b", "a", "c"]);
    }
}
