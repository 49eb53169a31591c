//! Many logs in a few lines: a row for each way in which logs ended, and the sums.

use crate::report::printer::{BOLD, DIM, shown_path};
use crate::wording::{amount, grouped};
use anstyle::Style;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

/// With more logs than this a report shows totals in place of each, unless more is asked for.
pub(super) const MANY: usize = 20;

/// How one log ended.
pub(super) struct End<'a> {
    /// The status: where it stands among the others, and its word.
    pub(super) status: (u8, &'a str),
    /// How the word stands out.
    pub(super) style: Style,
    /// Why, by its stable code, where the status alone does not tell.
    pub(super) cause: Option<&'a str>,
    /// The log.
    pub(super) path: &'a Path,
}

/// The logs that ended in one way.
struct Row<'a> {
    style: Style,
    logs: u64,
    first: &'a Path,
}

/// Writes a row for each status and cause, in the order of the statuses, then of the causes; of those with a cause the
/// first log is named.
pub(super) fn rows<'a>(ends: impl Iterator<Item = End<'a>>, out: &mut dyn Write) -> io::Result<()> {
    let mut rows: BTreeMap<_, Row> = BTreeMap::new();
    for End { status, style, cause, path } in ends {
        rows.entry((status, cause)).or_insert(Row { style, logs: 0, first: path }).logs += 1;
    }
    for (((_, word), cause), Row { style, logs, first }) in rows {
        write!(out, "{:>8}  {style}{}{style:#}", grouped(logs), word.replace('_', " "))?;
        match cause {
            None => writeln!(out)?,
            Some(cause) => {
                let which = if logs == 1 { "" } else { "first " };
                writeln!(out, ": {cause}, {DIM}{which}{}{DIM:#}", shown_path(first))?;
            }
        }
    }
    Ok(())
}

/// Adds up figures before and after.
pub(super) fn sum(changes: impl Iterator<Item = (u64, u64)>) -> (u64, u64) {
    changes.fold((0, 0), |sum: (u64, u64), one| (sum.0.saturating_add(one.0), sum.1.saturating_add(one.1)))
}

/// Writes how many logs there were, what of them, and by how much they changed:
/// `3 logs: 2 compacted, 1 refused; host tokens: 900 → 200`.
pub(super) fn sums(
    logs: usize,
    parts: &[(usize, &str)],
    changes: &[(&str, (u64, u64))],
    out: &mut dyn Write,
) -> io::Result<()> {
    let told = parts.iter().filter(|(count, _)| *count > 0);
    let told: Vec<String> =
        told.map(|(count, word)| format!("{} {}", grouped(*count as u64), word.replace('_', " "))).collect();
    let told = if told.is_empty() { "nothing to do".to_owned() } else { told.join(", ") };
    write!(out, "{BOLD}{}{BOLD:#}: {told}", amount(logs as u64, "log"))?;
    for (what, (before, after)) in changes {
        write!(out, "; {what}: {}", grouped(*before))?;
        if before != after {
            write!(out, " → {}", grouped(*after))?;
        }
    }
    writeln!(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::printer::RED;

    fn plain(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> String {
        let mut out = Vec::new();
        write(&mut out).unwrap();
        anstream::adapter::strip_str(std::str::from_utf8(&out).unwrap()).to_string()
    }

    #[test]
    fn each_status_and_cause_has_a_row() {
        let end =
            |status, cause, path: &'static str| End { status, style: RED, cause, path: Path::new(path) };
        let ends = [
            end((2, "refused"), Some("busy"), "c"),
            end((1, "nothing_to_do"), None, "b"),
            end((2, "refused"), Some("busy"), "a"),
            end((2, "refused"), Some("damaged"), "d"),
        ];
        let expected =
            "       1  nothing to do\n       2  refused: busy, first c\n       1  refused: damaged, d\n";
        assert_eq!(plain(|out| rows(ends.into_iter(), out)), expected);
    }

    #[test]
    fn sums_tell_what_changed() {
        let parts = [(1200, "compacted"), (0, "failed"), (1, "nothing_to_do")];
        let changes = [("host tokens", (4000, 300)), ("bytes", (7, 7))];
        assert_eq!(
            plain(|out| sums(1201, &parts, &changes, out)),
            "1,201 logs: 1,200 compacted, 1 nothing to do; host tokens: 4,000 → 300; bytes: 7\n"
        );
        assert_eq!(plain(|out| sums(0, &parts[1..2], &[], out)), "0 logs: nothing to do\n");
    }
}
