//! SARIF 2.1.0: findings as code scanning shows them. Section numbers are those of the OASIS standard.

mod results;
mod uri;

use super::stream::Stream;
use crate::check::{self, Rule};
use crate::verify::{Status, Verification};
use serde::Serialize;
use std::collections::HashMap;
use std::io::{self, Write};

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

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

/// Writes the document of a run.
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
    let results = Stream(|| run.files.iter().flat_map(|file| results::of(file, &indexes)));
    let run = Run {
        tool: Tool { driver },
        invocations: [invocation],
        // No result has a column; the standard wants the kind told all the same, once there are lines (§3.14.17).
        column_kind: "unicodeCodePoints",
        results,
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
