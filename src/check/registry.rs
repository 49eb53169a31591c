//! The table of all rules.

use super::root::{encodings, identity, names};
use super::{
    Severity, aftermath, brackets, container, estimate, failures, line, locks, numbering, opening, pairing,
    provenance, quality, relations, script, seeds, shadow, stream, surface, task, text, vocabulary,
};

/// A rule that a log can break. Its file holds the check; this is what people can name and look up.
#[derive(Debug, PartialEq, Eq)]
pub struct Rule {
    /// What the rule is about, in one word of kebab case.
    pub family: &'static str,
    /// The rule's stable name, in kebab case.
    pub code: &'static str,
    /// How much a breach matters, unless a user sets it otherwise.
    pub severity: Severity,
    /// The doc comment of the rule, in Markdown: one sentence, then what it means, why it matters, how it comes about
    /// and what to do.
    page: &'static str,
}

impl Rule {
    pub(super) const fn error(family: &'static str, code: &'static str, page: &'static str) -> Self {
        Self { family, code, severity: Severity::Error, page }
    }

    pub(super) const fn warning(family: &'static str, code: &'static str, page: &'static str) -> Self {
        Self { family, code, severity: Severity::Warning, page }
    }

    pub(super) const fn note(family: &'static str, code: &'static str, page: &'static str) -> Self {
        Self { family, code, severity: Severity::Note, page }
    }

    /// The page's paragraphs, each on one line. The first is the summary: what a breach is, in one sentence.
    pub fn paragraphs(&self) -> impl Iterator<Item = String> {
        self.page.split("\n\n").map(|paragraph| paragraph.split_whitespace().collect::<Vec<_>>().join(" "))
    }

    /// What a breach is, in one sentence.
    #[must_use]
    pub fn summary(&self) -> String {
        self.paragraphs().next().unwrap_or_default()
    }
}

/// Declares the rules of a file: the family, then for each rule its page as a doc comment, its name in the code, its
/// severity and its code. `RULES` lists them for the table below.
macro_rules! rule_family {
    ($family:literal; $($(#[doc = $line:literal])+ $name:ident = $severity:ident($code:literal);)+) => {
        $(
            $(#[doc = $line])+
            static $name: $crate::check::registry::Rule =
                $crate::check::registry::Rule::$severity($family, $code, concat!($($line, "\n"),+));
        )+

        pub(in crate::check) const RULES: &[&$crate::check::registry::Rule] = &[$(&$name),+];
    };
}
pub(super) use rule_family;

/// The families: the places of logs, then from the bytes up.
const FAMILIES: &[&[&Rule]] = &[
    opening::RULES,
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
    estimate::RULES,
    locks::RULES,
    failures::RULES,
    task::RULES,
    quality::RULES,
    script::RULES,
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
            assert!(rule.family.split('-').all(is_kebab), "{}", rule.code);
            assert!(rule.summary().ends_with('.'), "{}", rule.code);
        }
        assert_eq!(rule("torn-tail").map(|rule| rule.severity), Some(Severity::Warning));
        assert_eq!(rule("torn"), None);
    }
}
