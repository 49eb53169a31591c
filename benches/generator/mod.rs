//! Session logs of any size and shape, invented, the same for the same plan; for benchmarks and their tests.
//!
//! They are sound: `dshc verify` has nothing to say of them, and dsh opens them.

// Each target that shares this folder uses a part of it.
#![allow(dead_code)]

mod answer;
mod compaction;
mod dice;
mod file;
mod prose;
mod session;
mod shape;
mod stream;

pub use dice::Dice;
pub use file::{Frames, Packing};
pub use shape::Shape;

use dshc::format::{self, Format};
use session::Session;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Where a log ends: with the turn in which this is reached.
#[derive(Debug, Clone, Copy)]
pub enum Goal {
    /// So many bytes of text.
    Bytes(u64),
    /// So many events.
    Events(u64),
    /// After four turns, one of which holds a tool result of so many bytes.
    Record(u64),
}

/// What happens to the surface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Surface {
    /// It is compacted whenever it has grown to 40,000 host tokens.
    Small,
    /// It grows with the log.
    Full,
}

/// What a log is to be.
#[derive(Debug, Clone)]
pub struct Plan {
    /// What its events are.
    pub shape: Shape,
    /// How long it is.
    pub goal: Goal,
    /// Its format.
    pub format: &'static Format,
    /// How it is packed.
    pub packing: Packing,
    /// What happens to its surface.
    pub surface: Surface,
    /// What decides everything else.
    pub seed: u64,
}

impl Plan {
    /// Writes one log. Returns the bytes of its text, and what it was written to.
    pub fn write<W: Write>(&self, out: W, id: &str, cwd: &str) -> io::Result<(u64, W)> {
        Session::begin(out, self, id, cwd)?.run()
    }

    /// Writes the log to a file.
    pub fn write_file(&self, path: &Path) -> io::Result<u64> {
        let id = format!("session-{:016x}", Dice::new(self.seed).roll());
        self.write_session(path, &id, "/home/mira/tidecast")
    }

    /// Writes so many logs of about this size below `root`, laid out as dsh does (FORMAT §1.1). Returns the bytes of text.
    pub fn write_archive(&self, root: &Path, logs: u64) -> io::Result<u64> {
        let mut dice = Dice::new(self.seed);
        let mut bytes = 0;
        for number in 0..logs {
            let plan = Self { seed: dice.roll(), goal: self.goal.varied(&mut dice), ..self.clone() };
            let project = number / 50;
            let id = format!("session-{:016x}", dice.roll());
            let folder = root.join(format!("--home-mira-work-{project}--")).join(&id);
            fs::create_dir_all(&folder)?;
            bytes += plan.write_session(
                &folder.join(plan.file_name()),
                &id,
                &format!("/home/mira/work-{project}"),
            )?;
        }
        Ok(bytes)
    }

    /// The name that dsh gives such a log.
    pub fn file_name(&self) -> PathBuf {
        let suffix = if self.packing == Packing::Raw { "" } else { ".zstd" };
        PathBuf::from(format!("{}.jsonl{suffix}", format::file_stem(self.format.version)))
    }

    fn write_session(&self, path: &Path, id: &str, cwd: &str) -> io::Result<u64> {
        let out = BufWriter::with_capacity(1 << 18, File::create(path)?);
        Ok(self.write(out, id, cwd)?.0)
    }
}

impl Goal {
    /// Between half as much and half as much again.
    fn varied(self, dice: &mut Dice) -> Self {
        let mut vary = |amount: u64| amount / 2 + dice.roll() % amount.max(1);
        match self {
            Self::Bytes(bytes) => Self::Bytes(vary(bytes)),
            Self::Events(events) => Self::Events(vary(events)),
            Self::Record(bytes) => Self::Record(vary(bytes)),
        }
    }
}
