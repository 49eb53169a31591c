//! The surface: which events the model sees, in which order (FORMAT §7.1, §7.2).

use super::marker::Replacement;
use super::{Node, images};
use crate::format::{Format, MessageKind};
use crate::log::{Event, SourceError, SourceSeqs};
use crate::wording::short_list;
use std::collections::{HashMap, HashSet};
use std::ops::RangeInclusive;

/// The model-visible nodes and what they hide.
#[derive(Debug, Default)]
pub struct Surface {
    nodes: Vec<Node>,
    /// The nodes' seqs alone: replacements look for seqs, and this is quickly searched.
    seqs: Vec<u64>,
    /// Which replacement hides which node.
    hidden_by: HashMap<u64, u64>,
    /// Where the latest node stands.
    latest: usize,
    /// How many replacements there have been.
    pub replace_generation: u64,
    /// The replacement whose hidden nodes are wanted, and those nodes.
    expand: Option<(u64, Vec<Node>)>,
}

/// A broken rule of the surface (FORMAT §7.2).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SurfaceError {
    /// A message without a marker.
    #[error("{0} must carry a surfaceOp, and has none")]
    MarkerMissing(String),
    /// A marker where none may be.
    #[error("{event_type} puts nothing on the surface and may not carry {member}")]
    MarkerForbidden {
        /// The event's type.
        event_type: String,
        /// `surfaceOp` or `sourceEventSeqs`.
        member: &'static str,
    },
    /// A marker that is neither `"append"` nor an object.
    #[error("surfaceOp must be \"append\" or a replacement, found {0}")]
    MarkerKind(String),
    /// A replacement with the member names of another format version.
    #[error(
        "surfaceOp spells its range as another format does: {expected} is what format {version} takes, found {found}"
    )]
    Dialect {
        /// The log's version.
        version: u64,
        /// The members that it takes.
        expected: String,
        /// The members found.
        found: String,
    },
    /// A replacement with the right members, one of which has a value that it may not have.
    #[error("surfaceOp has {found} as {member}, which must be {expected}")]
    MarkerValue {
        /// The member's name.
        member: &'static str,
        /// What it must be.
        expected: &'static str,
        /// The beginning of the value found.
        found: String,
    },
    /// A replacement of any other wrong shape.
    #[error("surfaceOp must have exactly the members {expected}, found {found}")]
    MarkerShape {
        /// The members that it takes.
        expected: String,
        /// The members found.
        found: String,
    },
    /// The list of sources is broken.
    #[error(transparent)]
    Sources(#[from] SourceError),
    /// An edge of the range is no node.
    #[error("the replacement's {edge} {seq} is not on the surface{}", hidden(*.hidden_by))]
    EdgeUnknown {
        /// `start` or `end`.
        edge: &'static str,
        /// The seq named.
        seq: u64,
        /// The replacement that hides it, if one does.
        hidden_by: Option<u64>,
    },
    /// The range runs backwards.
    #[error(
        "the replacement's start {start} (position {start_position}) stands behind its end {end} (position {end_position})"
    )]
    Reversed {
        /// First seq named.
        start: u64,
        /// Its position on the surface, from 0.
        start_position: usize,
        /// Last seq named.
        end: u64,
        /// Its position on the surface, from 0.
        end_position: usize,
    },
    /// The sources leave out nodes that are hidden.
    #[error("the list of sources leaves out nodes that the replacement hides: {}", short_list(.0.iter()))]
    SourcesIncomplete(Vec<u64>),
    /// The message is made from its own stream alone.
    #[error("{0} holds the stream that it was made from, and may not carry sourceEventSeqs")]
    SourcesForbidden(String),
    /// The system prompt at the surface's head is replaced by itself alone (FORMAT §7.2).
    #[error(
        "the replacement hides the system prompt {0}, the protected system head, which only a system/message over exactly that node may replace"
    )]
    SystemHead(u64),
    /// A rewritten tool result must stand for one node.
    #[error("a tool/result may replace exactly one node, not {0}")]
    RewriteSpan(usize),
    /// A rewritten tool result must stand for a tool result.
    #[error("a tool/result may replace a tool/result only; {seq} is {event_type}")]
    RewriteTarget {
        /// The node.
        seq: u64,
        /// Its type.
        event_type: &'static str,
    },
    /// A rewritten tool result may change its content alone.
    #[error("a tool/result that replaces {0} may change its inner content only; something else differs")]
    RewriteMore(u64),
}

impl Surface {
    /// The nodes in the model's order.
    #[must_use]
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Where the node `seq` stands.
    #[must_use]
    pub fn position(&self, seq: u64) -> Option<usize> {
        self.seqs.iter().position(|node| *node == seq)
    }

    /// The replacement that hides `seq` directly.
    #[must_use]
    pub fn hidden_by(&self, seq: u64) -> Option<u64> {
        self.hidden_by.get(&seq).copied()
    }

    /// The node of the latest message, appended or in the place of others.
    #[must_use]
    pub fn latest(&self) -> Option<&Node> {
        self.nodes.get(self.latest)
    }

    /// `seq`, the replacement that hides it, the one that hides that, and so on; the last one is on the surface.
    #[must_use]
    pub fn chain(&self, seq: u64) -> Vec<u64> {
        let mut chain = vec![seq];
        let mut at = seq;
        while let Some(next) = self.hidden_by(at).filter(|next| *next > at) {
            chain.push(next);
            at = next;
        }
        chain
    }

    /// The system prompt that stands first and is protected there (FORMAT §7.2).
    #[must_use]
    pub fn system_head(&self) -> Option<u64> {
        self.nodes.first().filter(|node| node.kind == MessageKind::System).map(|node| node.seq)
    }

    /// The message id of the node `seq`.
    pub(super) fn message_id(&self, seq: u64) -> Option<&str> {
        self.position(seq).map(|position| self.nodes[position].message_id.as_str())
    }

    /// Takes images of nodes out of what the model is shown. On an error nothing has changed.
    pub(super) fn offload(&mut self, targets: &[(u64, Vec<u64>)]) -> Result<(), String> {
        let positions = self.positions(targets.iter().map(|(seq, _)| *seq));
        let mut seen = HashSet::with_capacity(targets.len());
        for (seq, indexes) in targets {
            if !seen.insert(seq) {
                return Err(format!("names seq {seq} twice"));
            }
            let node = positions.get(seq).and_then(|position| self.nodes.get(*position));
            let node = node.ok_or_else(|| format!("names seq {seq}, which is no node"))?;
            if !matches!(node.kind, MessageKind::User | MessageKind::ToolResult) {
                return Err(format!("names seq {seq}, a {}, which holds no input image", node.event_type));
            }
            images::check(&node.images, indexes).map_err(|problem| format!("{problem} in seq {seq}"))?;
        }
        for (seq, indexes) in targets {
            if let Some(node) = positions.get(seq).and_then(|position| self.nodes.get_mut(*position)) {
                node.offload(indexes);
            }
        }
        Ok(())
    }

    /// Where nodes stand: a few are looked for one by one, many in one pass.
    fn positions(&self, seqs: impl ExactSizeIterator<Item = u64>) -> HashMap<u64, usize> {
        const FEW: usize = 16;
        if seqs.len() <= FEW {
            return seqs.filter_map(|seq| Some((seq, self.position(seq)?))).collect();
        }
        let wanted: HashSet<u64> = seqs.collect();
        let all = self.seqs.iter().enumerate();
        all.filter(|(_, seq)| wanted.contains(*seq)).map(|(position, seq)| (*seq, position)).collect()
    }

    /// Host tokens of all nodes.
    #[must_use]
    pub fn host_tokens(&self) -> u64 {
        self.nodes.iter().fold(0, |sum, node| sum.saturating_add(node.host_tokens))
    }

    /// The seqs of the nodes, in the surface's order.
    #[must_use]
    pub fn seqs(&self) -> &[u64] {
        &self.seqs
    }

    /// Keeps what the replacement `seq` will hide; to be asked for before it comes.
    pub fn want_expanded(&mut self, seq: u64) {
        self.expand = Some((seq, Vec::new()));
    }

    /// The nodes that the wanted replacement hides, in their order; empty if it has not come.
    #[must_use]
    pub fn expanded(&self) -> &[Node] {
        self.expand.as_ref().map_or(&[], |(_, nodes)| nodes)
    }

    /// Takes out the nodes that the wanted replacement hides; from here on none is wanted.
    pub fn take_expanded(&mut self) -> Vec<Node> {
        self.expand.take().map(|(_, nodes)| nodes).unwrap_or_default()
    }

    /// Puts an event's node where its marker says. Tells whether it was appended.
    pub(super) fn apply(&mut self, event: &Event, format: &Format, node: Node) -> Result<bool, SurfaceError> {
        let marker =
            event.surface_op.ok_or_else(|| SurfaceError::MarkerMissing(event.event_type.to_string()))?;
        let replacement = Replacement::parse(marker, format)?;
        let range = replacement.map(|replacement| self.range(replacement)).transpose()?;
        if node.kind == MessageKind::Assistant
            && !format.assistant_cites_chunks
            && event.source_event_seqs.is_some()
        {
            return Err(SurfaceError::SourcesForbidden(event.event_type.to_string()));
        }
        let may_be_empty = node.kind == MessageKind::Assistant;
        let sources = match event.source_event_seqs {
            Some(raw) => SourceSeqs::parse(raw, event.seq, may_be_empty, format)?,
            None => SourceSeqs::default(),
        };
        match range {
            None => {
                self.latest = self.nodes.len();
                self.seqs.push(node.seq);
                self.nodes.push(Node { is_checkpoint: false, ..node });
            }
            Some(range) => self.replace(range, &sources, node)?,
        }
        Ok(replacement.is_none())
    }

    fn range(&self, replacement: Replacement) -> Result<RangeInclusive<usize>, SurfaceError> {
        let find = |edge, seq| {
            self.position(seq).ok_or_else(|| SurfaceError::EdgeUnknown {
                edge,
                seq,
                hidden_by: self.hidden_by(seq),
            })
        };
        let Replacement { start, end } = replacement;
        let (start_position, end_position) = (find("start", start)?, find("end", end)?);
        if start_position > end_position {
            return Err(SurfaceError::Reversed { start, start_position, end, end_position });
        }
        Ok(start_position..=end_position)
    }

    fn replace(
        &mut self,
        range: RangeInclusive<usize>,
        sources: &SourceSeqs,
        mut node: Node,
    ) -> Result<(), SurfaceError> {
        if let Some(head) = self.system_head().filter(|_| *range.start() == 0)
            && (node.kind != MessageKind::System || *range.end() > 0)
        {
            return Err(SurfaceError::SystemHead(head));
        }
        let hidden = &self.nodes[range.clone()];
        let missing: Vec<u64> =
            hidden.iter().map(|node| node.seq).filter(|seq| !sources.contains(*seq)).collect();
        if !missing.is_empty() {
            return Err(SurfaceError::SourcesIncomplete(missing));
        }
        if node.kind == MessageKind::ToolResult {
            check_rewrite(hidden, &node)?;
        }
        node.replaces = hidden.iter().map(|node| node.seq).collect();
        node.turn = hidden.last().map_or(node.turn, |last| last.turn);
        let seq = node.seq;
        self.hidden_by.extend(node.replaces.iter().map(|hidden| (*hidden, seq)));
        self.seqs.splice(range.clone(), [seq]);
        self.latest = *range.start();
        let hidden = self.nodes.splice(range, [node]);
        match &mut self.expand {
            Some((wanted, nodes)) if *wanted == seq => nodes.extend(hidden),
            _ => drop(hidden),
        }
        self.replace_generation += 1;
        Ok(())
    }
}

fn check_rewrite(hidden: &[Node], node: &Node) -> Result<(), SurfaceError> {
    match hidden {
        [target] if target.kind != MessageKind::ToolResult => {
            Err(SurfaceError::RewriteTarget { seq: target.seq, event_type: target.event_type })
        }
        [target] if target.rewrite_identity != node.rewrite_identity => {
            Err(SurfaceError::RewriteMore(target.seq))
        }
        [_] => Ok(()),
        more => Err(SurfaceError::RewriteSpan(more.len())),
    }
}

fn hidden(by: Option<u64>) -> String {
    by.map_or_else(String::new, |by| format!(" (replaced by {by})"))
}
