//! The table of all rules.

use super::root::{encodings, identity, names};
use super::{
    Severity, aftermath, brackets, container, failures, line, locks, numbering, pairing, provenance,
    relations, seeds, shadow, stream, surface, text, vocabulary,
};

/// A rule that a log can break. Its file holds the check; this is what people can name and look up.
#[derive(Debug, PartialEq, Eq)]
pub struct Rule {
    /// The rule's stable name, in kebab case.
    pub code: &'static str,
    /// How much a breach matters.
    pub severity: Severity,
    /// What a breach is, in one sentence.
    pub summary: &'static str,
}

impl Rule {
    pub(super) const fn error(code: &'static str, summary: &'static str) -> Self {
        Self { code, severity: Severity::Error, summary }
    }

    pub(super) const fn warning(code: &'static str, summary: &'static str) -> Self {
        Self { code, severity: Severity::Warning, summary }
    }

    pub(super) const fn note(code: &'static str, summary: &'static str) -> Self {
        Self { code, severity: Severity::Note, summary }
    }
}

/// The families: the places of logs, then from the bytes up.
const FAMILIES: &[&[&Rule]] = &[
    names::RULES,
    encodings::RULES,
    identity::RULES,
    container::RULES,
    line::RULES,
    numbering::RULES,
    seeds::RULES,
    aftermath::RULES,
    text::RULES,
    provenance::RULES,
    surface::RULES,
    vocabulary::RULES,
    pairing::RULES,
    brackets::RULES,
    shadow::RULES,
    locks::RULES,
    failures::RULES,
    relations::RULES,
    relations::turns::RULES,
    relations::tools::RULES,
    relations::repair::RULES,
    relations::dispatch::RULES,
    relations::retries::RULES,
    relations::titles::RULES,
    relations::commands::RULES,
    relations::inherited::RULES,
    relations::head::RULES,
    stream::RULES,
];

/// Every rule, those of one family together.
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    FAMILIES.iter().flat_map(|family| family.iter().copied())
}

/// The rule of that name.
#[must_use]
pub fn rule(code: &str) -> Option<&'static Rule> {
    rules().find(|rule| rule.code == code)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn codes_are_unique_and_in_kebab_case() {
        let mut seen = HashSet::new();
        for rule in rules() {
            assert!(seen.insert(rule.code), "{} stands twice", rule.code);
            let is_kebab = |part: &str| {
                !part.is_empty()
                    && part.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
            };
            assert!(rule.code.split('-').all(is_kebab), "{}", rule.code);
            assert!(rule.summary.ends_with('.'), "{}", rule.code);
        }
        assert_eq!(rule("torn-tail").map(|rule| rule.severity), Some(Severity::Warning));
        assert_eq!(rule("torn"), None);
    }
}
