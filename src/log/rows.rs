//! Packed rows: one line for a run of streamed deltas (FORMAT §5.1).

use crate::format::Format;
use crate::json::{self, Object, Raw};

/// A packed row, known by count and seq; its members are never built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PackedRow {
    /// What the row is called, such as `text-chunks`.
    pub tag: &'static str,
    /// Seq of the first member.
    pub first_seq: u64,
    /// How many `assistant/chunk` events the row stands for, at least 1.
    pub members: u64,
    /// Time of the last member, Unix epoch in milliseconds.
    pub last_time: i64,
    /// The turn to which all members belong; `None` if it is no count.
    pub turn: Option<u64>,
    /// The step to which all members belong; `None` if it is no count.
    pub step: Option<u64>,
    /// Whether strict readers take it too: they want counts for turn, step and index, a call that has an id, and no gap
    /// spelt -0.
    pub is_strict: bool,
}

/// The tag of a packed row, if `event_type` is one.
pub(super) fn tag(event_type: &str) -> Option<&'static str> {
    ["text-chunks", "reasoning-chunks", "tool-call-chunks"].into_iter().find(|tag| *tag == event_type)
}

impl PackedRow {
    /// Checks the row's shape. The error says what is wrong with it.
    pub(super) fn parse(tag: &'static str, row: &Object, format: &Format) -> Result<Self, String> {
        if !row.has_exactly(&["type", "seq0", "time0", "data"], &[]) {
            return Err("its members must be exactly type, seq0, time0 and data".into());
        }
        let first_seq = row.count("seq0").ok_or("seq0 must be a count")?;
        let time0 = row.get("time0").and_then(json::integer).ok_or("time0 must be an integer")?;
        let data = row.object("data").ok_or("data must be an object")?;
        let is_strict = ["turn", "step", "index"].iter().all(|key| data.count(key).is_some())
            && data.text("id").is_none_or(|id| !id.is_empty())
            && !data.get("dt").is_some_and(holds_negative_zero);
        if format.packed_rows_are_strict && !is_strict {
            return Err("turn, step and index must be counts, id not empty, and no member of dt -0".into());
        }
        let payload = Self::check_data(tag, &data)?;
        let texts_and_gaps = data.get(payload).zip(data.get("dt"));
        let (texts, gaps) = texts_and_gaps.ok_or("data must have its texts and dt")?;
        let (members, last_time) = run_extent(payload, texts, gaps, time0)?;
        let last_seq = first_seq.checked_add(members - 1).filter(|seq| *seq <= json::MAX_SAFE_INTEGER);
        last_seq.ok_or("a member's seq is no safe integer")?;
        Ok(Self {
            tag,
            first_seq,
            members,
            last_time,
            turn: data.count("turn"),
            step: data.count("step"),
            is_strict,
        })
    }

    /// Checks the members of `data` and gives the name of its payload.
    fn check_data(tag: &str, data: &Object) -> Result<&'static str, String> {
        let is_tool = tag == "tool-call-chunks";
        let (required, payload): (&[&str], _) = if is_tool {
            (&["turn", "step", "index", "id", "dt", "args"], "args")
        } else {
            (&["turn", "step", "index", "dt", "texts"], "texts")
        };
        if !data.has_exactly(required, if is_tool { &["name"] } else { &[] }) {
            return Err(format!("data must have exactly the members {}", required.join(", ")));
        }
        let is_number = |key: &&str| data.get(key).and_then(json::number).is_some();
        if !["turn", "step", "index"].iter().all(is_number) {
            return Err("turn, step and index must be numbers".into());
        }
        let is_text = |key: &&str| data.get(key).is_none_or(|raw| json::kind(raw) == json::Kind::String);
        if !["id", "name"].iter().all(is_text) {
            return Err("id and name must be strings".into());
        }
        Ok(payload)
    }
}

/// How far a run of deltas reaches: how many members it has, and the time of the last by the gaps in `dt`
/// (FORMAT §5). `payload` is the name of `texts`. The error says what is wrong.
pub fn run_extent(payload: &str, texts: Raw, dt: Raw, time0: i64) -> Result<(u64, i64), String> {
    let members = json::string_count(texts).filter(|count| *count > 0);
    let members = members.ok_or_else(|| format!("{payload} must be an array of strings, at least one"))?;
    let gaps = json::elements(dt).ok_or("dt must be an array")?;
    let count = gaps.clone().count() as u64;
    if count != members.saturating_sub(1) {
        return Err(format!("dt has {count} gaps for {members} members"));
    }
    let mut last_time = time0;
    for gap in gaps {
        let gap = json::integer(gap).ok_or("dt must hold integers")?;
        last_time = last_time
            .checked_add(gap)
            .filter(|time| is_safe(*time))
            .ok_or("a member's time is no safe integer")?;
    }
    Ok((members, last_time))
}

fn holds_negative_zero(gaps: Raw) -> bool {
    gaps.get().contains("-0")
        && json::array(gaps).is_some_and(|gaps| gaps.into_iter().any(json::is_negative_zero))
}

fn is_safe(time: i64) -> bool {
    time.unsigned_abs() <= json::MAX_SAFE_INTEGER
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format;

    fn parse(line: &str) -> Result<PackedRow, String> {
        let row = Object::of(json::leaked(line)).unwrap();
        let kind = row.text("type").unwrap();
        PackedRow::parse(tag(&kind.to_str()).unwrap(), &row, format::of(0).unwrap())
    }

    #[test]
    fn rows_are_counted_without_their_members() {
        let line = r#"{"type":"text-chunks","seq0":14,"time0":100,"data":{"turn":1,"step":1,"index":0,"dt":[3,-1],"texts":["The"," \ud83d"," wants"]}}"#;
        assert_eq!(
            parse(line),
            Ok(PackedRow {
                tag: "text-chunks",
                first_seq: 14,
                members: 3,
                last_time: 102,
                turn: Some(1),
                step: Some(1),
                is_strict: true
            })
        );
        let tool = r#"{"type":"tool-call-chunks","seq0":22,"time0":1,"data":{"turn":1,"step":1,"index":2,"id":"c","name":"bash","dt":[],"args":["{}"]}}"#;
        assert_eq!(parse(tool).unwrap().members, 1);
        assert!(parse(&tool.replace(r#""name":"bash","#, "")).is_ok());
        for (gaps, is_strict) in
            [("[3,-1]", true), ("[3,-0]", false), ("[-0.0,1]", false), ("[1e-0,1]", true)]
        {
            if let Ok(row) = parse(&line.replace("[3,-1]", gaps)) {
                assert_eq!(row.is_strict, is_strict, "{gaps}");
            }
        }
    }

    #[test]
    fn malformed_rows_are_refused() {
        let line = r#"{"type":"text-chunks","seq0":14,"time0":100,"data":{"turn":1,"step":1,"index":0,"dt":[3],"texts":["a","b"]}}"#;
        for (from, to) in [
            ("\"seq0\":14", "\"seq0\":-1"),
            ("\"seq0\":14", "\"seq0\":9007199254740991"),
            ("\"time0\":100", "\"time0\":9007199254740990"),
            ("\"dt\":[3]", "\"dt\":[]"),
            ("\"dt\":[3]", "\"dt\":[0.5]"),
            ("\"dt\":[3],\"texts\":[\"a\",\"b\"]", "\"dt\":[],\"texts\":[]"),
            ("\"a\"", "1"),
            ("\"turn\":1", "\"turn\":\"1\""),
            ("\"index\":0", "\"index\":0,\"id\":\"x\""),
            ("\"time0\"", "\"seq\":1,\"time0\""),
        ] {
            assert_ne!(line, line.replace(from, to));
            assert!(parse(&line.replace(from, to)).is_err(), "{to}");
        }
    }
}
