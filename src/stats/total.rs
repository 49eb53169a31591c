//! The figures of many logs together.

use super::{Chunks, Compactions, Figures, Inherited, LogStats, Status, Tally};

/// Sums over logs; each can be added to that of other logs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Total {
    /// Logs whose events are all counted.
    pub counted: u64,
    /// Damaged ones, of which a part is.
    pub partial: u64,
    /// Those that cannot be read at all.
    pub unreadable: u64,
    /// Bytes of the files, unreadable ones too.
    pub disk: u64,
    /// Bytes of their text.
    pub decoded: u64,
    /// Zstandard frames.
    pub frames: u64,
    /// Their events.
    pub tally: Tally,
    /// Nodes of their surfaces.
    pub nodes: u64,
    /// Host tokens of those.
    pub host_tokens: u64,
    /// Host tokens of the latest request header of each.
    pub header_tokens: u64,
    /// Logs that tell which of their events were inherited.
    pub forks: u64,
    /// What those inherited.
    pub inherited: Inherited,
    /// Sound events behind damage.
    pub left_out: u64,
}

impl Total {
    /// The sums over these logs.
    #[must_use]
    pub fn of(logs: &[LogStats]) -> Self {
        let mut total = Self::default();
        for log in logs {
            total.add(log);
        }
        total
    }

    /// How many logs there are.
    #[must_use]
    pub fn logs(&self) -> u64 {
        self.counted.saturating_add(self.partial).saturating_add(self.unreadable)
    }

    fn add(&mut self, log: &LogStats) {
        add(
            match log.status() {
                Status::Counted => &mut self.counted,
                Status::Partial => &mut self.partial,
                Status::Unreadable => &mut self.unreadable,
            },
            1,
        );
        add(&mut self.disk, log.disk.unwrap_or(0));
        if let Ok(figures) = &log.figures {
            self.add_figures(figures);
        }
    }

    fn add_figures(&mut self, figures: &Figures) {
        for (sum, figure) in [
            (&mut self.decoded, figures.decoded),
            (&mut self.frames, figures.frames.unwrap_or(0)),
            (&mut self.nodes, figures.nodes),
            (&mut self.host_tokens, figures.host_tokens),
            (&mut self.header_tokens, figures.header_tokens),
            (&mut self.left_out, figures.left_out),
        ] {
            add(sum, figure);
        }
        add_tally(&mut self.tally, &figures.tally);
        if let Some(inherited) = figures.inherited {
            add(&mut self.forks, 1);
            add_inherited(&mut self.inherited, inherited);
        }
    }
}

fn add(sum: &mut u64, figure: u64) {
    *sum = sum.saturating_add(figure);
}

fn add_tally(sum: &mut Tally, tally: &Tally) {
    let Tally { records, events, bytes, by_type, chunks, stream_bytes, compactions } = tally;
    add(&mut sum.records, *records);
    add(&mut sum.events, *events);
    add(&mut sum.bytes, *bytes);
    sum.by_type.add_all(by_type);
    add_chunks(&mut sum.chunks, chunks);
    add(&mut sum.stream_bytes, *stream_bytes);
    let Compactions { done, failed, open } = *compactions;
    add(&mut sum.compactions.done, done);
    add(&mut sum.compactions.failed, failed);
    add(&mut sum.compactions.open, open);
}

fn add_chunks(sum: &mut Chunks, chunks: &Chunks) {
    let Chunks { events, bytes, by_kind } = chunks;
    add(&mut sum.events, *events);
    add(&mut sum.bytes, *bytes);
    sum.by_kind.add_all(by_kind);
}

fn add_inherited(sum: &mut Inherited, inherited: Inherited) {
    let Inherited { events, bytes, chunk_events, nodes, host_tokens } = inherited;
    add(&mut sum.events, events);
    add(&mut sum.bytes, bytes);
    add(&mut sum.chunk_events, chunk_events);
    add(&mut sum.nodes, nodes);
    add(&mut sum.host_tokens, host_tokens);
}
