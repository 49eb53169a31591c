//! Everything that a summary may tell of its region.

use std::collections::{HashMap, VecDeque};

/// The most that is kept of a job or of what was said, in UTF-16 code units.
pub(super) const TEXT: usize = 600;

/// A region may name any number of things; those beyond this are not told apart.
const MOST_ITEMS: usize = 20_000;

#[derive(Debug, Default)]
pub(super) struct Facts {
    pub prompts: Tally<()>,
    pub tools: Tally<u64>,
    pub programs: Tally<u64>,
    pub files: Tally<FileUse>,
    /// By the error line.
    pub failures: Tally<Failure>,
    /// What is to be done, and whether it is done.
    pub jobs: Tally<bool>,
    /// By the command, or by tool and file.
    pub runs: Tally<Run>,
    pub ids: Tally<u64>,
    pub names: Tally<u64>,
    /// Sources of injected context.
    pub notes: Tally<u64>,
    pub said: Option<String>,
    /// The last different calls.
    pub called: VecDeque<Called>,
    pub next: Option<String>,
    /// The bullets of earlier summaries, by section.
    pub earlier: [Vec<String>; 8],
}

#[derive(Debug, Default)]
pub(super) struct FileUse {
    /// Entries that name it in a call or in talk.
    pub uses: u64,
    /// Results that mention it.
    pub seen: u64,
    pub tools: Vec<String>,
    /// The last entry that counted, from 1.
    pub counted_at: usize,
}

#[derive(Debug, Default)]
pub(super) struct Failure {
    pub count: u64,
    /// The run that failed.
    pub subject: String,
    /// The entry, from 1.
    pub at: usize,
    /// How it was fixed, as ` (later passed…)`.
    pub fixed: Option<String>,
}

#[derive(Debug, Default)]
pub(super) struct Run {
    pub count: u64,
    pub is_command: bool,
    pub only_reads: bool,
    pub last_failed: bool,
    /// The error lines since it passed last.
    pub failing: Vec<String>,
}

#[derive(Debug)]
pub(super) struct Called {
    /// The entry, from 1.
    pub at: usize,
    pub text: String,
    pub failed: bool,
}

/// Distinct texts in order of first appearance, each with what is counted about it.
#[derive(Debug, Default)]
pub(super) struct Tally<T> {
    pub items: Vec<Item<T>>,
    index: HashMap<String, usize>,
}

#[derive(Debug)]
pub(super) struct Item<T> {
    pub text: String,
    pub data: T,
}

impl<T: Default> Tally<T> {
    /// What is counted about `text`, new if it is; `None` for no text and where there is no more room.
    pub(super) fn slot(&mut self, text: &str) -> Option<&mut T> {
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

    pub(super) fn get(&self, text: &str) -> Option<&T> {
        self.index.get(text).and_then(|&at| self.items.get(at)).map(|item| &item.data)
    }

    /// The items with the highest figures first, ties by first appearance.
    pub(super) fn ranked<K: Ord>(&self, figure: impl Fn(&T) -> K) -> Vec<&Item<T>> {
        let mut items: Vec<_> = self.items.iter().collect();
        items.sort_by_cached_key(|item| std::cmp::Reverse(figure(&item.data)));
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
