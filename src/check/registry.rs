//! The table of all rules.

use super::Severity;

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
/// severity and its code. `RULES` lists them for the table below. Where the pages are long, the rules have a file of
/// their own beside the checks, which therefore see them.
macro_rules! rule_family {
    ($family:literal; $($(#[doc = $line:literal])+ $name:ident = $severity:ident($code:literal);)+) => {
        $(
            $(#[doc = $line])+
            pub(in crate::check) static $name: $crate::check::registry::Rule =
                $crate::check::registry::Rule::$severity($family, $code, concat!($($line, "\n"),+));
        )+

        pub(in crate::check) const RULES: &[&$crate::check::registry::Rule] = &[$(&$name),+];
    };
}
pub(super) use rule_family;

/// The families: the places of logs, then from the bytes up.
const FAMILIES: &[&[&Rule]] = &[
    super::opening::RULES,
    super::root::names::RULES,
    super::root::encodings::RULES,
    super::root::identity::RULES,
    super::container::RULES,
    super::line::RULES,
    super::aftermath::RULES,
    super::text::RULES,
    super::numbering::RULES,
    super::seeds::RULES,
    super::surface::RULES,
    super::vocabulary::RULES,
    super::provenance::RULES,
    super::pairing::RULES,
    super::brackets::RULES,
    super::shadow::RULES,
    super::estimate::RULES,
    super::locks::RULES,
    super::failures::RULES,
    super::task::RULES,
    super::quality::RULES,
    super::script::RULES,
    super::relations::RULES,
    super::relations::turns::RULES,
    super::relations::tools::RULES,
    super::relations::repair::RULES,
    super::relations::dispatch::RULES,
    super::relations::retries::RULES,
    super::relations::titles::RULES,
    super::relations::commands::RULES,
    super::relations::inherited::RULES,
    super::relations::head::RULES,
    super::inbox::RULES,
    super::shapes::RULES,
    super::stream::RULES,
    super::metered::RULES,
    super::metered::usage::RULES,
    super::upgrade::chain::RULES,
    super::upgrade::unknown::RULES,
    super::upgrade::interrupted::RULES,
    super::upgrade::attempts::RULES,
    super::upgrade::citations::RULES,
    super::upgrade::renumbering::RULES,
    super::upgrade::seeds::RULES,
    super::upgrade::prompts::RULES,
    super::upgrade::generated::RULES,
    super::upgrade::deliveries::RULES,
    super::upgrade::results::RULES,
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
        }
        assert_eq!(rule("torn-tail").map(|rule| rule.severity), Some(Severity::Warning));
        assert_eq!(rule("torn"), None);
    }

    /// What the paragraphs of a page begin with, behind the summary.
    const LEADS: [&str; 4] =
        ["**What it means.**", "**Why it matters.**", "**How it comes about.**", "**What to do.**"];

    #[test]
    fn every_rule_has_its_page() {
        for rule in rules() {
            let summary = rule.summary();
            let is_sentence = summary.ends_with('.') && !summary.contains(". ") && !summary.starts_with("**");
            assert!(is_sentence, "{}: {summary}", rule.code);
            let paragraphs: Vec<String> = rule.paragraphs().skip(1).collect();
            assert_eq!(paragraphs.len(), LEADS.len(), "{} has other paragraphs", rule.code);
            for (paragraph, lead) in paragraphs.iter().zip(LEADS) {
                let text = paragraph.strip_prefix(lead).and_then(|rest| rest.strip_prefix(' '));
                assert!(text.is_some_and(|text| text.ends_with('.')), "{}: {paragraph}", rule.code);
                assert!(!paragraph[lead.len()..].contains("**"), "{}: {paragraph}", rule.code);
            }
            // Those who read a page do not have the document of the formats.
            assert!(!rule.page.contains("FORMAT §"), "{}", rule.code);
        }
    }
}
