//! What `dshc verify` finds in many logs. The reports only lay it out.

use crate::check::root::{self, Resident, Side, Twins};
use crate::check::{self, Ending, Finding, Settings, Severity};
use crate::json;
use crate::log::layout::Spot;
use crate::log::{Container, Header, LogReader, OpenError, Source, likeness};
use std::collections::BTreeMap;
use std::io;
use std::mem;
use std::path::{Path, PathBuf};

/// All logs of a run.
#[derive(Debug, Default)]
pub struct Verification {
    /// The logs, in the order of their paths.
    pub files: Vec<FileVerdict>,
    /// Files that look like logs and are none that dsh would open.
    pub ignored: Vec<PathBuf>,
    /// Of a run that was interrupted: how many logs were not looked at, or not to their end.
    pub not_begun: Option<usize>,
}

/// One log.
#[derive(Debug)]
pub struct FileVerdict {
    /// The log.
    pub path: PathBuf,
    /// Where it lies, if it was found in a folder. A twin there was left out.
    pub spot: Option<Spot>,
    /// Its header, if it could be opened.
    pub header: Option<Header>,
    /// The format version in its header, also where dshc cannot read that version.
    pub version: Option<u64>,
    /// How its text is stored, by its first bytes.
    pub content: Option<Container>,
    /// What it comes to, if it could be read at all.
    pub ending: Option<Ending>,
    /// What is wrong with it.
    pub findings: Vec<Finding>,
}

/// How many breaches there are of each severity, those that are summed up too.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Breaches that are errors.
    pub errors: u64,
    /// Breaches that are warnings.
    pub warnings: u64,
    /// Notes.
    pub notes: u64,
}

impl Tally {
    pub(crate) fn of<'a>(findings: impl IntoIterator<Item = &'a Finding>) -> Self {
        let mut tally = Self::default();
        for finding in findings {
            let count = match finding.severity {
                Severity::Error => &mut tally.errors,
                Severity::Warning => &mut tally.warnings,
                Severity::Note => &mut tally.notes,
            };
            *count = count.saturating_add(finding.count);
        }
        tally
    }
}

/// What a log is, in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// No errors and no warnings; notes may stand.
    Clean,
    /// Errors or warnings.
    Findings,
    /// It could not be read at all.
    Unreadable,
}

impl Status {
    /// The word that reports use.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Clean => "clean",
            Self::Findings => "findings",
            Self::Unreadable => "unreadable",
        }
    }
}

impl FileVerdict {
    /// Whether it came from standard input, so that there is no file to open.
    pub(crate) fn is_stdin(&self) -> bool {
        self.path == Path::new("-")
    }

    /// Checks the log at `path`. Where the same session lies beside it in the other encoding, both are read,
    /// and the one that holds more stands for the session.
    #[must_use]
    pub fn of(
        path: PathBuf,
        spot: Option<Spot>,
        options: check::Options,
        open: impl Fn(&Path) -> io::Result<Source>,
    ) -> Self {
        let (mut verdict, source) = Self::alone(path, options, &open);
        let mut spot = spot;
        if let Some(Spot::Session(folder)) = &mut spot {
            if let Some(twin) = folder.twin.clone() {
                let (mut other, other_source) = Self::alone(twin, options, &open);
                let twins = twins([&verdict, &other], [source.as_ref(), other_source.as_ref()]);
                if twins.takes_first() != (twins.first.path == verdict.path) {
                    folder.take_twin(&mut verdict.path.clone());
                    mem::swap(&mut verdict, &mut other);
                }
                verdict.add(vec![twins.finding()]);
            }
            // A header of an unknown version has told its session already.
            if verdict.ending.is_none()
                && verdict.version.is_none()
                && let Some(id) = folder.session_id()
                && let Some(finding) = verdict.findings.iter_mut().find(|finding| finding.seq.is_none())
            {
                let session = json::quote(&id.to_str());
                finding.help = format!("{}; by its directory's name this is session {session}", finding.help);
            }
        }
        verdict.spot = spot;
        verdict
    }

    /// The verdict on a log on which dshc itself failed.
    #[must_use]
    pub fn panicked(path: PathBuf, spot: Option<Spot>, why: &str) -> Self {
        let error = OpenError::Io(io::Error::other(format!("dshc failed on it: {why}")));
        let help = "this is a fault of dshc: report it, with the log if you can".to_owned();
        let finding = Finding { help, ..check::unreadable(&error) };
        Self { spot, findings: vec![finding], ..Self::unknown(path) }
    }

    /// Of a log that nothing is known of.
    fn unknown(path: PathBuf) -> Self {
        Self {
            path,
            spot: None,
            header: None,
            version: None,
            content: None,
            ending: None,
            findings: Vec::new(),
        }
    }

    /// Checks a log without looking around it.
    fn alone(
        path: PathBuf,
        options: check::Options,
        open: impl Fn(&Path) -> io::Result<Source>,
    ) -> (Self, Option<Source>) {
        let mut verdict = Self::unknown(path);
        let source = match open(&verdict.path) {
            Ok(source) => source,
            Err(error) => {
                verdict.findings.push(check::unreadable(&error.into()));
                return (verdict, None);
            }
        };
        verdict.content = source.content();
        if let Err(error) = verdict.read(&source, options) {
            if let OpenError::Version { version, .. } = &error {
                verdict.version = version.parse().ok();
            }
            verdict.findings = vec![check::unreadable(&error)];
        }
        (verdict, Some(source))
    }

    fn read(&mut self, source: &Source, options: check::Options) -> Result<(), OpenError> {
        let mut reader = LogReader::open(source)?;
        let header = reader.header();
        (self.version, self.header) = (Some(header.version), Some(header.clone()));
        let checked = check::check(&mut reader, options)?;
        (self.ending, self.findings) = (Some(checked.ending), checked.findings);
        Ok(())
    }

    fn side(&self) -> Side {
        let is_fault = |finding: &&Finding| finding.severity > Severity::Note;
        Side {
            path: self.path.clone(),
            session: self.header.as_ref().map(|header| header.id.clone()),
            events: self.ending.as_ref().map(|ending| ending.events),
            last_time: self.ending.as_ref().and_then(|ending| ending.last_time),
            errors: self.tally().errors,
            faults: self.findings.iter().filter(is_fault).map(|finding| finding.code).collect(),
        }
    }

    fn resident(&self) -> Option<Resident<'_>> {
        let spot = self.spot.as_ref()?;
        let (header, content) = (self.header.as_ref(), self.content);
        Some(Resident { path: &self.path, spot, version: self.version, header, content })
    }

    /// The twin that this log was taken before.
    fn left_out(&self) -> Option<&Path> {
        match &self.spot {
            Some(Spot::Session(folder)) => folder.twin.as_deref(),
            _ => None,
        }
    }

    fn add(&mut self, findings: Vec<Finding>) {
        self.findings.extend(findings);
        check::sort(&mut self.findings);
    }

    /// Its header, if the log could be read to its end.
    #[must_use]
    pub fn read_header(&self) -> Option<&Header> {
        self.header.as_ref().filter(|_| self.ending.is_some())
    }

    /// The log in one word.
    #[must_use]
    pub fn status(&self) -> Status {
        match (&self.ending, self.worst()) {
            (None, _) => Status::Unreadable,
            (Some(_), Some(Severity::Warning | Severity::Error)) => Status::Findings,
            (Some(_), _) => Status::Clean,
        }
    }

    /// How many breaches it has.
    #[must_use]
    pub fn tally(&self) -> Tally {
        Tally::of(&self.findings)
    }

    /// The gravest severity of its findings.
    #[must_use]
    pub fn worst(&self) -> Option<Severity> {
        self.findings.iter().map(|finding| finding.severity).max()
    }
}

/// Compares a log with the one beside it. `sources` are those that could be opened.
fn twins(logs: [&FileVerdict; 2], sources: [Option<&Source>; 2]) -> Twins {
    let is_first = logs[0].path <= logs[1].path;
    let ([first, second], sources) =
        if is_first { (logs, sources) } else { ([logs[1], logs[0]], [sources[1], sources[0]]) };
    let likeness = match sources {
        [Some(one), Some(two)] if first.ending.is_some() && second.ending.is_some() => {
            likeness::compare(one, two)
        }
        _ => Err(io::Error::other("one of them cannot be read")),
    };
    Twins { first: first.side(), second: second.side(), likeness }
}

impl Verification {
    /// Joins what was found in each log with what only shows where they are looked at together.
    #[must_use]
    pub fn of(mut files: Vec<FileVerdict>, mut ignored: Vec<PathBuf>) -> Self {
        let found: Vec<usize> = (0..files.len()).filter(|index| files[*index].spot.is_some()).collect();
        let residents: Vec<Resident> = found.iter().filter_map(|index| files[*index].resident()).collect();
        let findings = root::check_places(&residents);
        for (index, findings) in found.into_iter().zip(findings) {
            files[index].add(findings);
        }
        ignored.extend(files.iter().filter_map(FileVerdict::left_out).map(Path::to_owned));
        ignored.sort();
        Self { files, ignored, not_begun: None }
    }

    /// Makes all findings as the user wants them. Statuses and exit codes follow from what is left.
    pub fn apply(&mut self, settings: &Settings) {
        for file in &mut self.files {
            settings.apply(&mut file.findings);
        }
    }

    /// How many breaches there are in all logs.
    #[must_use]
    pub fn tally(&self) -> Tally {
        Tally::of(self.files.iter().flat_map(|file| &file.findings))
    }

    /// How many logs have this status.
    #[must_use]
    pub fn count(&self, status: Status) -> usize {
        self.files.iter().filter(|file| file.status() == status).count()
    }

    /// How many breaches there are of each code, those that are summed up too.
    #[must_use]
    pub fn by_code(&self) -> BTreeMap<&'static str, u64> {
        let mut counts = BTreeMap::new();
        for finding in self.files.iter().flat_map(|file| &file.findings) {
            *counts.entry(finding.code).or_default() += finding.count;
        }
        counts
    }
}
