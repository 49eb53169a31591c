//! `dshc repack`: what it makes of logs, and what it says of that.

mod deaths;
mod guards;
mod schema;

use crate::golden::assert_golden;
use crate::official::{judge, judge_strictly};
use crate::sandbox::{Sandbox, corpus, decoded, fixture, text};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

const DEMO: &str = "demo-zstd/session.jsonl.zstd";

/// How long each frame of a log is, by the structure of the frames alone.
fn frames(log: &Path) -> Vec<usize> {
    let mut bytes = fs::read(log).unwrap();
    let mut lengths = Vec::new();
    while !bytes.is_empty() {
        let length = zstd::zstd_safe::find_frame_compressed_size(&bytes).unwrap();
        bytes.drain(..length);
        lengths.push(length);
    }
    lengths
}

fn digest(sandbox: &Sandbox, log: &Path) -> Value {
    sandbox.json(&["replay", text(log)]).0["digest"].take()
}

/// That a log in its new frames is the old one to every reader.
fn assert_same_log(sandbox: &Sandbox, old: &Path, new: &Path) {
    let case = old.display();
    assert_eq!(decoded(new), decoded(old), "{case}");
    assert_eq!(digest(sandbox, new), digest(sandbox, old), "{case}");
    let [old_bytes, new_bytes] = [old, new].map(|log| fs::read(log).unwrap());
    let head = frames(old)[0];
    assert_eq!(new_bytes[..head], old_bytes[..head], "{case}");
    assert!(new_bytes.len() < old_bytes.len(), "{case}");
}

#[test]
fn a_log_in_place_is_smaller_and_the_same_to_every_reader() {
    let sandbox = Sandbox::new();
    let (old, log) = (fixture(DEMO), sandbox.copy(fixture(DEMO)));
    let time = fs::metadata(&log).unwrap().modified().unwrap();
    let (report, code) = sandbox.json(&["repack", text(&log), "--in-place"]);
    let file = &report["files"][0];
    assert_eq!((code, &file["status"]), (0, &json!("repacked")), "{report}");
    assert_same_log(&sandbox, &old, &log);
    let [before, after] = [&old, &log].map(|log| fs::metadata(log).unwrap().len());
    assert_eq!(file["bytes"], json!({ "before": before, "after": after }));
    assert_eq!(file["frames"], json!({ "before": frames(&old).len(), "after": frames(&log).len() }));
    assert_eq!((file["textBytes"].clone(), frames(&log).len()), (json!(decoded(&old).len()), 2));
    assert_eq!(file["digest"], digest(&sandbox, &old));
    assert_eq!(fs::metadata(&log).unwrap().modified().unwrap(), time);
    assert_eq!(fs::read_dir(sandbox.path("")).unwrap().count(), 1);
    let (again, code) = sandbox.json(&["repack", text(&log), "--in-place"]);
    assert_eq!((code, &again["files"][0]["status"]), (0, &json!("nothing_to_do")), "{again}");
    assert_eq!(again["files"][0]["digest"], file["digest"]);
    // It is a log like any other: compacted, and repacked again with what that has added.
    assert_eq!(sandbox.run(&["compact", text(&log), "--keep-turns", "2"]).code, 0);
    let longer = sandbox.write("longer/session.jsonl.zstd", &fs::read(&log).unwrap());
    assert!(fs::metadata(&longer).unwrap().len() > after);
    assert_eq!(sandbox.run(&["repack", text(&log), "--in-place"]).code, 0);
    assert_same_log(&sandbox, &longer, &log);
}

#[test]
fn a_folder_is_mirrored_and_the_inputs_stay() {
    let sandbox = Sandbox::new();
    let root = fixture("corpus");
    let (report, code) = sandbox.json(&["repack", text(&root), "-o", "packed"]);
    assert_eq!(code, 0, "{report}");
    let (mut repacked, mut before, mut after) = (Vec::new(), 0, 0);
    for file in report["files"].as_array().unwrap() {
        let log = PathBuf::from(file["path"].as_str().unwrap());
        let mirror = sandbox.path("packed").join(log.strip_prefix(&root).unwrap());
        let is_zstd = log.extension().is_some_and(|ending| ending == "zstd");
        let status = if is_zstd { "repacked" } else { "nothing_to_do" };
        assert_eq!((&file["status"], mirror.exists()), (&json!(status), is_zstd), "{file}");
        let length = fs::metadata(&log).unwrap().len();
        before += length;
        if is_zstd {
            assert_same_log(&sandbox, &log, &mirror);
            assert_eq!(sandbox.path("").join(file["output"].as_str().unwrap()), mirror);
            after += fs::metadata(&mirror).unwrap().len();
            repacked.push(mirror);
        } else {
            assert!(file["notes"].to_string().contains("not compressed"), "{file}");
            after += length;
        }
    }
    assert!(repacked.len() >= 10, "{repacked:?}");
    assert_eq!(report["summary"]["bytes"], json!({ "before": before, "after": after }));
    assert!(
        report["ignored"]
            .as_array()
            .unwrap()
            .iter()
            .any(|path| { path.as_str().unwrap().ends_with("official.jsonl") })
    );
    // A dry run tells the same of each log.
    let (plan, code) = sandbox.json(&["repack", "-n", text(&root)]);
    assert_eq!((code, &plan["summary"]["bytes"]), (0, &report["summary"]["bytes"]));
}

#[test]
fn the_official_reader_sees_the_same_session() {
    let sandbox = Sandbox::new();
    let is_zstd = |log: &PathBuf| log.extension().is_some_and(|ending| ending == "zstd");
    let mut logs: Vec<PathBuf> = corpus().into_iter().map(|(log, _)| log).filter(is_zstd).collect();
    logs.push(fixture(DEMO));
    let mut repacked = Vec::new();
    for (index, log) in logs.iter().enumerate() {
        let output = sandbox.path(&format!("{index}/session.jsonl.zstd"));
        let run = sandbox.run(&["repack", text(log), "-o", text(&output)]);
        assert_eq!(run.code, 0, "{run:?}");
        repacked.push(output);
    }
    let Some(verdicts) = judge(&repacked, &["--messages"]) else { return };
    let expected = judge(&logs, &["--messages"]).unwrap();
    for (found, expected) in verdicts.iter().zip(&expected) {
        assert_eq!((&found["loads"], &found["opened"]["error"]), (&json!(true), &Value::Null), "{found}");
        for member in ["stored", "resumed", "invariants"] {
            assert_eq!(found[member], expected[member], "{}", found["path"]);
        }
        assert_eq!(found["opened"]["keepsBytes"], json!(true), "{found}");
    }
    for verdict in judge_strictly(&repacked).unwrap() {
        assert_eq!(verdict["ok"], json!(true), "{verdict}");
    }
}

/// Logs of later formats: their codecs read the text, whatever the frames.
#[test]
fn every_format_is_repacked() {
    let sandbox = Sandbox::new();
    for name in ["demo.v0", "demo.v2", "demo.v3", "demo.v4", "native.v4"] {
        let raw = fs::read(fixture(&format!("formats/{name}.jsonl"))).unwrap();
        // A frame for the header and one for each event.
        let frames = raw.split_inclusive(|byte| *byte == b'\n');
        let frames: Vec<u8> = frames.flat_map(|line| zstd::bulk::compress(line, 3).unwrap()).collect();
        let old = sandbox.write(&format!("old/{name}.jsonl.zstd"), &frames);
        let log = sandbox.copy(&old);
        let run = sandbox.run(&["repack", text(&log), "--in-place"]);
        assert_eq!(run.code, 0, "{run:?}");
        assert_same_log(&sandbox, &old, &log);
        assert_eq!(decoded(&log), raw);
    }
}

#[test]
fn where_the_result_goes_must_be_said() {
    let sandbox = Sandbox::new();
    let log = sandbox.copy(fixture(DEMO));
    let old = fs::read(&log).unwrap();
    let log = text(&log);
    for (arguments, told) in [
        (&[log][..], "where is the result to go?"),
        (&[log, "-o", log], "exists"),
        (&[log, "--in-place", "-o", "new.jsonl.zstd"], "cannot be used with"),
        (&[log, "--level", "23", "-n"], "1..=22"),
        (&["-", "-n"], "standard input"),
        (&["--in-place"], "PATH"),
    ] {
        let run = sandbox.run(&[&["repack"], arguments].concat());
        assert_eq!((run.code, run.out.as_str()), (2, ""), "{run:?}");
        assert!(run.err.contains(told), "{run:?}");
    }
    assert_eq!(fs::read(log).unwrap(), old);
    let run = sandbox.run(&["repack", log, "-o", "session.jsonl"]);
    assert_eq!(run.code, 4, "{run:?}");
    assert!(run.err.contains("promises by its name another container"), "{run:?}");
}

#[test]
fn harder_levels_give_fewer_bytes() {
    let sandbox = Sandbox::new();
    let log = sandbox.copy(fixture(DEMO));
    let after = |options: &[&str]| {
        let (report, code) = sandbox.json(&[&["repack", "-n", text(&log)], options].concat());
        assert_eq!(code, 0, "{report}");
        report["files"][0]["bytes"]["after"].as_u64().unwrap()
    };
    let lengths = [&["--level", "1"][..], &["--level", "9"], &["--level", "19"]].map(after);
    assert!(lengths.is_sorted_by(|left, right| left > right), "{lengths:?}");
    assert_eq!(after(&[]), lengths[2]);
    // Where less effort would make it longer, it stays.
    assert_eq!(sandbox.run(&["repack", text(&log), "--in-place"]).code, 0);
    let (report, code) = sandbox.json(&["repack", text(&log), "--in-place", "--level", "1"]);
    assert_eq!((code, &report["files"][0]["status"]), (0, &json!("nothing_to_do")), "{report}");
    assert_eq!(fs::metadata(&log).unwrap().len(), lengths[2]);
}

/// Every status, and what stands at the end of a report of several logs.
#[test]
fn reports_are_as_they_were() {
    let sandbox = Sandbox::new();
    sandbox.write("logs/packed.jsonl.zstd", &fs::read(fixture(DEMO)).unwrap());
    sandbox.write("logs/plain.jsonl", &fs::read(fixture("demo/session.jsonl")).unwrap());
    let torn = fs::read(fixture(DEMO)).unwrap();
    sandbox.write("logs/torn.jsonl.zstd", &torn[..torn.len() - 2]);
    sandbox.write("logs/empty.jsonl.zstd", b"");
    let names = ["packed.jsonl.zstd", "plain.jsonl", "torn.jsonl.zstd", "empty.jsonl.zstd"];
    let logs = names.map(|name| format!("logs/{name}"));
    let arguments: Vec<&str> = ["repack"].into_iter().chain(logs.iter().map(String::as_str)).collect();
    let plan = sandbox.run(&[&arguments[..], &["-n"]].concat());
    let done = sandbox.run(&[&arguments[..], &["-o", "new"]].concat());
    assert_eq!([plan.code, done.code], [3, 3], "{plan:?}\n{done:?}");
    // How many bytes the compressor makes of it is its own affair, and may change with its version.
    let after = fs::metadata(sandbox.path("new/packed.jsonl.zstd")).unwrap().len();
    let blur = |told: &str, total: u64| {
        let digits = |number: u64| {
            let text = number.to_string();
            let (head, tail) = text.split_at(text.len() - 3);
            format!("{head},{tail}")
        };
        let told = told.replace(&digits(after), "AFTER").replace(&digits(total), "TOTAL");
        let is_share = |word: &str| word.starts_with('(') && word.ends_with(char::is_numeric);
        let words = told.split(' ').map(|word| if is_share(word) { "(SHARE" } else { word });
        words.collect::<Vec<_>>().join(" ")
    };
    let rest: u64 = logs[1..].iter().map(|log| fs::metadata(sandbox.path(log)).unwrap().len()).sum();
    let told = [&plan, &done].map(|run| blur(&format!("{}\n{}", run.out, run.err), after + rest)).concat();
    assert_golden("repack.txt", &told);
    let mut document = sandbox.json(&[&arguments[..], &["-n"]].concat()).0;
    document["files"][1]["bytes"]["after"] = json!(0);
    document["summary"]["bytes"]["after"] = json!(0);
    assert_golden("repack.json", &format!("{document:#}\n"));
}

#[test]
fn any_number_of_jobs_gives_the_same_report() {
    let sandbox = Sandbox::new();
    let of = |options: &[&str]| {
        let run =
            sandbox.run(&[&["repack", text(&fixture("corpus")), "-n", "--level", "3"], options].concat());
        assert_eq!(run.code, 0, "{run:?}");
        run.out
    };
    for format in ["human", "json"] {
        assert_eq!(of(&["-j1", "--format", format]), of(&["-j3", "--format", format]));
    }
    let told = of(&[]);
    assert!(
        told.contains("  nothing to do\n") && told.contains(" planned, "),
        "many logs are told in totals: {told}"
    );
    assert!(of(&["-v"]).contains("gen-11-0/session.jsonl.zstd\n"));
}

/// One log of many tiny frames becomes a log of one large one.
#[test]
fn thousands_of_tiny_frames_become_one() {
    let sandbox = Sandbox::new();
    let header = crate::sandbox::HEADER;
    let mut bytes = zstd::bulk::compress(format!("{header}\n").as_bytes(), 3).unwrap();
    for seq in 0..5_000 {
        let event =
            format!("{{\"type\":\"todo/write\",\"seq\":{seq},\"time\":1,\"data\":{{\"todos\":[]}}}}\n");
        bytes.extend(zstd::bulk::compress(event.as_bytes(), 3).unwrap());
    }
    let log = sandbox.write("session.jsonl.zstd", &bytes);
    let (report, code) = sandbox.json(&["repack", text(&log), "--in-place"]);
    let file = &report["files"][0];
    assert_eq!((code, &file["frames"]), (0, &json!({ "before": 5001, "after": 2 })), "{report}");
    assert!(file["bytes"]["after"].as_u64().unwrap() * 10 < bytes.len() as u64, "{report}");
    let [old, new] = [&sandbox.write("old/session.jsonl.zstd", &bytes), &log].map(|log| {
        let (report, _) = sandbox.json(&["verify", text(log)]);
        let file = &report["files"][0];
        (file["events"].clone(), file["findings"].as_array().unwrap().len())
    });
    assert_eq!((&new, &new.0), (&old, &json!(5000)));
}
