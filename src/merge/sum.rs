//! The `summary` of a report: numbers, and maps of numbers, that can be added.

use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};
use std::fmt;

/// A number, or members with numbers below them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sum {
    /// A number.
    Count(u64),
    /// Members, in their order.
    Members(Vec<(String, Self)>),
}

/// Why two summaries cannot be added.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SumError {
    /// One has a number where the other has members.
    #[error("its summary has {0} otherwise than the others")]
    Shape(String),
    /// A sum that no number holds.
    #[error("the sum of {0} in the summaries is too large")]
    Overflow(String),
}

impl Sum {
    /// No members.
    #[must_use]
    pub fn nothing() -> Self {
        Self::Members(Vec::new())
    }

    /// Adds `other`, member by member. New members come last; below the outermost ones, where the members differ, all
    /// are put in the order of their names, for those are the names of what was counted.
    pub fn add(&mut self, other: &Self) -> Result<(), SumError> {
        self.add_below(other, &mut Vec::new())
    }

    /// `path` are the names of the members around the two. It is at most as long as a report is nested deep.
    fn add_below<'a>(&mut self, other: &'a Self, path: &mut Vec<&'a str>) -> Result<(), SumError> {
        match (self, other) {
            (Self::Count(sum), Self::Count(more)) => {
                *sum = sum.checked_add(*more).ok_or_else(|| SumError::Overflow(path.join(".")))?;
            }
            (Self::Members(sums), Self::Members(others)) => {
                let are_alike = sums.iter().map(|(name, _)| name).eq(others.iter().map(|(name, _)| name));
                for (name, more) in others {
                    path.push(name);
                    match sums.iter_mut().find(|(known, _)| known == name) {
                        Some((_, sum)) => sum.add_below(more, path)?,
                        None => sums.push((name.clone(), more.clone())),
                    }
                    path.pop();
                }
                if !are_alike && !path.is_empty() {
                    sums.sort_by(|(left, _), (right, _)| left.cmp(right));
                }
            }
            _ => return Err(SumError::Shape(path.join("."))),
        }
        Ok(())
    }

    /// The number of the outermost member of this name.
    #[must_use]
    pub fn count(&self, name: &str) -> Option<u64> {
        let Self::Members(members) = self else { return None };
        members.iter().find_map(|(known, sum)| match sum {
            Self::Count(count) if known == name => Some(*count),
            _ => None,
        })
    }
}

/// How deep members may lie: serde_json itself refuses what is deeper.
#[cfg(test)]
const DEEPEST: usize = 127;

impl Serialize for Sum {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Count(count) => serializer.serialize_u64(*count),
            Self::Members(members) => {
                let mut map = serializer.serialize_map(Some(members.len()))?;
                members.iter().try_for_each(|(name, sum)| map.serialize_entry(name, sum))?;
                map.end()
            }
        }
    }
}

impl<'de> Deserialize<'de> for Sum {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SumVisitor)
    }
}

struct SumVisitor;

impl<'de> Visitor<'de> for SumVisitor {
    type Value = Sum;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a whole number, or members with whole numbers")
    }

    fn visit_u64<E: Error>(self, count: u64) -> Result<Sum, E> {
        Ok(Sum::Count(count))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Sum, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(Sum::Members(members))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(text: &str) -> Sum {
        serde_json::from_str(text).unwrap()
    }

    fn added(texts: &[&str]) -> Result<String, SumError> {
        let mut total = Sum::nothing();
        texts.iter().try_for_each(|text| total.add(&sum(text)))?;
        Ok(serde_json::to_string(&total).unwrap())
    }

    #[test]
    fn members_are_added_one_by_one_in_their_order() {
        let one = r#"{"files":2,"clean":1,"bytes":{"before":5,"after":3},"byCode":{"b":1}}"#;
        let other = r#"{"files":1,"clean":0,"bytes":{"before":1,"after":1},"byCode":{"a":1,"b":2}}"#;
        let both = r#"{"files":3,"clean":1,"bytes":{"before":6,"after":4},"byCode":{"a":1,"b":3}}"#;
        assert_eq!(added(&[one, other]).unwrap(), both);
        assert_eq!(added(&[other, one]).unwrap(), both);
        assert_eq!(
            added(&[one, r#"{"skipped":1}"#]).unwrap(),
            one.replace("{\"b\":1}}", "{\"b\":1},\"skipped\":1}")
        );
        assert_eq!(sum(both).count("files"), Some(3));
        assert_eq!(sum(both).count("bytes"), None);
    }

    #[test]
    fn what_cannot_be_added_is_named() {
        let big = format!(r#"{{"bytes":{{"before":{}}}}}"#, u64::MAX);
        assert_eq!(
            added(&[&big, r#"{"bytes":{"before":1}}"#]),
            Err(SumError::Overflow("bytes.before".into()))
        );
        assert_eq!(added(&[&big, r#"{"bytes":1}"#]), Err(SumError::Shape("bytes".into())));
        for odd in ["{\"a\":1.5}", "{\"a\":-1}", "{\"a\":\"1\"}", "[]", "{\"a\":[1]}", "{\"a\":null}"] {
            assert!(serde_json::from_str::<Sum>(odd).is_err(), "{odd}");
        }
    }

    #[test]
    fn how_deep_members_lie_is_limited() {
        let deep = |depth: usize| format!("{}1{}", r#"{"a":"#.repeat(depth), "}".repeat(depth));
        assert!(serde_json::from_str::<Sum>(&deep(DEEPEST)).is_ok());
        assert!(serde_json::from_str::<Sum>(&deep(DEEPEST + 1)).is_err());
    }
}
