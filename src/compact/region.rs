//! Which span of the surface is replaced.

use super::meter::Meter;
use super::occasion::load;
use super::{Options, Reason, Stopped};
use crate::session::{Bar, Node, Pairing, Session, TaskVisibility};
use std::ops::RangeInclusive;

/// The context window that is assumed where neither the caller nor the log names one, in tokens.
const DEFAULT_WINDOW: u64 = 131_072;

/// What of the surface stays, as it was asked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Retention {
    /// All but this span.
    Span {
        /// First seq.
        start: u64,
        /// Last seq.
        end: u64,
    },
    /// A tail of at least so many tokens, counted as [`Counting`](super::Counting) says.
    Tokens(u64),
    /// A tail of this share of the context window.
    Ratio {
        /// Above 0, below 1.
        ratio: f64,
        /// The window, in tokens; else the log's.
        window: Option<u64>,
    },
    /// The last so many turns that have a node.
    Turns(u64),
}

impl Retention {
    /// The least that the tail holds, in host tokens, where that is what was asked for.
    pub(super) fn budget(self, session: &Session, remarks: &mut Vec<String>) -> Option<u64> {
        match self {
            Self::Tokens(tokens) => Some(tokens),
            Self::Ratio { ratio, window } => Some(share_of(window_of(session, window, remarks), ratio)),
            Self::Span { .. } | Self::Turns(_) => None,
        }
    }

    /// The name of the option that chose.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Span { .. } => "region",
            Self::Tokens(_) => "retain-tokens",
            Self::Ratio { .. } => "retain-ratio",
            Self::Turns(_) => "keep-turns",
        }
    }
}

/// Finds the region, by the positions of its first and last node. With `keep_task` a chosen region leaves the task out;
/// a named span is taken as it is. With a `limit` the session is under pressure: surface and header should come to hold
/// fewer host tokens.
pub(super) fn choose(
    session: &Session,
    options: &Options,
    limit: Option<u64>,
    remarks: &mut Vec<String>,
) -> Result<RangeInclusive<usize>, Stopped> {
    let pairing = session.pairing();
    if let Retention::Span { start, end } = options.choice {
        return span(session, &pairing, start, end);
    }
    let (cut, floor) = (tail(session, options, remarks), floor(session));
    if cut <= floor {
        let tokens = session.surface.host_tokens();
        let why = format!("the retained tail is the whole surface ({tokens} host tokens)");
        return Err(Stopped::Nothing(why));
    }
    let Some(cut) = (floor + 1..=cut).rev().find(|cut| pairing.balanced_before[*cut]) else {
        let call = pairing.unanswered.first().map_or(0, |call| session.surface.nodes()[call.position].seq);
        return Err(Stopped::Nothing(format!(
            "no cut before the retained tail keeps every call with its result{}",
            if call > 0 { format!(" (seq {call} calls a tool and has no result)") } else { String::new() }
        )));
    };
    if !options.keep_task {
        return Ok(floor..=cut - 1);
    }
    behind_the_task(session, &pairing, floor, cut, limit)
}

/// The position where the retained tail starts; of a named span, which retains no tail, where that starts.
pub(super) fn tail(session: &Session, options: &Options, remarks: &mut Vec<String>) -> usize {
    let nodes = session.surface.nodes();
    match options.choice {
        Retention::Span { start, .. } => session.surface.position(start).unwrap_or_default(),
        Retention::Turns(turns) => tail_by_turns(nodes, turns),
        retention => {
            let budget = retention.budget(session, remarks).unwrap_or_default();
            Meter::new(options.counting).tail(nodes, budget, remarks)
        }
    }
}

/// The context window in tokens: the one named, else the log's, else a usual one.
pub(super) fn window_of(session: &Session, named: Option<u64>, remarks: &mut Vec<String>) -> u64 {
    named.or(session.context_window).unwrap_or_else(|| {
        remarks.push(format!("the log names no context window; {DEFAULT_WINDOW} tokens are assumed"));
        DEFAULT_WINDOW
    })
}

/// A share of a token count, rounded down, as dsh does.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "windows are far below 2^53 tokens, and a share is not negative"
)]
pub(super) fn share_of(window: u64, ratio: f64) -> u64 {
    (window as f64 * ratio) as u64
}

/// The first position that may be taken out: the system head stays (FORMAT §7.2).
fn floor(session: &Session) -> usize {
    usize::from(session.surface.system_head().is_some())
}

/// The region from the task, or the first node, up to `cut`.
fn behind_the_task(
    session: &Session,
    pairing: &Pairing,
    floor: usize,
    cut: usize,
    limit: Option<u64>,
) -> Result<RangeInclusive<usize>, Stopped> {
    let nodes = session.surface.nodes();
    let task = session.task.as_ref().and_then(|task| session.surface.position(task.seq));
    let first = task.filter(|position| *position < cut).map_or(floor, |position| position + 1);
    let Some(start) = (first..cut).find(|start| pairing.balanced_before[*start]) else {
        return Err(Stopped::Nothing("nothing stands between the task and the retained tail".into()));
    };
    match &nodes[start..cut] {
        // A summary of a summary alone would only lose more, unless it brings the task back or relieves the session.
        [only]
            if only.is_checkpoint
                && session.task_visibility() != TaskVisibility::Lost
                && limit.is_none_or(|limit| load(session) - only.host_tokens >= limit) =>
        {
            let why = format!("before the retained tail stands only the checkpoint {}", only.seq);
            Err(Stopped::Nothing(why))
        }
        _ => Ok(start..=cut - 1),
    }
}

/// The position where the last `turns` turns that have a node start.
fn tail_by_turns(nodes: &[Node], turns: u64) -> usize {
    let mut seen = 0;
    let mut turn = None;
    for (position, node) in nodes.iter().enumerate().rev() {
        if turn != Some(node.turn) {
            if seen == turns {
                return position + 1;
            }
            seen += 1;
            turn = Some(node.turn);
        }
    }
    0
}

/// Checks a span that was asked for by name.
fn span(
    session: &Session,
    pairing: &Pairing,
    start: u64,
    end: u64,
) -> Result<RangeInclusive<usize>, Stopped> {
    let surface = &session.surface;
    let nodes = surface.nodes();
    let (Some(first), Some(last)) = (surface.position(start), surface.position(end)) else {
        let unknown = if surface.position(start).is_none() { start } else { end };
        let near = |seq| surface.position(seq).unwrap_or_else(|| nearest(session, seq));
        let (first, last) = (near(start), near(end));
        let message = match surface.chain(unknown).as_slice() {
            [_, .., shown] => format!("seq {unknown} is not on the surface: it is hidden by {shown}"),
            _ => format!("seq {unknown} is not on the surface"),
        };
        return Err(refused(message, legal_near(session, pairing, first.min(last), first.max(last))));
    };
    if first > last {
        let message = format!("{start} stands behind {end} on the surface");
        return Err(refused(message, legal_near(session, pairing, last, first)));
    }
    if let Some(head) = surface.system_head().filter(|_| first == 0) {
        let message =
            format!("{start}..{end} would take out the system prompt {head}, the protected system head");
        return Err(refused(message, legal_near(session, pairing, first, last)));
    }
    let message = match pairing.bar(&(first..=last)) {
        None => return Ok(first..=last),
        Some(Bar::Pair(call, result)) => {
            format!(
                "{start}..{end} would part the tool call in {} from its result {}",
                nodes[call].seq, nodes[result].seq
            )
        }
        Some(Bar::Unanswered(call)) => {
            format!(
                "{start}..{end} is barred by seq {}, which calls a tool and has no result",
                nodes[call].seq
            )
        }
    };
    Err(refused(message, legal_near(session, pairing, first, last)))
}

/// A span that may not be taken out, and the nearest that may, by first and last seq.
fn refused(message: String, suggest: Vec<(u64, u64)>) -> Stopped {
    let help = if suggest.is_empty() {
        "name another region; `dshc replay` shows the surface and its balanced cuts"
    } else {
        "the nearest that may be taken"
    };
    Stopped::Refused(Reason { suggest, ..Reason::new("region", message, help) })
}

/// The position of the node that hides `seq`, else of the one that stands nearest to it in the log.
fn nearest(session: &Session, seq: u64) -> usize {
    let surface = &session.surface;
    let shown = surface.chain(seq).last().copied().and_then(|shown| surface.position(shown));
    shown.unwrap_or_else(|| {
        let distance = |position: &usize| surface.nodes()[*position].seq.abs_diff(seq);
        (0..surface.nodes().len()).min_by_key(distance).unwrap_or(0)
    })
}

/// The legal spans nearest to a span that is not: each edge that is legal stays, the other moves in and out.
fn legal_near(session: &Session, pairing: &Pairing, first: usize, last: usize) -> Vec<(u64, u64)> {
    let (nodes, floor) = (session.surface.nodes(), floor(session));
    let (first, last) = (first.max(floor), last.max(floor));
    if nodes.len() <= first {
        return Vec::new();
    }
    let may_start = |start: &usize| !pairing.parts_a_pair(*start);
    let starts = if may_start(&first) {
        vec![first]
    } else {
        let below = (floor..first).rev().find(may_start);
        let above = (first + 1..=last).find(may_start);
        below.into_iter().chain(above).collect()
    };
    let mut spans: Vec<(usize, usize)> = Vec::new();
    for start in starts {
        let is_legal = |end: &usize| pairing.bar(&(start..=*end)).is_none();
        let below = (start..=last).rev().find(is_legal);
        let above = (last.max(start)..nodes.len()).find(is_legal);
        let ends = if below == Some(last) { [below, None] } else { [below, above] };
        spans.extend(ends.into_iter().flatten().map(|end| (start, end)));
    }
    if spans.is_empty() {
        // Nothing that holds the span, or a part of it, may go: what stands before it may.
        let before = (floor..first).rev().find(|end| pairing.bar(&(floor..=*end)).is_none());
        spans.extend(before.map(|end| (floor, end)));
    }
    spans.sort_unstable();
    spans.dedup();
    spans.into_iter().map(|(start, end)| (nodes[start].seq, nodes[end].seq)).collect()
}
