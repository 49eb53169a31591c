//! What a command line is called in reports and in the log. The line itself may hold a key, and is shown nowhere.

use std::path::Path;

/// The most characters of a name.
const MOST: usize = 80;

/// The shell's own words that a command line may begin with: what they begin is a script of its own.
const RESERVED: [&str; 7] = ["if", "for", "while", "until", "case", "{", "!"];

/// The file name of the program that a command line starts; `command` where none can be told. Settings of
/// variables before it (`KEY=value prog`) are passed over.
pub(super) fn of(line: &str) -> String {
    let mut rest = line;
    loop {
        let (word, behind) = first_word(rest);
        if is_setting(&word) {
            rest = behind;
            continue;
        }
        let name = Path::new(&word).file_name().map(|name| name.to_string_lossy().into_owned());
        let name: String = name.unwrap_or_default().chars().filter(|c| !c.is_control()).take(MOST).collect();
        let is_program = name.contains(char::is_alphanumeric) && !RESERVED.contains(&&*word);
        return if is_program { name } else { "command".to_owned() };
    }
}

/// The first word as the shell has it, without its quotes, and what stands behind it.
fn first_word(line: &str) -> (String, &str) {
    let line = line.trim_start();
    let (mut word, mut quote, mut is_escaped) = (String::new(), None, false);
    for (at, c) in line.char_indices() {
        match (quote, c) {
            _ if is_escaped => {
                word.push(c);
                is_escaped = false;
            }
            (None | Some('"'), '\\') if !cfg!(windows) => is_escaped = true,
            (Some(open), _) if open == c => quote = None,
            (None, '"' | '\'') => quote = Some(c),
            (None, ';' | '|' | '&' | '<' | '>' | '(' | ')') => return (word, ""),
            (None, _) if c.is_whitespace() => return (word, line.get(at..).unwrap_or_default()),
            _ => word.push(c),
        }
    }
    (word, "")
}

fn is_setting(word: &str) -> bool {
    let name = word.split_once('=').map(|(name, _)| name);
    name.is_some_and(|name| {
        !name.is_empty()
            && !name.starts_with(|c: char| c.is_ascii_digit())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_called_by_its_program() {
        for (line, name) in [
            ("llm -m small", "llm"),
            ("  /usr/local/bin/summ.py --fast", "summ.py"),
            ("'/opt/my tools/summ' x", "summ"),
            (r#""/opt/my tools/"summ x"#, "summ"),
            ("API_KEY=k-123 MODE='a b' ./ask", "ask"),
            ("cat | tr a b", "cat"),
            ("cat>x", "cat"),
            ("(cat)", "command"),
            ("$(which llm)", "$"),
            ("if test -e x; then cat x; fi", "command"),
            ("{ cat; }", "command"),
            ("/opt/if x", "if"),
            ("KEY=k-123", "command"),
            ("", "command"),
            ("''", "command"),
            ("..", "command"),
        ] {
            assert_eq!(of(line), if name == "$" { "command" } else { name }, "{line}");
        }
        assert_eq!(of(&"x".repeat(1000)).len(), MOST);
    }

    #[cfg(unix)]
    #[test]
    fn a_backslash_keeps_a_blank() {
        assert_eq!(of(r"/opt/my\ tools/summ\ it x"), "summ it");
    }
}
