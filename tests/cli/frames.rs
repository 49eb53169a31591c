//! Zstandard frames put together by hand: what a writer or a bad disk can make of them, and what no writer would.

use crate::official::judge;
use crate::sandbox::{HEADER, Sandbox, text};
use serde_json::json;
use std::process::Command;

/// How a block's body is to be understood, as its header spells it.
const RAW: usize = 0;
const REPEATED: usize = 1;
const RESERVED: usize = 3;

/// A block that is not the last of its frame.
fn block(kind: usize, size: usize, body: &[u8]) -> Vec<u8> {
    [&(size << 3 | kind << 1).to_le_bytes()[..3], body].concat()
}

/// A frame of these blocks: a window of 128 KiB, no checksum. An empty block ends it.
fn frame(blocks: &[u8]) -> Vec<u8> {
    let last = block(RAW, 0, &[]);
    [&[0x28, 0xb5, 0x2f, 0xfd, 0, 0x38], blocks, &[last[0] | 1], &last[1..]].concat()
}

fn raw(lines: &str) -> Vec<u8> {
    frame(&block(RAW, lines.len(), lines.as_bytes()))
}

fn head() -> Vec<u8> {
    raw(&format!("{HEADER}\n"))
}

fn event(seq: u64) -> String {
    format!("{{\"type\":\"plan/mode\",\"seq\":{seq},\"time\":{seq},\"data\":{{\"active\":true}}}}\n")
}

#[test]
fn what_frames_reserve_is_refused_and_what_stands_behind_is_read() {
    let sandbox = Sandbox::new();
    let before = [head(), raw(&event(0))].concat();
    let [mut bit, mut other_bit] = [raw(&event(1)), raw(&event(1))];
    bit[4] |= 0x08;
    other_bit[4] |= 0x10;
    let body = event(1);
    let kind = frame(&block(RESERVED, body.len(), body.as_bytes()));
    // It breaks off inside a line that a sound block begins.
    let later = frame(&[block(RAW, 20, &body.as_bytes()[..20]), block(RESERVED, 1, b"x")].concat());
    for (name, odd, what) in [
        ("bit", bit, "a reserved header bit set"),
        ("other bit", other_bit, "a reserved header bit set"),
        ("block", kind, "a reserved block type"),
        ("later block", later, "a reserved block type"),
    ] {
        let log = sandbox
            .write(&format!("{name}.jsonl.zstd"), &[&before[..], &odd, raw(&event(2)).as_slice()].concat());
        let (report, code) = sandbox.json(&["verify", text(&log)]);
        let file = &report["files"][0];
        let finding = &file["findings"][0];
        assert_eq!((code, file["findings"].as_array().unwrap().len()), (1, 1), "{report}");
        assert_eq!((&finding["code"], &file["events"]), (&json!("frame-structure"), &json!(2)), "{report}");
        assert_eq!((&finding["frame"], &finding["byte"]), (&json!(3), &json!(before.len())), "{report}");
        assert!(finding["message"].as_str().unwrap().contains(what), "{finding}");
        assert_eq!(sandbox.run(&["replay", text(&log)]).code, 3);
        let (view, code) = sandbox.json(&["replay", "--partial", text(&log)]);
        assert_eq!((code, &view["events"]), (1, &json!(1)), "{view}");
        assert!(view["notes"].to_string().contains("1 sound events behind it are left out"), "{view}");
        for verdict in judge(&[log], &[]).unwrap_or_default() {
            assert_eq!(verdict["loads"], json!(false), "{name}: {verdict}");
        }
    }
}

#[test]
fn a_line_beyond_any_string_is_passed_over_in_bounded_memory() {
    let sandbox = Sandbox::new();
    // 1,100 MiB of one letter, in 35 KB. A buffer for the whole line would have to grow to 2 GiB.
    let mut letters = block(REPEATED, 1 << 17, b"a").repeat(1100 << 3);
    letters.extend(block(RAW, 1, b"\n"));
    let before = [head(), raw(&event(0))].concat();
    let log = [&before[..], &frame(&letters), &raw(&event(2))].concat();
    assert!(log.len() < 40_000);
    let log = sandbox.write("log.jsonl.zstd", &log);
    let script = format!(
        "ulimit -v 1500000 && exec {} verify --format json {}",
        env!("CARGO_BIN_EXE_dshc"),
        text(&log)
    );
    let output = Command::new("sh").args(["-c", &script]).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{errors}");
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let file = &report["files"][0];
    let finding = &file["findings"][0];
    assert_eq!(file["findings"].as_array().unwrap().len(), 1, "{report}");
    assert_eq!((&finding["code"], &finding["line"]), (&json!("line-too-long"), &json!(3)), "{report}");
    assert_eq!((&finding["frame"], &finding["byte"]), (&json!(3), &json!(before.len())), "{report}");
    assert_eq!(
        (&finding["seq"], &file["events"]),
        (&json!(1), &json!(2)),
        "the event behind it is read: {report}"
    );
}
