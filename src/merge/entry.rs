//! One entry of a report's `files`: what merging needs to know of it.

use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::path::Path;

/// The status of a log that a journal spared.
const SKIPPED: &str = "skipped";

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
    status: Option<String>,
    /// Of a log that a journal spared: its status when it was worked on.
    outcome: Option<String>,
    /// Of such a log: the gravest severity that was found in it.
    pub(super) worst: Option<String>,
    #[serde(default)]
    pub(super) findings: Vec<FindingFacts>,
    /// Why nothing was done.
    pub(super) reason: Option<ReasonFacts>,
}

#[derive(Debug, Deserialize)]
pub(super) struct ReasonFacts {
    pub(super) code: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct FindingFacts {
    pub(super) severity: String,
}

impl<'a> Entry<'a> {
    pub(super) fn of(raw: &'a RawValue) -> serde_json::Result<Self> {
        Ok(Self { raw, facts: serde_json::from_str(raw.get())? })
    }

    /// The status when it was worked on, now or before.
    pub(super) fn status(&self) -> Option<&str> {
        let Facts { status, outcome, .. } = &self.facts;
        let status = status.as_deref();
        if status == Some(SKIPPED) { outcome.as_deref().or(status) } else { status }
    }

    pub(super) fn path(&self) -> &Path {
        Path::new(&*self.facts.path)
    }
}
