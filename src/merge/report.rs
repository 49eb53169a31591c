//! One JSON report of a run over many logs, as far as all commands write it alike.

use super::entry::Entry;
use super::sum::Sum;
use crate::batch::Shard;
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::fmt;
use std::path::PathBuf;

/// A report, borrowed from its text.
#[derive(Debug)]
pub struct Report<'a> {
    /// The file that it was read from.
    pub file: PathBuf,
    /// What it is a report of: `dshc.verify/1` and the like.
    pub schema: String,
    /// The share that it tells of; `None` if the run was not shared out.
    pub shard: Option<Shard>,
    /// By what its entries are sorted, if not by path.
    pub(super) sorted_by: Option<String>,
    /// How many entries it has at most: the first ones.
    pub(super) top: Option<usize>,
    /// Whether its run was interrupted, so that logs are missing.
    pub is_interrupted: bool,
    pub(super) entries: Vec<Entry<'a>>,
    pub(super) ignored: Vec<Ignored<'a>>,
    pub(super) summary: Sum,
    /// All its members, in their order.
    pub(super) members: Vec<(String, &'a RawValue)>,
}

/// A path of `ignored`, and its bytes.
#[derive(Debug)]
pub(super) struct Ignored<'a> {
    pub(super) path: PathBuf,
    pub(super) raw: &'a RawValue,
}

/// Why a text is no report that can be merged.
#[derive(Debug, thiserror::Error)]
pub enum NoReport {
    /// It is no JSON object.
    #[error("it is no JSON report: {0}")]
    Json(serde_json::Error),
    /// A member that every report of many logs has is missing.
    #[error("it is no report of many logs: it has no \"{0}\"")]
    Missing(&'static str),
    /// A member is not what it is in a report.
    #[error("its \"{0}\" is not that of a report: {1}")]
    Member(&'static str, serde_json::Error),
    /// A member that only merged reports have.
    #[error("it was merged of some shards only, and can be merged with no others")]
    Partial,
}

#[derive(Deserialize)]
struct ShardFacts {
    index: u32,
    of: u32,
}

impl<'a> Report<'a> {
    /// Reads the report that `file` holds.
    pub fn parse(file: PathBuf, text: &'a str) -> Result<Self, NoReport> {
        let Members(members) = serde_json::from_str(text).map_err(NoReport::Json)?;
        let find = |name: &str| members.iter().find(|(known, _)| known == name).map(|(_, raw)| *raw);
        if find(super::merged::PARTIAL).is_some() {
            return Err(NoReport::Partial);
        }
        let files: Vec<&RawValue> = needed("files", find("files"))?;
        let entries = files.into_iter().map(Entry::of).collect::<Result<_, _>>();
        let ignored: Vec<&RawValue> = member("ignored", find("ignored"))?.unwrap_or_default();
        let ignored = ignored.into_iter().map(Ignored::of).collect::<Result<_, _>>();
        Ok(Self {
            file,
            schema: needed("schema", find("schema"))?,
            shard: shard(find(SHARD))?,
            sorted_by: member("sortedBy", find("sortedBy"))?,
            top: member("top", find("top"))?,
            is_interrupted: member(INTERRUPTED, find(INTERRUPTED))?.unwrap_or_default(),
            entries: entries.map_err(|error| NoReport::Member("files", error))?,
            ignored: ignored.map_err(|error| NoReport::Member("ignored", error))?,
            summary: needed("summary", find("summary"))?,
            members,
        })
    }
}

/// The member that tells which share a report is of.
pub(super) const SHARD: &str = "shard";

/// The member that tells that a run was interrupted.
pub(super) const INTERRUPTED: &str = "interrupted";

fn shard(raw: Option<&RawValue>) -> Result<Option<Shard>, NoReport> {
    let Some(facts) = member::<ShardFacts>(SHARD, raw)? else { return Ok(None) };
    let shard = Shard::new(facts.index, facts.of);
    let odd = || serde::de::Error::custom("the index must be from 1 to the number of shards");
    shard.map(Some).ok_or_else(|| NoReport::Member(SHARD, odd()))
}

fn member<'a, T: Deserialize<'a>>(
    name: &'static str,
    raw: Option<&'a RawValue>,
) -> Result<Option<T>, NoReport> {
    let parsed = raw.map(|raw| serde_json::from_str(raw.get())).transpose();
    parsed.map_err(|error| NoReport::Member(name, error))
}

fn needed<'a, T: Deserialize<'a>>(name: &'static str, raw: Option<&'a RawValue>) -> Result<T, NoReport> {
    member(name, raw)?.ok_or(NoReport::Missing(name))
}

impl<'a> Ignored<'a> {
    fn of(raw: &'a RawValue) -> serde_json::Result<Self> {
        Ok(Self { path: serde_json::from_str(raw.get())?, raw })
    }
}

/// The members of an object, in their order.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MembersVisitor;

        impl<'de> Visitor<'de> for MembersVisitor {
            type Value = Vec<(String, &'de RawValue)>;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(members)
            }
        }

        deserializer.deserialize_map(MembersVisitor).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &str) -> String {
        Report::parse("r.json".into(), text).unwrap_err().to_string()
    }

    #[test]
    fn what_is_no_report_says_why() {
        assert!(refusal("").starts_with("it is no JSON report: EOF"));
        assert!(refusal("[]").contains("expected an object"));
        assert_eq!(
            refusal(r#"{"schema":"dshc.replay/1","path":"a"}"#),
            "it is no report of many logs: it has no \"files\""
        );
        let bare = r#"{"schema":"x","files":[],"summary":{}}"#;
        let with = |member: &str| refusal(&bare.replacen('{', &format!("{{{member},"), 1));
        assert!(with(r#""ignored":[1]"#).starts_with("its \"ignored\" is not that of a report"));
        assert!(with(r#""shard":{"index":3,"of":2}"#).contains("the index must be from 1"));
        assert!(with(r#""shards":{"of":2,"missing":[1]}"#).starts_with("it was merged of some shards only"));
        assert!(refusal(r#"{"schema":"x","files":[{}],"summary":{}}"#).contains("missing field `path`"));
        assert!(refusal(r#"{"schema":"x","files":[],"summary":{"a":1.5}}"#).contains("\"summary\""));
    }
}
