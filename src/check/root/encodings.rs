//! One encoding a session, and one a root (FORMAT §1.3).

use super::super::Finding;
use super::super::registry::rule_family;
use super::super::wording::amount;
use super::Tenant;
use crate::log::Place;
use crate::log::layout::file_name;
use crate::log::likeness::Likeness;
use std::cmp::Ordering;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

rule_family! {
    "places";
    /// One session lies in its directory twice, raw and compressed.
    ///
    /// **What it means.** The directory of a session holds a log of the same format under both endings. The
    /// finding compares their texts, says which file is newer, and which of the two was checked: the one that
    /// holds more.
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
    /// Its events; `None` if it cannot be read.
    pub events: Option<u64>,
    /// When it was last changed.
    pub modified: Option<SystemTime>,
}

impl Side {
    /// Whether this one is to stand for the session rather than `other`: it holds more events, or as many and
    /// was changed later, or is the first by name.
    #[must_use]
    pub fn stands_before(&self, other: &Self) -> bool {
        let weight = self.events.cmp(&other.events).then(self.modified.cmp(&other.modified));
        weight.then_with(|| other.path.cmp(&self.path)).is_gt()
    }

    fn told(&self) -> String {
        let events = self.events.map_or_else(|| "cannot be read".into(), |events| amount(events, "event"));
        format!("{} ({events})", file_name(&self.path))
    }
}

/// What is to be said of a session that lies in its directory twice. `taken` is checked in its name, `other`
/// is left out; `likeness` compares the text of the first by name with that of the second.
#[must_use]
pub fn two_encodings(taken: &Side, other: &Side, likeness: io::Result<Likeness>) -> Finding {
    let (first, second) = if taken.path <= other.path { (taken, other) } else { (other, taken) };
    let likeness = match likeness {
        Ok(Likeness::Equal) => "both hold the same text".to_owned(),
        Ok(Likeness::FirstIsPrefix) => "the first is an exact prefix of the second".to_owned(),
        Ok(Likeness::SecondIsPrefix) => "the second is an exact prefix of the first".to_owned(),
        Ok(Likeness::DifferFrom(line)) => format!("their texts differ from line {line} on"),
        Err(error) => format!("their texts could not be compared ({error})"),
    };
    let newer = match first.modified.cmp(&second.modified) {
        Ordering::Equal => "both were last changed at the same time".to_owned(),
        Ordering::Greater => format!("{} is the newer file", file_name(&first.path)),
        Ordering::Less => format!("{} is the newer file", file_name(&second.path)),
    };
    let why = match (taken.events.cmp(&other.events), taken.modified.cmp(&other.modified)) {
        (Ordering::Equal, Ordering::Equal) => "the first by name",
        (Ordering::Equal, _) => "which holds as much and is newer",
        _ => "which holds more",
    };
    let message = format!(
        "{} and {} are one session in both encodings: {likeness}; {newer}; the session is counted once, as {}, {why}",
        first.told(),
        second.told(),
        file_name(&taken.path)
    );
    let help = "dsh refuses to start with both; keep the one that holds all of the session and move the other out \
                of the root. Name a file itself to have it checked alone";
    Finding::new(&TWO_ENCODINGS, Place::default(), message).with_help(help)
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
