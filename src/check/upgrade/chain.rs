//! The steps that lead from a log's format to the one that is asked for (FORMAT §8).

use crate::check::Finding;
use crate::check::registry::rule_family;
use crate::format::payload::Rules;
use crate::format::{Format, Relations, Upgrade};
use crate::log::{Header, Place};

rule_family! {
    "upgrade";
    /// The log is in the format that was asked for already, or in a later one.
    ///
    /// **What it means.** `--target-format` names a format that is not later than the log's own, so that no upgrade
    /// leads to it, and nothing was looked at for one.
    ///
    /// **Why it matters.** It does not: the log is checked as without the option. The note keeps a report of many logs
    /// from looking as if each of them had been held to the same format.
    ///
    /// **How it comes about.** A folder holds logs of several releases, or a generation that dsh has upgraded already.
    ///
    /// **What to do.** Nothing. dsh never turns a log into one of an earlier format.
    UNNEEDED = note("upgrade-not-needed");
}

/// The steps, in order.
#[derive(Debug, Clone, Copy)]
pub(super) struct Chain {
    from: &'static Format,
    target: u64,
}

/// A note that no upgrade leads to `target`, where that is so.
pub(in crate::check) fn unneeded(header: &Header, target: u64) -> Option<Finding> {
    let place = Place { line: Some(1), ..Place::default() };
    let message =
        format!("the log is in format {}: no upgrade leads from it to format {target}", header.version);
    let note = || Finding::new(&UNNEEDED, place, message).with_help("nothing was checked for an upgrade");
    (target <= header.version).then(note)
}

impl Chain {
    /// `None` where there is no step.
    pub(super) fn new(from: &'static Format, target: u64) -> Option<Self> {
        (from.version < target).then_some(Self { from, target })
    }

    /// The format of the log.
    pub(super) fn from(&self) -> &'static Format {
        self.from
    }

    /// The steps.
    pub(super) fn steps(&self) -> impl Iterator<Item = &'static Upgrade> + use<> {
        self.from.steps_to(self.target)
    }

    /// What each step asks of payloads, with the format into which it leads.
    pub(super) fn asked(&self) -> impl Iterator<Item = (u64, &'static Rules)> + use<> {
        self.from.asked_on_the_way_to(self.target)
    }

    /// The format into which the first step of this kind leads.
    pub(super) fn first(&self, is_kind: impl Fn(&Upgrade) -> bool) -> Option<u64> {
        self.steps().find(|step| is_kind(step)).map(|step| step.to)
    }

    /// How the events of the result must relate: the first step that looks at it decides.
    pub(super) fn relations(&self) -> Option<&'static Relations> {
        self.steps().find_map(|step| step.relations.as_ref())
    }
}
