//! The benchmark of the whole, and its generator of logs:
//!
//!     cargo bench --bench archive -- generate --help
//!     cargo bench --bench archive -- compare

#![expect(clippy::cast_precision_loss, reason = "figures for people")]

mod compare;
mod generate;
#[path = "../generator/mod.rs"]
mod generator;
mod measure;
mod outcome;
mod rivals;

use clap::{Parser, Subcommand};
use std::io;
use std::process::ExitCode;

/// Logs of any size and shape, and how fast dshc is on them.
#[derive(Debug, Parser)]
#[command(bin_name = "cargo bench --bench archive --")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
    /// What cargo says to every benchmark
    #[arg(long, hide = true, global = true)]
    bench: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    Generate(generate::GenerateArgs),
    Compare(compare::CompareArgs),
}

fn main() -> anyhow::Result<ExitCode> {
    let mut out = io::stdout().lock();
    match Arguments::parse().command {
        Command::Generate(args) => generate::generate(&args, &mut out)?,
        Command::Compare(args) if !compare::compare(&args, &mut out)? => return Ok(ExitCode::FAILURE),
        Command::Compare(_) => {}
    }
    Ok(ExitCode::SUCCESS)
}
