//! One entry of a report's `files`: what merging needs to know of it.

use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::path::Path;

/// An entry, and its bytes.
#[derive(Debug)]
pub(super) struct Entry<'a> {
    pub(super) raw: &'a RawValue,
    pub(super) facts: Facts<'a>,
}

/// The members of an entry that count here; every command's entries have the first, and most the second.
#[derive(Debug, Deserialize)]
pub(super) struct Facts<'a> {
    #[serde(borrow)]
    path: Cow<'a, str>,
    pub(super) status: Option<String>,
    /// Of a log that a journal spared: the gravest severity that was found when it was looked at.
    pub(super) worst: Option<String>,
    #[serde(default)]
    pub(super) findings: Vec<FindingFacts>,
}

#[derive(Debug, Deserialize)]
pub(super) struct FindingFacts {
    pub(super) severity: String,
}

impl<'a> Entry<'a> {
    pub(super) fn of(raw: &'a RawValue) -> serde_json::Result<Self> {
        Ok(Self { raw, facts: serde_json::from_str(raw.get())? })
    }

    pub(super) fn path(&self) -> &Path {
        Path::new(&*self.facts.path)
    }
}
