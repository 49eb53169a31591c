//! `dshc.repack/1`.

use super::change::{ChangeJson, Totals};
use super::{ShardJson, SkippedJson};
use crate::batch::Scope;
use crate::repack::{Outcome, Status};
use serde::Serialize;
use std::io::{self, Write};
use std::path::PathBuf;

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    shard: Option<ShardJson>,
    files: Vec<EntryJson<'a>>,
    ignored: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    interrupted: Option<bool>,
    summary: SummaryJson,
}

#[derive(Serialize)]
#[serde(untagged)]
enum EntryJson<'a> {
    File(Box<FileJson<'a>>),
    Skipped(SkippedJson<'a>),
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
#[serde(rename_all = "camelCase")]
struct SummaryJson {
    files: usize,
    repacked: usize,
    planned: usize,
    nothing_to_do: usize,
    refused: usize,
    failed: usize,
    unreadable: usize,
    /// Only in runs that have a journal.
    #[serde(skip_serializing_if = "Option::is_none")]
    skipped: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    not_begun: Option<usize>,
    bytes: Totals,
    frames: Totals,
}

/// Writes the document of a run, or of one share of it. `not_begun`: of one that was interrupted, how many logs were not
/// begun.
pub fn repack(
    outcomes: &[Outcome],
    ignored: &[PathBuf],
    scope: Scope,
    not_begun: Option<usize>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let count = |status| outcomes.iter().filter(|outcome| outcome.status == status).count();
    let frames = outcomes.iter().filter_map(|outcome| outcome.frames);
    let frames = frames.map(|(before, after)| (before, after.unwrap_or(before)));
    let document = Document {
        schema: "dshc.repack/1",
        shard: scope.shard.map(ShardJson::of),
        files: outcomes.iter().map(entry).collect(),
        interrupted: not_begun.map(|_| true),
        ignored: ignored.iter().map(|path| path.display().to_string()).collect(),
        summary: SummaryJson {
            files: outcomes.len(),
            repacked: count(Status::Repacked),
            planned: count(Status::Planned),
            nothing_to_do: count(Status::NothingToDo),
            refused: count(Status::Refused),
            failed: count(Status::Failed),
            unreadable: count(Status::Unreadable),
            skipped: scope.has_journal.then(|| count(Status::Skipped)),
            not_begun,
            bytes: Totals::of(outcomes.iter().map(Outcome::bytes_change)),
            frames: Totals::of(frames),
        },
    };
    super::write(&document, out)
}

fn entry(outcome: &Outcome) -> EntryJson<'_> {
    match &outcome.past {
        Some(past) => EntryJson::Skipped(SkippedJson::of(&outcome.path, past)),
        None => EntryJson::File(Box::new(file(outcome))),
    }
}

fn file(outcome: &Outcome) -> FileJson<'_> {
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
        bytes: ChangeJson::of(outcome.bytes),
        text_bytes: outcome.text_bytes,
        frames: outcome.frames.map(ChangeJson::of),
        digest: outcome.digest.as_deref(),
        notes: &outcome.notes,
    }
}
