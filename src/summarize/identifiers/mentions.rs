//! Whether a text names an identifier.

use super::words::is_of_word;
use std::collections::HashMap;

/// Signs that join two words to a longer identifier.
const JOINTS: [char; 9] = ['-', '.', '/', '\\', '@', '+', '~', '%', '$'];

/// A text and where its words stand, so that many identifiers can be looked up in it.
#[derive(Debug)]
pub struct Mentions {
    text: String,
    places: HashMap<Box<str>, Vec<usize>>,
}

impl Mentions {
    /// Reads `texts`, in which blanks of any kind count as one blank and a backtick as a single quote.
    #[must_use]
    pub fn of(texts: &[&str]) -> Self {
        let text = plain(&texts.join("\n"));
        let mut places: HashMap<Box<str>, Vec<usize>> = HashMap::new();
        for (at, word) in words(&text) {
            match places.get_mut(word) {
                Some(known) => known.push(at),
                None => drop(places.insert(word.into(), vec![at])),
            }
        }
        Self { text, places }
    }

    /// Whether the identifier stands in the text as a whole, not as a part of a longer one: `src/a.rs` does not in
    /// `lib/src/a.rs`, nor `4096` in `14096`. Upper and lower case differ.
    ///
    /// Looks only where the identifier's rarest word stands.
    #[must_use]
    pub fn name(&self, identifier: &str) -> bool {
        let wanted = plain(identifier);
        let places =
            words(&wanted).map(|(at, word)| (at, self.places.get(word).map_or(&[][..], Vec::as_slice)));
        let Some((offset, places)) = places.min_by_key(|(_, places)| places.len()) else { return false };
        let mut starts = places.iter().filter_map(|place| place.checked_sub(offset));
        starts.any(|start| self.stands_at(start, &wanted))
    }

    fn stands_at(&self, start: usize, wanted: &str) -> bool {
        let Some((before, rest)) = self.text.split_at_checked(start) else { return false };
        let Some(after) = rest.strip_prefix(wanted) else { return false };
        let joins = |edge: Option<char>, mut beyond: std::iter::Take<&mut dyn Iterator<Item = char>>| {
            let is_free = edge.is_none_or(|edge| edge.is_alphanumeric() && !is_of_word(edge));
            let next = beyond.next();
            let is_joint = next.is_some_and(|next| JOINTS.contains(&next));
            !is_free && (next.is_some_and(is_of_word) || is_joint && beyond.next().is_some_and(is_of_word))
        };
        let is_below_root = before.ends_with(['/', '\\']) && !is_dot_slash(before);
        !is_below_root
            && !joins(
                wanted.chars().next(),
                (&mut before.chars().rev() as &mut dyn Iterator<Item = char>).take(2),
            )
            && !joins(wanted.chars().last(), (&mut after.chars() as &mut dyn Iterator<Item = char>).take(2))
    }
}

/// `./` says nothing; `../` and the rest of a longer path do.
fn is_dot_slash(before: &str) -> bool {
    before
        .strip_suffix("./")
        .is_some_and(|rest| !rest.ends_with(|c: char| is_of_word(c) || JOINTS.contains(&c)))
}

fn plain(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('`', "'")
}

/// The words of `text` and where they start; a CJK letter, which no blank parts from the next, is a word.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = text.get(at..)?;
        let start = at + rest.find(char::is_alphanumeric)?;
        let rest = text.get(start..)?;
        let first = rest.chars().next()?;
        let length = if is_of_word(first) {
            rest.find(|c: char| !c.is_alphanumeric() || !is_of_word(c)).unwrap_or(rest.len())
        } else {
            first.len_utf8()
        };
        at = start + length;
        Some((start, text.get(start..at)?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_identifiers_are_found() {
        for (text, identifier) in [
            ("edited `src/a.rs`, then", "src/a.rs"),
            ("see ./src/a.rs:12.", "src/a.rs"),
            ("see src/a.rs.", "src/a.rs"),
            ("修改src/a.rs文件", "src/a.rs"),
            ("error[E0502] in", "E0502"),
            ("ran\n  cargo   test --lib", "cargo test --lib"),
            ("`cannot borrow `x` here`", "cannot borrow `x` here"),
            ("端口：文件不存在。", "文件不存在"),
            ("port=4096, ok", "4096"),
            ("in (/usr/lib/x.so)", "/usr/lib/x.so"),
            ("see https://a.b/c?x=1.", "https://a.b/c?x=1"),
        ] {
            assert!(Mentions::of(&[text]).name(identifier), "{identifier} in {text}");
        }
        assert!(Mentions::of(&["a", "4096"]).name("4096"));
    }

    #[test]
    fn parts_of_longer_ones_are_not() {
        for (text, identifier) in [
            ("lib/src/a.rs", "src/a.rs"),
            ("/src/a.rs", "src/a.rs"),
            ("../src/a.rs", "src/a.rs"),
            ("src/a.rs.bak", "src/a.rs"),
            ("src/a.rsx", "src/a.rs"),
            ("14096 40960 1.4096 4096ms 4096-1", "4096"),
            ("v1.2.3", "v1.2"),
            ("3fa9c1d0", "3fa9c1d"),
            ("Src/A.rs", "src/a.rs"),
            ("cargo tests", "cargo test"),
            ("a b", "!!"),
            ("", "x"),
            ("x", ""),
        ] {
            assert!(!Mentions::of(&[text]).name(identifier), "{identifier} in {text}");
        }
    }
}
