//! What a summary or a prune says it hides: the very nodes of the surface, and their price (FORMAT §10.1, §7.5).

use super::Finding;
use super::here::Here;
use super::registry::{Rule, rule_family};
use super::wording::{number, seqs};
use crate::json::{self, Object};
use crate::session::{Node, Surface};

rule_family! {
    "compaction";
    /// A `shadowedRange` is not the first and the last of the `shadowedSeqs` beside it.
    ///
    /// **What it means.** A `compaction/summary` or `compaction/prune` names what it hides twice: all nodes
    /// in `shadowedSeqs`, and the first and last of them in `shadowedRange`, always spelt `start` and `end`.
    /// The two do not agree, or the range is missing or holds no numbers.
    ///
    /// **Why it matters.** dsh's own checkpoint takes its edges from the range and its sources from the list,
    /// so one of the two is wrong. Every upgrade and format 4 refuse such an event, and for a summary dsh's
    /// invariant checks do too; dsh opens formats 0 to 3 with it otherwise.
    ///
    /// **How it comes about.** A tool sorted the list by number. On a surface that was compacted before, the
    /// first node may have the greater number, so the edges of a sorted list are others than those of the
    /// span. Members named `startSeq` and `endSeq`, which belong into `surfaceOp`, have the same effect.
    ///
    /// **What to do.** Write the list in the order of the surface, and take its ends for the range. The log
    /// stays readable in its own format; nothing that is appended mends the event.
    RANGE = error("shadowed-range");
    /// The `shadowedSeqs` are not the surface's nodes from the first to the last of them.
    ///
    /// **What it means.** What a `compaction/summary` or `compaction/prune` hides must be one run of the
    /// surface as it stands at that moment: every node, in the surface's order, at least one. The finding
    /// names the two lists, or the node that is not there and what hides it. Behind lost events only the
    /// list's shape is checked, since the surface is not known.
    ///
    /// **Why it matters.** The list tells later readers what went into the summary. Every upgrade and format
    /// 4 refuse an event that names another run. dsh opens formats 0 to 3 with it, and goes by the
    /// checkpoint's own `surfaceOp`.
    ///
    /// **How it comes about.** A writer used all numbers from start to end, though some of those events are
    /// not on the surface. Or it read the surface, and another process appended or replaced something before
    /// the summary was written.
    ///
    /// **What to do.** Read the surface again after the summarizer is done, and give up where it has changed
    /// within the span; `dshc compact` gives up where the log has changed at all. What the replacement itself
    /// hides is shown by `dshc replay --expand`, and only that counts for the model.
    SEQS = error("shadowed-seqs");
    /// The `shadowedSeqs` hold the protected system prompt.
    ///
    /// **What it means.** From format 3 on the system prompt is the first node of the surface, and nothing
    /// but a new system prompt may replace it. This summary or prune lists it among the nodes to hide.
    ///
    /// **Why it matters.** The checkpoint that follows cannot hide that node: readers refuse such a
    /// replacement, and with it the whole log. Format 4 refuses the summary itself as well.
    ///
    /// **How it comes about.** A compactor written for formats 0 to 2, where the prompt stands in the request
    /// header, takes its region from the first node on. On such a log an old tool goes wrong only once the
    /// log was upgraded.
    ///
    /// **What to do.** Start regions at the second node where the first is a `system/message`; `dshc compact`
    /// does, and refuses `--region` with the head in it. If a replacement stands behind the summary, see
    /// `protected-system-head`. If none does, the surface is untouched, and the session can go on in format
    /// 3.
    SYSTEM_HEAD = error("shadowed-system-head");
    /// A `shadowedTokenCount` is no count.
    ///
    /// **What it means.** The `shadowedTokenCount` of a `compaction/summary` or `compaction/prune` is
    /// missing, negative, fractional, or no number at all. It must be a whole number of zero or more.
    ///
    /// **Why it matters.** dsh subtracts it from its running estimate of the context when the replacement
    /// follows. With a value that is no count the estimate is worth nothing, and with a negative one it
    /// grows. Every upgrade refuses the event, and for a summary dsh's invariant checks do too.
    ///
    /// **How it comes about.** A tool did not know the price of the nodes and left the member out. Or it
    /// wrote a difference that came out below zero, or a fraction from a tokenizer's average.
    ///
    /// **What to do.** Write the sum of the host tokens of the hidden nodes: `dshc replay` shows them node by
    /// node. Zero is legal where nothing better is known, but then the estimate stays too high until the next
    /// restart of dsh.
    TOKENS_INVALID = error("shadowed-tokens-invalid");
    /// A `shadowedTokenCount` is not the host tokens of the shadowed nodes.
    ///
    /// **What it means.** Host tokens are dsh's own estimate: a quarter of the text's length in UTF-16 units,
    /// and something for each block and message. The figure in the summary or prune is not the sum of these
    /// over the hidden nodes. It is a note: token meters differ, and no reader compares.
    ///
    /// **Why it matters.** dsh takes the figure off its running estimate of the context and is off by the
    /// difference until it next starts, so it compacts too early or too late. A figure that is far too large
    /// can drive the estimate below zero, and then the session does not load.
    ///
    /// **How it comes about.** Another meter counted: exact tokens of a model, or another release's estimate.
    /// A region that was counted before a tool result in it was shortened gives it too, and so does a compaction
    /// by dshc on top of figures that were too high: it takes off what makes the estimate right again.
    ///
    /// **What to do.** Nothing for the log. A plugin that writes summaries should use dsh's meter for this
    /// one member, whatever it counts with otherwise.
    TOKENS = note("shadowed-tokens");
}

const HELP: &str =
    "another tool wrote this; dsh, or its upgrade to a later format, refuses the session for it";

/// Checks a `compaction/summary` or `compaction/prune` against the surface as it stands there.
pub(super) fn check(here: &mut Here) {
    let (event, data, place) = (here.event, here.payload.get(), here.place);
    let surface = &here.session.surface;
    let mut tell = |rule: &Rule, message: String, help: &str| {
        here.findings.push(Finding::new(rule, place, message).at_seq(event.seq).with_help(help));
    };
    let tokens = data.and_then(|data| data.count("shadowedTokenCount"));
    if tokens.is_none() {
        tell(
            &TOKENS_INVALID,
            format!("{} must have a shadowedTokenCount of zero or more", event.event_type),
            HELP,
        );
    }
    let Some(shadowed) = data.and_then(shadowed_seqs) else {
        let message = format!("{} must have shadowedSeqs, a list of at least one seq", event.event_type);
        return tell(&SEQS, message, HELP);
    };
    let range = data.and_then(|data| data.object("shadowedRange"));
    let edge = |key| range.as_ref().and_then(|range| range.count(key));
    let edges = (shadowed.first().copied(), shadowed.last().copied());
    if (edge("start"), edge("end")) != edges {
        let message = format!(
            "shadowedRange is {} to {}, but shadowedSeqs go from {} to {}",
            number(edge("start")),
            number(edge("end")),
            number(edges.0),
            number(edges.1)
        );
        tell(&RANGE, message, HELP);
    }
    if !here.losses.is_empty() {
        // The surface lacks what was lost, so it is no measure.
        return;
    }
    if let Some(head) = surface.system_head().filter(|head| shadowed.contains(head)) {
        let message =
            format!("shadowedSeqs holds {head}, the system prompt that stands first on the surface");
        tell(&SYSTEM_HEAD, message, HELP);
    }
    match slice(surface, &shadowed) {
        Err(problem) => tell(&SEQS, problem, HELP),
        Ok(nodes) => {
            let price = nodes.iter().fold(0_u64, |sum, node| sum.saturating_add(node.host_tokens));
            if let Some(tokens) = tokens.filter(|tokens| *tokens != price) {
                let message =
                    format!("shadowedTokenCount is {tokens}, the shadowed nodes hold {price} host tokens");
                let help = "dsh takes this figure off its running estimate, which is that much off until the next restart";
                tell(&TOKENS, message, help);
            }
        }
    }
}

fn shadowed_seqs(data: &Object) -> Option<Vec<u64>> {
    let seqs: Option<Vec<u64>> = data.array("shadowedSeqs")?.into_iter().map(json::count).collect();
    seqs.filter(|seqs| !seqs.is_empty())
}

/// The nodes that `shadowed` names, if they are one run of the surface; else what is different.
fn slice<'a>(surface: &'a Surface, shadowed: &[u64]) -> Result<&'a [Node], String> {
    let (Some(first), Some(last)) = (shadowed.first(), shadowed.last()) else { return Ok(&[]) };
    let find = |seq: u64| {
        surface.position(seq).ok_or_else(|| match surface.hidden_by(seq) {
            Some(by) => format!("shadowedSeqs names {seq}, which is not on the surface (replaced by {by})"),
            None => format!("shadowedSeqs names {seq}, which is not on the surface"),
        })
    };
    let (start, end) = (find(*first)?, find(*last)?);
    let there = surface.seqs().get(start..=end).unwrap_or_default();
    if there == shadowed {
        return Ok(surface.nodes().get(start..=end).unwrap_or_default());
    }
    let order = if start > end { format!("; {first} stands behind {last}") } else { String::new() };
    Err(format!(
        "shadowedSeqs are {}, but from {first} to {last} the surface holds {}{order}",
        seqs(shadowed),
        if there.is_empty() { "nothing".to_owned() } else { seqs(there) }
    ))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{bracket, check_events, event, structural_codes as codes, user};

    fn summary(range: &str, seqs: &str, tokens: &str) -> Vec<&'static str> {
        let mut log = vec![user(0, "one"), user(1, "two"), user(2, "three")];
        let mut parts = bracket(3, "c", "null", 0);
        parts.truncate(2);
        parts[1] = event(
            4,
            "compaction/summary",
            &format!(
                r#"{{"compactionId":"c","shadowedRange":{range},"shadowedSeqs":{seqs},"shadowedTokenCount":{tokens}}}"#
            ),
        );
        log.extend(parts);
        log.push(event(5, "compaction/end", r#"{"compactionId":"c","turn":null}"#));
        let mut found = codes(&check_events(&log));
        found.retain(|code| *code != "summary-without-replacement");
        found
    }

    #[test]
    fn a_summary_names_what_it_hides() {
        let range = r#"{"start":0,"end":2}"#;
        assert_eq!(summary(range, "[0,1,2]", "28"), [""; 0]);
        assert_eq!(summary(range, "[0,1,2]", "27"), ["shadowed-tokens"]);
        assert_eq!(summary(range, "[0,1,2]", "-1"), ["shadowed-tokens-invalid"]);
        assert_eq!(summary(range, "[0,1]", "18"), ["shadowed-range"]);
        assert_eq!(summary("null", "[0,1]", "18"), ["shadowed-range"]);
        assert_eq!(summary(range, "[0,2]", "18"), ["shadowed-seqs"]);
        assert_eq!(summary(range, "[]", "18"), ["shadowed-seqs"]);
        assert_eq!(summary(range, "\"x\"", "18"), ["shadowed-seqs"]);
        assert_eq!(summary(r#"{"start":0,"end":9}"#, "[0,1,2,9]", "18"), ["shadowed-seqs"]);
        assert_eq!(summary(r#"{"start":2,"end":0}"#, "[2,1,0]", "18"), ["shadowed-seqs"]);
    }

    #[test]
    fn a_prune_is_held_to_the_same() {
        let prune = |seqs: &str| {
            let data = format!(
                r#"{{"shadowedRange":{{"start":0,"end":0}},"shadowedSeqs":{seqs},"shadowedTokenCount":9}}"#
            );
            codes(&check_events(&[user(0, "one"), event(1, "compaction/prune", &data)]))
        };
        assert_eq!(prune("[0]"), [""; 0]);
        assert_eq!(prune("[0,0]"), ["shadowed-seqs"]);
    }
}
