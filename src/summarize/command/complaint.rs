//! What a program that failed says about it, made fit for a message.

use crate::wording::clipped;

/// How many of its last lines are shown, and how much of each, in characters.
const LINES: usize = 3;
const MOST: usize = 200;

/// The shortest value of a variable that is taken for a secret: shorter ones occur in any text.
const SHORTEST_SECRET: usize = 6;

/// Words in the names of variables that hold secrets.
const SECRETIVE: [&str; 6] = ["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL"];

/// The last lines of `errors`, on one line, without control characters and terminal colours. The value of a
/// variable of the environment that seems to hold a secret is left out: a message goes into the log.
pub(super) fn of(errors: &[u8]) -> String {
    tail(&without(&secrets(std::env::vars_os()), &String::from_utf8_lossy(errors)))
}

fn tail(errors: &str) -> String {
    let text = anstream::adapter::strip_str(errors).to_string();
    let plain = |line: &str| {
        let line: String = line.chars().filter(|c| !c.is_control() || *c == '\t').collect();
        line.trim().to_owned()
    };
    let lines: Vec<String> = text.lines().map(plain).filter(|line| !line.is_empty()).collect();
    let last = lines.get(lines.len().saturating_sub(LINES)..).unwrap_or_default().join("; ");
    clipped(&last, LINES * MOST).into_owned()
}

/// The longest first: one may hold another.
fn secrets(variables: impl Iterator<Item = (std::ffi::OsString, std::ffi::OsString)>) -> Vec<String> {
    let texts =
        variables.filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    let is_secret = |(name, value): &(String, String)| {
        let name = name.to_uppercase();
        value.len() >= SHORTEST_SECRET && SECRETIVE.iter().any(|word| name.contains(word))
    };
    let mut secrets: Vec<String> = texts.filter(is_secret).map(|(_, value)| value).collect();
    secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
    secrets
}

fn without(secrets: &[String], text: &str) -> String {
    secrets.iter().fold(text.to_owned(), |text, secret| text.replace(secret.as_str(), "***"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_are_shown_on_one() {
        assert_eq!(tail("one\ntwo\n\n\x1b[31mthree\x1b[0m\r\n\x07four\n"), "two; three; four");
        assert_eq!(tail(" \n"), "");
        let long = tail(&"x".repeat(10_000));
        assert_eq!(long.chars().count(), LINES * MOST + 1);
    }

    #[test]
    fn values_that_seem_secret_are_left_out() {
        let variables = [
            ("ACME_API_KEY", "abc-123456"),
            ("HOME", "/home/ann"),
            ("SHORT_TOKEN", "abc"),
            ("A_KEY", "abc-12"),
            ("B_SECRET", "two\nlines"),
        ];
        let secrets = secrets(variables.map(|(name, value)| (name.into(), value.into())).into_iter());
        assert_eq!(secrets, ["abc-123456", "two\nlines", "abc-12"]);
        let said = without(&secrets, "401 for key abc-123456 of /home/ann, abc, two\nlines");
        assert_eq!(said, "401 for key *** of /home/ann, abc, ***");
    }
}
