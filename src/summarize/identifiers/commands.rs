//! The parts of a shell command that are worth repeating word for word.

use super::calls;
use crate::summarize::text::{fold, units};

/// What is longer, in UTF-16 code units, nobody repeats word for word; the paths and numbers in it still count.
const LONGEST: usize = 160;

/// Hands over each part of `command` that does more than look at things: without the words in front of its program
/// and redirections behind it, on one line. A bare program name is a word like any other, so it is left out.
pub(super) fn runs(command: &str, found: impl FnMut(String)) {
    segments(command).into_iter().filter_map(run).for_each(found);
}

/// What the shell runs, without the text that it feeds to it.
pub(super) fn without_here_documents(command: &str) -> String {
    segments(command).join("\n")
}

fn run(segment: &str) -> Option<String> {
    let read = calls::command(segment);
    if read.only_reads || read.programs.is_empty() || segment.trim_start().starts_with('#') {
        return None;
    }
    let mut text = segment.trim();
    while let Some((_, rest)) =
        text.split_once(char::is_whitespace).filter(|(word, _)| calls::is_in_front(word))
    {
        text = rest.trim_start();
    }
    while let Some((rest, _)) = text.rsplit_once(char::is_whitespace).filter(|(_, word)| is_redirection(word))
    {
        text = rest.trim_end();
    }
    let text = if text.contains('(') { text } else { text.trim_end_matches([')', ' ']) };
    let text = fold(text, LONGEST + 1);
    (units(&text) <= LONGEST && text.contains(' ')).then_some(text)
}

fn is_redirection(word: &str) -> bool {
    let rest = word.trim_start_matches(|c: char| c.is_ascii_digit() || c == '&');
    rest.strip_prefix('>').is_some_and(|target| !target.is_empty())
}

/// The commands of a list or a pipe, up to a here-document.
fn segments(command: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut start = 0;
    let (mut quote, mut previous) = (None, ' ');
    let mut chars = command.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        match (quote, c) {
            (Some('\''), '\\') => {}
            (_, '\\') => drop(chars.next()),
            (Some(open), _) => quote = quote.filter(|_| c != open),
            (None, '"' | '\'') => quote = Some(c),
            (None, '<') if previous == '<' => {
                parts.extend(command.get(start..at.saturating_sub(1)));
                return parts;
            }
            (None, '&') if previous == '>' || chars.peek().is_some_and(|(_, next)| *next == '>') => {}
            (None, ';' | '\n' | '|' | '&') => {
                parts.extend(command.get(start..at));
                start = at + 1;
            }
            (None, _) => {}
        }
        previous = c;
    }
    parts.extend(command.get(start..));
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_judges_or_changes_is_kept() {
        for (command, expected) in [
            ("cd /x && RUST_LOG=debug cargo test --lib 2>&1 | tail -n 40", "cargo test --lib"),
            ("git commit -m 'a; b && c' ; git log -3\ncat x", "git commit -m 'a; b && c'"),
            ("npm run build >/dev/null 2>&1 & make check", "npm run build|make check"),
            ("(cd x && make all)", "make all"),
            ("python3 - <<EOF\nimport os; os.remove('x y')\nEOF", "python3 -"),
            ("make", ""),
            ("# make all", ""),
            ("ls -la | grep foo", ""),
            ("'open quote make x", ""),
            ("echo \\", ""),
            ("", ""),
        ] {
            let mut found = Vec::new();
            runs(command, |run| found.push(run));
            assert_eq!(found.join("|"), expected, "{command}");
        }
        runs(&format!("cargo test {}", "long ".repeat(40)), |run| panic!("{run}"));
    }

    #[test]
    fn here_documents_go() {
        assert_eq!(without_here_documents("cat > a.rs <<'EOF'\nsrc/b.rs\nEOF").trim(), "cat > a.rs");
    }
}
