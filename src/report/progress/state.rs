//! What is known of how far a run is, and the lines that tell it.

use crate::report::printer::{shown, shown_path};
use crate::wording::grouped;
use indicatif::{BinaryBytes, HumanDuration};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How far a run is.
#[derive(Debug)]
pub(super) struct State {
    begun: Instant,
    logs: usize,
    bytes: u64,
    done_logs: usize,
    done_bytes: u64,
    /// By the order in which they were begun.
    running: BTreeMap<u64, Log>,
    next_key: u64,
}

/// A log that is worked on.
#[derive(Debug)]
struct Log {
    path: PathBuf,
    bytes: u64,
    begun: Instant,
    stage: String,
    tokens: Option<u64>,
}

impl Default for State {
    fn default() -> Self {
        Self::new(0, 0, Instant::now())
    }
}

impl State {
    pub(super) fn new(logs: usize, bytes: u64, now: Instant) -> Self {
        let running = BTreeMap::new();
        Self { begun: now, logs, bytes, done_logs: 0, done_bytes: 0, running, next_key: 0 }
    }

    /// A log is begun; the key that its line goes by.
    pub(super) fn log(&mut self, path: &Path, bytes: u64, now: Instant) -> u64 {
        let key = self.next_key;
        self.next_key += 1;
        let log = Log { path: path.to_owned(), bytes, begun: now, stage: "reading".to_owned(), tokens: None };
        self.running.insert(key, log);
        key
    }

    pub(super) fn stage(&mut self, key: u64, stage: &str) {
        if let Some(log) = self.running.get_mut(&key) {
            stage.clone_into(&mut log.stage);
            log.tokens = None;
        }
    }

    pub(super) fn received(&mut self, key: u64, tokens: u64) {
        if let Some(log) = self.running.get_mut(&key) {
            log.tokens = Some(tokens);
        }
    }

    pub(super) fn done(&mut self, key: u64) {
        if let Some(log) = self.running.remove(&key) {
            self.done_logs += 1;
            self.done_bytes = self.done_bytes.saturating_add(log.bytes);
        }
    }

    /// The lines to show, `most` at most and none longer than `width`: the whole, where there is more than one log, and
    /// the logs that have been worked on longest.
    pub(super) fn lines(&self, now: Instant, width: usize, most: usize) -> Vec<String> {
        let whole = (self.logs > 1).then(|| self.whole(now));
        let logs = self.running.values().map(|log| log.line(now, width));
        whole.into_iter().chain(logs).take(most.max(1)).collect()
    }

    /// `1,234 of 10,000 logs, 1.20 GiB of 3.00 GiB, 310.00 MiB/s, about 6 seconds left`.
    fn whole(&self, now: Instant) -> String {
        let (done, logs) = (grouped(self.done_logs as u64), grouped(self.logs as u64));
        let mut line =
            format!("{done} of {logs} logs, {} of {}", BinaryBytes(self.done_bytes), BinaryBytes(self.bytes));
        let elapsed = now.saturating_duration_since(self.begun);
        let per_second = u128::from(self.done_bytes) * 1000 / elapsed.as_millis().max(1);
        if let (Ok(rate @ 1..), left @ 1..) = (u64::try_from(per_second), self.bytes - self.done_bytes) {
            let left = HumanDuration(Duration::from_secs(left / rate + 1));
            let _ = write!(line, ", {}/s, about {left:#} left", BinaryBytes(rate));
        }
        line
    }
}

impl Log {
    /// `…/session.jsonl: asking deepseek-chat, 210 tokens received (12 s)`; of a path that is too long the end.
    fn line(&self, now: Instant, width: usize) -> String {
        let stage = shown(&self.stage).replace('\n', " ");
        let tokens =
            self.tokens.map_or_else(String::new, |tokens| format!(", {} tokens received", grouped(tokens)));
        let seconds = now.saturating_duration_since(self.begun).as_secs();
        let rest = format!(": {stage}{tokens} ({seconds} s)");
        let room = width.saturating_sub(rest.chars().count());
        format!("{}{rest}", end_of(&shown_path(&self.path), room.max(width / 4)))
    }
}

/// The last characters of a text, and the mark of a cut where there are more.
fn end_of(text: &str, most: usize) -> String {
    let count = text.chars().count();
    if count <= most {
        return text.to_owned();
    }
    let kept = text.chars().skip(count - most.saturating_sub(1));
    std::iter::once('…').chain(kept).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATH: &str = "/archive/--home-ada--/0123456789/session.jsonl";

    #[test]
    fn the_whole_and_each_running_log_have_a_line() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut state = State::new(1234, 300 << 20, start);
        assert_eq!(state.lines(start, 80, 9), ["0 of 1,234 logs, 0 B of 300.00 MiB"]);
        let first = state.log(Path::new("a.jsonl"), 100 << 20, start);
        let second = state.log(Path::new("b\u{1b}[2J.jsonl"), 0, at(2));
        state.done(first);
        state.stage(second, "asking\nsmall");
        state.received(second, 2100);
        let expected = [
            "1 of 1,234 logs, 100.00 MiB of 300.00 MiB, 50.00 MiB/s, about 5s left",
            "b\\u{1b}[2J.jsonl: asking small, 2,100 tokens received (0 s)",
        ];
        assert_eq!(state.lines(at(2), 80, 9), expected);
        assert_eq!(state.lines(at(2), 80, 1), expected[..1]);
        state.stage(second, "trying again");
        assert!(state.lines(at(9), 80, 9)[1].ends_with("trying again (7 s)"));
    }

    #[test]
    fn a_run_of_one_log_has_its_line_alone() {
        let start = Instant::now();
        let mut state = State::new(1, 9, start);
        state.log(Path::new(PATH), 9, start);
        assert_eq!(state.lines(start, 80, 9), [format!("{PATH}: reading (0 s)")]);
    }

    #[test]
    fn of_a_long_path_the_end_is_shown() {
        let start = Instant::now();
        let mut state = State::new(1, 9, start);
        state.log(Path::new(PATH), 9, start);
        assert_eq!(state.lines(start, 40, 9), ["…0123456789/session.jsonl: reading (0 s)"]);
        assert_eq!(end_of("会话压缩", 3), "…压缩");
    }
}
