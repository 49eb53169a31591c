//! `dshc replay --tokenizer` over texts that are one character a million times over.

use crate::sandbox::{HEADER, Run, Sandbox, column};
use serde_json::{Value, json};
use std::fmt::Write;

const MILLION: usize = 1_000_000;

/// A log with these prompts.
fn log(sandbox: &Sandbox, texts: &[String]) {
    let mut log = format!("{HEADER}\n");
    for (seq, text) in texts.iter().enumerate() {
        let message = json!({
            "id": format!("m{seq}"),
            "role": "user",
            "content": [{ "type": "text", "text": text }],
            "source": { "kind": "user" },
        });
        let event =
            json!({ "type": "user/message", "seq": seq, "time": 1, "data": message, "surfaceOp": "append" });
        writeln!(log, "{event}").unwrap();
    }
    sandbox.write("log.jsonl", log.as_bytes());
}

/// The counts are those of the Python package tiktoken 0.14.0; where it gives none but an error, they are null.
#[test]
fn a_million_of_anything_is_counted_or_unknown() {
    let sandbox = Sandbox::new();
    let blanks_and_letter = format!("{}a", " ".repeat(MILLION - 1));
    let runs = [" ", "a", "\n", "🦀"].map(|unit| unit.repeat(MILLION));
    let [blanks, letters, line_feeds, crabs] = runs;
    log(&sandbox, &[blanks, blanks_and_letter, letters, line_feeds, crabs]);
    for (name, expected) in [
        ("o200k_base", [json!(null), json!(null), json!(125_000), json!(62_500), json!(3_000_000)]),
        ("cl100k_base", [json!(7_813), json!(null), json!(125_000), json!(31_250), json!(3_000_000)]),
    ] {
        let (report, code) = sandbox.json(&["replay", "log.jsonl", "--tokenizer", name]);
        assert_eq!((code, &report["tokens"]), (0, &Value::Null));
        assert_eq!(column(&report["surface"], "tokens"), expected, "{name}");
        let notes = report["notes"].to_string();
        assert!(notes.contains("the tokenizer gave up on a text"), "{notes}");
    }
}

#[test]
fn people_are_told_where_the_tokenizer_gives_up() {
    let sandbox = Sandbox::new();
    log(&sandbox, &[" ".repeat(MILLION)]);
    let Run { code, out, err } = sandbox.run(&["replay", "log.jsonl", "--tokenizer", "o200k_base"]);
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("exact tokens unknown") && err.contains("gave up on a text"), "{err}");
}
