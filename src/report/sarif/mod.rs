//! SARIF 2.1.0: findings as code scanning shows them. Section numbers are those of the OASIS standard.

mod results;
mod uri;

use super::stream::Stream;
use crate::check::{self, Rule, Severity};
use crate::verify::{Status, Verification};
use crate::wording::{amount, grouped};
use serde::Serialize;
use std::collections::HashMap;
use std::io::{self, Write};

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// How many results a run gives. GitHub shows no more of them, and refuses a run of more than 25,000.
const MOST: usize = 5000;

/// The document (§3.13), its version first as the standard advises.
#[derive(Serialize)]
struct Log<R> {
    version: &'static str,
    #[serde(rename = "$schema")]
    schema: &'static str,
    runs: [R; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Run<T, R> {
    tool: T,
    invocations: [Invocation; 1],
    column_kind: &'static str,
    results: R,
    #[serde(skip_serializing_if = "Option::is_none")]
    properties: Option<Left>,
}

/// How many results the run would have beyond [`MOST`].
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Left {
    results_left_out: usize,
}

#[derive(Serialize)]
struct Tool<R> {
    driver: Driver<R>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Driver<R> {
    name: &'static str,
    version: &'static str,
    semantic_version: &'static str,
    /// All rules: what is not listed cannot be told from what was not checked.
    rules: R,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Descriptor {
    id: &'static str,
    short_description: Text,
    full_description: Text,
    help: Help,
    default_configuration: Configuration,
    properties: Tags,
}

#[derive(Serialize)]
struct Text {
    text: String,
}

#[derive(Serialize)]
struct Help {
    text: String,
    markdown: String,
}

#[derive(Serialize)]
struct Configuration {
    level: &'static str,
}

#[derive(Serialize)]
struct Tags {
    tags: [&'static str; 1],
}

/// How the run went (§3.20). It failed where a log could not be read, for then there are results that it lacks.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Invocation {
    execution_successful: bool,
}

/// How many results of each severity a document may still have: notes and warnings make room for errors.
struct Room {
    errors: usize,
    warnings: usize,
    notes: usize,
    left_out: usize,
}

impl Room {
    fn of(run: &Verification) -> Self {
        let count = |severity| {
            let findings = run.files.iter().flat_map(|file| &file.findings);
            findings.filter(|finding| finding.severity == severity).count()
        };
        let all = [Severity::Error, Severity::Warning, Severity::Note].map(count);
        let [errors, warnings, notes] = all;
        let errors = errors.min(MOST);
        let warnings = warnings.min(MOST - errors);
        let notes = notes.min(MOST - errors - warnings);
        Self { errors, warnings, notes, left_out: all.iter().sum::<usize>() - errors - warnings - notes }
    }

    /// Whether there is room for one more, which then has it.
    fn takes(&mut self, severity: Severity) -> bool {
        let room = match severity {
            Severity::Error => &mut self.errors,
            Severity::Warning => &mut self.warnings,
            Severity::Note => &mut self.notes,
        };
        let is_taken = *room > 0;
        *room = room.saturating_sub(1);
        is_taken
    }
}

/// What is to be said of results that the document of this run leaves out.
#[must_use]
pub fn sarif_left_out(run: &Verification) -> Option<String> {
    let left_out = Room::of(run).left_out as u64;
    (left_out > 0).then(|| {
        let (more, most) = (amount(left_out, "more result"), grouped(MOST as u64));
        format!(
            "the document has the {most} gravest results, as many as GitHub shows, and leaves out {more}; other formats tell of them"
        )
    })
}

/// Writes the document of a run: at most 5,000 results, for which errors go before warnings and warnings before notes.
pub fn sarif(run: &Verification, out: &mut dyn Write) -> io::Result<()> {
    let indexes: HashMap<&str, usize> =
        check::rules().enumerate().map(|(index, rule)| (rule.code, index)).collect();
    let driver = Driver {
        name: env!("CARGO_PKG_NAME"),
        version: env!("CARGO_PKG_VERSION"),
        semantic_version: env!("CARGO_PKG_VERSION"),
        rules: Stream(|| check::rules().map(descriptor)),
    };
    let invocation = Invocation { execution_successful: run.count(Status::Unreadable) == 0 };
    let left_out = Room::of(run).left_out;
    let results = Stream(|| {
        let mut room = Room::of(run);
        let all = run.files.iter().flat_map(|file| results::of(file, &indexes));
        all.filter(move |(severity, _)| room.takes(*severity)).map(|(_, outcome)| outcome)
    });
    let run = Run {
        tool: Tool { driver },
        invocations: [invocation],
        // No result has a column; the standard wants the kind told all the same, once there are lines (§3.14.17).
        column_kind: "unicodeCodePoints",
        results,
        properties: (left_out > 0).then_some(Left { results_left_out: left_out }),
    };
    serde_json::to_writer(&mut *out, &Log { version: "2.1.0", schema: SCHEMA, runs: [run] })?;
    out.write_all(b"\n")
}

fn descriptor(rule: &Rule) -> Descriptor {
    let paragraphs: Vec<String> = rule.paragraphs().collect();
    let plain = |count: usize| {
        let plain: Vec<String> =
            paragraphs.iter().take(count).map(|paragraph| paragraph.replace("**", "")).collect();
        plain.join("\n\n")
    };
    Descriptor {
        id: rule.code,
        short_description: Text { text: rule.summary() },
        // With what it means; the rest is help.
        full_description: Text { text: plain(2) },
        help: Help { text: plain(usize::MAX), markdown: paragraphs.join("\n\n") },
        default_configuration: Configuration { level: rule.severity.as_str() },
        properties: Tags { tags: [rule.family] },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::testing::{of_code, run};
    use serde_json::{Value, json};

    fn document(run: &Verification) -> Value {
        let mut out = Vec::new();
        sarif(run, &mut out).unwrap();
        serde_json::from_slice(&out).unwrap()
    }

    #[test]
    fn a_run_has_the_gravest_results_and_tells_how_many_it_lacks() {
        let notes = of_code("crlf", 5002);
        let all = run([notes, of_code("torn-tail", 1), of_code("seq-gap", 2)].concat());
        let found = &document(&all)["runs"][0];
        let results = found["results"].as_array().unwrap();
        let count = |level: &str| results.iter().filter(|result| result["level"] == level).count();
        assert_eq!((count("error"), count("warning"), count("note")), (2, 1, 4997));
        assert_eq!(found["properties"], json!({ "resultsLeftOut": 5 }));
        assert!(sarif_left_out(&all).unwrap().contains("leaves out 5 more results"));
        let few = run(of_code("crlf", 5000));
        assert_eq!(document(&few)["runs"][0]["properties"], Value::Null);
        assert_eq!(sarif_left_out(&few), None);
    }
}
