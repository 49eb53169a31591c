//! One encoding a session, and one a root (FORMAT §1.3).

use super::super::Finding;
use super::super::registry::rule_family;
use super::super::wording::{amount, quoted};
use super::Tenant;
use crate::log::Place;
use crate::log::layout::file_name;
use crate::log::likeness::Likeness;
use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

rule_family! {
    "places";
    /// One session lies in its directory twice, raw and compressed.
    ///
    /// **What it means.** The directory of a session holds a log of the same format under both endings. The
    /// finding compares their texts, says which file is newer by what it holds, and which of the two was
    /// checked: the one of which more events can be read. Headers that name two sessions are told, too.
    ///
    /// **Why it matters.** dsh takes one encoding for all sessions of a root. A file of the other one makes
    /// it refuse to list or load, so one such file stops all sessions. And tools that count both count the
    /// session twice.
    ///
    /// **How it comes about.** Somebody unpacked a log to look at it and left the copy beside it, or a tool
    /// converted logs in place. Switching dsh's compression off or on for an old root does it too.
    ///
    /// **What to do.** Keep the file that holds all of the session, and move the other out of the root; where
    /// one is a prefix of the other nothing is lost by that. Where the texts differ, check each by its own
    /// name first, and keep both until it is clear which is right. `dshc replay` reads both encodings, so
    /// that nothing need be unpacked.
    TWO_ENCODINGS = error("two-encodings");
    /// A root holds raw and compressed logs, and dsh takes one kind alone.
    ///
    /// **What it means.** Among the logs of one root, older generations too, some end in `.zstd` and some do
    /// not. It is told at the logs of the kind of which there are fewer, with the numbers of both and an
    /// example of the other kind. Only canonical names count.
    ///
    /// **Why it matters.** dsh is set to one encoding for a root, and one file of the other kind makes
    /// listing and loading fail for all its sessions. Which kind is the wrong one depends on that setting.
    ///
    /// **How it comes about.** Logs were collected from machines with other settings into one folder. Or the
    /// setting was changed when there were sessions already.
    ///
    /// **What to do.** Move the logs of one kind to a root of their own, and start dsh on each with the
    /// fitting setting. For an archive that no dsh opens, set the rule off or to a note.
    MIXED_ENCODINGS = error("mixed-encodings");
}

/// One of the two files of a session that lies in its directory twice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Side {
    /// The file.
    pub path: PathBuf,
    /// The id in its header, if that can be read.
    pub session: Option<String>,
    /// The events of it that can be read; `None` if it cannot be read at all.
    pub events: Option<u64>,
    /// Time of its last event, Unix epoch in milliseconds.
    pub last_time: Option<i64>,
    /// How many errors were found in it.
    pub errors: u64,
    /// The codes of its errors and warnings.
    pub faults: BTreeSet<&'static str>,
}

/// The two files of a session that lies in its directory twice, raw and compressed.
#[derive(Debug)]
pub struct Twins {
    /// The first by name.
    pub first: Side,
    /// The other one.
    pub second: Side,
    /// The text of the first, compared with that of the second.
    pub likeness: io::Result<Likeness>,
}

impl Side {
    fn told(&self) -> String {
        let events = self.events.map_or_else(|| "cannot be read".into(), |events| amount(events, "event"));
        format!("{} ({events})", file_name(&self.path))
    }
}

impl Twins {
    /// Whether the first stands for the session: it holds more events that can be read, or as many with fewer errors
    /// or as the newer one, or neither has more of anything.
    #[must_use]
    pub fn takes_first(&self) -> bool {
        self.weight().is_ge()
    }

    fn weight(&self) -> Ordering {
        let Self { first, second, .. } = self;
        first.events.cmp(&second.events).then(second.errors.cmp(&first.errors)).then(self.age())
    }

    /// Which of the two is newer, by what they hold alone: greater if it is the first.
    fn age(&self) -> Ordering {
        match self.likeness {
            Ok(Likeness::Equal) => Ordering::Equal,
            Ok(Likeness::FirstIsPrefix) => Ordering::Less,
            Ok(Likeness::SecondIsPrefix) => Ordering::Greater,
            Ok(Likeness::DifferFrom(_)) | Err(_) => self.first.last_time.cmp(&self.second.last_time),
        }
    }

    /// What is to be said of the two, one of which is checked in the session's name while the other is left out.
    #[must_use]
    pub fn finding(&self) -> Finding {
        let Self { first, second, .. } = self;
        let (taken, other) = if self.takes_first() { (first, second) } else { (second, first) };
        let ids =
            first.session.as_ref().zip(second.session.as_ref()).filter(|(first, second)| first != second);
        let (what, counted, help) = match ids {
            None => (
                "are one session in both encodings".to_owned(),
                "the session is counted once, as",
                "dsh refuses to start with both; keep the one that holds all of the session and move the other out of \
                 the root. Name a file itself to have it checked alone",
            ),
            Some((first, second)) => (
                format!(
                    "lie in one directory, and their headers name two sessions, {} and {}",
                    quoted(first),
                    quoted(second)
                ),
                "one alone is checked here,",
                "dsh refuses to start with both; move the one that does not belong here into a directory of its own. \
                 Name a file itself to have it checked alone",
            ),
        };
        let message = format!(
            "{} and {} {what}: {}; {counted} {}, {}",
            first.told(),
            second.told(),
            self.compared(),
            file_name(&taken.path),
            self.reason(),
        );
        let finding = Finding::new(&TWO_ENCODINGS, Place::default(), message).with_help(help);
        let more: Vec<_> = other.faults.difference(&taken.faults).copied().collect();
        if more.is_empty() || other.events.is_none() {
            return finding;
        }
        finding.adding(&format!(
            "{} has faults that this one has not: {}",
            file_name(&other.path),
            more.join(", ")
        ))
    }

    fn compared(&self) -> String {
        let Self { first, second, .. } = self;
        let (likeness, why) = match &self.likeness {
            Ok(Likeness::Equal) => return "both hold the same text".to_owned(),
            Err(error) => return format!("their texts could not be compared ({error})"),
            Ok(Likeness::FirstIsPrefix) => {
                ("the first is an exact prefix of the second".to_owned(), "since it goes on")
            }
            Ok(Likeness::SecondIsPrefix) => {
                ("the second is an exact prefix of the first".to_owned(), "since it goes on")
            }
            Ok(Likeness::DifferFrom(line)) => {
                (format!("their texts differ from line {line} on"), "by the time of its last event")
            }
        };
        let newer = match self.age() {
            Ordering::Equal => return format!("{likeness}; their last events are of the same time"),
            Ordering::Greater => first,
            Ordering::Less => second,
        };
        format!("{likeness}; {} is the newer one, {why}", file_name(&newer.path))
    }

    /// Why one of the two is taken.
    fn reason(&self) -> &'static str {
        let Self { first, second, .. } = self;
        if first.events != second.events {
            "which holds more"
        } else if first.errors != second.errors {
            "which holds as much and has fewer errors"
        } else if self.age().is_ne() {
            "which holds as much and is newer"
        } else {
            "the first by name"
        }
    }
}

/// How many files of each encoding a root holds, older generations too, and the first of them by path.
#[derive(Debug, Default)]
pub(super) struct Census<'a> {
    raw: Option<(u64, &'a Path)>,
    zstd: Option<(u64, &'a Path)>,
}

impl<'a> Census<'a> {
    pub(super) fn of(tenants: &[Tenant<'a>]) -> Self {
        let mut census = Self::default();
        for Tenant { log, folder } in tenants {
            let name = folder.name;
            census.count(name.is_zstd, log.path);
            if let Some(twin) = &folder.twin {
                census.count(!name.is_zstd, twin);
            }
            for (name, path) in &folder.older {
                census.count(name.is_zstd, path);
            }
        }
        census
    }

    fn count(&mut self, is_zstd: bool, path: &'a Path) {
        let kind = if is_zstd { &mut self.zstd } else { &mut self.raw };
        let (count, first) = kind.unwrap_or((0, path));
        *kind = Some((count + 1, first.min(path)));
    }

    /// Whether the log, or an older generation beside it, is of the encoding that fewer files of the root have.
    pub(super) fn check(&self, tenant: &Tenant) -> Option<Finding> {
        let Tenant { folder, .. } = tenant;
        let (Some((raw, first_raw)), Some((zstd, first_zstd))) = (self.raw, self.zstd) else { return None };
        if folder.twin.is_some() {
            // That both lie here is said of this log already.
            return None;
        }
        let few_are_zstd = zstd < raw;
        let older = || folder.older.iter().find(|(name, _)| name.is_zstd == few_are_zstd);
        let what = if folder.name.is_zstd == few_are_zstd {
            "this log".to_owned()
        } else {
            format!("{}, an older generation beside this log,", file_name(&older()?.1))
        };
        let (kind, others, example) =
            if few_are_zstd { ("compressed", "raw", first_raw) } else { ("raw", "compressed", first_zstd) };
        let message = format!(
            "{what} is {kind}; its root holds {} and {}; one of the {others} ones is {}",
            amount(raw, "raw log file"),
            amount(zstd, "compressed log file"),
            example.display()
        );
        let help = "dsh takes one encoding a root, and refuses the whole root; move the logs of one encoding to a \
                    root of their own";
        Some(Finding::new(&MIXED_ENCODINGS, Place::default(), message).with_help(help))
    }
}
