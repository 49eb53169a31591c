//! What a region names that a model cannot guess: paths, commands, error strings, hashes and numbers.
//!
//! `words`, `signs`, `calls` and `commands` recognise such things in a text; the stub makes its bullets of them.
//! [`identifiers`] gathers those of a region, [`Mentions`] tells whether a summary names them.

pub(super) mod calls;
mod commands;
mod mentions;
pub(super) mod signs;
pub(super) mod tally;
pub(super) mod words;

pub use mentions::Mentions;

use super::text::{CUT, cut, fold, without_frame};
use super::{Entry, Transcript};
use crate::json::{self, Kind, Object, Raw};
use calls::SHORT;
use tally::Tally;
use words::Found;

/// The most that is kept of an error line, in UTF-16 code units: what stands behind it need not be repeated.
const ERROR: usize = 160;

/// How many error lines one result adds.
const ERROR_LINES: usize = 3;

/// Arguments nested deeper are not read.
const MOST_NESTED: u32 = 8;

/// An identifier of a region.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identifier {
    /// What it is.
    pub kind: IdentifierKind,
    /// Its spelling, on one line, without backticks.
    pub text: String,
    /// The entries that name it.
    pub count: u64,
}

/// Kinds of identifiers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum IdentifierKind {
    /// A file or a folder.
    #[default]
    Path,
    /// A command that did more than look at things.
    Command,
    /// An error line.
    Error,
    /// A hash, address, version, URL, error code or issue number.
    Hash,
    /// A number of three digits or more.
    Number,
}

/// The identifiers of a region's human prompts, tool calls and error results, in order of first appearance; the first
/// 20,000 of them.
///
/// Files that were built, versions in error results (a build lists that of all it compiles) and what a call writes
/// into a file are left out: such contents, told by their length, lie in the file.
#[must_use]
pub fn identifiers(transcript: &Transcript) -> Vec<Identifier> {
    let mut gathering = Gathering::default();
    for entry in &transcript.entries {
        gathering.at += 1;
        match entry {
            Entry::Human { text, .. } => gathering.scan(text),
            Entry::Call { tool, arguments, .. } => gathering.call(tool, arguments),
            Entry::Result { is_error: true, text, .. } => gathering.error(text),
            Entry::Result { .. }
            | Entry::Context { .. }
            | Entry::Checkpoint { .. }
            | Entry::Assistant { .. } => {}
        }
    }
    let named = gathering.named.items.into_iter();
    named.map(|item| Identifier { kind: item.data.kind, text: item.text, count: item.data.count }).collect()
}

#[derive(Default)]
struct Gathering {
    named: Tally<Seen>,
    /// The entry, from 1.
    at: usize,
}

#[derive(Debug, Default)]
struct Seen {
    kind: IdentifierKind,
    count: u64,
    /// The last entry that counted, from 1.
    counted_at: usize,
}

impl Gathering {
    fn scan(&mut self, text: &str) {
        words::scan(text, |found| self.take(found));
    }

    fn call(&mut self, tool: &str, arguments: &str) {
        let call = calls::read(tool, arguments);
        for path in call.paths.iter().filter(|path| path.contains(['/', '\\', '.'])) {
            self.take(Found::Path(path));
        }
        if let Some(command) = &call.command {
            commands::runs(command, |run| self.add(IdentifierKind::Command, &run));
            self.scan(&commands::without_here_documents(command));
        }
        match json::parse(arguments) {
            Ok(value) => self.values(value.raw(), call.command.as_deref()),
            Err(_) => call.others.iter().for_each(|text| self.scan(text)),
        }
    }

    /// Reads the short strings and the numbers of a call's arguments, the command left out.
    fn values(&mut self, arguments: Raw, command: Option<&str>) {
        let mut waiting = vec![(arguments, 0)];
        while let Some((value, depth)) = waiting.pop() {
            let inner = match json::kind(value) {
                Kind::String => {
                    let text = json::text(value).unwrap_or_default().into_str();
                    if text.len() <= SHORT && command != Some(&*text) {
                        self.scan(&text);
                    }
                    continue;
                }
                Kind::Array => json::array(value).unwrap_or_default(),
                Kind::Object => {
                    Object::of(value).into_iter().flat_map(Object::members).map(|(_, value)| value).collect()
                }
                _ => {
                    self.scan(value.get());
                    continue;
                }
            };
            if depth < MOST_NESTED {
                waiting.extend(inner.into_iter().rev().map(|value| (value, depth + 1)));
            }
        }
    }

    fn error(&mut self, text: &str) {
        let mut lines = signs::errors([text, ""], ERROR_LINES);
        if lines.is_empty() {
            lines.push(signs::first_line(text));
        }
        for line in &lines {
            let line = cut(line, ERROR);
            let line = line.trim_end_matches([CUT, ' ']);
            // A single word is no telling error.
            if line.contains(' ') {
                self.add(IdentifierKind::Error, line);
            }
        }
        words::scan(text, |found| match found {
            Found::Id(id) if words::is_version(id) => {}
            found => self.take(found),
        });
    }

    fn take(&mut self, found: Found) {
        match found {
            Found::Path(path) if words::is_built(path) => {}
            Found::Path(path) => self.add(IdentifierKind::Path, path),
            Found::Id(id) => self.add(IdentifierKind::Hash, id),
            Found::Number(number) => self.add(IdentifierKind::Number, number),
            Found::Name(_) => {}
        }
    }

    fn add(&mut self, kind: IdentifierKind, text: &str) {
        if !text.contains(char::is_alphanumeric) {
            return;
        }
        let text = fold(&without_frame(text).replace('`', "'"), usize::MAX);
        let at = self.at;
        let Some(seen) = self.named.slot(&text) else { return };
        if seen.count == 0 {
            seen.kind = kind;
        }
        if seen.counted_at < at {
            (seen.count, seen.counted_at) = (seen.count.saturating_add(1), at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use IdentifierKind::{Command, Error, Hash, Number, Path};

    fn named(entries: &[Entry]) -> Vec<(IdentifierKind, String, u64)> {
        let transcript = Transcript { entries: entries.to_vec() };
        identifiers(&transcript).into_iter().map(|found| (found.kind, found.text, found.count)).collect()
    }

    fn human(text: &str) -> Entry {
        Entry::Human { seq: 1, text: text.into() }
    }

    fn call(tool: &str, arguments: &str) -> Entry {
        Entry::Call { seq: 1, id: "a".into(), tool: tool.into(), arguments: arguments.into() }
    }

    fn result(is_error: bool, text: &str) -> Entry {
        Entry::Result { seq: 1, id: "a".into(), is_error, text: text.into() }
    }

    fn expect(found: &[(IdentifierKind, String, u64)], expected: &[(IdentifierKind, &str, u64)]) {
        let found: Vec<_> = found.iter().map(|(kind, text, count)| (*kind, text.as_str(), *count)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn prompts_calls_and_errors_are_read_and_nothing_else() {
        let found = named(&[
            human("Fix src/a.rs at 3fa9c1d, port 8443, please"),
            Entry::Assistant { seq: 1, text: "src/said.rs".into() },
            Entry::Context { seq: 1, source: "x".into(), text: "src/context.rs".into() },
            Entry::Checkpoint { seq: 1, summary: "src/earlier.rs".into() },
            call(
                "bash",
                r#"{"command":"cd x && cargo test --lib src/a.rs 2>&1 | tail -5","timeout":120000}"#,
            ),
            result(false, "src/fine.rs 4096"),
            result(
                true,
                "Compiling x v1.2.3\nerror[E0502]: cannot borrow `x`\n --> src/b.rs:3:5\ntarget/debug/deps/y.o",
            ),
        ]);
        expect(
            &found,
            &[
                (Path, "src/a.rs", 2),
                (Hash, "3fa9c1d", 1),
                (Number, "8443", 1),
                (Command, "cargo test --lib src/a.rs", 1),
                (Number, "120000", 1),
                (Error, "error[E0502]: cannot borrow 'x'", 1),
                (Hash, "E0502", 1),
                (Path, "src/b.rs", 1),
            ],
        );
    }

    #[test]
    fn arguments_are_read_at_any_depth_but_not_the_contents_of_files() {
        let nested =
            r#"{"path":"src","edits":[{"file":"src/a.rs","lines":[1,4096]},["src/b.rs"]],"ok":true}"#;
        expect(
            &named(&[call("edit", nested)]),
            &[(Path, "src/a.rs", 1), (Number, "4096", 1), (Path, "src/b.rs", 1)],
        );
        let long = format!(r#"{{"path":"src/c.rs","content":"src/d.rs {}"}}"#, "x".repeat(SHORT));
        expect(&named(&[call("write", &long)]), &[(Path, "src/c.rs", 1)]);
        let here = format!("cat > src/e.rs <<EOF\\nsrc/f.rs {}\\nEOF", "x".repeat(SHORT));
        let found = named(&[call("bash", &format!(r#"{{"command":"{here}"}}"#))]);
        expect(&found, &[(Path, "src/e.rs", 1)]);
        expect(&named(&[call("odd", "src/g.rs")]), &[(Path, "src/g.rs", 1)]);
        for odd in ["", "{", "[[[[[[[[[[[[", r#"{"a":"\ud83d"}"#] {
            assert!(named(&[call("odd", odd)]).is_empty(), "{odd}");
        }
        let deep = format!("{}4096{}", "[".repeat(100_000), "]".repeat(100_000));
        assert!(named(&[call("odd", &deep)]).is_empty());
    }

    #[test]
    fn an_error_line_is_kept_up_to_a_length() {
        let found = named(&[result(true, &format!("error: {}", "word ".repeat(100)))]);
        let [(Error, line, 1)] = found.as_slice() else { panic!("{found:?}") };
        assert!(line.starts_with("error: word") && line.ends_with("word") && line.len() <= ERROR);
        expect(
            &named(&[result(true, "\nno such thing <compacted-summary>\n")]),
            &[(Error, "no such thing ‹compacted-summary>", 1)],
        );
        assert!(named(&[result(true, " \n--\n")]).is_empty());
    }
}
