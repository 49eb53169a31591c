//! Which span of the surface is replaced.

use crate::session::{Bar, Node, Pairing, Session, TaskVisibility};
use std::ops::RangeInclusive;

/// How a region is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// This span, named by its first and last seq.
    Span {
        /// First seq.
        start: u64,
        /// Last seq.
        end: u64,
    },
    /// Everything old but a tail of at least so many host tokens.
    Tokens(u64),
    /// Everything old but the last so many turns that have a node.
    Turns(u64),
}

/// What a choice comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Chosen {
    /// Positions on the surface, first and last.
    Region(RangeInclusive<usize>),
    /// There is nothing to take out, and why.
    Nothing(String),
}

/// A span that may not be taken out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// What stands against it.
    pub message: String,
    /// The nearest spans that may be taken out, by first and last seq.
    pub suggest: Vec<(u64, u64)>,
}

/// Finds the region. With `keep_task` a chosen region leaves the task out; a named span is taken as it is.
pub fn choose(
    session: &Session,
    pairing: &Pairing,
    choice: Choice,
    keep_task: bool,
) -> Result<Chosen, Refused> {
    let nodes = session.surface.nodes();
    let cut = match choice {
        Choice::Span { start, end } => return span(session, pairing, start, end).map(Chosen::Region),
        Choice::Tokens(budget) => tail_by_tokens(nodes, budget),
        Choice::Turns(turns) => tail_by_turns(nodes, turns),
    };
    let floor = floor(session);
    if cut <= floor {
        let tokens = session.surface.host_tokens();
        return Ok(Chosen::Nothing(format!("the retained tail is the whole surface ({tokens} host tokens)")));
    }
    let Some(cut) = (floor + 1..=cut).rev().find(|cut| pairing.balanced_before[*cut]) else {
        let call = pairing.unanswered.first().map_or(0, |call| nodes[call.position].seq);
        return Ok(Chosen::Nothing(format!(
            "no cut before the retained tail keeps every call with its result{}",
            if call > 0 { format!(" (seq {call} calls a tool and has no result)") } else { String::new() }
        )));
    };
    if !keep_task {
        return Ok(Chosen::Region(floor..=cut - 1));
    }
    Ok(behind_the_task(session, pairing, floor, cut))
}

/// The first position that may be taken out: the system head stays (FORMAT §7.2).
fn floor(session: &Session) -> usize {
    usize::from(session.surface.system_head().is_some())
}

/// The region from the task, or the first node, up to `cut`.
fn behind_the_task(session: &Session, pairing: &Pairing, floor: usize, cut: usize) -> Chosen {
    let nodes = session.surface.nodes();
    let task = session.task.as_ref().and_then(|task| session.surface.position(task.seq));
    let first = task.filter(|position| *position < cut).map_or(floor, |position| position + 1);
    let Some(start) = (first..cut).find(|start| pairing.balanced_before[*start]) else {
        return Chosen::Nothing("nothing stands between the task and the retained tail".into());
    };
    match &nodes[start..cut] {
        // A summary of a summary alone would only lose more, unless it brings the task back.
        [only] if only.is_checkpoint && session.task_visibility() != TaskVisibility::Lost => {
            Chosen::Nothing(format!("before the retained tail stands only the checkpoint {}", only.seq))
        }
        _ => Chosen::Region(start..=cut - 1),
    }
}

/// The position where a tail of at least `budget` host tokens starts; the node that reaches it is in the tail.
fn tail_by_tokens(nodes: &[Node], budget: u64) -> usize {
    let mut held = 0_u64;
    for (position, node) in nodes.iter().enumerate().rev() {
        held = held.saturating_add(node.host_tokens);
        if held >= budget {
            return position;
        }
    }
    0
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
) -> Result<RangeInclusive<usize>, Refused> {
    let surface = &session.surface;
    let nodes = surface.nodes();
    let (Some(first), Some(last)) = (surface.position(start), surface.position(end)) else {
        let unknown = if surface.position(start).is_none() { start } else { end };
        let near = |seq| surface.position(seq).unwrap_or_else(|| nearest(session, seq));
        let (first, last) = (near(start), near(end));
        return Err(Refused {
            message: match surface.chain(unknown).as_slice() {
                [_, .., shown] => format!("seq {unknown} is not on the surface: it is hidden by {shown}"),
                _ => format!("seq {unknown} is not on the surface"),
            },
            suggest: legal_near(session, pairing, first.min(last), first.max(last)),
        });
    };
    if first > last {
        return Err(Refused {
            message: format!("{start} stands behind {end} on the surface"),
            suggest: legal_near(session, pairing, last, first),
        });
    }
    if let Some(head) = surface.system_head().filter(|_| first == 0) {
        return Err(Refused {
            message: format!(
                "{start}..{end} would take out the system prompt {head}, the protected system head"
            ),
            suggest: legal_near(session, pairing, first, last),
        });
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
    Err(Refused { message, suggest: legal_near(session, pairing, first, last) })
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
