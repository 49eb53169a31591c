//! What real files hold, each kind through the binary: opened as dsh opens it, or refused with line, byte and reason.

use crate::official::judge;
use crate::sandbox::{HEADER, Sandbox, text};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

fn event(seq: u64, event_type: &str, data: &str) -> String {
    format!(r#"{{"type":"{event_type}","seq":{seq},"time":1,"data":{data}}}"#)
}

fn todo(seq: u64) -> String {
    event(seq, "todo/write", r#"{"todos":[]}"#)
}

fn turn_start(seq: u64) -> String {
    event(seq, "turn/start", r#"{"turn":1}"#)
}

fn turn_end(seq: u64) -> String {
    event(seq, "turn/end", r#"{"turn":1,"reason":{"kind":"completed"}}"#)
}

fn prompt(seq: u64, words: &str) -> String {
    let message = format!(
        r#"{{"id":"m{seq}","role":"user","content":[{{"type":"text","text":"{words}"}}],"source":{{"kind":"user"}}}}"#
    );
    event(seq, "user/message", &message).replacen(r#","data""#, r#","surfaceOp":"append","data""#, 1)
}

fn log(lines: &[&str]) -> Vec<u8> {
    ([&[HEADER], lines].concat().join("\n") + "\n").into_bytes()
}

fn frames(parts: &[&[u8]]) -> Vec<u8> {
    parts.iter().flat_map(|part| zstd::bulk::compress(part, 3).unwrap()).collect()
}

/// What `verify` says: `code@line` of each finding, and the exit code.
fn verify(sandbox: &Sandbox, log: &Path) -> (Vec<String>, i32, Value) {
    let (report, code) = sandbox.json(&["verify", text(log)]);
    let file = &report["files"][0];
    let spell = |finding: &Value| format!("{}@{}", finding["code"].as_str().unwrap(), finding["line"]);
    (file["findings"].as_array().unwrap().iter().map(spell).collect(), code, file.clone())
}

/// A log whose damage costs no event: `replay` refuses it, shows all of it when asked, and `compact` leaves it alone.
fn is_shown_whole(sandbox: &Sandbox, log: &Path, events: u64) {
    let before = fs::read(log).unwrap();
    let refused = sandbox.run(&["replay", text(log)]);
    assert_eq!(refused.code, 3);
    assert!(refused.err.contains("--partial shows all, for no event is lost"), "{}", refused.err);
    let (view, code) = sandbox.json(&["replay", "--partial", text(log)]);
    assert_eq!((code, &view["events"]), (1, &json!(events)), "{view}");
    let notes = view["notes"].to_string();
    assert!(notes.contains(&format!("shown are all {events} events")), "{notes}");
    let (report, code) = sandbox.json(&["compact", text(log), "--region", "1..1"]);
    assert_eq!((code, &report["files"][0]["reason"]["code"]), (4, &json!("damaged")), "{report}");
    assert_eq!(fs::read(log).unwrap(), before);
}

#[test]
fn faults_that_cost_no_event_are_shown_past() {
    let sandbox = Sandbox::new();
    let [start, prompt, todo, end] = [turn_start(0), prompt(1, "hi"), todo(2), turn_end(3)];
    let sound = log(&[&start, &prompt, &todo, &end]);
    let bom = [b"\xef\xbb\xbf", sound.as_slice()].concat();
    let kinds = [
        ("bom", bom, "official-reader-refuses@1"),
        ("blank", log(&[&start, &prompt, "", &todo, &end]), "blank-line@4"),
        ("white space", log(&[&start, &prompt, " \t\r", &todo, &end]), "blank-line@4"),
        ("line of NULs", log(&[&start, &prompt, "\0\0\0\0", &todo, &end]), "nul-block@4"),
        ("NULs before", log(&[&start, &prompt, &format!("\0\0{todo}"), &end]), "nul-block@4"),
        ("NULs behind", log(&[&start, &prompt, &format!("{todo}\0\0"), &end]), "nul-block@4"),
        ("stub", log(&[&start, &prompt, &format!("{}{todo}", &todo[..20]), &end]), "fused-records@4"),
        ("fused", log(&[&start, &format!("{prompt}{todo}"), &end]), "fused-records@3"),
        ("later bom", log(&[&start, &prompt, &format!("\u{feff}{todo}"), &end]), "fused-records@4"),
    ];
    let mut logs = Vec::new();
    for (name, bytes, found) in kinds {
        let log = sandbox.write(&format!("{name}.jsonl"), &bytes);
        logs.push(log.clone());
        let (findings, code, file) = verify(&sandbox, &log);
        let findings: Vec<_> = findings.iter().filter(|finding| !finding.starts_with("crlf")).collect();
        assert_eq!((findings, code), (vec![&found.to_owned()], 1), "{name}");
        assert_eq!(file["events"], json!(4), "{name}");
        is_shown_whole(&sandbox, &log, 4);
    }
    let [head, body] = [HEADER.to_owned() + "\n", [prompt, todo, end].join("\n") + "\n"];
    let start = start + "\n";
    let skippable = [&[0x50, 0x2a, 0x4d, 0x18, 2, 0, 0, 0][..], b"ab"].concat();
    let parts = frames(&[head.as_bytes(), start.as_bytes()]);
    for (name, bytes, found) in [
        (
            "skippable",
            [&parts[..], &skippable, &frames(&[body.as_bytes()])].concat(),
            "official-reader-refuses@null",
        ),
        ("header", frames(&[format!("{head}{start}").as_bytes(), body.as_bytes()]), "header-frame@null"),
        ("padding", [&parts[..], &frames(&[body.as_bytes()]), &[0; 300]].concat(), "trailing-garbage@null"),
    ] {
        let log = sandbox.write(&format!("{name}.jsonl.zstd"), &bytes);
        logs.push(log.clone());
        let (findings, code, _) = verify(&sandbox, &log);
        assert_eq!((findings, code), (vec![found.to_owned()], 1), "{name}");
        is_shown_whole(&sandbox, &log, 4);
    }
    for verdict in judge(&logs, &[]).unwrap_or_default() {
        assert_eq!(verdict["loads"], json!(false), "{verdict}");
    }
}

#[test]
fn real_damage_behind_a_harmless_fault_ends_the_view() {
    let sandbox = Sandbox::new();
    let [start, end] = [turn_start(0), turn_end(4)];
    let log = sandbox.write("log.jsonl", &log(&[&start, "", &todo(1), "{", &todo(3), &end]));
    let (view, code) = sandbox.json(&["replay", "--partial", text(&log)]);
    assert_eq!((code, &view["events"]), (1, &json!(2)), "{view}");
    assert!(
        view["notes"].to_string().contains("2 events before the damage; 2 sound events behind it"),
        "{view}"
    );
    let run = sandbox.run(&["replay", text(&log)]);
    assert!(run.code == 3 && run.err.contains("line 5"), "{}", run.err);
    // Before the damage, the log is what it was.
    assert_eq!(sandbox.run(&["replay", text(&log), "--at", "0"]).code, 0);
}

#[test]
fn crlf_is_a_note_and_stays_as_it_is() {
    let sandbox = Sandbox::new();
    let demo = fs::read_to_string(crate::sandbox::fixture("demo/session.jsonl")).unwrap();
    let log = sandbox.write("session.jsonl", demo.replace('\n', "\r\n").as_bytes());
    let (findings, code, file) = verify(&sandbox, &log);
    assert_eq!((findings, code, &file["status"]), (vec!["crlf@1".to_owned()], 0, &json!("clean")));
    let old = fs::read(&log).unwrap();
    let (report, code) = sandbox.json(&["compact", text(&log), "--keep-turns", "2"]);
    assert_eq!(code, 0, "{report}");
    assert!(report["files"][0]["notes"].to_string().contains("appended in LF alone"), "{report}");
    let new = fs::read(&log).unwrap();
    assert!(new.starts_with(&old) && !new[old.len()..].contains(&b'\r'));
    assert_eq!(sandbox.run(&["replay", text(&log)]).code, 0);
    if let Some(verdicts) = judge(&[log], &[]) {
        assert_eq!((&verdicts[0]["loads"], &verdicts[0]["invariants"]), (&json!(true), &json!("ok")));
    }
}

#[test]
fn bytes_that_are_no_utf8_are_shown_as_dsh_reads_them() {
    let sandbox = Sandbox::new();
    let mut bytes = log(&[&turn_start(0), &prompt(1, "aXb"), &turn_end(2)]);
    let at = bytes.iter().position(|byte| *byte == b'X').unwrap();
    bytes[at] = 0xe4;
    let log = sandbox.write("log.jsonl", &bytes);
    let (findings, code, file) = verify(&sandbox, &log);
    let finding = &file["findings"][0];
    assert_eq!((findings, code), (vec!["invalid-utf8@3".to_owned()], 0));
    assert_eq!((&finding["severity"], &finding["seq"]), (&json!("warning"), &json!(1)));
    assert_eq!((&finding["byte"], &finding["textByte"]), (&json!(at), &json!(at)));
    let run = sandbox.run(&["replay", "--format", "messages", text(&log)]);
    assert!(run.code == 0 && run.out.contains("a\u{fffd}b"), "{run:?}");
    if let Some(verdicts) = judge(&[log], &["--messages"]) {
        assert!(verdicts[0]["stored"]["messages"].to_string().contains("a\u{fffd}b"), "{}", verdicts[0]);
    }
}

#[test]
fn the_ends_of_files_are_told_apart() {
    let sandbox = Sandbox::new();
    let (start, todo) = (turn_start(0), todo(1));
    let sound = log(&[&start, &todo]);
    for (name, bytes, status, found) in [
        ("no line feed", sound[..sound.len() - 1].to_vec(), 0, "no-final-newline"),
        ("NULs", [&sound[..], &[0; 5000]].concat(), 0, "torn-tail"),
        ("NULs behind a record", [&sound[..sound.len() - 1], &[0; 77]].concat(), 0, "torn-tail"),
        ("empty", Vec::new(), 3, "empty-file"),
        ("header without line feed", HEADER.into(), 3, "no-header"),
        ("NULs alone", vec![0; 4096], 3, "no-header"),
    ] {
        let log = sandbox.write(&format!("{name}.jsonl"), &bytes);
        let (_, code, file) = verify(&sandbox, &log);
        assert_eq!((code, &file["findings"][0]["code"]), (status, &json!(found)), "{name}");
    }
    let message = |name: &str| verify(&sandbox, &sandbox.path(name)).2["findings"][0]["message"].to_string();
    assert!(message("NULs.jsonl").contains("5,000 bytes long: it is left out; all of them are NULs"));
    assert!(message("NULs behind a record.jsonl").contains("it is left out; the last 77 are NULs"));
    let header_only = sandbox.write("header only.jsonl", &log(&[]));
    assert_eq!(verify(&sandbox, &header_only).1, 0);
}

#[test]
fn odd_json_is_read_as_javascript_reads_it() {
    let sandbox = Sandbox::new();
    let twice = r#"{"type":"x","seq":9,"time":1,"data":{},"type":"todo/write","seq":1}"#;
    let deep = format!("{}{}", "[".repeat(3000), "]".repeat(3000));
    let spelt =
        todo(3).replace("\"seq\":3", "\"seq\":0.3e1").replace("[]", "[1e400,123456789012345678901234567890]");
    let lines = [&turn_start(0), twice, &todo(2).replace("[]", &deep), &spelt, &turn_end(4)];
    let log = sandbox.write("log.jsonl", &log(&lines));
    assert_eq!((verify(&sandbox, &log).0, verify(&sandbox, &log).1), (vec![], 0));
    let (view, code) = sandbox.json(&["replay", text(&log)]);
    assert_eq!((code, &view["events"]), (0, &json!(5)));
}

/// Whether dsh opens a log with a damaged line, and so deletes all from there on: for each of the tails that may follow.
type Fates = [bool; 5];

/// It does, unless a turn ends behind the line.
const DELETED: Fates = [true, true, false, true, false];
/// It refuses the log, whatever follows.
const REFUSED: Fates = [false; 5];

/// Logs with a first damage, and whether dsh opens them.
fn damaged() -> Vec<(String, Vec<u8>, bool)> {
    let [start, one, three] = [turn_start(0), todo(1), todo(3)];
    let extra = |seq: u64| todo(seq).replacen(r#","data""#, r#","meta":1,"data""#, 1);
    let row = r#"{"type":"text-chunks","seq0":2,"time0":1,"data":{}}"#;
    let bad: Vec<(&str, String, Fates)> = vec![
        ("broken", "{".into(), DELETED),
        ("blank", String::new(), DELETED),
        ("blanks", "\n\n".into(), DELETED),
        ("nul line", "\0\0\0\0".into(), DELETED),
        ("nuls before", format!("\0\0{}", todo(2)), DELETED),
        ("nuls behind", format!("{}\0\0", todo(2)), DELETED),
        ("fused", format!("{}{}", todo(2), todo(3)), DELETED),
        ("stub", format!("{}{}", &todo(2)[..30], todo(2)), DELETED),
        ("bom", format!("\u{feff}{}", todo(2)), DELETED),
        ("extra member", extra(2), REFUSED),
        ("extra member, other seq", extra(7), DELETED),
        ("no seq", r#"{"type":"todo/write","time":1,"data":{}}"#.into(), DELETED),
        ("text seq", todo(2).replace(":2,", ":\"2\","), DELETED),
        ("huge seq", todo(2).replace(":2,", ":1e400,"), DELETED),
        ("no time", r#"{"type":"todo/write","seq":2,"data":{}}"#.into(), REFUSED),
        ("number", "5".into(), DELETED),
        ("null", "null".into(), REFUSED),
        ("array", "[]".into(), DELETED),
        ("row", row.into(), DELETED),
        ("repeat", todo(1), DELETED),
        ("gap", todo(9), DELETED),
        ("turn end out of order", turn_end(8), REFUSED),
        ("turn end without a seq", r#"{"type":"turn/end","time":1,"data":{}}"#.into(), REFUSED),
        ("refused event", event(2, "user/message", "{}"), REFUSED),
        ("unknown event", event(2, "acme/switch", "{}"), REFUSED),
    ];
    let mut logs = Vec::new();
    for (name, line, fates) in &bad {
        let tails: [(&str, Vec<String>); 5] = [
            ("and nothing", vec![]),
            ("and an event", vec![three.clone()]),
            ("and a turn end", vec![three.clone(), turn_end(4)]),
            ("and half a turn end", vec![three.clone(), "{".to_owned() + &turn_end(4)]),
            ("and a bare turn end", vec![r#"{"type":"turn/end"}"#.to_owned(), three.clone()]),
        ];
        for ((behind, tail), is_opened) in tails.into_iter().zip(*fates) {
            let lines = [vec![start.clone(), one.clone(), line.clone()], tail].concat();
            let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
            logs.push((format!("{name} {behind}"), log(&lines), is_opened));
        }
    }
    let refused = event(1, "user/message", "{}");
    logs.push(("refused before".into(), log(&[&start, &refused, "{", &three]), false));
    logs.push(("turn end before".into(), log(&[&start, &turn_end(1), "{", &three]), true));
    logs
}

#[test]
fn verify_says_where_dsh_refuses_and_where_it_deletes() {
    let sandbox = Sandbox::new();
    let logs: Vec<(String, PathBuf, bool)> = damaged()
        .into_iter()
        .enumerate()
        .map(|(index, (name, bytes, is_opened))| {
            (name, sandbox.write(&format!("{index:04}.jsonl"), &bytes), is_opened)
        })
        .collect();
    let paths: Vec<PathBuf> = logs.iter().map(|(_, path, _)| path.clone()).collect();
    let mut arguments = vec!["verify"];
    arguments.extend(paths.iter().map(|path| text(path)));
    let (report, _) = sandbox.json(&arguments);
    for (index, (name, path, is_opened)) in logs.iter().enumerate() {
        let file = &report["files"][index];
        assert_eq!(file["path"], json!(text(path)));
        let helps = file["findings"].to_string();
        assert_eq!(helps.contains("deletes everything from here on"), *is_opened, "{name}: {helps}");
        let mut findings = file["findings"].as_array().unwrap().iter();
        let is_behind_told = findings.any(|finding| finding["code"] == json!("valid-events-after-damage"));
        assert!(*is_opened || !is_behind_told, "{name}: {helps}");
    }
    let Some(verdicts) = judge(&paths, &[]) else { return };
    for ((name, _, is_opened), verdict) in logs.iter().zip(&verdicts) {
        assert_eq!(verdict["loads"], json!(is_opened), "{name}: {verdict}");
        assert!(!is_opened || verdict["opened"]["keepsBytes"] == json!(false), "{name}: {verdict}");
    }
}

#[test]
fn verify_says_that_dsh_refuses_damaged_compressed_logs() {
    let sandbox = Sandbox::new();
    let mut paths = Vec::new();
    let is_line = |name: &str| {
        name.ends_with("an event") && !name.starts_with("refused") && !name.starts_with("unknown")
    };
    for (index, (_, bytes, _)) in damaged().into_iter().filter(|(name, ..)| is_line(name)).enumerate() {
        let (head, body) = bytes.split_at(HEADER.len() + 1);
        let log = sandbox.write(&format!("{index}.jsonl.zstd"), &frames(&[head, body]));
        let (_, code, file) = verify(&sandbox, &log);
        let findings = file["findings"].to_string();
        assert_eq!((code, findings.contains("delete")), (1, false), "{findings}");
        assert!(findings.contains("dsh refuses the log"), "{findings}");
        paths.push(log);
    }
    assert!(paths.len() > 20, "{} logs", paths.len());
    for verdict in judge(&paths, &[]).unwrap_or_default() {
        assert_eq!(verdict["loads"], json!(false), "{verdict}");
    }
}

#[test]
fn a_frame_that_swallows_others_is_deleted_with_them() {
    let sandbox = Sandbox::new();
    // Long enough that the judge finds the header before the damage.
    let words = (0..200_u64).map(|n| (n * n * n * 7_919).to_string()).collect::<Vec<_>>().join(" ");
    let lines = [
        HEADER.to_owned(),
        turn_start(0).replace("}}", &format!(",\"x\":\"{words}\"}}}}")),
        todo(1),
        turn_end(2),
    ];
    let [head, start, todo, end] = lines.map(|line| line + "\n");
    let before = frames(&[head.as_bytes(), start.as_bytes()]);
    let mut bytes = [&before[..], &frames(&[todo.as_bytes(), end.as_bytes()])].concat();
    // The size in the block header, which stands behind magic, descriptor and content size.
    bytes[before.len() + 8] = 0xff;
    let log = sandbox.write("log.jsonl.zstd", &bytes);
    let (findings, code, file) = verify(&sandbox, &log);
    assert_eq!((findings.len(), code), (2, 1), "{file}");
    let behind = &file["findings"][1];
    assert_eq!(behind["code"], json!("valid-events-after-damage"));
    let deletes = format!("deletes all from byte {} on", before.len());
    assert!(behind["message"].as_str().unwrap().contains(&deletes), "{behind}");
    assert_eq!(sandbox.run(&["replay", text(&log)]).code, 3);
    for verdict in judge(&[log], &[]).unwrap_or_default() {
        assert_eq!((&verdict["loads"], &verdict["stored"]["events"]), (&json!(true), &json!(1)), "{verdict}");
        assert_eq!(verdict["opened"]["keepsBytes"], json!(false), "{verdict}");
    }
}
