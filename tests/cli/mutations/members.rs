//! Changes to one member of a line, at any depth.

use proptest::prelude::*;
use serde_json::{Value, json};

/// A change and where it is made: places are taken modulo what the line holds.
#[derive(Debug, Clone)]
pub struct Edit {
    at: usize,
    /// Only among the members of the event and of its payload.
    is_near: bool,
    change: Change,
}

#[derive(Debug, Clone)]
enum Change {
    Remove,
    Rename(&'static str),
    Set(Value),
    /// The number one higher, or lower.
    Add(i64),
    /// The value of another member.
    Swap(usize),
    Insert(&'static str, Value),
}

/// Changes that other writers, or a mishap, may leave.
pub fn edits() -> impl Strategy<Value = Edit> {
    let names =
        ["start", "endSeq", "turn", "step", "callId", "id", "compactionId", "meta", "isError", "kind"];
    let texts = [
        "",
        "append",
        "user",
        "tool",
        "plugin",
        "system",
        "assistant",
        "text",
        "tool-call",
        "tool-result",
        "turn/start",
        "turn/end",
        "step/end",
        "tool/result",
        "user/message",
        "acme/unknown",
        "compaction/end",
        "session/end-seed",
        "model",
        "completed",
        "aborted",
        "error",
        "compact",
        "TOOL_NOT_STARTED",
        "subagent",
        "/tmp",
        "x",
        "call-1",
    ];
    let others = [
        json!(null),
        json!(true),
        json!(false),
        json!(0),
        json!(-1),
        json!(1),
        json!(1.5),
        json!(-0.0),
        json!(1e300),
        json!([]),
        json!({}),
        json!([[0, 1]]),
        json!([0]),
        json!({ "op": "replace", "start": 0, "end": 0 }),
        json!({ "kind": "user" }),
    ];
    let change = prop_oneof![
        3 => Just(Change::Remove),
        1 => prop::sample::select(names.to_vec()).prop_map(Change::Rename),
        3 => prop::sample::select(texts.to_vec()).prop_map(|text| Change::Set(json!(text))),
        3 => prop::sample::select(others.to_vec()).prop_map(Change::Set),
        3 => prop::sample::select(vec![1, -1]).prop_map(Change::Add),
        2 => any::<usize>().prop_map(Change::Swap),
        1 => (prop::sample::select(names.to_vec()), prop::sample::select(others.to_vec())).prop_map(|(name, value)| Change::Insert(name, value)),
    ];
    (any::<usize>(), any::<bool>(), change).prop_map(|(at, is_near, change)| Edit { at, is_near, change })
}

impl Edit {
    /// The line with the change, if there is anything to change in it.
    pub fn of(&self, line: &str) -> Option<String> {
        let mut value: Value = serde_json::from_str(line).ok()?;
        let mut places = Vec::new();
        collect(&value, "", &mut places);
        places.retain(|place| !self.is_near || place.matches('/').count() < 3);
        if let Change::Add(_) = self.change {
            places.retain(|place| value.pointer(place).is_some_and(Value::is_i64));
        }
        let place = places.get(self.at.checked_rem(places.len())?)?.clone();
        let (parent, key) = place.rsplit_once('/')?;
        match &self.change {
            Change::Remove => drop(take(value.pointer_mut(parent)?, key)?),
            Change::Rename(name) => {
                let taken = take(value.pointer_mut(parent)?, key)?;
                value.pointer_mut(parent)?.as_object_mut()?.insert((*name).to_owned(), taken);
            }
            Change::Set(new) => *value.pointer_mut(&place)? = new.clone(),
            Change::Add(by) => {
                let number = value.pointer(&place)?.as_i64()?;
                *value.pointer_mut(&place)? = json!(number + by);
            }
            Change::Swap(other) => {
                let other = places[other % places.len()].clone();
                if other.starts_with(&place) || place.starts_with(&other) {
                    return None;
                }
                let (one, two) = (value.pointer(&place)?.clone(), value.pointer(&other)?.clone());
                *value.pointer_mut(&place)? = two;
                *value.pointer_mut(&other)? = one;
            }
            Change::Insert(name, new) => {
                let object = value.pointer_mut(parent)?.as_object_mut()?;
                object.insert((*name).to_owned(), new.clone());
            }
        }
        Some(value.to_string())
    }
}

/// The JSON pointers of everything below `value`.
fn collect(value: &Value, at: &str, places: &mut Vec<String>) {
    let mut add = |key: &str, value: &Value| {
        let place = format!("{at}/{}", key.replace('~', "~0").replace('/', "~1"));
        places.push(place.clone());
        collect(value, &place, places);
    };
    match value {
        Value::Object(members) => members.iter().for_each(|(key, value)| add(key, value)),
        Value::Array(values) => {
            (0..).zip(values).for_each(|(at, value): (usize, _)| add(&at.to_string(), value));
        }
        _ => {}
    }
}

fn take(parent: &mut Value, key: &str) -> Option<Value> {
    match parent {
        Value::Object(members) => members.remove(&key.replace("~1", "/").replace("~0", "~")),
        Value::Array(values) => Some(values.remove(key.parse().ok()?)),
        _ => None,
    }
}
