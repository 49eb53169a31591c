//! `dshc`: parse, run, exit.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(dshc::cli::run().code())
}
