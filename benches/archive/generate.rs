//! `generate`: logs to try things on.

use crate::generator::{Frames, Goal, Packing, Plan, Shape, Surface};
use anyhow::{Context, Result, bail};
use clap::Args;
use dshc::format;
use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

/// Write a log, or an archive of logs, of any size and shape.
#[derive(Debug, Args)]
pub struct GenerateArgs {
    /// The log; with --logs, the folder below which the archive is laid out as dsh does
    output: PathBuf,
    /// What the events are
    #[arg(long, value_enum, default_value = "dsh")]
    shape: Shape,
    /// Bytes of decoded text, with K, M or G for KiB, MiB, GiB; of huge-record: of the record
    #[arg(long, value_name = "BYTES", value_parser = bytes, default_value = "1M")]
    size: u64,
    /// End by the number of events instead
    #[arg(long, value_name = "N", conflicts_with = "size")]
    events: Option<u64>,
    /// The format
    #[arg(long, value_name = "N", default_value_t = 0)]
    version: u64,
    /// Plain lines instead of zstd
    #[arg(long, conflicts_with = "frames")]
    raw: bool,
    /// What a zstd frame holds [default: tiny for tiny-frames, else dsh]
    #[arg(long, value_enum)]
    frames: Option<Frames>,
    /// Whether the surface is compacted as it grows
    #[arg(long, value_enum, default_value = "full")]
    surface: Surface,
    /// Write so many logs, of between half and one and a half times the size
    #[arg(long, value_name = "N")]
    logs: Option<u64>,
    /// Another seed gives other words, numbers and sizes
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// Writes what is asked for, and says how much it is.
pub fn generate(args: &GenerateArgs, out: &mut impl Write) -> Result<()> {
    let Some(format) = format::of(args.version) else { bail!("there is no format {}", args.version) };
    let usual = if args.shape == Shape::TinyFrames { Frames::Tiny } else { Frames::Dsh };
    let goal = match args.events {
        Some(events) => Goal::Events(events),
        None if args.shape == Shape::HugeRecord => Goal::Record(args.size),
        None => Goal::Bytes(args.size),
    };
    let packing = if args.raw { Packing::Raw } else { Packing::Zstd(args.frames.unwrap_or(usual)) };
    let plan = Plan { shape: args.shape, goal, format, packing, surface: args.surface, seed: args.seed };
    let begun = Instant::now();
    let written = match args.logs {
        Some(logs) => plan.write_archive(&args.output, logs),
        None => plan.write_file(&args.output),
    };
    let text = written.with_context(|| format!("{} cannot be written", args.output.display()))?;
    writeln!(
        out,
        "{}: {text} bytes of text in {:.2} s",
        args.output.display(),
        begun.elapsed().as_secs_f64()
    )?;
    Ok(())
}

/// A number of bytes, with K, M or G for the binary multiples.
fn bytes(given: &str) -> Result<u64, String> {
    let (digits, shift) = match given.char_indices().next_back() {
        Some((at, 'K')) => (&given[..at], 10),
        Some((at, 'M')) => (&given[..at], 20),
        Some((at, 'G')) => (&given[..at], 30),
        _ => (given, 0),
    };
    let number: u64 = digits.parse().map_err(|_| "not a number of bytes".to_owned())?;
    number.checked_mul(1 << shift).ok_or_else(|| "too many".to_owned())
}
