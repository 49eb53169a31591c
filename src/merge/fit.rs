//! Whether reports are those of one run.

use super::report::{INTERRUPTED, Report, SHARD};
use super::sum::SumError;
use crate::batch::Shard;
use crate::wording::short_list;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// Why reports are not those of one run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Misfit {
    /// Reports of two commands, or of two versions of a command's report.
    #[error("{file} is a report of the schema {own}, {first} one of {wanted}")]
    Schema {
        /// The report that does not fit.
        file: String,
        /// Its schema.
        own: String,
        /// The first report.
        first: String,
        /// The schema of that.
        wanted: String,
    },
    /// A run that was shared out in another way.
    #[error("{file} is of {own}, {first} of {wanted}")]
    Sharing {
        /// The report that does not fit.
        file: String,
        /// What it is of: a whole run, or one of so many shards.
        own: String,
        /// The first report.
        first: String,
        /// What that is of.
        wanted: String,
    },
    /// Two reports of one shard.
    #[error("{file} is of shard {shard}, and so is {other}")]
    Twice {
        /// The later one.
        file: String,
        /// The shard of both.
        shard: Shard,
        /// The earlier one.
        other: String,
    },
    /// A log that two reports tell of.
    #[error("{file} tells of {log}, and so does {other}")]
    SameLog {
        /// The later one.
        file: String,
        /// The log's path in both.
        log: String,
        /// The earlier one.
        other: String,
    },
    /// A member that is the same in all reports of a run is another one.
    #[error("{file} has another \"{member}\" than {first}")]
    Member {
        /// The report that does not fit.
        file: String,
        /// The member's name.
        member: String,
        /// The first report.
        first: String,
    },
    /// A summary that cannot be added to the others.
    #[error("{file}: {error}")]
    Summary {
        /// The report that does not fit.
        file: String,
        /// Why not.
        error: SumError,
    },
    /// Entries in an order that is not known here.
    #[error("{file}: its entries are sorted by \"{sorted_by}\", an order that is not known here")]
    Order {
        /// The first report.
        file: String,
        /// The order.
        sorted_by: String,
    },
    /// Shards without a report.
    #[error("of {of} shards these have no report: {}", short_list(.missing.iter()))]
    Missing {
        /// Their numbers.
        missing: Vec<u32>,
        /// How many shards there are.
        of: u32,
    },
}

impl Misfit {
    /// What to do about it.
    #[must_use]
    pub fn help(&self) -> &'static str {
        match self {
            Self::Schema { .. } | Self::Sharing { .. } | Self::Member { .. } | Self::Summary { .. } => {
                "name the reports of one run, made by the same command with the same options"
            }
            Self::Order { .. } => "merge them by the dshc that made them",
            Self::Twice { .. } => "name one report of each shard, the newest",
            Self::SameLog { .. } => {
                "share the logs out by --shard, each machine naming the same paths, or name each log once"
            }
            Self::Missing { .. } => "run those shards too, or say --partial to have what is there",
        }
    }
}

/// The numbers of the shards that have no report among these, which are in the order of their shards.
pub(super) fn check(reports: &[Report]) -> Result<Vec<u32>, Misfit> {
    let [first, others @ ..] = reports else { return Ok(Vec::new()) };
    others.iter().try_for_each(|report| alike(report, first))?;
    let missing = missing(reports)?;
    each_log_once(reports)?;
    Ok(missing)
}

/// Whether two reports may be of one run.
fn alike(report: &Report, first: &Report) -> Result<(), Misfit> {
    let files = || (told(&report.file), told(&first.file));
    if report.schema != first.schema {
        let ((file, first_file), wanted) = (files(), first.schema.clone());
        return Err(Misfit::Schema { file, own: report.schema.clone(), first: first_file, wanted });
    }
    if report.shard.map(Shard::of) != first.shard.map(Shard::of) {
        let ((file, first_file), wanted) = (files(), sharing(first.shard));
        return Err(Misfit::Sharing { file, own: sharing(report.shard), first: first_file, wanted });
    }
    if let Some(member) = other_member(report, first) {
        let (file, first_file) = files();
        return Err(Misfit::Member { file, member: member.to_owned(), first: first_file });
    }
    Ok(())
}

/// The first member that a report has otherwise than the first one, though all reports of a run have it alike.
fn other_member<'a>(report: &'a Report, first: &'a Report) -> Option<&'a str> {
    let own = |report: &'a Report| {
        let members = report.members.iter().filter(|(name, _)| !MERGED.contains(&name.as_str()));
        members.map(|(name, raw)| (name.as_str(), raw.get())).collect::<BTreeMap<_, _>>()
    };
    let (own, wanted) = (own(report), own(first));
    let names = own.keys().chain(wanted.keys());
    names.copied().find(|name| own.get(name) != wanted.get(name))
}

/// The members that are not the same in all reports of a run.
const MERGED: [&str; 5] = ["files", "ignored", "summary", SHARD, INTERRUPTED];

fn sharing(shard: Option<Shard>) -> String {
    match shard {
        None => "a whole run".to_owned(),
        Some(shard) => format!("shard {} of {}", shard.index(), shard.of()),
    }
}

fn each_log_once(reports: &[Report]) -> Result<(), Misfit> {
    let mut seen: HashMap<&Path, &Report> = HashMap::new();
    for report in reports {
        for entry in &report.entries {
            let other = *seen.entry(entry.path()).or_insert(report);
            if !std::ptr::eq(other, report) {
                let log = told(entry.path());
                return Err(Misfit::SameLog { file: told(&report.file), log, other: told(&other.file) });
            }
        }
    }
    Ok(())
}

fn missing(reports: &[Report]) -> Result<Vec<u32>, Misfit> {
    let mut seen: BTreeMap<u32, &Report> = BTreeMap::new();
    let mut of = 0;
    for report in reports {
        let Some(shard) = report.shard else { continue };
        of = shard.of();
        if let Some(other) = seen.insert(shard.index(), report) {
            return Err(Misfit::Twice { file: told(&report.file), shard, other: told(&other.file) });
        }
    }
    Ok((1..=of).filter(|index| !seen.contains_key(index)).collect())
}

pub(super) fn told(path: &Path) -> String {
    path.display().to_string()
}
