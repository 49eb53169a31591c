//! dsh's running estimate of what the surface costs (FORMAT §7.5).
//!
//! dsh keeps one sum: each appended message adds its price, and a replacement right behind its summary or prune takes
//! off what that one says the hidden nodes cost. A session whose sum ends below zero cannot be loaded.

use super::Node;
use crate::json::Object;

/// The sum so far, in host tokens.
#[derive(Debug, Clone, Default)]
pub struct Estimate {
    /// Other than the price of the surface where a figure in the log was wrong; below zero where figures were too high.
    pub sum: i128,
    /// The figure of the event just before.
    claim: Option<Claim>,
    /// The replacement that took a figure off last, and that figure.
    taken: Option<(u64, Claim)>,
}

/// What a summary or prune says of the nodes that the replacement right behind it hides.
#[derive(Debug, Clone, Copy)]
pub struct Claim {
    /// Its seq.
    pub seq: u64,
    /// The first and the last of the nodes.
    pub range: (u64, u64),
    /// Their host tokens.
    pub tokens: u64,
    /// What the sum was before the figure was taken off.
    pub before: i128,
}

impl Estimate {
    /// A summary or prune with this payload stands at `seq`.
    pub(super) fn claims(&mut self, seq: u64, data: Option<&Object>) {
        self.claim = data.and_then(|data| {
            let range = data.object("shadowedRange")?;
            let range = (range.count("start")?, range.count("end")?);
            Some(Claim { seq, range, tokens: data.count("shadowedTokenCount")?, before: self.sum })
        });
    }

    /// A message was appended.
    pub(super) fn appended(&mut self, node: &Node) {
        self.sum += i128::from(node.host_tokens);
    }

    /// A message has taken the place of others.
    pub(super) fn replaced(&mut self, node: &Node) {
        let claim = self.claim.take().filter(|claim| claim.seq.checked_add(1) == Some(node.seq));
        let Some(claim) = claim else { return };
        self.sum += i128::from(node.host_tokens) - i128::from(claim.tokens);
        self.taken = Some((node.seq, claim));
    }

    /// Takes off `figure` and adds `price` for a replacement that is planned.
    pub(crate) fn plan(&mut self, figure: u64, price: u64) {
        self.sum += i128::from(price) - i128::from(figure);
    }

    /// The figure that the replacement at `seq` took off, if it was the last that took one.
    #[must_use]
    pub fn taken_by(&self, seq: u64) -> Option<&Claim> {
        self.taken.as_ref().filter(|(by, _)| *by == seq).map(|(_, claim)| claim)
    }

    /// The figure to write for nodes of `price` host tokens on a surface of `surface`: their price, but where earlier
    /// figures have left the sum too low for that, as much as makes the sum the price of the surface again.
    #[must_use]
    pub fn figure_for(&self, price: u64, surface: u64) -> u64 {
        if self.sum >= i128::from(price) {
            return price;
        }
        let stays = surface.saturating_sub(price);
        u64::try_from(self.sum - i128::from(stays)).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_figure_takes_the_sum_below_zero() {
        let estimate = |sum| Estimate { sum, ..Estimate::default() };
        assert_eq!(estimate(1000).figure_for(800, 1000), 800);
        assert_eq!(
            estimate(1200).figure_for(800, 1000),
            800,
            "a sum that is too high stays so, as dsh leaves it"
        );
        assert_eq!(estimate(800).figure_for(800, 1000), 800);
        // What stays on the surface costs 200, and the sum is that afterwards.
        assert_eq!(estimate(700).figure_for(800, 1000), 500);
        assert_eq!((estimate(200).figure_for(800, 1000), estimate(-5).figure_for(800, 1000)), (0, 0));
    }
}
