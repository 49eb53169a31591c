//! Distinct texts, each with what is counted about it.

use std::collections::HashMap;

/// A region may name any number of things; those beyond this are not told apart.
const MOST_ITEMS: usize = 20_000;

/// Distinct texts in order of first appearance, each with what is counted about it.
#[derive(Debug, Default)]
pub(in crate::summarize) struct Tally<T> {
    pub items: Vec<Item<T>>,
    index: HashMap<String, usize>,
}

#[derive(Debug)]
pub(in crate::summarize) struct Item<T> {
    pub text: String,
    pub data: T,
}

impl<T: Default> Tally<T> {
    /// What is counted about `text`, new if it is; `None` for no text and where there is no more room.
    pub(in crate::summarize) fn slot(&mut self, text: &str) -> Option<&mut T> {
        let at = self.index.get(text).copied().unwrap_or(self.items.len());
        if at == self.items.len() {
            if text.is_empty() || at >= MOST_ITEMS {
                return None;
            }
            self.index.insert(text.to_owned(), at);
            self.items.push(Item { text: text.to_owned(), data: T::default() });
        }
        self.items.get_mut(at).map(|item| &mut item.data)
    }

    pub(in crate::summarize) fn get(&self, text: &str) -> Option<&T> {
        self.index.get(text).and_then(|&at| self.items.get(at)).map(|item| &item.data)
    }

    /// The items with the highest figures first, ties by first appearance.
    pub(in crate::summarize) fn ranked<K: Ord>(&self, figure: impl Fn(&T) -> K) -> Vec<&Item<T>> {
        let mut items: Vec<_> = self.items.iter().collect();
        items.sort_by_cached_key(|item| std::cmp::Reverse(figure(&item.data)));
        items
    }
}

impl Tally<u64> {
    pub(in crate::summarize) fn count(&mut self, text: &str, by: u64) {
        if let Some(count) = self.slot(text) {
            *count = count.saturating_add(by);
        }
    }
}
