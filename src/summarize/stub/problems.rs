//! Lines that tell of errors.

use super::text::{fold, without_escapes};

/// What an error line holds. None of them begins at a word's start that may be a capital or not.
const SIGNS: [&str; 22] = [
    "rror[",
    "rror:",
    "rror TS",
    "ERROR",
    "FAIL",
    "panicked at",
    "fatal:",
    "Fatal:",
    "xception:",
    "xception in",
    "Traceback (most recent",
    "xit code",
    "xit status",
    "ommand not found",
    "o such file or directory",
    "ermission denied",
    "egmentation fault",
    "ERR!",
    "ndefined reference",
    "annot find",
    "imed out",
    "not ok ",
];

/// The most that is kept of a line, in UTF-16 code units.
const LINE: usize = 400;

/// How much of a line is looked at, in bytes.
const LOOK: usize = 600;

/// What a result says about success.
#[derive(Debug, Default)]
pub(super) struct Verdict {
    /// Its first error lines, folded.
    pub lines: Vec<String>,
    /// Whether it says outright that all went well.
    pub is_success: bool,
}

/// Reads the first and the last part of a result; at most `most` different lines.
pub(super) fn read(parts: [&str; 2], most: usize) -> Verdict {
    let mut verdict = Verdict::default();
    for part in parts.into_iter().filter(|part| has_sign(part)) {
        for line in part.lines() {
            let (line, _) = super::text::split(line, LOOK);
            if !has_sign(line) {
                continue;
            }
            match exit_code(line) {
                Some(0) => verdict.is_success = true,
                None if is_quiet(line) => {}
                _ => verdict.take(line, most),
            }
        }
    }
    verdict.drop_headlines();
    verdict
}

/// The first line that is not blank: what a failed call says where no line looks like an error.
pub(super) fn first_line(text: &str) -> String {
    text.lines().map(|line| fold(line, LINE)).find(|line| !line.is_empty()).unwrap_or_default()
}

impl Verdict {
    fn take(&mut self, line: &str, most: usize) {
        let line = fold(&without_escapes(line), LINE);
        if self.lines.len() < most && !line.is_empty() && !self.lines.contains(&line) {
            self.lines.push(line);
        }
    }

    /// "Traceback" and "exit code 1" say little where another line says more.
    fn drop_headlines(&mut self) {
        let is_headline = |line: &String| line.starts_with("Traceback") || exit_code(line).is_some();
        if !self.lines.iter().all(is_headline) {
            self.lines.retain(|line| !is_headline(line));
        }
    }
}

fn has_sign(text: &str) -> bool {
    SIGNS.iter().any(|sign| memchr::memmem::find(text.as_bytes(), sign.as_bytes()).is_some())
}

/// Counts of nothing: `0 failed`, `FAIL 0`.
fn is_quiet(line: &str) -> bool {
    let lower = line.to_ascii_lowercase();
    ["0 failed", "failed: 0", "failed=0", "fail 0", "fail: 0", "0 errors"].iter().any(|calm| {
        lower
            .find(calm)
            .is_some_and(|at| !lower.get(..at).unwrap_or("").ends_with(|c: char| c.is_ascii_digit()))
    })
}

/// The number behind "exit code" or "exit status".
fn exit_code(line: &str) -> Option<u32> {
    let lower = line.to_ascii_lowercase();
    let (_, rest) = lower.split_once("exit code").or_else(|| lower.split_once("exit status"))?;
    let rest = rest.trim_start_matches([' ', ':', '=', '"', '(', '\'']);
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    rest.get(..end)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        read([text, ""], 3).lines
    }

    #[test]
    fn error_lines_are_found() {
        assert_eq!(lines("ok\nerror[E0502]: no\nwarning: x"), ["error[E0502]: no"]);
        assert_eq!(lines("Traceback (most recent call last):\n  f()\nValueError: bad"), ["ValueError: bad"]);
        assert_eq!(lines("\u{1b}[31mError:\u{1b}[0m x\nError: x"), ["Error: x"]);
        assert_eq!(lines("Process ended with exit code 2"), ["Process ended with exit code 2"]);
        assert!(lines("test result: ok. 10 passed; 0 failed\nall fine").is_empty());
        assert_eq!(lines("FAILED: 10 failed").len(), 1);
        assert!(read(["Exit code: 0", ""], 3).is_success);
        assert!(lines("").is_empty());
    }
}
