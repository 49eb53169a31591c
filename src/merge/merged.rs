//! The one report that a run would have given.

use super::ending::{self, UnknownStatus};
use super::entry::Entry;
use super::fit::{self, Misfit};
use super::order;
use super::report::{INTERRUPTED, Ignored, Report, SHARD};
use super::sum::Sum;
use crate::batch::Shard;
use crate::check::Severity;
use crate::exit::Exit;
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::value::RawValue;

/// The member of a report that was merged of some shards only.
pub(super) const PARTIAL: &str = "shards";

/// A report that was put together from others. Serialized, it is the document of a whole run.
#[derive(Debug)]
pub struct Merged<'a> {
    /// What it is a report of.
    pub schema: String,
    /// All summaries added.
    pub summary: Sum,
    /// The shards that it lacks, where some are missing.
    pub partial: Option<Partial>,
    /// Whether a shard's run was interrupted, so that logs are missing.
    pub is_interrupted: bool,
    members: Vec<(String, &'a RawValue)>,
    entries: Vec<Entry<'a>>,
    ignored: Vec<Ignored<'a>>,
}

/// The shards of a run that have no report.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Partial {
    /// How many shards there are.
    pub of: u32,
    /// The numbers of those that are missing.
    pub missing: Vec<u32>,
}

/// Merges reports of one run, in whatever order they come. Shards may be missing where `may_lack_some`.
pub fn merge(mut reports: Vec<Report>, may_lack_some: bool) -> Result<Merged, Misfit> {
    reports.sort_by_key(|report| report.shard.map(Shard::index));
    let missing = fit::check(&reports)?;
    let of = reports.first().and_then(|report| report.shard).map_or(0, Shard::of);
    if !missing.is_empty() && !may_lack_some {
        return Err(Misfit::Missing { missing, of });
    }
    let mut merged = Merged {
        schema: String::new(),
        summary: Sum::nothing(),
        partial: (!missing.is_empty()).then_some(Partial { of, missing }),
        is_interrupted: reports.iter().any(|report| report.is_interrupted),
        members: Vec::new(),
        entries: Vec::new(),
        ignored: Vec::new(),
    };
    let first = reports.first().map(|report| (fit::told(&report.file), report.sorted_by.clone(), report.top));
    for report in reports {
        merged.add(report)?;
    }
    if let Some((file, sorted_by, top)) = first {
        if !order::sort(&mut merged.entries, sorted_by.as_deref()) {
            return Err(Misfit::Order { file, sorted_by: sorted_by.unwrap_or_default() });
        }
        // The first ones of a run are among the first ones of its shards.
        merged.entries.truncate(top.unwrap_or(usize::MAX));
    }
    // Stable, as the other sort is: paths that are shown alike stay in the order of their own report.
    merged.ignored.sort_by(|left, right| left.path.cmp(&right.path));
    Ok(merged)
}

impl<'a> Merged<'a> {
    fn add(&mut self, report: Report<'a>) -> Result<(), Misfit> {
        let summed = self.summary.add(&report.summary);
        summed.map_err(|error| Misfit::Summary { file: fit::told(&report.file), error })?;
        self.entries.extend(report.entries);
        self.ignored.extend(report.ignored);
        if self.members.is_empty() {
            (self.schema, self.members) = (report.schema, report.members);
        }
        Ok(())
    }

    /// How many entries there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is no entry.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// What the run would have ended with. Findings of `verify` count from `threshold` on.
    pub fn exit(&self, threshold: Severity) -> Result<Exit, UnknownStatus> {
        let exit = if self.is_interrupted { Exit::Interrupted } else { Exit::Done };
        // Not every log need have an entry.
        let exit = GRAVE
            .iter()
            .filter(|(name, _)| self.summary.count(name) > Some(0))
            .fold(exit, |exit, (_, grave)| exit.merge(*grave));
        self.entries.iter().try_fold(exit, |exit, entry| Ok(exit.merge(ending::exit(entry, threshold)?)))
    }
}

/// The members of a summary that count logs which end a run otherwise than with 0.
const GRAVE: [(&str, Exit); 4] = [
    ("unreadable", Exit::Unreadable),
    ("failed", Exit::Failed),
    ("refused", Exit::Refused),
    ("partial", Exit::Findings),
];

impl Serialize for Merged<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (name, raw) in &self.members {
            match name.as_str() {
                SHARD | INTERRUPTED => {}
                "files" => map.serialize_entry(name, &raws(self.entries.iter().map(|entry| entry.raw)))?,
                "ignored" => map.serialize_entry(name, &raws(self.ignored.iter().map(|path| path.raw)))?,
                "summary" => {
                    if self.is_interrupted {
                        map.serialize_entry(INTERRUPTED, &true)?;
                    }
                    map.serialize_entry(name, &self.summary)?;
                }
                _ => map.serialize_entry(name, raw)?,
            }
        }
        if let Some(partial) = &self.partial {
            map.serialize_entry(PARTIAL, partial)?;
        }
        map.end()
    }
}

fn raws<'a>(raws: impl Iterator<Item = &'a RawValue>) -> Vec<&'a RawValue> {
    raws.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A report of these logs, each a path and a status, in this shard.
    fn report(shard: Option<(u32, u32)>, logs: &[(&str, &str)], ignored: &[&str]) -> String {
        let shard = shard
            .map_or_else(String::new, |(index, of)| format!(r#""shard":{{"index":{index},"of":{of}}},"#));
        let files: Vec<String> = logs
            .iter()
            .map(|(path, status)| format!(r#"{{"path":"{path}","n":1.50,"status":"{status}"}}"#))
            .collect();
        let ignored: Vec<String> = ignored.iter().map(|path| format!("\"{path}\"")).collect();
        format!(
            r#"{{"schema":"dshc.x/1",{shard}"files":[{}],"ignored":[{}],"summary":{{"files":{}}}}}"#,
            files.join(","),
            ignored.join(","),
            logs.len(),
        )
    }

    fn merged(texts: &[String], may_lack_some: bool) -> Result<String, String> {
        let mut reports = Vec::new();
        for (index, text) in texts.iter().enumerate() {
            reports.push(Report::parse(format!("{index}.json").into(), text).unwrap());
        }
        let merged = merge(reports, may_lack_some).map_err(|misfit| misfit.to_string())?;
        Ok(serde_json::to_string(&merged).unwrap())
    }

    #[test]
    fn shards_become_the_run_in_whatever_order_they_are_named() {
        let one = report(Some((1, 2)), &[("a-b/x", "clean"), ("b", "clean")], &["z"]);
        let two = report(Some((2, 2)), &[("a/x", "findings")], &["a/y", "zz"]);
        let whole =
            report(None, &[("a/x", "findings"), ("a-b/x", "clean"), ("b", "clean")], &["a/y", "z", "zz"]);
        assert_eq!(merged(&[one.clone(), two.clone()], false), Ok(whole.clone()));
        assert_eq!(merged(&[two, one], false), Ok(whole.clone()));
        assert_eq!(merged(std::slice::from_ref(&whole), false), Ok(whole));
    }

    #[test]
    fn reports_of_whole_runs_are_joined_too() {
        let both = [report(None, &[("b", "clean")], &[]), report(None, &[("a", "clean")], &[])];
        assert_eq!(merged(&both, false), Ok(report(None, &[("a", "clean"), ("b", "clean")], &[])));
    }

    #[test]
    fn what_is_not_of_one_run_is_refused_and_named() {
        let shard = |index, of, path: &str| report(Some((index, of)), &[(path, "clean")], &[]);
        let refused = |texts: &[String]| merged(texts, true).unwrap_err();
        let other = report(None, &[], &[]).replace("dshc.x/1", "dshc.y/1");
        assert_eq!(
            refused(&[report(None, &[], &[]), other]),
            "1.json is a report of the schema dshc.y/1, 0.json one of dshc.x/1"
        );
        assert_eq!(
            refused(&[shard(1, 2, "a"), shard(2, 3, "b")]),
            "1.json is of shard 2 of 3, 0.json of shard 1 of 2"
        );
        assert_eq!(
            refused(&[report(None, &[], &[]), shard(1, 2, "b")]),
            "1.json is of shard 1 of 2, 0.json of a whole run"
        );
        assert_eq!(
            refused(&[shard(1, 2, "a"), shard(1, 2, "a")]),
            "1.json is of shard 1/2, and so is 0.json"
        );
        assert_eq!(refused(&[shard(1, 2, "a"), shard(2, 2, "a")]), "1.json tells of a, and so does 0.json");
        let other = shard(2, 2, "b").replacen('{', "{\"order\":\"size\",", 1);
        assert_eq!(refused(&[shard(1, 2, "a"), other]), "1.json has another \"order\" than 0.json");
        let other = shard(2, 2, "b").replace(r#""files":1}"#, r#""files":{}}"#);
        assert_eq!(
            refused(&[shard(1, 2, "a"), other]),
            "1.json: its summary has files otherwise than the others"
        );
    }

    #[test]
    fn shards_may_be_missing_only_where_that_is_said() {
        let one = [report(Some((2, 4)), &[("a", "clean")], &[])];
        assert_eq!(merged(&one, false).unwrap_err(), "of 4 shards these have no report: 1, 3, 4");
        let partial = merged(&one, true).unwrap();
        assert!(partial.ends_with(r#","shards":{"of":4,"missing":[1,3,4]}}"#), "{partial}");
        assert!(Report::parse("p.json".into(), &partial).is_err());
    }

    #[test]
    fn a_shard_that_was_interrupted_makes_the_run_one() {
        let one = report(Some((1, 2)), &[("a", "clean")], &[]);
        let two = report(Some((2, 2)), &[], &[]).replacen("\"shard\"", "\"interrupted\":true,\"shard\"", 1);
        let whole = report(None, &[("a", "clean")], &[]).replacen(
            "\"summary\"",
            "\"interrupted\":true,\"summary\"",
            1,
        );
        assert_eq!(merged(&[one.clone(), two.clone()], false), Ok(whole));
        let reports = [&one, &two].map(|text| Report::parse("r".into(), text).unwrap());
        assert_eq!(merge(reports.into(), false).unwrap().exit(Severity::Error), Ok(Exit::Interrupted));
    }

    #[test]
    fn the_gravest_end_of_a_log_is_the_runs() {
        let texts = [
            report(Some((1, 2)), &[("a", "refused"), ("b", "clean")], &[]),
            report(Some((2, 2)), &[("c", "failed")], &[]),
        ];
        let reports = texts.iter().map(|text| Report::parse("r".into(), text).unwrap()).collect();
        assert_eq!(merge(reports, false).unwrap().exit(Severity::Error), Ok(Exit::Failed));
    }
}
