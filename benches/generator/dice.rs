//! Numbers that look random and are the same for the same seed on every machine.

/// A source of numbers: SplitMix64.
#[derive(Debug, Clone)]
pub struct Dice(u64);

impl Dice {
    /// Numbers that `seed` alone decides.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Any number.
    pub fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number of `range`, both ends included.
    pub fn within(&mut self, range: [u64; 2]) -> u64 {
        let width = range[1].saturating_sub(range[0]).saturating_add(1);
        range[0] + self.roll() % width.max(1)
    }

    /// Whether something comes about that does so `percent` times in a hundred.
    pub fn chance(&mut self, percent: u64) -> bool {
        self.roll() % 100 < percent
    }

    /// A place in a list of `length`; early places come up far more often, as common words do.
    pub fn favoured(&mut self, length: usize) -> usize {
        let roll = self.roll();
        let (one, other) = (roll >> 32, roll & 0xffff_ffff);
        let skewed = (one * other) >> 32;
        usize::try_from((skewed * length as u64) >> 32).unwrap_or(0)
    }
}
