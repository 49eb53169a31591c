//! What dshc and the official packages make of a log.

use crate::official::{judge, judge_strictly};
use dshc::check::{Options, Severity};
use dshc::log::Source;
use dshc::verify::FileVerdict;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::thread;

/// What dshc makes of a log.
#[derive(Debug, Clone)]
pub struct Ours {
    /// Whether it reports an error.
    pub refuses: bool,
    /// The codes of its findings, with `!` behind those of errors, `?` behind those of notes.
    pub codes: Vec<String>,
    /// The codes of the errors that it has where no target is asked for.
    pub own_errors: Vec<String>,
}

impl Ours {
    /// The verdict of `dshc verify`.
    pub fn of(path: &Path) -> Self {
        Self::with(path, Options::default())
    }

    /// The verdict of `dshc verify --target-format 3`.
    pub fn to_3(path: &Path) -> Self {
        let own_errors = Self::of(path).errors().map(str::to_owned).collect();
        Self { own_errors, ..Self::with(path, Options { target: Some(3) }) }
    }

    fn with(path: &Path, options: Options) -> Self {
        let verdict = FileVerdict::of(path.to_owned(), None, options, Source::open);
        let mark = |severity| match severity {
            Severity::Error => "!",
            Severity::Warning => "",
            Severity::Note => "?",
        };
        let codes =
            verdict.findings.iter().map(|finding| format!("{}{}", finding.code, mark(finding.severity)));
        let refuses = verdict.ending.is_none() || verdict.worst() == Some(Severity::Error);
        let mut ours = Self { refuses, codes: codes.collect(), own_errors: Vec::new() };
        ours.codes.dedup();
        ours
    }

    /// The codes of its errors.
    pub fn errors(&self) -> impl Iterator<Item = &str> {
        self.codes.iter().filter_map(|code| code.strip_suffix('!'))
    }

    /// Whether it reports this, however grave.
    pub fn has(&self, code: &str) -> bool {
        self.codes.iter().any(|found| found.trim_end_matches(['!', '?']) == code)
    }
}

/// What the official packages make of a log.
#[derive(Debug, Clone)]
pub struct Theirs {
    /// The reader of format 0, its invariants and its pairing.
    pub reader: Value,
    /// The strict codecs.
    pub strict: Value,
}

impl Theirs {
    /// Asks about many logs; `None` where the judges are not installed.
    pub fn of(logs: &[PathBuf]) -> Option<Vec<Self>> {
        let (reader, strict) = thread::scope(|scope| {
            let strict = scope.spawn(|| judge_strictly(logs));
            (judge(logs, &[]), strict.join().unwrap())
        });
        let both = reader?.into_iter().zip(strict?);
        Some(both.map(|(reader, strict)| Self { reader, strict }).collect())
    }

    /// Asks the strict codecs alone.
    pub fn strictly(logs: &[PathBuf]) -> Option<Vec<Self>> {
        let strict = judge_strictly(logs)?;
        Some(strict.into_iter().map(|strict| Self { reader: Value::Null, strict }).collect())
    }

    /// The log's format by its header; `None` where that cannot be told.
    pub fn version(&self) -> Option<u64> {
        self.strict["version"].as_u64().or_else(|| {
            let (_, version) = self.reader["error"].as_str()?.split_once("uses log format v")?;
            version.split_once(',')?.0.parse().ok()
        })
    }

    /// Why anything official refuses the log in its own format, by who does.
    pub fn refusal(&self) -> Option<(&'static str, &str)> {
        let text = |value: &'static str| self.reader[value].as_str();
        if self.version().is_none_or(|version| version == 0) {
            if let Some(error) = text("error") {
                return Some(("reader", error));
            }
            if let Some(broken) = text("invariants").filter(|invariants| *invariants != "ok") {
                return Some(("invariants", broken));
            }
            let stored = |member: &str| self.reader["stored"][member].as_str();
            for (who, member) in [("pairing", "pairingError"), ("meter", "meterError")] {
                if let Some(error) = stored(member) {
                    return Some((who, error));
                }
            }
            if let Some(error) = stored("estimateError") {
                return Some(("estimate", error));
            }
        }
        self.strict["error"].as_str().map(|error| ("strict", error))
    }

    /// Why the strict codecs refuse the log, in its own format or in that of an upgrade.
    pub fn strict_refusal(&self) -> Option<&str> {
        self.strict["error"].as_str().or_else(|| self.upgrade_refusal())
    }

    /// Why a later upgrade refuses the log.
    pub fn upgrade_refusal(&self) -> Option<&str> {
        let upgrades = self.strict["upgrades"].as_object()?;
        upgrades.values().filter_map(Value::as_str).find(|verdict| *verdict != "ok")
    }

    /// Whether the first that refuses the log in its own format is `who`, in one of these words.
    pub fn says(&self, who: &str, words: &[&str]) -> bool {
        self.refusal()
            .is_some_and(|(first, why)| first == who && words.iter().any(|words| why.contains(words)))
    }
}
