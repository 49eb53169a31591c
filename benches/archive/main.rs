//! The benchmark of the whole, and its generator of logs:
//!
//!     cargo bench --bench archive -- generate --help
//!     cargo bench --bench archive -- compare

mod generate;
#[path = "../generator/mod.rs"]
mod generator;

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
}

fn main() -> anyhow::Result<ExitCode> {
    match Arguments::parse().command {
        Command::Generate(args) => generate::generate(&args, &mut io::stdout().lock())?,
    }
    Ok(ExitCode::SUCCESS)
}
