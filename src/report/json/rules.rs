//! `dshc.rules/1`: rules and their pages.

use crate::check::Rule;
use crate::report::stream::Stream;
use serde::Serialize;
use std::io::{self, Write};

#[derive(Serialize)]
struct Document<R> {
    schema: &'static str,
    rules: R,
}

#[derive(Serialize)]
struct RuleJson {
    code: &'static str,
    family: &'static str,
    severity: &'static str,
    summary: String,
    /// Markdown.
    page: String,
}

/// Writes a document with these rules.
pub fn rules(rules: &[&Rule], out: &mut dyn Write) -> io::Result<()> {
    let rule = |rule: &&Rule| RuleJson {
        code: rule.code,
        family: rule.family,
        severity: rule.severity.as_str(),
        summary: rule.summary(),
        page: rule.paragraphs().collect::<Vec<_>>().join("\n\n"),
    };
    super::write(&Document { schema: "dshc.rules/1", rules: Stream(|| rules.iter().map(rule)) }, out)
}
