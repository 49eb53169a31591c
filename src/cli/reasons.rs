//! Why logs were left as they are, on standard error.

use crate::guard::Reason;
use crate::report::{Printer, Verbosity, shown_path};
use crate::wording::amount;
use std::path::Path;

/// Of how many logs it is told why, unless more is asked for.
const MOST: usize = 20;

/// Tells of each log why it was not `done`, and what to do about it.
pub(super) fn tell_reasons<'a>(
    mut stopped: impl Iterator<Item = (&'a Path, &'a Reason)>,
    done: &str,
    printer: Printer,
) {
    let most = if printer.verbosity == Verbosity::Verbose { usize::MAX } else { MOST };
    for (path, reason) in stopped.by_ref().take(most) {
        let help = match reason.spans().as_slice() {
            [] => reason.help.clone(),
            spans => format!("{}: {}", reason.help, spans.join(" or ")),
        };
        printer.error(&format!("{}: {}", shown_path(path), reason.message), Some(&help));
    }
    let more = stopped.count();
    if more > 0 {
        printer.error(
            &format!("{} could not be {done}", amount(more as u64, "more log")),
            Some("-v names them all, and so does --format json"),
        );
    }
}
