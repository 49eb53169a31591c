//! Rules by the names that a user gives them: `--rule`, `--explain`, `--list-rules`.

use super::UsageError;
use crate::check::{self, Rule, Setting, Settings, Severity};
use anyhow::Result;
use clap::ValueEnum;
use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

/// How many close names an error tells.
const MOST_CLOSE: usize = 4;
/// From what likeness on (of 1) a name is close.
const CLOSE: f64 = 0.8;

/// What was typed behind `--rule`.
#[derive(Debug, Clone)]
pub(super) struct RuleOption {
    /// A rule's code or a family.
    name: String,
    level: Level,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Level {
    Off,
    Note,
    Warning,
    Error,
}

impl FromStr for RuleOption {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let form = || "want CODE=off, CODE=note, CODE=warning or CODE=error".to_owned();
        let (name, level) = text.split_once('=').ok_or_else(form)?;
        let level = Level::from_str(level, false).map_err(|_| form())?;
        Ok(Self { name: name.to_owned(), level })
    }
}

impl fmt::Display for RuleOption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let level = self.level.to_possible_value();
        write!(f, "{}={}", self.name, level.as_ref().map_or("", |level| level.get_name()))
    }
}

impl From<Level> for Setting {
    fn from(level: Level) -> Self {
        match level {
            Level::Off => Self::Off,
            Level::Note => Self::Severity(Severity::Note),
            Level::Warning => Self::Severity(Severity::Warning),
            Level::Error => Self::Severity(Severity::Error),
        }
    }
}

/// What the options make of the rules; of several that name one rule the last counts.
pub(super) fn settings(options: &[RuleOption]) -> Result<Settings> {
    let mut settings = Settings::default();
    for RuleOption { name, level } in options {
        let rules = match named(name)? {
            Subject::Rule(rule) => vec![rule],
            Subject::Family(rules) => rules,
        };
        for rule in rules {
            settings.set(rule.code, (*level).into()).map_err(|error| {
                UsageError::new(
                    format!("--rule {name}: {error}"),
                    "leave the file out, or let the run fail with exit code 3",
                )
            })?;
        }
    }
    Ok(settings)
}

/// What is to be explained.
pub(super) enum Subject {
    Rule(&'static Rule),
    /// The rules of a family.
    Family(Vec<&'static Rule>),
}

/// The rule, or the rules of the family, of that name.
pub(super) fn named(name: &str) -> Result<Subject> {
    if let Some(rule) = check::rule(name) {
        return Ok(Subject::Rule(rule));
    }
    let family: Vec<&Rule> = check::rules().filter(|rule| rule.family == name).collect();
    if family.is_empty() { Err(unknown(name).into()) } else { Ok(Subject::Family(family)) }
}

fn unknown(name: &str) -> UsageError {
    let names: BTreeSet<&str> = check::rules().flat_map(|rule| [rule.code, rule.family]).collect();
    let close = close(name, names);
    let help = if close.is_empty() { String::new() } else { format!("close: {}; ", close.join(", ")) };
    let help = format!("{help}`dshc verify --list-rules` shows all");
    UsageError::new(
        format!("there is no rule and no family of the name {}", crate::json::excerpt(name)),
        help,
    )
}

/// The names that are like `name` or hold it, the closest first.
fn close<'a>(name: &str, names: BTreeSet<&'a str>) -> Vec<&'a str> {
    let name = &*name.to_lowercase();
    let likeness = |other: &str| {
        let holds = name.len() > 2 && (other.contains(name) || name.contains(other));
        let likeness = strsim::jaro_winkler(name, other);
        if holds { likeness.max(CLOSE) } else { likeness }
    };
    let mut close: Vec<(f64, &str)> = names
        .into_iter()
        .map(|other| (likeness(other), other))
        .filter(|(likeness, _)| *likeness >= CLOSE)
        .collect();
    close.sort_by(|(first, _), (second, _)| second.total_cmp(first));
    close.into_iter().map(|(_, other)| other).take(MOST_CLOSE).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(result: Result<impl Sized>) -> UsageError {
        let Err(error) = result else { panic!("it was taken") };
        error.downcast::<UsageError>().unwrap()
    }

    #[test]
    fn close_names_are_told() {
        let names = || BTreeSet::from(["torn-tail", "seq-gap", "seq-repeat", "pairing"]);
        assert_eq!(close("torn-tial", names()), ["torn-tail"]);
        assert_eq!(close("repeat", names()), ["seq-repeat"]);
        assert_eq!(close("xyz", names()), [""; 0]);
        assert_eq!(close("TORN-TAIL", names()), ["torn-tail"]);
        let error = usage(named("torn_tail"));
        assert_eq!(error.message, "there is no rule and no family of the name \"torn_tail\"");
        assert!(error.help.starts_with("close: torn-tail"), "{}", error.help);
        assert_eq!(usage(named("qqqqq")).help, "`dshc verify --list-rules` shows all");
    }

    #[test]
    fn options_have_one_form() {
        for bad in ["crlf", "crlf=", "crlf=fatal", "crlf:off"] {
            assert!(bad.parse::<RuleOption>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_family_stands_for_its_rules() {
        let parsed = |options: &[&str]| {
            settings(&options.iter().map(|option| option.parse().unwrap()).collect::<Vec<_>>())
        };
        assert!(parsed(&["pairing=off", "crlf=note"]).is_ok());
        assert!(usage(parsed(&["pairng=off"])).help.contains("pairing"));
        assert!(usage(parsed(&["opening=off"])).message.contains("cannot be set"));
        assert!(usage(parsed(&["empty-file=off"])).message.contains("cannot be set"));
    }

    #[test]
    fn no_rule_has_the_name_of_a_family() {
        assert!(check::rules().all(|rule| check::rules().all(|other| other.family != rule.code)));
    }
}
