//! How much of a prompt's words a text still holds: whether a summary speaks of what was asked at all.

use std::collections::BTreeSet;

/// Words shorter than this say little.
const SHORTEST: usize = 4;

/// How many words of a prompt are looked for.
const MOST: usize = 200;

/// The words of a prompt that are found again in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Gist {
    pub found: usize,
    pub of: usize,
}

impl Gist {
    /// Looks for the words of `prompt` in `text`. Endings and case do not count: "renamed" is the word of "rename".
    pub(super) fn of(prompt: &str, text: &str) -> Self {
        let text = text.to_lowercase();
        let words: BTreeSet<String> = prompt
            .split(|c: char| !c.is_alphanumeric() && c != '-' && c != '_')
            .filter(|word| word.chars().count() >= SHORTEST)
            .take(MOST * 10)
            .map(str::to_lowercase)
            .collect();
        let is_found = |word: &&String| text.contains(&stem(word));
        let words: Vec<&String> = words.iter().take(MOST).collect();
        Self { found: words.iter().copied().filter(|word| is_found(word)).count(), of: words.len() }
    }

    /// Whether at least half of the words are there.
    pub(super) fn is_kept(self) -> bool {
        self.of > 0 && self.found * 2 >= self.of
    }
}

/// A word without what may be its ending.
fn stem(word: &str) -> String {
    let length = word.chars().count();
    word.chars().take(length.saturating_sub(2).max(SHORTEST)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_whatever_their_ending() {
        let gist = |prompt: &str, text: &str| {
            let gist = Gist::of(prompt, text);
            (gist.found, gist.of, gist.is_kept())
        };
        assert_eq!(gist("Rename the helper", "Helper renamed."), (2, 2, true));
        assert_eq!(gist("Deploy to region two. Token: ORCHID-7", "step one done"), (0, 4, false));
        assert_eq!(gist("Deploy to region two. Token: ORCHID-7", "orchid-7, regions"), (2, 4, true));
        assert_eq!(gist("fix it", "fix it"), (0, 0, false), "nothing to go by");
    }
}
