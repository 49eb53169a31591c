//! A log that is worked on: the session up to its end, and where what is appended goes.

use super::output::Copy;
use super::{Options, Reason, Stopped, Vouched};
use crate::guard::{self, HELP_REPORT};
use crate::log::append::{AppendError, Appender, Disk, MendedTail};
use crate::log::{Item, LogReader, OpenError, Source};
use crate::mend::{self, MendError, Mended};
use crate::session::{self, Folded, Keep, LockState, Stop};
use std::io;
use std::path::Path;

/// A log and the session that it stands for, kept alike: what is appended is read back and folded.
pub(super) struct OpenLog<'a> {
    pub(super) folded: Folded,
    /// Length in bytes before anything was written.
    pub(super) old_length: u64,
    /// The first and the last seq that was appended.
    pub(super) appended: Option<(u64, u64)>,
    place: Place<'a>,
}

/// Where records go.
enum Place<'a> {
    /// Nowhere: they are applied to the session alone.
    Rehearsal(Source),
    /// To the log itself.
    Log(Appender<'a>),
    /// To a copy, which is made when it is first written to.
    NewFile { source: Source, copy: Copy<'a>, appender: Option<Appender<'a>> },
}

/// What went wrong with an append.
pub(super) enum Trouble {
    /// Nothing was appended, or it could not be taken back.
    Append(AppendError),
    /// What was appended, from this byte on, is read back as something else.
    ReadBack(u64, String),
}

impl From<AppendError> for Trouble {
    fn from(error: AppendError) -> Self {
        Self::Append(error)
    }
}

impl<'a> OpenLog<'a> {
    /// The log at `path`, which nothing is written to.
    pub(super) fn rehearsal(path: &Path) -> Result<Self, OpenError> {
        let source = Source::open(path)?;
        let (folded, old_length) = (fold(&source)?, source.bytes);
        Ok(Self::new(folded, old_length, Place::Rehearsal(source)))
    }

    /// The log at `path` itself, locked against every other dshc.
    pub(super) fn in_place(path: &Path, disk: &'a dyn Disk) -> Result<Self, Stopped> {
        let appender = Appender::open(path, disk)?;
        let folded = fold(&appender.source()?)?;
        Ok(Self::new(folded, appender.length(), Place::Log(appender)))
    }

    /// The log at `path`, to be extended at another place.
    pub(super) fn to_new_file(path: &Path, copy: Copy<'a>) -> Result<Self, OpenError> {
        let source = Source::open(path)?;
        let (folded, old_length) = (fold(&source)?, source.bytes);
        Ok(Self::new(folded, old_length, Place::NewFile { source, copy, appender: None }))
    }

    fn new(folded: Folded, old_length: u64, place: Place<'a>) -> Self {
        Self { folded, old_length, appended: None, place }
    }

    /// Makes the log ready to be written to: dsh is kept out of the session, or the copy made.
    pub(super) fn prepare(&mut self) -> Result<(), Stopped> {
        match &mut self.place {
            Place::Log(appender) => appender.lock_session(self.folded.session.format)?,
            Place::NewFile { source, copy, appender: appender @ None } => {
                let disk = copy.disk;
                *appender = Some(Appender::open(copy.make(source)?, disk)?);
            }
            Place::Rehearsal(_) | Place::NewFile { .. } => {}
        }
        Ok(())
    }

    /// Gives the new file its name, if one was made.
    pub(super) fn publish(self) -> Result<(), Stopped> {
        let Place::NewFile { source, copy, appender } = self.place else { return Ok(()) };
        drop(appender);
        copy.publish(&source)
    }

    /// Mends a torn tail and frees a held lock, as dsh would when it opens the log; tells `notes` what is done.
    pub(super) fn mend(&mut self, notes: &mut Vec<String>) -> Result<(), Stopped> {
        let is_held = matches!(self.folded.session.lock(), LockState::Held(_));
        if self.folded.damage.is_some() || self.folded.torn.is_none() && !is_held {
            return Ok(());
        }
        self.prepare()?;
        let Self { folded, place, .. } = self;
        let mended = match place {
            Place::Rehearsal(source) => {
                folded.torn = None;
                Mended {
                    tail: MendedTail::of(source)?,
                    unlock: mend::unlock(&folded.session, source).map_err(unmended)?,
                }
            }
            Place::Log(appender) | Place::NewFile { appender: Some(appender), .. } => {
                mend::open_for_work(appender, folded).map_err(unmended)?
            }
            Place::NewFile { .. } => Mended::default(),
        };
        notes.extend(mended.tail.iter().map(mend::tail_note));
        if let Some(unlock) = mended.unlock {
            self.append(&unlock.records).map_err(|trouble| self.stopped(trouble))?;
            notes.push(unlock.note);
        }
        Ok(())
    }

    /// The writer of the log or its copy; `None` in a rehearsal, and before a copy is [prepared](Self::prepare).
    fn appender(&mut self) -> Option<&mut Appender<'a>> {
        match &mut self.place {
            Place::Rehearsal(_) => None,
            Place::Log(appender) => Some(appender),
            Place::NewFile { appender, .. } => appender.as_mut(),
        }
    }

    /// Why a process may have the log open, as far as the caller does not know better. A new file is nobody else's.
    pub(super) fn in_use(&self, options: &Options) -> Option<Reason> {
        let Place::Log(appender) = &self.place else { return None };
        let is_asked = options.vouched == Vouched::Nothing;
        is_asked.then(|| guard::in_use(&self.folded.session, appender.modified())).flatten()
    }

    /// Length of the file in bytes, if something was written to it.
    pub(super) fn new_length(&mut self) -> Option<u64> {
        let (old, is_appended) = (self.old_length, self.appended.is_some());
        self.appender().map(|appender| appender.length()).filter(|length| is_appended || *length != old)
    }

    /// Whether nothing more may be appended.
    pub(super) fn is_spoiled(&mut self) -> bool {
        self.appender().is_some_and(|appender| appender.is_spoiled())
    }

    /// Whether the bracket that starts at `start` may be open still in a log that stays: not in a copy, nor where another
    /// writer has ended or voided it.
    pub(super) fn may_be_left_locked(&mut self, start: u64) -> bool {
        let is_known = !self.is_spoiled() && self.damage().is_none();
        let is_held = matches!(self.folded.session.lock(), LockState::Held(lock) if lock.start_seq == start);
        matches!(self.place, Place::Log(_)) && (is_held || !is_known)
    }

    /// Whether a bracket of this run may be open still, which nobody else closes.
    pub(super) fn is_left_locked(&mut self) -> bool {
        self.is_spoiled() || matches!(self.folded.session.lock(), LockState::Held(_))
    }

    /// Appends records, reads them back from the file and folds them; tells the byte from which on they stand.
    pub(super) fn append(&mut self, records: &[String]) -> Result<u64, Trouble> {
        let expected = self.folded.session.events + records.len() as u64;
        let (start, source) = match self.appender() {
            Some(appender) => (appender.append(records)?, appender.source()),
            None => (0, rehearse(records)),
        };
        match source.and_then(|source| self.read_on(&source, start)) {
            Ok(()) if self.folded.session.events == expected && self.damage().is_none() => {
                let first = self.appended.map_or(expected - records.len() as u64, |(first, _)| first);
                self.appended = Some((first, expected - 1));
                Ok(start)
            }
            Ok(()) => {
                let other = || "other records are read back than were written".to_owned();
                Err(Trouble::ReadBack(start, self.damage().unwrap_or_else(other)))
            }
            Err(error) => Err(Trouble::ReadBack(start, error.to_string())),
        }
    }

    /// Takes in what another writer has appended meanwhile; whether there was anything.
    pub(super) fn catch_up(&mut self) -> Result<bool, AppendError> {
        let Some(appender) = self.appender() else { return Ok(false) };
        let Some(start) = appender.adopt_growth()? else { return Ok(false) };
        let read = appender.source().and_then(|source| self.read_on(&source, start));
        if let Err(error) = read {
            self.give_up();
            return Err(AppendError::Io { stage: "cannot read what was appended", error });
        }
        Ok(true)
    }

    /// What an append that went wrong means for all that was to follow: where the log was another by then, nothing was
    /// written.
    pub(super) fn stopped(&mut self, trouble: Trouble) -> Stopped {
        match trouble {
            Trouble::Append(error @ AppendError::Changed(_)) => error.into(),
            trouble => Stopped::Failed(self.reason(trouble)),
        }
    }

    /// What has become of an append that went wrong, and why. What is read back as something else is cut off again.
    pub(super) fn reason(&mut self, trouble: Trouble) -> Reason {
        let (start, problem) = match trouble {
            Trouble::Append(error) => return Reason::of_append(&error),
            Trouble::ReadBack(start, problem) => (start, problem),
        };
        let message = match self.take_back(start) {
            Ok(()) => format!("{problem}; what was appended has been cut off again"),
            Err(error) => {
                self.give_up();
                format!("{problem}; what was appended stays: {error}")
            }
        };
        Reason::new("commit", message, HELP_REPORT)
    }

    /// Cuts off what was appended, from byte `start` on, and brings the session back to what the file says.
    fn take_back(&mut self, start: u64) -> Result<(), String> {
        let Some(appender) = self.appender() else { return Err("it was a rehearsal".into()) };
        appender.take_back(start).map_err(|error| error.to_string())?;
        let source = appender.source().map_err(|error| error.to_string())?;
        self.folded = fold(&source).map_err(|error| error.to_string())?;
        Ok(())
    }

    /// Appends nothing more: the session may not be what the file says.
    fn give_up(&mut self) {
        if let Some(appender) = self.appender() {
            appender.give_up();
        }
    }

    /// What is wrong with the log's end, if anything is.
    pub(super) fn damage(&self) -> Option<String> {
        let damage = self.folded.damage.as_ref().map(ToString::to_string);
        damage.or_else(|| self.folded.torn.clone())
    }

    fn read_on(&mut self, source: &Source, start: u64) -> io::Result<()> {
        let session = &self.folded.session;
        let (header, format, next) = (session.header.clone(), session.format, session.events);
        let mut reader = LogReader::resume(source, start, header, format, next)?;
        while reader.next(|item: Item| self.folded.take(item, None))?.is_some() {}
        self.folded.settle();
        Ok(())
    }
}

fn unmended(error: MendError) -> Stopped {
    match error {
        MendError::Append(error @ AppendError::Changed(_)) => error.into(),
        MendError::Append(error) => Stopped::Failed(Reason::of_append(&error)),
        MendError::Read(error) => Stopped::Unreadable(error),
        error @ (MendError::Damaged(_) | MendError::Encode(_)) => {
            Stopped::Failed(Reason::new("commit", error.to_string(), HELP_REPORT))
        }
    }
}

/// Records as a log of nobody's.
fn rehearse(records: &[String]) -> io::Result<Source> {
    let mut file = tempfile::tempfile()?;
    for record in records {
        io::Write::write_all(&mut file, record.as_bytes())?;
        io::Write::write_all(&mut file, b"\n")?;
    }
    Source::of(file, Path::new("records"))
}

pub(super) fn fold(source: &Source) -> Result<Folded, OpenError> {
    let mut reader = LogReader::open(source)?;
    Ok(session::fold(&mut reader, Keep::Messages, Stop::default())?)
}
