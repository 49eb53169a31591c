//! `dshc.stats/1`.

use super::ShardJson;
use crate::batch::Shard;
use crate::report::stream::Stream;
use crate::stats::{Chunks, Compactions, Figures, Inherited, LogStats, Stats, Total, Unreadable, share};
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{self, Write};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Document<'a, F, I> {
    schema: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    shard: Option<ShardJson>,
    sorted_by: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    top: Option<usize>,
    files: F,
    ignored: I,
    #[serde(skip_serializing_if = "Option::is_none")]
    interrupted: Option<bool>,
    summary: SummaryJson<'a>,
}

#[derive(Serialize)]
struct FileJson<'a> {
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<u64>,
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<ReasonJson<'a>>,
    bytes: BytesJson,
    #[serde(flatten)]
    figures: Option<FiguresJson<'a>>,
    notes: &'a [String],
}

#[derive(Serialize)]
struct ReasonJson<'a> {
    code: &'static str,
    message: &'a str,
    help: &'a str,
}

#[derive(Serialize)]
struct BytesJson {
    #[serde(skip_serializing_if = "Option::is_none")]
    disk: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    decoded: Option<u64>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FiguresJson<'a> {
    container: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    frames: Option<u64>,
    records: u64,
    events: u64,
    events_by_type: &'a BTreeMap<String, u64>,
    /// Events of further types, where a log has more types than are told apart.
    #[serde(skip_serializing_if = "is_zero")]
    other_events: u64,
    chunks: ChunksJson,
    chunks_by_kind: &'a BTreeMap<String, u64>,
    surface: SurfaceJson,
    header: HeaderJson,
    #[serde(skip_serializing_if = "Option::is_none")]
    context_window: Option<u64>,
    compactions: CompactionsJson,
    #[serde(skip_serializing_if = "Option::is_none")]
    inherited: Option<InheritedJson>,
    /// Unix epoch in milliseconds.
    last_time: Option<i64>,
    #[serde(skip_serializing_if = "is_zero")]
    left_out: u64,
}

/// Streamed deltas. The shares are of all events and of all decoded bytes.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ChunksJson {
    events: u64,
    bytes: u64,
    stream_bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    share_of_events: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    share_of_bytes: Option<f64>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SurfaceJson {
    nodes: u64,
    host_tokens: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct HeaderJson {
    host_tokens: u64,
}

#[derive(Serialize)]
struct CompactionsJson {
    done: u64,
    failed: u64,
    open: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct InheritedJson {
    events: u64,
    bytes: u64,
    chunk_events: u64,
    nodes: u64,
    host_tokens: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SummaryJson<'a> {
    files: u64,
    counted: u64,
    partial: u64,
    unreadable: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    not_begun: Option<usize>,
    bytes: BytesJson,
    frames: u64,
    records: u64,
    events: u64,
    events_by_type: &'a BTreeMap<String, u64>,
    other_events: u64,
    chunks: ChunksJson,
    chunks_by_kind: &'a BTreeMap<String, u64>,
    surface: SurfaceJson,
    header: HeaderJson,
    compactions: CompactionsJson,
    forks: u64,
    inherited: InheritedJson,
    left_out: u64,
}

/// Writes the document of a run, or of one share of it.
pub fn stats(stats: &Stats, shard: Option<Shard>, out: &mut dyn Write) -> io::Result<()> {
    let document = Document {
        schema: "dshc.stats/1",
        shard: shard.map(ShardJson::of),
        sorted_by: stats.sorted_by.as_str(),
        top: stats.top,
        files: Stream(|| stats.logs.iter().map(file)),
        ignored: Stream(|| stats.ignored.iter().map(|path| path.display().to_string())),
        interrupted: stats.not_begun.map(|_| true),
        summary: SummaryJson { not_begun: stats.not_begun, ..summary(&stats.total) },
    };
    super::write(&document, out)
}

fn file(log: &LogStats) -> FileJson<'_> {
    let figures = log.figures.as_ref();
    FileJson {
        path: log.path.display().to_string(),
        session: figures.ok().map(|figures| figures.header.id.as_str()),
        version: figures.ok().map(|figures| figures.header.version),
        status: log.status().as_str(),
        reason: figures.err().map(|Unreadable { code, message, help }| ReasonJson { code, message, help }),
        bytes: BytesJson { disk: log.disk, decoded: figures.ok().map(|figures| figures.decoded) },
        figures: figures.ok().map(self::figures),
        notes: &log.notes,
    }
}

fn figures(figures: &Figures) -> FiguresJson<'_> {
    let tally = &figures.tally;
    let shares = (tally.chunk_share(), share(tally.streamed_bytes(), figures.decoded));
    let (share_of_events, share_of_bytes) = (shares.0.map(rounded), shares.1.map(rounded));
    FiguresJson {
        container: figures.container.as_str(),
        frames: figures.frames,
        records: tally.records,
        events: tally.events,
        events_by_type: tally.by_type.named(),
        other_events: tally.by_type.others,
        chunks: ChunksJson { share_of_events, share_of_bytes, ..chunks(&tally.chunks, tally.stream_bytes) },
        chunks_by_kind: tally.chunks.by_kind.named(),
        surface: SurfaceJson { nodes: figures.nodes, host_tokens: figures.host_tokens },
        header: HeaderJson { host_tokens: figures.header_tokens },
        context_window: figures.context_window,
        compactions: compactions(tally.compactions),
        inherited: figures.inherited.map(inherited),
        last_time: figures.last_time,
        left_out: figures.left_out,
    }
}

fn summary(total: &Total) -> SummaryJson<'_> {
    let tally = &total.tally;
    SummaryJson {
        files: total.logs(),
        counted: total.counted,
        partial: total.partial,
        unreadable: total.unreadable,
        not_begun: None,
        bytes: BytesJson { disk: Some(total.disk), decoded: Some(total.decoded) },
        frames: total.frames,
        records: tally.records,
        events: tally.events,
        events_by_type: tally.by_type.named(),
        other_events: tally.by_type.others,
        chunks: chunks(&tally.chunks, tally.stream_bytes),
        chunks_by_kind: tally.chunks.by_kind.named(),
        surface: SurfaceJson { nodes: total.nodes, host_tokens: total.host_tokens },
        header: HeaderJson { host_tokens: total.header_tokens },
        compactions: compactions(tally.compactions),
        forks: total.forks,
        inherited: inherited(total.inherited),
        left_out: total.left_out,
    }
}

/// Without shares, which cannot be added.
fn chunks(chunks: &Chunks, stream_bytes: u64) -> ChunksJson {
    let Chunks { events, bytes, .. } = *chunks;
    ChunksJson { events, bytes, stream_bytes, share_of_events: None, share_of_bytes: None }
}

fn compactions(compactions: Compactions) -> CompactionsJson {
    let Compactions { done, failed, open } = compactions;
    CompactionsJson { done, failed, open }
}

fn inherited(inherited: Inherited) -> InheritedJson {
    let Inherited { events, bytes, chunk_events, nodes, host_tokens } = inherited;
    InheritedJson { events, bytes, chunk_events, nodes, host_tokens }
}

/// To four digits.
fn rounded(share: f64) -> f64 {
    (share * 10_000.0).round() / 10_000.0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes members so")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::SortBy;

    #[test]
    fn what_an_interrupted_run_did_not_look_at_is_told() {
        let run = |not_begun| Stats { not_begun, ..Stats::of(Vec::new(), Vec::new(), SortBy::Path, None) };
        let document = |run: &Stats| {
            let mut bytes = Vec::new();
            stats(run, None, &mut bytes).unwrap();
            serde_json::from_slice::<serde_json::Value>(&bytes).unwrap()
        };
        let interrupted = document(&run(Some(2)));
        assert_eq!(
            (&interrupted["interrupted"], &interrupted["summary"]["notBegun"]),
            (&true.into(), &2.into())
        );
        let whole = document(&run(None));
        assert!(whole.get("interrupted").is_none() && whole["summary"].get("notBegun").is_none());
    }

    #[test]
    fn shares_have_four_digits() {
        let told = [0.0, 0.123_449, 0.99999, 1.0].map(|share| rounded(share).to_string());
        assert_eq!(told, ["0", "0.1234", "1", "1"]);
    }
}
