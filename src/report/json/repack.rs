//! `dshc.repack/1`.

use crate::repack::{Outcome, Run, Status};
use crate::report::stream::Stream;
use serde::Serialize;
use std::io::{self, Write};

#[derive(Serialize)]
struct Document<F, I> {
    schema: &'static str,
    files: F,
    ignored: I,
    #[serde(skip_serializing_if = "Option::is_none")]
    interrupted: Option<bool>,
    summary: SummaryJson,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FileJson<'a> {
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<String>,
    session: Option<&'a str>,
    version: Option<u64>,
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<ReasonJson<'a>>,
    bytes: ChangeJson,
    #[serde(skip_serializing_if = "Option::is_none")]
    text_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    frames: Option<ChangeJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    digest: Option<&'a str>,
    notes: &'a [String],
}

#[derive(Serialize)]
struct ReasonJson<'a> {
    code: &'a str,
    message: &'a str,
    help: &'a str,
}

#[derive(Serialize)]
struct ChangeJson {
    before: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<u64>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SummaryJson {
    files: usize,
    repacked: usize,
    planned: usize,
    nothing_to_do: usize,
    refused: usize,
    failed: usize,
    unreadable: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    not_begun: Option<usize>,
    bytes: Totals,
    frames: Totals,
}

/// Sums over all files; a file that did not change counts the same before and after.
#[derive(Serialize)]
struct Totals {
    before: u64,
    after: u64,
}

impl Totals {
    fn of(changes: impl Iterator<Item = (u64, Option<u64>)>) -> Self {
        let add = |sum: Self, (before, after): (u64, Option<u64>)| Self {
            before: sum.before.saturating_add(before),
            after: sum.after.saturating_add(after.unwrap_or(before)),
        };
        changes.fold(Self { before: 0, after: 0 }, add)
    }
}

/// Writes the document of a run.
pub fn repack(run: &Run, out: &mut dyn Write) -> io::Result<()> {
    let Run { outcomes, ignored, not_begun } = *run;
    let count = |status| outcomes.iter().filter(|outcome| outcome.status == status).count();
    let document = Document {
        schema: "dshc.repack/1",
        files: Stream(|| outcomes.iter().map(file)),
        ignored: Stream(|| ignored.iter().map(|path| path.display().to_string())),
        interrupted: not_begun.map(|_| true),
        summary: SummaryJson {
            files: outcomes.len(),
            repacked: count(Status::Repacked),
            planned: count(Status::Planned),
            nothing_to_do: count(Status::NothingToDo),
            refused: count(Status::Refused),
            failed: count(Status::Failed),
            unreadable: count(Status::Unreadable),
            not_begun,
            bytes: Totals::of(outcomes.iter().map(|outcome| outcome.bytes)),
            frames: Totals::of(outcomes.iter().filter_map(|outcome| outcome.frames)),
        },
    };
    super::write(&document, out)
}

fn file(outcome: &Outcome) -> FileJson<'_> {
    let change = |(before, after)| ChangeJson { before, after };
    FileJson {
        path: outcome.path.display().to_string(),
        output: outcome.output.as_ref().map(|output| output.display().to_string()),
        session: outcome.session.as_deref(),
        version: outcome.version,
        status: outcome.status.as_str(),
        reason: outcome.reason.as_ref().map(|reason| ReasonJson {
            code: reason.code,
            message: &reason.message,
            help: &reason.help,
        }),
        bytes: change(outcome.bytes),
        text_bytes: outcome.text_bytes,
        frames: outcome.frames.map(change),
        digest: outcome.digest.as_deref(),
        notes: &outcome.notes,
    }
}
