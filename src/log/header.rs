//! The header line (FORMAT §3).

use super::place::Address;
use crate::format::{self, Format, Seeded};
use crate::json::{self, Document, Object, Raw};

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
    /// Whether the session began with events of its parent.
    pub is_seeded: bool,
    /// How many those are, where the header says it (formats 0 and 1).
    pub seed_length: Option<u64>,
    /// Where the log belongs below its root; `None` if its id is empty.
    pub address: Option<Address>,
}

/// What becomes of a log whose version no table describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum UnknownVersion {
    /// It is not read.
    #[default]
    Refuse,
    /// It is read as if it were of the newest version that is known; what its header lacks is not missed.
    ReadAsNewest,
}

/// Why a first line is no header.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum HeaderError {
    #[error("the first line is blank, where the header must stand")]
    Blank,
    #[error("the first line is not JSON: {0}")]
    NotJson(String),
    #[error("the first line is no dsh session header: {0}")]
    NotAHeader(String),
    #[error("the session header's {member} must be {expected}")]
    Member { member: &'static str, expected: &'static str },
    #[error("the session header has a member {0}, which log format {1} does not have")]
    Unexpected(String, u64),
    #[error("session \"{id}\" uses log format {version}")]
    Version { id: String, version: String, foreign_members: Vec<String> },
}

const REQUIRED: &[&str] = &["type", "version", "id", "createdAt", "delegationDepth"];
const OPTIONAL: &[&str] = &["cwd", "parentSession", "origin", "agentPreset"];

impl Header {
    /// Reads a header line. The version is judged before the shape, which another version may change.
    pub(super) fn parse(line: &str, unknown: UnknownVersion) -> Result<(Self, &'static Format), HeaderError> {
        if line.bytes().all(|byte| byte.is_ascii_whitespace()) {
            return Err(HeaderError::Blank);
        }
        let raw = json::parse(line).map_err(|error| HeaderError::NotJson(error.to_string()))?;
        let object =
            Object::of(raw.raw()).ok_or_else(|| HeaderError::NotAHeader("it is no object".into()))?;
        if object.text("type").is_none_or(|kind| kind != *"session") {
            return Err(HeaderError::NotAHeader("its \"type\" is not \"session\"".into()));
        }
        let version = object.get("version").filter(|raw| json::strict_count(*raw).is_some());
        let version = version.ok_or(HeaderError::Member { member: "version", expected: "a count" })?;
        match json::count(version).map(|count| (count, format::of(count))) {
            Some((_, Some(format))) => Self::of(&object, format).map(|header| (header, format)),
            Some((version, None)) if unknown == UnknownVersion::ReadAsNewest => {
                Ok((Self::guess(&object, version), format::NEWEST))
            }
            _ => Err(HeaderError::Version {
                id: json::clip(&owned_text(&object, "id").unwrap_or_default()).into_owned(),
                version: json::clip(version.get()).into_owned(),
                foreign_members: foreign_members(&object).take(MOST_FOREIGN).collect(),
            }),
        }
    }

    fn of(object: &Object, format: &'static Format) -> Result<Self, HeaderError> {
        let shape = &format.header;
        for retired in shape.retired {
            if object.get(retired).is_some() {
                return Err(HeaderError::Member { member: retired, expected: "absent (it was retired)" });
            }
        }
        let seeded = seeded_member(shape.seeded);
        let is_known =
            |name: &str| REQUIRED.iter().chain(OPTIONAL).any(|known| *known == name) || name == seeded;
        if let Some(other) = object.names().find(|name| shape.is_closed && !is_known(&name.to_str())) {
            return Err(HeaderError::Unexpected(json::excerpt(&other.to_str()), format.version));
        }
        let text = |member: &'static str| optional(object, member, "a string", json::text);
        let id = text("id")?.ok_or(HeaderError::Member { member: "id", expected: "a string" })?;
        let (is_seeded, seed_length) = match shape.seeded {
            Seeded::Length => {
                let length = optional(object, seeded, "a count", |raw| format.count(raw))?;
                (length.is_some(), length)
            }
            Seeded::Flag => {
                let flag = optional(object, seeded, "true or false", json::boolean)?;
                (flag.ok_or(HeaderError::Member { member: seeded, expected: "true or false" })?, None)
            }
        };
        let cwd = text("cwd")?;
        let header = Self {
            version: format.version,
            address: Address::of(&id, cwd.as_ref()),
            id: id.into_str().into_owned(),
            created_at: required_count(object, "createdAt")?,
            cwd: cwd.map(|cwd| cwd.into_str().into_owned()),
            parent_session: text("parentSession")?.map(|parent| parent.into_str().into_owned()),
            is_seeded,
            seed_length,
        };
        if header.cwd.as_deref().is_some_and(|cwd| !is_absolute(cwd)) {
            return Err(HeaderError::Member { member: "cwd", expected: "an absolute path" });
        }
        required_count(object, "delegationDepth")?;
        text("agentPreset")?;
        optional(object, "origin", "\"subagent\"", |raw| {
            json::text(raw).filter(|origin| *origin == *"subagent")
        })?;
        Ok(header)
    }

    /// The members of a header line that its format does not have, where readers may pass over such.
    pub(super) fn extra_members(line: &str, format: &Format) -> Vec<String> {
        let header = json::parse(line).ok();
        let seeded = seeded_member(format.header.seeded);
        let is_extra =
            |name: &String| !REQUIRED.iter().chain(OPTIONAL).chain([&seeded]).any(|known| known == name);
        let names = header
            .as_ref()
            .and_then(Document::object)
            .into_iter()
            .flat_map(Object::names)
            .map(|name| json::clip(&name.to_str()).into_owned());
        names.filter(is_extra).collect()
    }

    /// What can be told from the header of a version that nobody has described.
    fn guess(object: &Object, version: u64) -> Self {
        Self {
            version,
            address: object.text("id").and_then(|id| Address::of(&id, object.text("cwd").as_ref())),
            id: owned_text(object, "id").unwrap_or_default(),
            created_at: object.get("createdAt").and_then(json::strict_count).unwrap_or_default(),
            cwd: owned_text(object, "cwd"),
            parent_session: owned_text(object, "parentSession"),
            is_seeded: object.get("isSeeded").is_some_and(json::is_true),
            seed_length: None,
        }
    }
}

fn owned_text(object: &Object, member: &str) -> Option<String> {
    object.text(member).map(|text| text.into_str().into_owned())
}

/// How many foreign members are named: a few tell enough.
const MOST_FOREIGN: usize = 8;

/// The names of members that no known version has: a trace of who wrote the log.
fn foreign_members<'a>(object: &'a Object) -> impl Iterator<Item = String> + 'a {
    let names = object.names().map(|name| json::clip(&name.to_str()).into_owned());
    let seeded = [Seeded::Length, Seeded::Flag].map(seeded_member);
    names.filter(move |name| !REQUIRED.iter().chain(OPTIONAL).chain(&seeded).any(|known| known == name))
}

fn seeded_member(seeded: Seeded) -> &'static str {
    match seeded {
        Seeded::Length => "seedLength",
        Seeded::Flag => "isSeeded",
    }
}

fn required_count(object: &Object, member: &'static str) -> Result<u64, HeaderError> {
    optional(object, member, "a count", json::strict_count)?
        .ok_or(HeaderError::Member { member, expected: "a count" })
}

fn optional<'a, T>(
    object: &Object<'a>,
    member: &'static str,
    expected: &'static str,
    read: impl Fn(Raw<'a>) -> Option<T>,
) -> Result<Option<T>, HeaderError> {
    object.get(member).map(|raw| read(raw).ok_or(HeaderError::Member { member, expected })).transpose()
}

/// Absolute by the rule of the platform that wrote it, whichever that is (FORMAT §3).
fn is_absolute(path: &str) -> bool {
    let bytes = path.as_bytes();
    let drive = bytes.len() >= 3 && bytes[0].is_ascii_alphabetic() && bytes[1] == b':';
    path.starts_with(['/', '\\']) || (drive && matches!(bytes[2], b'/' | b'\\'))
}

#[cfg(test)]
impl Header {
    /// A header of the session `s`, for tests.
    pub(crate) fn of_session(version: u64) -> Self {
        Self {
            version,
            id: "s".to_owned(),
            created_at: 1,
            cwd: None,
            parent_session: None,
            is_seeded: false,
            seed_length: None,
            address: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: &str = r#"{"type":"session","version":0,"id":"s","createdAt":1,"delegationDepth":0}"#;

    fn parse(line: &str) -> Result<Header, HeaderError> {
        Header::parse(line, UnknownVersion::Refuse).map(|(header, _)| header)
    }

    fn with(member: &str) -> Result<Header, HeaderError> {
        parse(&PLAIN.replacen('{', &format!("{{{member},"), 1))
    }

    #[test]
    fn optional_members_are_read() {
        let header =
            with(r#""cwd":"/home/ada","seedLength":12,"parentSession":"p","origin":"subagent","later":1"#);
        let header = header.unwrap();
        assert_eq!(header.cwd.as_deref(), Some("/home/ada"));
        assert_eq!(header.seed_length, Some(12));
        assert!(header.is_seeded && !parse(PLAIN).unwrap().is_seeded);
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
            assert!(parse(&PLAIN.replace(from, to)).is_err(), "{to}");
        }
    }

    #[test]
    fn the_version_is_judged_before_the_shape() {
        let later = r#"{"type":"session","version":9,"id":"s","fork":{}}"#;
        let error = parse(later).unwrap_err();
        let foreign_members = vec!["fork".to_owned()];
        assert_eq!(error, HeaderError::Version { id: "s".into(), version: "9".into(), foreign_members });
        let (header, format) = Header::parse(later, UnknownVersion::ReadAsNewest).unwrap();
        assert_eq!((header.version, header.id.as_str(), header.is_seeded), (9, "s", false));
        assert_eq!(format.version, format::NEWEST.version);
    }

    #[test]
    fn every_version_has_its_own_members() {
        let of = |version: u64, more: &str| {
            parse(&format!(
                r#"{{"type":"session","version":{version},"id":"s","createdAt":1{more},"delegationDepth":0}}"#
            ))
        };
        for version in [0, 1] {
            assert!(!of(version, "").unwrap().is_seeded);
            assert_eq!(of(version, r#","seedLength":0"#).unwrap().seed_length, Some(0));
        }
        assert!(of(0, r#","isSeeded":true,"other":1"#).is_ok_and(|header| !header.is_seeded));
        assert!(of(1, r#","isSeeded":true"#).is_err());
        for version in [2, 3, 4] {
            assert!(of(version, "").is_err());
            assert!(of(version, r#","isSeeded":true"#).unwrap().is_seeded);
            assert!(!of(version, r#","isSeeded":false"#).unwrap().is_seeded);
            for odd in [r#","isSeeded":1"#, r#","isSeeded":null"#, r#","isSeeded":false,"seedLength":1"#] {
                assert!(of(version, odd).is_err(), "{odd}");
            }
            let error = of(version, r#","isSeeded":false,"other":1"#).unwrap_err();
            assert_eq!(error, HeaderError::Unexpected("\"other\"".into(), version));
        }
    }
}
