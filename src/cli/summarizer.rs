//! Who makes the summaries: from flags and environment to a ready summarizer.

use super::UsageError;
use crate::summarize::{Command, Dialect, Drop, Limits, Live, Remote, Server, ServerError, Stub, Summarizer};
use clap::{Args, ValueEnum};
use std::num::NonZeroUsize;
use std::time::Duration;

/// What a live model may write, the time for its whole answer and for silence in seconds, and the tries after the
/// first, where nothing else is said.
const MAX_TOKENS: u64 = 8_192;
const TIMEOUT: f64 = 300.0;
const IDLE_TIMEOUT: f64 = 60.0;
const RETRIES: u32 = 3;
/// The calls at once where nothing else is said: a batch waits for models alone, so more than one pays; a server that
/// limits its callers, or a model on this machine, is not to be flooded by who did not ask for that.
const CONCURRENCY: usize = 4;

/// Said of each flag: a heading for the next flags would hold on behind those of this struct.
const HEADING: &str = "Summarizer";

/// The variables that stand for flags.
const BASE_URL: &str = "DSHC_BASE_URL";
const MODEL: &str = "DSHC_MODEL";

/// Flags that name a summarizer and say how it is to be asked.
#[derive(Debug, Args)]
pub(super) struct SummarizerArgs {
    /// Who makes the summary.
    #[arg(long, help_heading = HEADING, value_enum, default_value_t = Kind::Stub)]
    summarizer: Kind,
    /// The program that `command` runs, by the shell.
    ///
    /// It is given one JSON document on its standard input, with the members "instructions", "text" and "sections",
    /// and writes the summary to its standard output.
    #[arg(long, help_heading = HEADING, value_name = "LINE")]
    command: Option<String>,
    /// The server that is asked: deepseek, openai, ollama, llama.cpp, vllm, anthropic, an address, or a local server's
    /// name with another address, as in vllm=http://127.0.0.1:9000
    /// [env: DSHC_BASE_URL] [default: deepseek for `openai`, anthropic for `anthropic`].
    #[arg(long, help_heading = HEADING, value_name = "URL")]
    base_url: Option<String>,
    /// The model that is asked, by the server's own name for it [env: DSHC_MODEL] [default: deepseek-flash for
    /// deepseek].
    #[arg(long, help_heading = HEADING, value_name = "NAME")]
    model: Option<String>,
    /// The environment variable that holds the server's key [default: the one that the server's own documents name].
    ///
    /// A server on this machine needs none, and a key never goes unencrypted to another one.
    #[arg(long, help_heading = HEADING, value_name = "NAME")]
    api_key_env: Option<String>,
    /// The most tokens that the model may write [default: 8192, a sixth of --summarizer-window if that is less].
    #[arg(long, help_heading = HEADING, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    max_tokens: Option<u64>,
    /// The tokens that the model can read and write in one call: a larger region is put to it in parts.
    #[arg(long, help_heading = HEADING, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    summarizer_window: Option<u64>,
    /// The seconds that one answer may take, all tries included [default: 300].
    #[arg(long, help_heading = HEADING, value_name = "SECONDS", value_parser = seconds)]
    timeout: Option<f64>,
    /// The seconds in which nothing may come from the server [default: 60].
    ///
    /// A local model may need longer than that before its first word.
    #[arg(long, help_heading = HEADING, value_name = "SECONDS", value_parser = seconds)]
    idle_timeout: Option<f64>,
    /// How often to try again what may pass: a busy or broken server, a broken stream [default: 3].
    #[arg(long, help_heading = HEADING, value_name = "N")]
    retries: Option<u32>,
    /// The most calls at once, over all logs of the run [default: 4].
    ///
    /// A log that waits for its answer holds none of the -j jobs. A model on this machine may want 1, a server with high
    /// limits many more.
    #[arg(long, help_heading = HEADING, value_name = "N")]
    concurrency: Option<NonZeroUsize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// From the region's own text, without a model.
    Stub,
    /// Any program.
    Command,
    /// A model behind chat completions: DeepSeek, OpenAI, ollama, llama.cpp, vLLM and others.
    Openai,
    /// A model behind Anthropic's messages.
    Anthropic,
}

/// A variable of this process's environment.
pub(super) fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

fn seconds(text: &str) -> Result<f64, String> {
    let value: f64 = text.parse().map_err(|_| "a number of seconds is wanted".to_owned())?;
    let is_sound = value > 0.0 && value <= 1e6;
    is_sound.then_some(value).ok_or_else(|| "more than 0 and at most 1000000 seconds are wanted".into())
}

impl SummarizerArgs {
    /// The summarizer that the flags and the environment name, before any log is read.
    pub(super) fn build(
        &self,
        environment: impl Fn(&str) -> Option<String>,
    ) -> Result<Box<dyn Summarizer>, UsageError> {
        self.refuse_idle_flags()?;
        Ok(match self.summarizer {
            Kind::Stub => Box::new(Stub),
            Kind::Command => {
                let line =
                    self.command.as_deref().filter(|line| !line.trim().is_empty()).ok_or_else(|| {
                        UsageError::new("--summarizer command wants a program", "name it with --command")
                    })?;
                self.live(Command::new(line, duration(self.timeout, TIMEOUT)))
            }
            Kind::Openai => self.live(self.remote(Dialect::OpenAi, environment)?),
            Kind::Anthropic => self.live(self.remote(Dialect::Anthropic, environment)?),
        })
    }

    /// The summarizer of a compaction that leaves no summary: no flag may name another.
    pub(super) fn none(&self) -> Result<Box<dyn Summarizer>, UsageError> {
        if self.summarizer != Kind::Stub {
            let message =
                format!("--summarizer {} makes a summary, and none is wanted", self.summarizer.name());
            return Err(UsageError::new(message, "leave it out, or --strategy drop"));
        }
        self.refuse_idle_flags()?;
        Ok(Box::new(Drop))
    }

    fn live(&self, model: impl crate::summarize::Model + 'static) -> Box<dyn Summarizer> {
        Box::new(Live::new(Box::new(model)).within(self.summarizer_window))
    }

    fn remote(
        &self,
        dialect: Dialect,
        environment: impl Fn(&str) -> Option<String>,
    ) -> Result<Remote, UsageError> {
        let said = |flag: &Option<String>, variable| {
            flag.clone().or_else(|| environment(variable)).filter(|value| !value.trim().is_empty())
        };
        let usage = |error: ServerError| UsageError::new(error.message, error.help);
        let server = Server::find(dialect, said(&self.base_url, BASE_URL).as_deref()).map_err(usage)?;
        let key = server.key(self.api_key_env.as_deref(), &environment).map_err(usage)?;
        let model = said(&self.model, MODEL).or_else(|| server.model().map(str::to_owned));
        let model = model.ok_or_else(|| {
            UsageError::new(
                format!(
                    "no model is named, and {} has none that dshc could take by itself",
                    server.provider()
                ),
                format!("name one with --model, or in {MODEL}"),
            )
        })?;
        let limits = Limits {
            total: duration(self.timeout, TIMEOUT),
            idle: duration(self.idle_timeout, IDLE_TIMEOUT),
            retries: self.retries.unwrap_or(RETRIES),
        };
        Ok(Remote::new(server, key, model, self.most_tokens(), limits))
    }

    /// How many calls there may be at once.
    pub(super) fn calls_at_once(&self) -> usize {
        self.concurrency.map_or(CONCURRENCY, NonZeroUsize::get)
    }

    /// What a model may write. In a small window the transcript is to have most of the room.
    fn most_tokens(&self) -> u64 {
        let share = self.summarizer_window.map_or(MAX_TOKENS, |window| (window / 6).max(1));
        self.max_tokens.unwrap_or(MAX_TOKENS.min(share))
    }

    /// A flag that the chosen summarizer has no use for was meant for another one.
    fn refuse_idle_flags(&self) -> Result<(), UsageError> {
        const LIVE: &[Kind] = &[Kind::Command, Kind::Openai, Kind::Anthropic];
        const REMOTE: &[Kind] = &[Kind::Openai, Kind::Anthropic];
        let flags: [(&str, bool, &[Kind]); 10] = [
            ("--command", self.command.is_some(), &[Kind::Command]),
            ("--base-url", self.base_url.is_some(), REMOTE),
            ("--model", self.model.is_some(), REMOTE),
            ("--api-key-env", self.api_key_env.is_some(), REMOTE),
            ("--max-tokens", self.max_tokens.is_some(), REMOTE),
            ("--summarizer-window", self.summarizer_window.is_some(), LIVE),
            ("--timeout", self.timeout.is_some(), LIVE),
            ("--idle-timeout", self.idle_timeout.is_some(), REMOTE),
            ("--retries", self.retries.is_some(), REMOTE),
            ("--concurrency", self.concurrency.is_some(), LIVE),
        ];
        let idle =
            flags.into_iter().find(|(_, is_said, users)| *is_said && !users.contains(&self.summarizer));
        let Some((flag, _, users)) = idle else { return Ok(()) };
        let users: Vec<String> = users.iter().map(|user| format!("--summarizer {}", user.name())).collect();
        Err(UsageError::new(
            format!("{flag} says nothing to --summarizer {}", self.summarizer.name()),
            format!("leave it out, or say {}", users.join(" or ")),
        ))
    }
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Stub => "stub",
            Self::Command => "command",
            Self::Openai => "openai",
            Self::Anthropic => "anthropic",
        }
    }
}

fn duration(seconds: Option<f64>, default: f64) -> Duration {
    Duration::from_secs_f64(seconds.unwrap_or(default))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        summarizer: SummarizerArgs,
    }

    /// The summarizer's kind, or what is wrong with the words.
    fn built(words: &str, environment: &[(&str, &str)]) -> Result<&'static str, String> {
        let line = Line::try_parse_from(["dshc"].into_iter().chain(words.split_whitespace()));
        let line = line.map_err(|error| error.to_string())?;
        let look_up = |name: &str| {
            environment.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        };
        line.summarizer.build(look_up).map(|summarizer| summarizer.kind()).map_err(|error| error.message)
    }

    #[test]
    fn flags_and_environment_name_a_summarizer() {
        let key = [("DEEPSEEK_API_KEY", "sk-1"), ("OTHER", "sk-2")];
        for (words, kind) in [
            ("", "stub"),
            ("--summarizer command --command cat --timeout 0.5 --summarizer-window 9", "command"),
            ("--summarizer openai", "openai"),
            ("--summarizer openai --base-url http://localhost:1/v1 --model m --retries 0", "openai"),
            ("--summarizer openai --base-url https://h/v1 --model m --api-key-env OTHER", "openai"),
            ("--summarizer anthropic --base-url deepseek", "anthropic"),
            (
                "--summarizer anthropic --model m --api-key-env OTHER --max-tokens 1 --idle-timeout 1",
                "anthropic",
            ),
        ] {
            assert_eq!(built(words, &key), Ok(kind), "{words}");
        }
        let environment = [("DSHC_BASE_URL", "ollama"), ("DSHC_MODEL", "m")];
        assert_eq!(built("--summarizer openai", &environment), Ok("openai"));
        assert_eq!(built("", &environment), Ok("stub"), "the environment waits for those who want it");
    }

    #[test]
    fn a_small_window_lowers_the_cap() {
        for (words, most) in [
            ("", 8_192),
            ("--summarizer-window 131072", 8_192),
            ("--summarizer-window 8000", 1_333),
            ("--summarizer-window 8000 --max-tokens 4096", 4_096),
            ("--summarizer-window 1", 1),
        ] {
            let line = Line::try_parse_from(["dshc"].into_iter().chain(words.split_whitespace())).unwrap();
            assert_eq!(line.summarizer.most_tokens(), most, "{words}");
        }
    }

    #[test]
    fn what_is_missing_or_says_nothing_is_wrong_usage() {
        for (words, expected) in [
            ("--base-url http://h", "--base-url says nothing to --summarizer stub"),
            ("--summarizer command --command x --model m", "--model says nothing"),
            ("--summarizer openai --command x", "--command says nothing"),
            ("--summarizer command", "wants a program"),
            ("--summarizer openai", "DEEPSEEK_API_KEY"),
            ("--summarizer openai --base-url ollama", "no model is named"),
            ("--summarizer openai --base-url nobody", "base URL"),
            ("--summarizer openai --base-url http://h --api-key-env K", "unencrypted"),
            ("--summarizer openai --timeout 0", "0 and at most"),
            ("--summarizer openai --timeout NaN", "0 and at most"),
            ("--summarizer openai --idle-timeout x", "number of seconds"),
            ("--summarizer openai --max-tokens 0", "0 is not in"),
        ] {
            let error = built(words, &[]).unwrap_err();
            assert!(error.contains(expected), "{words}: {error}");
        }
    }
}
