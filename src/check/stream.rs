//! The stream that a message keeps of how it came (FORMAT §5.2): its shape and counts, not its texts.

use super::Finding;
use super::payload::Payload;
use super::registry::rule_family;
use crate::json::{self, Object, Raw, Text};
use crate::log::{self, Event, Place};

rule_family! {
    "payload";
    /// The stream of a message or attempt is missing, or holds a record that is not of its shape.
    ///
    /// **What it means.** From format 2 on `assistant/message` and `assistant/attempt` carry how the answer
    /// came in, in `stream`: runs of deltas with their times, and single chunks. The finding names the first
    /// wrong record of the event and counts the others. The texts of the deltas are not compared with the
    /// message.
    ///
    /// **Why it matters.** dsh opens the log and shows the message, which does not depend on its stream. What
    /// replays the stream, and every upgrade, refuses it.
    ///
    /// **How it comes about.** A tool writes messages of its own and leaves `stream` out, or shortens deltas
    /// without their times in `dt`. Deltas of a tool call without an id must be single chunks, not runs.
    ///
    /// **What to do.** Write `"stream": []` where there is nothing to tell. In a log that is to be upgraded
    /// the event cannot be mended; up to then it does no harm.
    STREAM_SHAPE = warning("stream-shape");
}

/// Checks the stream of an event of a format that embeds streams: one finding an event, for the first wrong record.
pub(super) fn check(event: &Event, payload: &Payload, place: Place) -> Option<Finding> {
    if !matches!(&*event.event_type, "assistant/message" | "assistant/attempt") {
        return None;
    }
    let problem = problem(payload.get())?;
    let help = "dsh opens the log; what upgrades it or replays the stream refuses it";
    let message = format!("{} {problem}", event.event_type);
    Some(Finding::new(&STREAM_SHAPE, place, message).at_seq(event.seq).with_help(help))
}

fn problem(data: Option<&Object>) -> Option<String> {
    let Some(records) = data.and_then(|data| data.array("stream")) else {
        return Some("must have a stream that is an array".to_owned());
    };
    let mut wrong = records.iter().enumerate().filter_map(|(index, raw)| Some((index, record(*raw).err()?)));
    let (index, problem) = wrong.next()?;
    let more = wrong.count();
    let more = if more == 0 { String::new() } else { format!("; {more} more are wrong") };
    Some(format!("has a stream whose record {index} is wrong: {problem}{more}"))
}

/// Checks one record of a stream.
fn record(raw: Raw) -> Result<(), String> {
    let record = Object::of(raw).ok_or("it is no object")?;
    match record.text("type").as_ref().map(Text::to_str).as_deref() {
        Some("text-chunks" | "reasoning-chunks") => run(&record, "texts", &[], &[]),
        Some("tool-call-chunks") => {
            run(&record, "args", &["id"], &["name"])?;
            let is_text = |key| record.text(key).is_some_and(|text| !text.is_empty());
            if is_text("id") && (record.get("name").is_none() || is_text("name")) {
                Ok(())
            } else {
                Err("id, and name where it is there, must be texts that are not empty".into())
            }
        }
        Some("chunk") => {
            exactly(&record, &["type", "time", "chunk"], &[])?;
            record.get("time").and_then(json::integer).ok_or("its time must be an integer")?;
            record.object("chunk").ok_or("its chunk must be an object")?;
            Ok(())
        }
        Some(other) => Err(format!("its type {} is unknown", super::wording::quoted(other))),
        None => Err("it has no type".into()),
    }
}

/// Checks a run of deltas, whose texts are in `payload`.
fn run(record: &Object, payload: &str, id: &[&str], optional: &[&str]) -> Result<(), String> {
    exactly(record, &[&["type", "time0", "index", "dt", payload], id].concat(), optional)?;
    let time0 = record.get("time0").and_then(json::integer).ok_or("time0 must be an integer")?;
    record.count("index").ok_or("index must be a count")?;
    log::run_extent(record, payload, time0).map(drop)
}

fn exactly(record: &Object, required: &[&str], optional: &[&str]) -> Result<(), String> {
    if record.has_exactly(required, optional) {
        return Ok(());
    }
    Err(format!("its members must be exactly {}", required.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::relations::testing::event;
    use crate::check::testing::fixture;

    fn problem_of(stream: &str) -> Option<String> {
        let line = format!(r#"{{"type":"assistant/attempt","seq":3,"data":{{"turn":1{stream}}}}}"#);
        let line = Object::of(json::leaked(&line)).unwrap();
        let event = event(&line);
        check(&event, &Payload::of(&event), Place::default()).map(|finding| {
            assert_eq!((finding.code, finding.seq), ("stream-shape", Some(3)));
            finding.message
        })
    }

    fn record_problem(record: &str) -> Option<String> {
        problem_of(&format!(r#","stream":[{record}]"#))
    }

    const TEXT: &str = r#"{"type":"text-chunks","time0":-5,"index":0,"dt":[3,-1],"texts":["a","\ud83d",""]}"#;
    const TOOL: &str =
        r#"{"type":"tool-call-chunks","time0":1,"index":0,"dt":[],"id":"c","name":"sh","args":[""]}"#;
    const CHUNK: &str = r#"{"type":"chunk","time":1,"chunk":{"type":"usage"}}"#;

    #[test]
    fn sound_streams_pass() {
        assert_eq!(problem_of(r#","stream":[]"#), None);
        assert_eq!(record_problem(&[TEXT, TOOL, CHUNK].join(",")), None);
        assert_eq!(record_problem(&TOOL.replace(r#""name":"sh","#, "")), None);
    }

    #[test]
    fn wrong_records_are_counted_and_the_first_is_told() {
        for (record, from, to) in [
            (TEXT, "text-chunks", "words"),
            (TEXT, r#""type":"text-chunks","#, ""),
            (TEXT, "\"index\":0", "\"index\":-1"),
            (TEXT, "\"time0\":-5", "\"time0\":0.5"),
            (TEXT, "[3,-1]", "[3]"),
            (TEXT, "[3,-1]", "[3,\"1\"]"),
            (TEXT, "[3,-1]", "[9,9007199254740991]"),
            (TEXT, "\"a\"", "1"),
            (TEXT, "\"texts\"", "\"args\""),
            (TEXT, "\"index\"", "\"seq\":1,\"index\""),
            (TOOL, "[\"\"]", "[]"),
            (TOOL, "\"c\"", "\"\""),
            (TOOL, "\"sh\"", "\"\""),
            (TOOL, "\"sh\"", "null"),
            (CHUNK, "\"time\":1", "\"time\":null"),
            (CHUNK, r#"{"type":"usage"}"#, "[]"),
            (CHUNK, CHUNK, "5"),
        ] {
            assert!(record_problem(&record.replace(from, to)).is_some(), "{from} -> {to}");
        }
        assert_eq!(problem_of("").as_deref(), Some("assistant/attempt must have a stream that is an array"));
        let message = record_problem(&format!("{CHUNK},1,{{}},2")).unwrap();
        assert!(message.ends_with("record 1 is wrong: it is no object; 2 more are wrong"), "{message}");
    }

    #[test]
    fn the_streams_of_the_demos_pass() {
        for name in ["demo.v2", "demo.v3", "demo.v4", "native.v4"] {
            let path = fixture(&format!("formats/{name}.jsonl"));
            for line in std::fs::read_to_string(path).unwrap().lines().skip(1) {
                let line = Object::of(json::leaked(line)).unwrap();
                let event = event(&line);
                assert_eq!(check(&event, &Payload::of(&event), Place::default()), None, "{name}");
            }
        }
    }
}
