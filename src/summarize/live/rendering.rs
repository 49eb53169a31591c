//! Entries as text that a person and a model can read, and that its own content cannot fake.
//!
//! An entry is a marker line, which begins with `===` at the margin, and its content, each line of which is indented.
//! So whatever a content says, no line of it stands where a marker stands.

use super::super::Entry;
use crate::wording::clipped;
use std::borrow::Cow;

/// What stands before each line of a content.
const INDENT: &str = "  ";

/// The most characters of a name in a marker.
const MOST_NAME: usize = 120;

/// Where the other end of a call stands among the entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tie {
    /// Neither a call with a result nor a result with a call.
    None,
    /// A call, answered there.
    Answered(usize),
    /// A result, of the call there.
    Answers(usize),
}

/// One entry. `tie` is an index of `all`; `carried` is the seq of the prompt that stands beside the summary.
pub(super) fn entry(entry: &Entry, tie: Tie, all: &[Entry], carried: Option<u64>) -> String {
    let seq = entry.seq();
    match entry {
        Entry::Human { text, .. } if carried == Some(seq) => {
            section(&format!("seq {seq}: user, kept word for word beside the summary"), text)
        }
        Entry::Human { text, .. } => section(&format!("seq {seq}: user"), text),
        Entry::Context { source, text, .. } => {
            section(&format!("seq {seq}: context added by {}, not by the user", name(source)), text)
        }
        Entry::Checkpoint { summary, .. } => {
            section(&format!("seq {seq}: earlier summary, to be merged"), summary)
        }
        Entry::Assistant { text, .. } => section(&format!("seq {seq}: assistant"), text),
        Entry::Call { id, tool, arguments, .. } => {
            let fate = if matches!(tie, Tie::Answered(_)) { "" } else { ", never answered" };
            let marker = format!("seq {seq}: assistant calls tool {}, id {}{fate}", name(tool), name(id));
            section(&marker, arguments)
        }
        Entry::Result { id, is_error, text, .. } => {
            let what = if *is_error { "ERROR" } else { "result" };
            let marker = match call(tie, all) {
                Some((call_seq, tool)) => {
                    format!(
                        "seq {seq}: {what} of tool {}, called at seq {call_seq}, id {}",
                        name(tool),
                        name(id)
                    )
                }
                None => format!("seq {seq}: {what} of a tool call that is not shown, id {}", name(id)),
            };
            section(&marker, text)
        }
    }
}

fn call(tie: Tie, all: &[Entry]) -> Option<(u64, &str)> {
    let Tie::Answers(call) = tie else { return None };
    match all.get(call)? {
        Entry::Call { seq, tool, .. } => Some((*seq, tool)),
        _ => None,
    }
}

/// A marker, the content below it, and a blank line.
pub(super) fn section(marker: &str, content: &str) -> String {
    let mut out = format!("{}\n", self::marker(marker));
    let body = out.len();
    for line in lines(&without_colours(content)) {
        let line: String = line.chars().filter(|c| !c.is_control() || *c == '\t').collect();
        if !line.trim().is_empty() {
            out.push_str(INDENT);
            out.push_str(line.trim_end());
        }
        out.push('\n');
    }
    // Blank lines at the end say nothing.
    out.truncate(out.trim_end().len().max(body));
    out.push_str(if out.len() == body { "  (empty)\n\n" } else { "\n\n" });
    out
}

/// A line that says what follows.
pub(super) fn marker(text: &str) -> String {
    format!("=== {text} ===")
}

/// A foreign word in a marker, on one line and without what closes a marker.
fn name(text: &str) -> String {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    let mut name = String::new();
    for word in words {
        if !name.is_empty() {
            name.push(' ');
        }
        name.extend(word.chars().take(MOST_NAME));
        if name.chars().nth(MOST_NAME).is_some() {
            break;
        }
    }
    let name = name.replace("==", "");
    if name.is_empty() { "(no name)".into() } else { clipped(&name, MOST_NAME).into_owned() }
}

fn without_colours(text: &str) -> Cow<'_, str> {
    if text.contains('\u{1b}') {
        Cow::Owned(anstream::adapter::strip_str(text).to_string())
    } else {
        Cow::Borrowed(text)
    }
}

/// Lines by everything that some reader takes for a line's end.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    let ends = ['\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}'];
    text.split('\n').flat_map(move |line| line.strip_suffix('\r').unwrap_or(line).split(ends))
}
