//! `dshc.compact/1`.

use super::change::{ChangeJson, Totals};
use super::{ShardJson, SkippedJson};
use crate::batch::Scope;
use crate::compact::{Outcome, Pass, Pruned, Status};
use crate::report::stream::Stream;
use crate::session::TaskVisibility;
use serde::Serialize;
use std::io::{self, Write};

#[derive(Serialize)]
struct Document<F> {
    schema: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    shard: Option<ShardJson>,
    files: F,
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
    #[serde(skip_serializing_if = "Option::is_none")]
    task: Option<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pruned: Vec<PrunedJson>,
    /// Those of the last pass.
    #[serde(flatten)]
    pass: PassJson<'a>,
    host_tokens: TokensJson,
    #[serde(skip_serializing_if = "Option::is_none")]
    tokens: Option<ExactJson>,
    /// All of them, where there was more than one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    passes: Vec<OnePassJson<'a>>,
    bytes: ChangeJson,
    notes: &'a [String],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PrunedJson {
    seq: u64,
    replacement_seq: u64,
    before: u64,
    after: u64,
}

/// As host tokens; null where the tokenizer gave up, or nothing is known yet.
#[derive(Serialize)]
struct ExactJson {
    tokenizer: &'static str,
    before: Option<u64>,
    shadowed: Option<u64>,
    checkpoint: Option<u64>,
    after: Option<u64>,
}

#[derive(Serialize, Default)]
#[serde(rename_all = "camelCase")]
struct PassJson<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    region: Option<RegionJson<'a>>,
    #[serde(flatten)]
    appended: Option<AppendedJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    summarizer: Option<SummarizerJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache: Option<CacheJson>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct OnePassJson<'a> {
    #[serde(flatten)]
    pass: PassJson<'a>,
    host_tokens: PassTokensJson,
}

#[derive(Serialize)]
struct PassTokensJson {
    #[serde(skip_serializing_if = "Option::is_none")]
    shadowed: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    checkpoint: Option<u64>,
}

#[derive(Serialize)]
struct ReasonJson<'a> {
    code: &'a str,
    message: &'a str,
    help: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    suggest: Vec<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RegionJson<'a> {
    start: u64,
    end: u64,
    seqs: &'a [u64],
    chosen_by: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AppendedJson<'a> {
    compaction_id: &'a str,
    start_seq: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    summary_seq: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    checkpoint_seq: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    end_seq: Option<u64>,
}

#[derive(Serialize)]
struct SummarizerJson<'a> {
    kind: &'a str,
    provider: &'a str,
    model: &'a str,
    calls: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<UsageJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    recall: Option<RecallJson<'a>>,
}

#[derive(Serialize)]
struct RecallJson<'a> {
    found: usize,
    of: usize,
    missing: &'a [String],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct UsageJson {
    input_tokens: u64,
    output_tokens: u64,
}

#[derive(Serialize)]
struct TokensJson {
    before: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    shadowed: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    checkpoint: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<u64>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CacheJson {
    first_changed_position: usize,
    host_tokens_after_it: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SummaryJson {
    files: usize,
    compacted: usize,
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
    host_tokens: Totals,
    bytes: Totals,
}

/// Writes the document of a run, or of one share of it. `not_begun`: of one that was interrupted, how many logs were not begun.
pub fn compact(
    outcomes: &[Outcome],
    scope: Scope,
    not_begun: Option<usize>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let count = |status| outcomes.iter().filter(|outcome| outcome.status == status).count();
    let document = Document {
        schema: "dshc.compact/1",
        shard: scope.shard.map(ShardJson::of),
        files: Stream(|| outcomes.iter().map(entry)),
        interrupted: not_begun.map(|_| true),
        summary: SummaryJson {
            files: outcomes.len(),
            compacted: count(Status::Compacted),
            planned: count(Status::Planned),
            nothing_to_do: count(Status::NothingToDo),
            refused: count(Status::Refused),
            failed: count(Status::Failed),
            unreadable: count(Status::Unreadable),
            skipped: scope.has_journal.then(|| count(Status::Skipped)),
            not_begun,
            host_tokens: Totals::of(outcomes.iter().map(Outcome::host_tokens_change)),
            bytes: Totals::of(outcomes.iter().map(Outcome::bytes_change)),
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
    let (tokens, last) = (outcome.host_tokens, outcome.passes.last());
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
            suggest: reason.spans(),
        }),
        task: outcome.task.map(TaskVisibility::as_str),
        pruned: outcome.pruned.iter().map(pruned).collect(),
        pass: last.map_or_else(PassJson::default, pass),
        host_tokens: TokensJson {
            before: tokens.before,
            shadowed: last.and_then(|pass| pass.shadowed),
            checkpoint: last.and_then(|pass| pass.checkpoint),
            after: tokens.after,
        },
        tokens: exact(outcome),
        passes: match outcome.passes.as_slice() {
            [_, _, ..] => outcome.passes.iter().map(one_pass).collect(),
            _ => Vec::new(),
        },
        bytes: ChangeJson::of(outcome.bytes),
        notes: &outcome.notes,
    }
}

fn pruned(pruned: &Pruned) -> PrunedJson {
    let Pruned { seq, replacement_seq, before, after } = *pruned;
    PrunedJson { seq, replacement_seq, before, after }
}

/// From the surface before the first pass to that after the last.
fn exact(outcome: &Outcome) -> Option<ExactJson> {
    let first = outcome.passes.first()?.tokens?;
    let last = outcome.passes.last()?.tokens?;
    Some(ExactJson {
        tokenizer: last.tokenizer.as_str(),
        before: first.before,
        shadowed: last.shadowed,
        checkpoint: last.checkpoint,
        after: last.after,
    })
}

fn one_pass(one: &Pass) -> OnePassJson<'_> {
    let host_tokens = PassTokensJson { shadowed: one.shadowed, checkpoint: one.checkpoint };
    OnePassJson { pass: pass(one), host_tokens }
}

fn pass(pass: &Pass) -> PassJson<'_> {
    PassJson {
        region: pass.region.as_ref().map(|region| RegionJson {
            start: region.start,
            end: region.end,
            seqs: &region.seqs,
            chosen_by: region.chosen_by,
        }),
        appended: pass.appended.as_ref().map(|appended| AppendedJson {
            compaction_id: &appended.compaction_id,
            start_seq: appended.start_seq,
            summary_seq: appended.summary_seq,
            checkpoint_seq: appended.checkpoint_seq,
            end_seq: appended.end_seq,
        }),
        summarizer: pass.summarizer.as_ref().map(|summarizer| SummarizerJson {
            kind: summarizer.kind,
            provider: &summarizer.provider,
            model: &summarizer.model,
            calls: summarizer.calls,
            usage: summarizer.usage.map(|usage| UsageJson {
                input_tokens: usage.input_tokens,
                output_tokens: usage.output_tokens,
            }),
            recall: summarizer.recall.as_ref().map(|recall| RecallJson {
                found: recall.found,
                of: recall.of,
                missing: &recall.missing,
            }),
        }),
        cache: pass.cache.map(|cache| CacheJson {
            first_changed_position: cache.first_changed_position,
            host_tokens_after_it: cache.host_tokens_after_it,
        }),
    }
}
