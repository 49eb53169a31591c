//! Rules that no log can break alone: what it is called, what lies beside it, and what else its root holds
//! (FORMAT §1). They hold for logs that were found in a folder; a log that is named itself is judged alone.

pub(super) mod encodings;
pub(super) mod identity;
pub(super) mod names;

#[cfg(test)]
mod tests;

pub use encodings::{Side, Twins};

use super::Finding;
use crate::log::layout::{SessionFolder, Spot};
use crate::log::{Container, Header};
use std::collections::BTreeMap;
use std::path::Path;

/// A log that was found in a folder.
#[derive(Debug, Clone, Copy)]
pub struct Resident<'a> {
    /// The log.
    pub path: &'a Path,
    /// Where it lies.
    pub spot: &'a Spot,
    /// The format version in its header, as far as the header tells.
    pub version: Option<u64>,
    /// Its header, if the log could be opened.
    pub header: Option<&'a Header>,
    /// How its text is stored, by its first bytes; `None` where there are none to see.
    pub content: Option<Container>,
}

/// A log in a session directory.
#[derive(Debug, Clone, Copy)]
struct Tenant<'a> {
    log: Resident<'a>,
    folder: &'a SessionFolder,
}

/// What is wrong with the places of a run's logs: a list of findings for each log, in the order of `residents`.
#[must_use]
pub fn check_places(residents: &[Resident]) -> Vec<Vec<Finding>> {
    let mut findings = vec![Vec::new(); residents.len()];
    let mut roots: BTreeMap<&Path, Vec<(usize, Tenant)>> = BTreeMap::new();
    for (index, &log) in residents.iter().enumerate() {
        match log.spot {
            Spot::Flat => findings[index].push(names::flat(log.path)),
            Spot::Session(folder) => {
                let tenant = Tenant { log, folder };
                findings[index].extend(names::check(&tenant));
                if let Some(root) = folder.root() {
                    roots.entry(root).or_default().push((index, tenant));
                }
            }
        }
    }
    for tenants in roots.values() {
        let logs: Vec<Tenant> = tenants.iter().map(|(_, tenant)| *tenant).collect();
        let (census, identities) = (encodings::Census::of(&logs), identity::Identities::of(&logs));
        for (index, tenant) in tenants {
            findings[*index].extend(census.check(tenant));
            findings[*index].extend(identities.check(tenant));
        }
    }
    findings
}
