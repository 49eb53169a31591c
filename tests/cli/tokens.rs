//! `dshc replay --tokenizer` over texts that are one character a million times over.

use crate::sandbox::{HEADER, Run, Sandbox, column};
use serde_json::{Value, json};
use std::fmt::Write;

const MILLION: usize = 1_000_000;

/// A log whose prompts are the long texts.
fn log(sandbox: &Sandbox) {
    let blanks_and_letter = format!("{}a", " ".repeat(MILLION - 1));
    let texts = [
        " ".repeat(MILLION),
        blanks_and_letter,
        "a".repeat(MILLION),
        "\n".repeat(MILLION),
        "🦀".repeat(MILLION),
    ];
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
    log(&sandbox);
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
    let Run { code, out, err } = sandbox.run(&["replay", "log.jsonl", "--tokenizer", "o200k_base"]);
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("exact tokens unknown") && err.contains("gave up on a text"), "{err}");
}
