//! dsh's running estimate of what the surface costs (FORMAT §7.5).
//!
//! Figures that are too high drive the sum below zero, which dsh's own check of the sum refuses when it loads the
//! session.

use super::Finding;
use super::here::Here;
use super::registry::rule_family;
use super::wording::number;
use crate::log::Place;
use crate::session::{Claim, Estimate};

rule_family! {
    "compaction";
    /// dsh's running estimate of the surface ends below zero, so that dsh cannot load the session.
    ///
    /// **What it means.** dsh adds up the price of each message as it is appended, and takes off the
    /// `shadowedTokenCount` of each summary or prune whose replacement follows it directly. By the figures in this log
    /// the sum is negative at its end. The finding stands at the replacement that took it below zero for good.
    ///
    /// **Why it matters.** dsh checks that the sum is no negative number whenever it shows or restores the session, and
    /// fails if it is. The events are sound and nothing is lost, but the session cannot be opened.
    ///
    /// **How it comes about.** Another tool wrote the compaction, and counted with another meter than dsh's: exact
    /// tokens, bytes, or a figure of its own. Each such figure that is too high leaves the sum lower than it is.
    ///
    /// **What to do.** Keep a copy. Where the compaction that it stands at is the last thing in the log, take it out
    /// in a copy, and compact again with a tool that counts as dsh does. A prompt that is
    /// long enough would lift the sum above zero again, but dsh cannot append one to a session that it cannot open.
    ESTIMATE_BELOW_ZERO = error("estimate-below-zero");
    /// A replacement follows a summary or prune directly and hides another range than that one names.
    ///
    /// **What it means.** The summary or prune right before the replacement says which nodes it hides, by the first and
    /// the last. The replacement names others.
    ///
    /// **Why it matters.** dsh's meter reads the two together: the figure of the one belongs to the range of the other.
    /// Where the ranges differ it fails, and with it dsh's attempt to load the session.
    ///
    /// **How it comes about.** Another tool changed the region after it had made the summary, or joined the records of
    /// two compactions.
    ///
    /// **What to do.** Keep a copy. Where nothing stands behind the compaction, take it out and compact again. dsh itself
    /// never writes this.
    PRICE_RANGE = error("shadow-price-range");
}

/// The replacement that took the sum below zero, while it is.
#[derive(Debug, Default)]
pub(super) struct Watched {
    below: Option<Below>,
    in_doubt: bool,
}

#[derive(Debug)]
struct Below {
    seq: u64,
    place: Place,
    claim: Claim,
}

impl Watched {
    /// Messages or figures may have been lost.
    pub(super) fn doubt(&mut self) {
        self.in_doubt = true;
    }

    /// Takes an event that the session has just taken.
    pub(super) fn event(&mut self, here: &mut Here) {
        let (seq, estimate) = (here.event.seq, &here.session.estimate);
        if estimate.sum >= 0 {
            self.below = None;
        }
        let Some(claim) = estimate.taken_by(seq) else { return };
        if estimate.sum < 0 {
            self.below.get_or_insert(Below { seq, place: here.place, claim: *claim });
        }
        let edges = here.node.map(|node| (node.replaces.first().copied(), node.replaces.last().copied()));
        if let Some(edges) = edges.filter(|edges| *edges != (Some(claim.range.0), Some(claim.range.1))) {
            Self::wrong_range(claim, edges, here);
        }
    }

    fn wrong_range(claim: &Claim, (start, end): (Option<u64>, Option<u64>), here: &mut Here) {
        let message = format!(
            "the replacement hides {}..{}, but seq {} right before it names {}..{}",
            number(start),
            number(end),
            claim.seq,
            claim.range.0,
            claim.range.1
        );
        let finding = Finding::new(&PRICE_RANGE, here.place, message).at_seq(here.event.seq);
        let finding =
            finding.with_help("another tool wrote this; dsh's meter fails on it when the session is loaded");
        here.findings.push(finding.relating(claim.seq, "names the other range"));
    }

    /// What is to be said at the end of the log.
    pub(super) fn finding(&self, estimate: &Estimate) -> Option<Finding> {
        let Below { seq, place, claim } = self.below.as_ref()?;
        let message = format!(
            "dsh's running estimate of the surface ends at {}: it was {} before seq {}, whose shadowedTokenCount takes {} off",
            estimate.sum, claim.before, claim.seq, claim.tokens
        );
        let help = "dsh cannot load a session whose estimate is below zero; another tool counted otherwise than dsh does";
        let finding = Finding::new(&ESTIMATE_BELOW_ZERO, *place, message).at_seq(*seq).with_help(help);
        let finding =
            finding.relating(claim.seq, "the figure that is too high, or the last of those that are");
        Some(if self.in_doubt { finding.noted().adding("but events before it were lost") } else { finding })
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{bracket, check_events, structural_codes as codes, user};
    use super::super::{Checked, Severity};

    /// A prompt of nine host tokens, and a compaction of it that says that it hides so many.
    fn compacted(tokens: u64) -> Vec<String> {
        let figure = format!("\"shadowedTokenCount\":{tokens},");
        let bracket = bracket(1, "c", "null", 0).into_iter();
        let bracket = bracket.map(|line| line.replace("\"shadowedTokenCount\":9,", &figure));
        [user(0, "one")].into_iter().chain(bracket).collect()
    }

    fn told(log: &[String]) -> (Vec<&'static str>, Checked) {
        let checked = check_events(log);
        (codes(&checked), checked)
    }

    #[test]
    fn a_sum_below_zero_is_an_error() {
        // The empty checkpoint costs 4.
        assert_eq!(told(&compacted(13)).0, ["shadowed-tokens"]);
        let (codes, checked) = told(&compacted(14));
        assert_eq!(codes, ["shadowed-tokens", "estimate-below-zero"]);
        let finding = checked.findings.iter().find(|finding| finding.code == "estimate-below-zero").unwrap();
        assert_eq!((finding.severity, finding.seq, finding.place.line), (Severity::Error, Some(3), Some(5)));
        assert!(
            finding
                .message
                .contains("ends at -1: it was 9 before seq 2, whose shadowedTokenCount takes 14 off")
        );
        assert_eq!(finding.related[0].seq, 2);
        // What lifts it again makes dsh load the session.
        assert_eq!(told(&[&compacted(14)[..], &[user(5, "two")]].concat()).0, ["shadowed-tokens"]);
    }

    #[test]
    fn only_a_replacement_right_behind_takes_its_figure_off() {
        let mut log = compacted(1000);
        log.insert(3, super::super::testing::event(3, "todo/write", "{}"));
        let behind = |line: &String, from: u64| {
            line.replace(&format!("\"seq\":{from}"), &format!("\"seq\":{}", from + 1))
        };
        log[4] = behind(&log[4], 3);
        log[5] = behind(&log[5], 4);
        assert_eq!(told(&log).0, ["shadowed-tokens"]);
    }

    #[test]
    fn a_replacement_of_another_range_than_its_summary_is_an_error() {
        let mut log = compacted(9);
        log.insert(1, user(1, "two"));
        for (at, line) in log.iter_mut().enumerate().skip(2) {
            *line = line.replace(&format!("\"seq\":{}", at - 1), &format!("\"seq\":{at}"));
        }
        log[4] =
            log[4].replace(r#""start":0,"end":0"#, r#""start":0,"end":1"#).replace("[1,2,0]", "[2,3,0,1]");
        let (codes, checked) = told(&log);
        assert_eq!(codes, ["shadow-price-range"], "{:#?}", checked.findings);
        let finding = checked.findings.iter().find(|finding| finding.code == "shadow-price-range").unwrap();
        assert!(
            finding.message.contains("hides 0..1, but seq 3 right before it names 0..0"),
            "{}",
            finding.message
        );
    }

    #[test]
    fn where_messages_were_lost_the_sum_is_a_note() {
        let bracket = compacted(14).split_off(1).into_iter();
        let bracket = bracket.map(|line| line.replace("\"seq\":", "\"seq\":1"));
        let log: Vec<String> = [user(0, "one"), "{".to_owned()].into_iter().chain(bracket).collect();
        let (_, checked) = told(&log);
        let finding = checked.findings.iter().find(|finding| finding.code == "estimate-below-zero").unwrap();
        assert_eq!(finding.severity, Severity::Note, "{:#?}", checked.findings);
    }
}
