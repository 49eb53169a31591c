//! The totals of a run whose shards were merged.

use crate::merge::{Merged, Sum};
use crate::report::printer::{BOLD, shown};
use crate::wording::{amount, grouped};
use std::io::{self, Write};

/// Writes the figures of the run, which so many reports tell of.
pub fn merged(merged: &Merged, reports: usize, out: &mut dyn Write) -> io::Result<()> {
    let (schema, reports) = (shown(&merged.schema), amount(reports as u64, "report"));
    writeln!(out, "{BOLD}{}{BOLD:#} of {schema}, from {reports}", amount(merged.len() as u64, "log"))?;
    members(&merged.summary, 1, out)
}

/// Writes members, a line each, `depth` steps to the right. How deep they go is limited where they are read.
fn members(sum: &Sum, depth: usize, out: &mut dyn Write) -> io::Result<()> {
    let Sum::Members(members) = sum else { return Ok(()) };
    for (name, sum) in members {
        let (indent, name) = ("  ".repeat(depth), shown(name).replace('\n', "\\n"));
        match sum {
            Sum::Count(count) => writeln!(out, "{indent}{name}: {}", grouped(*count))?,
            Sum::Members(_) => {
                writeln!(out, "{indent}{name}:")?;
                self::members(sum, depth + 1, out)?;
            }
        }
    }
    Ok(())
}
