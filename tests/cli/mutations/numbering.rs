//! New numbers for lines that have been moved, so that rules behind the numbering are reached.

use serde_json::{Value, json};
use std::collections::HashMap;

/// What becomes of the numbers when lines have been changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Numbering {
    Kept,
    /// Events are numbered anew; what they cite stays.
    Dense,
    /// What they cite follows the events.
    Followed,
}

/// The members that cite events.
const CITING: [&str; 8] = [
    "sourceEventSeqs",
    "surfaceOp",
    "shadowedRange",
    "shadowedSeqs",
    "messageSeqs",
    "sourceEventSeq",
    "headerSeq",
    "throughSeq",
];

/// Numbers the events behind the header from 0 on. A line that is no event is left as it is.
pub fn renumber(lines: &mut [String], numbering: Numbering) {
    if numbering == Numbering::Kept {
        return;
    }
    let mut next = 0;
    let mut moved = HashMap::new();
    let mut values: Vec<Option<Value>> = lines.iter().map(|line| serde_json::from_str(line).ok()).collect();
    for value in values.iter_mut().skip(1).flatten() {
        let (key, members) = match value.get("seq0") {
            Some(_) => ("seq0", members(value)),
            None => ("seq", 1),
        };
        if let Some(old) = value[key].as_u64() {
            for member in 0..members {
                moved.entry(old + member).or_insert(next + member);
            }
            value[key] = json!(next);
            next += members;
        }
    }
    for (line, value) in lines.iter_mut().zip(values).skip(1) {
        if let Some(mut value) = value {
            if numbering == Numbering::Followed {
                follow(&mut value, &moved);
            }
            *line = value.to_string();
        }
    }
}

fn members(row: &Value) -> u64 {
    let texts = row["data"]["texts"].as_array().or_else(|| row["data"]["args"].as_array());
    texts.map_or(1, |texts| texts.len() as u64)
}

/// Replaces what an event cites, in its envelope and in its payload.
fn follow(event: &mut Value, moved: &HashMap<u64, u64>) {
    for holder in ["", "/data"] {
        let Some(members) = event.pointer_mut(holder).and_then(Value::as_object_mut) else { continue };
        for (_, value) in members.iter_mut().filter(|(key, _)| CITING.contains(&key.as_str())) {
            replace(value, moved);
        }
    }
}

fn replace(value: &mut Value, moved: &HashMap<u64, u64>) {
    match value {
        Value::Number(number) => {
            if let Some(new) = number.as_u64().and_then(|old| moved.get(&old)) {
                *value = json!(new);
            }
        }
        Value::Array(values) => {
            values.retain(|value| value.as_u64().is_none_or(|seq| moved.contains_key(&seq)));
            for value in values.iter_mut() {
                replace(value, moved);
            }
        }
        Value::Object(members) => members.values_mut().for_each(|value| replace(value, moved)),
        _ => {}
    }
}
