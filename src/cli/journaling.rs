//! The journal of a run, if `--journal` asks for one: which logs it spares, and what it is told.

use super::UsageError;
use crate::batch::FoundLog;
use crate::batch::journal::{Damage, Journal, Kind, Past, Revision};
use crate::exit::Exit;
use crate::log::layout::Spot;
use crate::report::{Printer, shown_path};
use crate::wording::amount;
use std::path::{Path, PathBuf};

/// A journal, or none.
#[derive(Debug)]
pub(super) struct Journaling {
    journal: Option<(PathBuf, Journal)>,
}

impl Journaling {
    /// Opens the journal at `path`, if one is named, and says what was wrong with it.
    pub(super) fn open(path: Option<&Path>, kind: Kind, printer: Printer) -> Result<Self, UsageError> {
        let Some(path) = path else { return Ok(Self { journal: None }) };
        let journal = Journal::open(path, kind);
        let journal = journal.map_err(|error| UsageError::new(error.to_string(), error.help()))?;
        let Damage { is_torn, unread_lines } = journal.damage;
        let name = shown_path(path);
        if is_torn {
            printer.note(&format!(
                "{name} ended inside a line, which was cut off: the run that wrote it was stopped; that log is done again"
            ));
        }
        if unread_lines > 0 {
            let lines = amount(unread_lines, "line");
            printer.note(&format!("{name} has {lines} that cannot be read; what they tell of is done again"));
        }
        Ok(Self { journal: Some((path.to_owned(), journal)) })
    }

    /// Whether there is a journal.
    pub(super) fn is_kept(&self) -> bool {
        self.journal.is_some()
    }

    /// The tasks whose logs need not be done again, with what an earlier run made of them, and the others.
    pub(super) fn spare<T>(&self, tasks: Vec<T>, log: impl Fn(&T) -> &FoundLog) -> (Vec<(T, Past)>, Vec<T>) {
        let (mut spared, mut others) = (Vec::new(), Vec::new());
        for task in tasks {
            match self.past(log(&task)) {
                Some(past) => {
                    let past = past.clone();
                    spared.push((task, past));
                }
                None => others.push(task),
            }
        }
        (spared, others)
    }

    fn past(&self, log: &FoundLog) -> Option<&Past> {
        let (_, journal) = self.journal.as_ref()?;
        if is_twin(log) { None } else { journal.done(&log.path) }
    }

    /// The file as it is before the work on it, for [`Journaling::note`].
    pub(super) fn revision(&self, log: &FoundLog) -> Option<Revision> {
        self.journal.as_ref()?;
        // What came of two files does not show in the revision of one.
        if is_twin(log) { None } else { Revision::of(&log.path).ok() }
    }

    /// Tells the journal what came of a log, whose file is at `revision` with that.
    pub(super) fn note(&self, log: &Path, revision: Option<Revision>, past: &Past) {
        // Standard input is another one in the next run.
        if let Some((_, journal)) = self.journal.as_ref().filter(|_| log != Path::new("-")) {
            journal.note(log, revision, past);
        }
    }

    /// Ends the journal. That it could not be written is no log's fault, and fails the run all the same.
    pub(super) fn close(self, printer: Printer) -> Exit {
        let Some((path, journal)) = self.journal else { return Exit::Done };
        let Err(error) = journal.close() else { return Exit::Done };
        printer.error(
            &format!("cannot write the journal {}: {error}", shown_path(&path)),
            Some("a later run does again what it does not tell of; look at the disk first"),
        );
        Exit::Failed
    }
}

/// Whether the same session lies beside the log in the other encoding.
fn is_twin(log: &FoundLog) -> bool {
    matches!(&log.spot, Some(Spot::Session(folder)) if folder.twin.is_some())
}

/// Says how many logs were not worked on, since an earlier run has done them.
pub(super) fn tell_spared(count: usize, printer: Printer) {
    if count > 0 {
        let was = if count == 1 { "was" } else { "were" };
        let logs = amount(count as u64, "log");
        printer.note(&format!("{logs} {was} done before, as the journal tells"));
    }
}

/// The revision of the file at `path` that has been taken into account: the one `before` the work, or the one of this
/// `length` that the work made. `None` if somebody else has written to it since.
pub(super) fn revision_after(path: &Path, before: Option<Revision>, length: Option<u64>) -> Option<Revision> {
    match length {
        Some(length) => Revision::of(path).ok().filter(|now| now.bytes == length && before.is_some()),
        None => before,
    }
}
