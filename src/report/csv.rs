//! Tables for programs, as comma-separated values (RFC 4180): a line that names the columns, then a line a log.

use super::times;
use crate::stats::{Figures, LogStats, Stats, share};
use std::io::{self, Write};

/// The columns, which are the same for every run. What a log does not have stands empty.
const COLUMNS: [&str; 33] = [
    "path",
    "session",
    "version",
    "container",
    "status",
    "disk_bytes",
    "decoded_bytes",
    "frames",
    "records",
    "events",
    "chunk_events",
    "chunk_bytes",
    "stream_bytes",
    "chunk_share_of_events",
    "chunk_share_of_bytes",
    "surface_nodes",
    "host_tokens",
    "header_host_tokens",
    "context_window",
    "compactions_done",
    "compactions_failed",
    "compactions_open",
    "inherited_events",
    "inherited_bytes",
    "inherited_chunk_events",
    "inherited_nodes",
    "inherited_host_tokens",
    "own_events",
    "own_bytes",
    "own_host_tokens",
    "last_activity",
    "left_out_events",
    "notes",
];

/// Writes the table of a run.
pub fn stats(stats: &Stats, out: &mut dyn Write) -> io::Result<()> {
    let mut table = csv::Writer::from_writer(out);
    table.write_record(COLUMNS)?;
    for log in &stats.logs {
        table.write_record(row(log))?;
    }
    table.flush()
}

fn row(log: &LogStats) -> Vec<String> {
    let number = |figure: Option<u64>| figure.map(|figure| figure.to_string()).unwrap_or_default();
    let figures = log.figures.as_ref().ok();
    let figure = |of: fn(&Figures) -> u64| number(figures.map(of));
    let inherited = figures.and_then(|figures| figures.inherited);
    let part = |of: fn(crate::stats::Inherited) -> u64| number(inherited.map(of));
    let own = |all: fn(&Figures) -> u64, part: fn(crate::stats::Inherited) -> u64| {
        number(figures.map(|figures| all(figures).saturating_sub(inherited.map_or(0, part))))
    };
    let four_digits = |share: Option<f64>| share.map(|share| format!("{share:.4}")).unwrap_or_default();
    let error = log.figures.as_ref().err().map(ToString::to_string);
    let notes: Vec<String> = error.into_iter().chain(log.notes.iter().cloned()).collect();
    vec![
        log.path.display().to_string(),
        figures.map(|figures| figures.header.id.clone()).unwrap_or_default(),
        figure(|figures| figures.header.version),
        figures.map(|figures| figures.container.as_str().to_owned()).unwrap_or_default(),
        log.status().as_str().to_owned(),
        number(log.disk),
        figure(|figures| figures.decoded),
        number(figures.and_then(|figures| figures.frames)),
        figure(|figures| figures.tally.records),
        figure(|figures| figures.tally.events),
        figure(|figures| figures.tally.chunks.events),
        figure(|figures| figures.tally.chunks.bytes),
        figure(|figures| figures.tally.stream_bytes),
        four_digits(figures.and_then(|figures| figures.tally.chunk_share())),
        four_digits(figures.and_then(|figures| share(figures.tally.streamed_bytes(), figures.decoded))),
        figure(|figures| figures.nodes),
        figure(|figures| figures.host_tokens),
        figure(|figures| figures.header_tokens),
        number(figures.and_then(|figures| figures.context_window)),
        figure(|figures| figures.tally.compactions.done),
        figure(|figures| figures.tally.compactions.failed),
        figure(|figures| figures.tally.compactions.open),
        part(|inherited| inherited.events),
        part(|inherited| inherited.bytes),
        part(|inherited| inherited.chunk_events),
        part(|inherited| inherited.nodes),
        part(|inherited| inherited.host_tokens),
        own(|figures| figures.tally.events, |inherited| inherited.events),
        own(|figures| figures.tally.bytes, |inherited| inherited.bytes),
        own(|figures| figures.host_tokens, |inherited| inherited.host_tokens),
        figures.and_then(|figures| figures.last_time).map(times::in_utc).unwrap_or_default(),
        figure(|figures| figures.left_out),
        notes.join("; "),
    ]
}
