//! The header line (FORMAT §3).

use super::place::Address;
use crate::format::{self, Format};
use crate::json::{self, Object, Raw};

/// A log's first line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// The format version.
    pub version: u64,
    /// The session's id.
    pub id: String,
    /// Unix epoch, in milliseconds.
    pub created_at: u64,
    /// The directory that the session worked in.
    pub cwd: Option<String>,
    /// The session that this one was forked or spawned from.
    pub parent_session: Option<String>,
    /// How many leading events are inherited from the parent; `Some` also where that is none.
    pub seed_length: Option<u64>,
    /// Where the log belongs below its root; `None` if its id is empty.
    pub address: Option<Address>,
}

/// Why a first line is no header.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum HeaderError {
    #[error("the first line is not JSON: {0}")]
    NotJson(String),
    #[error("the first line is no dsh session header: {0}")]
    NotAHeader(String),
    #[error("the session header's {member} must be {expected}")]
    Member { member: &'static str, expected: &'static str },
    #[error("session \"{id}\" uses log format {version}")]
    Version { id: String, version: String },
}

impl Header {
    /// Reads a header line. The version is judged before the shape, which another version may change.
    pub(super) fn parse(line: &str) -> Result<(Self, &'static Format), HeaderError> {
        let raw = json::parse(line).map_err(|error| HeaderError::NotJson(error.to_string()))?;
        let object = Object::of(raw).ok_or_else(|| HeaderError::NotAHeader("it is no object".into()))?;
        if object.text("type").is_none_or(|kind| kind != *"session") {
            return Err(HeaderError::NotAHeader("its \"type\" is not \"session\"".into()));
        }
        let id = object.text("id");
        let version = object.get("version").filter(|raw| json::number(raw).is_some());
        let version = version.ok_or(HeaderError::Member { member: "version", expected: "a number" })?;
        let format = json::count(version).and_then(format::of).ok_or_else(|| HeaderError::Version {
            id: id.as_ref().map_or_else(String::new, |id| id.to_str().into_owned()),
            version: version.get().to_owned(),
        })?;
        for retired in ["sandboxMode", "approvalPolicy"] {
            if object.get(retired).is_some() {
                return Err(HeaderError::Member { member: retired, expected: "absent (it was retired)" });
            }
        }
        let text = |member: &'static str| optional(&object, member, "a string", json::text);
        let id = id.ok_or(HeaderError::Member { member: "id", expected: "a string" })?;
        let cwd = text("cwd")?;
        let header = Self {
            version: format.version,
            address: Address::of(&id, cwd.as_ref()),
            id: id.into_str().into_owned(),
            created_at: required_count(&object, "createdAt")?,
            cwd: cwd.map(|cwd| cwd.into_str().into_owned()),
            parent_session: text("parentSession")?.map(|parent| parent.into_str().into_owned()),
            seed_length: optional(&object, "seedLength", "a count", count)?,
        };
        if header.cwd.as_deref().is_some_and(|cwd| !is_absolute(cwd)) {
            return Err(HeaderError::Member { member: "cwd", expected: "an absolute path" });
        }
        required_count(&object, "delegationDepth")?;
        text("agentPreset")?;
        optional(&object, "origin", "\"subagent\"", |raw| {
            json::text(raw).filter(|origin| *origin == *"subagent")
        })?;
        Ok((header, format))
    }

    /// Whether the session began with events of its parent.
    #[must_use]
    pub fn is_seeded(&self) -> bool {
        self.seed_length.is_some()
    }
}

fn required_count(object: &Object, member: &'static str) -> Result<u64, HeaderError> {
    optional(object, member, "a count", count)?.ok_or(HeaderError::Member { member, expected: "a count" })
}

fn optional<'a, T>(
    object: &Object<'a>,
    member: &'static str,
    expected: &'static str,
    read: impl Fn(&'a Raw) -> Option<T>,
) -> Result<Option<T>, HeaderError> {
    object.get(member).map(|raw| read(raw).ok_or(HeaderError::Member { member, expected })).transpose()
}

/// A count, but for the literal `-0`, which readers refuse in headers (FORMAT §0.4).
fn count(raw: &Raw) -> Option<u64> {
    json::count(raw).filter(|_| !raw.get().starts_with('-'))
}

/// Absolute by the rule of the platform that wrote it, whichever that is (FORMAT §3).
fn is_absolute(path: &str) -> bool {
    let bytes = path.as_bytes();
    let drive = bytes.len() >= 3 && bytes[0].is_ascii_alphabetic() && bytes[1] == b':';
    path.starts_with(['/', '\\']) || (drive && matches!(bytes[2], b'/' | b'\\'))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: &str = r#"{"type":"session","version":0,"id":"s","createdAt":1,"delegationDepth":0}"#;

    fn with(member: &str) -> Result<Header, HeaderError> {
        Header::parse(&PLAIN.replacen('{', &format!("{{{member},"), 1)).map(|(header, _)| header)
    }

    #[test]
    fn optional_members_are_read() {
        let header =
            with(r#""cwd":"/home/ada","seedLength":12,"parentSession":"p","origin":"subagent","later":1"#);
        let header = header.unwrap();
        assert_eq!(header.cwd.as_deref(), Some("/home/ada"));
        assert_eq!(header.seed_length, Some(12));
        assert!(header.is_seeded());
        assert!(!Header::parse(PLAIN).unwrap().0.is_seeded());
    }

    #[test]
    fn paths_of_both_platforms_are_absolute() {
        assert!(with(r#""cwd":"G:\\work\\客户端""#).is_ok());
        assert!(with(r#""cwd":"\\\\host\\share""#).is_ok());
        assert!(with(r#""cwd":"work""#).is_err());
    }

    #[test]
    fn what_dsh_refuses_is_refused() {
        for member in [
            r#""cwd":1"#,
            r#""origin":null"#,
            r#""seedLength":-1"#,
            r#""sandboxMode":"x""#,
            r#""agentPreset":1"#,
        ] {
            assert!(with(member).is_err(), "{member}");
        }
        for (from, to) in
            [("\"createdAt\":1", "\"createdAt\":-0"), ("\"session\"", "\"other\""), (":\"s\"", ":5")]
        {
            assert!(Header::parse(&PLAIN.replace(from, to)).is_err(), "{to}");
        }
    }

    #[test]
    fn the_version_is_judged_before_the_shape() {
        let error = Header::parse(r#"{"type":"session","version":9,"id":"s"}"#).unwrap_err();
        assert_eq!(error, HeaderError::Version { id: "s".into(), version: "9".into() });
    }
}
