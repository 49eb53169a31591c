//! What the events of a log are: how many of which kind, and how large.

use super::prose::Tongue;

/// A kind of log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Shape {
    /// As dsh's sessions are: streamed answers, a call or two a step, results of some KB, seldom bulky ones.
    Dsh,
    /// Short streamed answers whose deltas are not packed: with `--frames tiny` (the default here) one small event a frame.
    TinyFrames,
    /// A small session with one tool result of the size that is asked for.
    HugeRecord,
    /// Long streamed answers, few calls.
    Chunks,
    /// Many calls, most with bulky results, few words.
    Tools,
    /// As dsh's, in Chinese, Japanese and Korean.
    Cjk,
}

/// The figures of a shape; ranges have both ends included.
#[derive(Debug, Clone, Copy)]
pub struct Proportions {
    /// Which words.
    pub tongue: Tongue,
    /// Steps a turn.
    pub steps: [u64; 2],
    /// Streamed pieces of a prompt.
    pub prompt: [u64; 2],
    /// How many answers in a hundred begin with reasoning.
    pub reasoning_percent: u64,
    /// Streamed pieces of the reasoning.
    pub reasoning: [u64; 2],
    /// Streamed pieces of the answer.
    pub answer: [u64; 2],
    /// Tool calls a step; the last step of a turn has none.
    pub calls: [u64; 2],
    /// Bytes of a tool result.
    pub result: [u64; 2],
    /// How many results in a hundred are bulky.
    pub bulky_percent: u64,
    /// Bytes of a bulky result.
    pub bulky: [u64; 2],
    /// Whether runs of deltas are packed into rows, as dsh does within what it appends at a time.
    pub packs: bool,
}

const DSH: Proportions = Proportions {
    tongue: Tongue::Latin,
    steps: [2, 4],
    prompt: [5, 20],
    reasoning_percent: 40,
    reasoning: [5, 25],
    answer: [10, 50],
    calls: [1, 2],
    result: [200, 1500],
    bulky_percent: 4,
    bulky: [8_000, 24_000],
    packs: true,
};

impl Shape {
    /// The figures.
    pub fn proportions(self) -> Proportions {
        match self {
            Self::Dsh | Self::HugeRecord => DSH,
            Self::Cjk => Proportions { tongue: Tongue::Cjk, ..DSH },
            Self::TinyFrames => Proportions {
                steps: [1, 1],
                prompt: [1, 2],
                reasoning_percent: 0,
                answer: [20, 40],
                calls: [0, 0],
                packs: false,
                ..DSH
            },
            Self::Chunks => Proportions {
                steps: [1, 3],
                answer: [100, 600],
                reasoning_percent: 70,
                reasoning: [50, 300],
                calls: [0, 1],
                ..DSH
            },
            Self::Tools => Proportions {
                steps: [3, 8],
                answer: [0, 4],
                reasoning_percent: 0,
                calls: [2, 5],
                bulky_percent: 40,
                ..DSH
            },
        }
    }
}
