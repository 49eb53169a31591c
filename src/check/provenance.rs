//! Sources written as ranges, which not every reader of the version takes (FORMAT §4.1).

use super::Finding;
use super::registry::rule_family;
use super::wording::amount;
use crate::format::Format;
use crate::log::{Event, Place, SourceSeqs};

rule_family! {
    "vocabulary";
    /// Events name their sources as ranges, which early readers of the format refuse.
    ///
    /// **What it means.** In `sourceEventSeqs` a run of three or more events may be written as a pair of its
    /// first and last. The version in the header is 0 for logs with and without such pairs; the finding names
    /// the first event that has them and what it cites.
    ///
    /// **Why it matters.** dsh up to 0.1.1 refuses such a log as damaged, though its version is one that it
    /// reads. Later releases read both, and nothing is lost in either.
    ///
    /// **How it comes about.** A dsh of the 0.1.2 line wrote the log, and it was then opened with an older
    /// one. That happens after a downgrade, or on another machine.
    ///
    /// **What to do.** Open the log with dsh 0.1.2 or later. Tools that write format 0 for all readers should
    /// list each number.
    RANGE_ENCODED_PROVENANCE = note("range-encoded-provenance");
}

/// The events that name their sources as ranges.
#[derive(Debug, Default)]
pub(super) struct Ranges {
    /// The first: its seq, its place and what it names.
    first: Option<(u64, Place, Option<SourceSeqs>)>,
    count: u64,
}

impl Ranges {
    pub(super) fn event(&mut self, event: &Event, place: Place, format: &Format) {
        let list = event.source_event_seqs.map_or("", |list| list.get());
        if list.get(1..).is_some_and(|members| members.contains('[')) {
            if self.first.is_none() {
                let sources = event.source_event_seqs;
                let sources = sources.and_then(|raw| SourceSeqs::parse(raw, event.seq, true, format).ok());
                self.first = Some((event.seq, place, sources));
            }
            self.count += 1;
        }
    }

    pub(super) fn finding(&self, format: &Format) -> Option<Finding> {
        let ((seq, place, sources), since) = (self.first.as_ref()?, format.ranged_sources_since?);
        let events = amount(self.count, "event");
        let named = sources.as_ref().map_or_else(String::new, |sources| format!(" (it names {sources})"));
        let message = format!(
            "{events} with ranges in sourceEventSeqs, seq {seq} the first{named}: needs dsh >= {since}"
        );
        let help =
            format!("releases before {since} refuse this log, though its version is one that they read");
        Some(Finding::new(&RANGE_ENCODED_PROVENANCE, *place, message).at_seq(*seq).with_help(help))
    }
}
