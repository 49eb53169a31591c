//! What a line tells: an error, a job, an action that is announced.

use crate::summarize::text::{fold, split, without_escapes, without_marks};

/// What an error line holds. None of them begins at a word's start that may be a capital or not.
const ERRORS: &str = "rror[|rror:|rror TS|ERROR|FAIL|panicked at|fatal:|Fatal:|xception:|xception in|Traceback (most recent|\
                      xit code|xit status|ommand not found|o such file or directory|ermission denied|\
                      egmentation fault|ERR!|ndefined reference|annot find|imed out|not ok ";

/// Counts of nothing.
const QUIET: [&str; 6] = ["0 failed", "failed: 0", "failed=0", "fail 0", "fail: 0", "0 errors"];

/// What a sentence that announces an action begins with.
const ANNOUNCEMENTS: [&str; 9] =
    ["next", "i'll ", "i’ll ", "i will ", "let me ", "now i", "下一步", "接下来", "现在"];

/// The most that is kept of a line, in UTF-16 code units.
const LINE: usize = 400;

/// How much of a line is looked at, in bytes.
const LOOK: usize = 600;

/// The first error lines of the parts of a result, at most `most` different ones; none where it says outright
/// that all went well.
pub(in crate::summarize) fn errors(parts: [&str; 2], most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for line in parts.into_iter().filter(|part| has_sign(part)).flat_map(str::lines) {
        let (line, _) = split(line, LOOK);
        if !has_sign(line) || (exit_code(line).is_none() && is_quiet(line)) {
            continue;
        }
        if exit_code(line) == Some(0) {
            return Vec::new();
        }
        let line = fold(without_marks(&without_escapes(line)), LINE);
        if lines.len() < most && !line.is_empty() && !lines.contains(&line) {
            lines.push(line);
        }
    }
    // "Traceback" and "exit code 1" say little where another line says more.
    let is_headline = |line: &String| line.starts_with("Traceback") || exit_code(line).is_some();
    if !lines.iter().all(is_headline) {
        lines.retain(|line| !is_headline(line));
    }
    lines
}

/// The first line that is not blank: what a failed call says where no line looks like an error.
pub(in crate::summarize) fn first_line(text: &str) -> String {
    text.lines().map(|line| fold(line, LINE)).find(|line| !line.is_empty()).unwrap_or_default()
}

fn has_sign(text: &str) -> bool {
    ERRORS.split('|').any(|sign| memchr::memmem::find(text.as_bytes(), sign.as_bytes()).is_some())
}

fn is_quiet(line: &str) -> bool {
    let lower = line.to_ascii_lowercase();
    let follows_digit =
        |at: usize| lower.get(..at).is_some_and(|start| start.ends_with(|c: char| c.is_ascii_digit()));
    QUIET.iter().any(|calm| lower.find(calm).is_some_and(|at| !follows_digit(at)))
}

/// The number behind "exit code" or "exit status".
fn exit_code(line: &str) -> Option<u32> {
    let lower = line.to_ascii_lowercase();
    let (_, rest) = lower.split_once("exit code").or_else(|| lower.split_once("exit status"))?;
    let rest = rest.trim_start_matches([' ', ':', '=', '"', '(', '\'']);
    rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

/// The job of a `- [ ]` line, and whether it is checked.
pub(in crate::summarize) fn checked(line: &str) -> Option<(&str, bool)> {
    let line = without_marks(line).trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | ' '));
    let (mark, job) = line.strip_prefix('[')?.split_once(']')?;
    // "[](link)" is no box.
    let is_job =
        matches!(mark, "x" | "X" | " " | "" | "-" | "~") && job.starts_with(' ') && !job.trim().is_empty();
    is_job.then(|| (job.trim(), mark.eq_ignore_ascii_case("x")))
}

/// The last sentence that announces an action.
pub(in crate::summarize) fn announced(text: &str) -> Option<String> {
    let announces = |sentence: &&str| {
        let start = split(sentence, 24).0.to_ascii_lowercase();
        ANNOUNCEMENTS.iter().any(|word| start.starts_with(word))
    };
    text.lines().rev().find_map(|line| {
        let line = without_marks(line).trim_start_matches('*');
        // The dot of "src/main.rs" ends no sentence.
        let sentences = line.split_inclusive(['。', '！', '？']);
        let sentences = [". ", "! ", "? "].iter().fold(sentences.collect::<Vec<_>>(), |parts, end| {
            parts.into_iter().flat_map(|part| part.split_inclusive(end)).collect()
        });
        sentences.into_iter().rev().find(announces).map(|sentence| fold(sentence, LINE))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_lines_are_found() {
        let lines = |text| errors([text, ""], 3);
        assert_eq!(lines("ok\nerror[E0502]: no\nwarning: x"), ["error[E0502]: no"]);
        assert_eq!(lines("Traceback (most recent call last):\n  f()\nValueError: bad"), ["ValueError: bad"]);
        assert_eq!(lines("\u{1b}[31mError:\u{1b}[0m x\nError: x"), ["Error: x"]);
        assert_eq!(lines("Process ended with exit code 2"), ["Process ended with exit code 2"]);
        assert_eq!(lines("FAILED: 10 failed").len(), 1);
        for quiet in ["test result: ok. 10 passed; 0 failed\nall fine", "Error: x\nExit code: 0", ""] {
            assert!(lines(quiet).is_empty(), "{quiet}");
        }
    }

    #[test]
    fn boxes_are_read() {
        assert_eq!(checked("  - [ ] write docs"), Some(("write docs", false)));
        assert_eq!(checked("2. [x] done"), Some(("done", true)));
        for line in ["[](link)", "- [a] x", "[ ]", "", "[x", "a[0] = 1"] {
            assert_eq!(checked(line), None, "{line}");
        }
    }

    #[test]
    fn the_last_announcement_is_found() {
        let text = "Let me look first. It is fine.\n- **Next**: write src/main.rs. That is all.\nThe end.";
        assert_eq!(announced(text).as_deref(), Some("Next**: write src/main.rs."));
        assert_eq!(announced("好的。接下来修复测试。").as_deref(), Some("接下来修复测试。"));
        assert_eq!(announced("Nothing."), None);
    }
}
