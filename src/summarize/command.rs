//! The model that is a program: the request goes to its standard input, the summary comes from its standard output.

mod complaint;
mod group;
mod name;
mod running;

#[cfg(test)]
mod tests;

use super::{Answer, Model, Prompt, SECTIONS, SummarizeError, Watch};
use running::{Ended, Limits, Stopped};
use serde::Serialize;
use std::time::Duration;

/// The most that a program may write, in bytes: no summary is as long.
const MOST_OUTPUT: usize = 1 << 20;

/// Runs a program for each call; `docs/command-summarizer.md` tells those who write one what it is given.
///
/// The command line is run by `sh -c` (on Windows by `cmd /C`), as git runs the commands of its settings: quotes,
/// variables and pipes work. It runs in a process group of its own, all of which is killed when the time is up, when
/// the user stops dshc, and when the program itself has ended.
pub struct Command {
    line: String,
    name: String,
    timeout: Duration,
}

/// What the program reads. Members may be added; none is renamed or removed under the same number.
#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    instructions: &'a str,
    text: &'a str,
    sections: [&'static str; SECTIONS.len()],
}

impl Command {
    /// The command line and the longest that one call may take.
    #[must_use]
    pub fn new(line: &str, timeout: Duration) -> Self {
        Self { line: line.to_owned(), name: name::of(line), timeout }
    }

    fn failed(&self, what: &str, help: &str) -> SummarizeError {
        SummarizeError::Failed { message: format!("{} {what}", self.name), help: help.to_owned() }
    }

    fn stopped(&self, why: Stopped) -> SummarizeError {
        match why {
            Stopped::Cancelled => SummarizeError::Cancelled,
            Stopped::TimedOut => {
                let what = format!("gave no summary within {} s", self.timeout.as_secs_f64());
                self.failed(&what, "give it longer with --timeout")
            }
            Stopped::TooMuch => {
                let what = format!("wrote more than {MOST_OUTPUT} bytes");
                self.failed(&what, "let it write the summary to its standard output and nothing else")
            }
            Stopped::Io(error) => self.failed(
                &format!("could not be run: {error}"),
                "check the shell that runs it, and the limits",
            ),
        }
    }

    /// The summary of a program that has ended.
    fn judge(&self, ended: &Ended) -> Result<String, SummarizeError> {
        let said = complaint::of(&ended.errors);
        let said = if said.is_empty() { said } else { format!(": {said}") };
        if !ended.status.success() {
            let (how, help) = match ended.status.code() {
                Some(127) => ("was not found".to_owned(), "check --command: is the program on the PATH?"),
                Some(126) => ("cannot be run".to_owned(), "check --command: is the file executable?"),
                Some(code) => (format!("ended with exit code {code}"), BY_HAND),
                None => (format!("was ended by {}", ended.status), BY_HAND),
            };
            return Err(self.failed(&format!("{how}{said}"), help));
        }
        let text = String::from_utf8_lossy(&ended.output).replace("\r\n", "\n");
        let text = text.trim_start_matches('\u{feff}').trim();
        if text.is_empty() {
            let what = format!("wrote nothing to its standard output{said}");
            return Err(self.failed(&what, BY_HAND));
        }
        Ok(text.to_owned())
    }
}

const BY_HAND: &str = "run the command by hand; it is given one JSON document on its standard input";

impl Model for Command {
    fn kind(&self) -> &'static str {
        "command"
    }

    fn provider(&self) -> &'static str {
        "command"
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn max_tokens(&self) -> Option<u64> {
        None
    }

    fn ask(&self, prompt: &Prompt, watch: &dyn Watch) -> Result<Answer, SummarizeError> {
        watch.stage(&format!("asking {}", self.name));
        let Prompt { instructions, text } = prompt;
        let document = Document { schema: "dshc.summarize/1", instructions, text, sections: SECTIONS };
        let mut input = serde_json::to_vec(&document)
            .map_err(|error| self.failed(&format!("cannot be asked: {error}"), BY_HAND))?;
        input.push(b'\n');
        let limits = Limits { time: self.timeout, output: MOST_OUTPUT };
        let ended =
            running::run(group::shell(&self.line), input, &limits, watch).map_err(|why| self.stopped(why))?;
        Ok(Answer { text: self.judge(&ended)?, usage: None })
    }
}
