//! Another writer appends while a summary is made.

use crate::compact::tests::{LOGS, Live, OPTIONS, SUMMARY, log, refold, seqs, services};
use crate::compact::{Outcome, Retention, Status, compact};
use crate::log::append::{RealDisk, zstd_frame};
use crate::session::{Folded, LockState};
use std::fs;
use std::io::Write;
use std::path::Path;

/// Appends lines to a log as another process would.
fn append_foreign(path: &Path, lines: &[String]) {
    let text = lines.join("\n") + "\n";
    let bytes = if path.extension().unwrap() == "zstd" {
        zstd_frame(text.as_bytes()).unwrap()
    } else {
        text.into_bytes()
    };
    fs::OpenOptions::new().append(true).open(path).unwrap().write_all(&bytes).unwrap();
}

fn event(event_type: &str, seq: u64, data: &str) -> String {
    format!("{{\"type\":\"{event_type}\",\"seq\":{seq},\"time\":1,\"data\":{data}}}")
}

fn message(seq: u64, surface_op: &str) -> String {
    let data = "{\"id\":\"f\",\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"beside\"}],\"source\":{\"kind\":\"user\"}}";
    let plain = event("user/message", seq, data);
    format!("{},\"surfaceOp\":{surface_op}}}", plain.strip_suffix('}').unwrap())
}

/// Compacts a log to which `lines(next seq)` are appended while the summary is made; the log before and after.
fn with_other_writer(
    name: &str,
    retention: Retention,
    lines: impl Fn(u64) -> Vec<String> + Sync,
) -> (Outcome, Folded, Folded) {
    let (_folder, path, _) = log(name);
    compact_beside(&path, retention, lines)
}

fn compact_beside(
    path: &Path,
    retention: Retention,
    lines: impl Fn(u64) -> Vec<String> + Sync,
) -> (Outcome, Folded, Folded) {
    let (old, before) = (fs::read(path).unwrap(), refold(path));
    let other = path.to_owned();
    let next = before.session.events + 1;
    let live = Live(move || {
        append_foreign(&other, &lines(next));
        Ok(SUMMARY.into())
    });
    let options = crate::compact::Options { choice: retention, ..OPTIONS };
    let outcome = compact(path, None, &options, &services(&live, &RealDisk));
    assert!(fs::read(path).unwrap().starts_with(&old));
    (outcome, before, refold(path))
}

#[test]
fn what_others_append_outside_a_turn_stays_behind_the_checkpoint() {
    for name in LOGS {
        let lines = |seq| vec![event("todo/write", seq, "{\"todos\":[]}"), message(seq + 1, "\"append\"")];
        let (outcome, before, after) = with_other_writer(name, OPTIONS.choice, lines);
        assert_eq!(outcome.status, Status::Compacted, "{name}: {:?}", outcome.reason);
        let next = before.session.events + 1;
        let pass = &outcome.passes[0];
        let appended = pass.appended.as_ref().unwrap();
        assert_eq!((appended.start_seq, appended.summary_seq), (next - 1, Some(next + 2)), "{name}");
        assert_eq!(after.session.events, next + 5, "{name}");
        assert_eq!(after.session.lock(), LockState::Free, "{name}");
        let mut expected = seqs(&before).to_vec();
        let region = pass.region.as_ref().unwrap();
        let start = before.session.surface.position(region.start).unwrap();
        expected.splice(start..start + region.seqs.len(), appended.checkpoint_seq);
        expected.push(next + 1);
        assert_eq!(seqs(&after), expected, "{name}");
        assert_eq!(after.session.estimate.sum, i128::from(after.session.surface.host_tokens()), "{name}");
    }
}

#[test]
fn a_region_that_another_writer_changed_is_not_replaced() {
    for name in LOGS {
        let (_folder, path, _) = log(name);
        let first = seqs(&refold(&path))[3];
        let lines = |seq| {
            let replace = format!("{{\"op\":\"replace\",\"start\":{first},\"end\":{first}}}");
            let line = message(seq, &replace);
            vec![format!("{},\"sourceEventSeqs\":[{first}]}}", line.strip_suffix('}').unwrap())]
        };
        let (outcome, before, after) = with_other_writer(name, OPTIONS.choice, lines);
        let next = before.session.events + 1;
        let reason = outcome.reason.unwrap();
        assert_eq!((outcome.status, reason.code), (Status::Failed, "changed"), "{name}: {}", reason.message);
        assert!(reason.message.contains("the region"), "{}", reason.message);
        // The other's replacement, and the end with the error behind it.
        assert_eq!((after.session.events, after.session.lock()), (next + 2, LockState::Free), "{name}");
        assert_eq!(after.session.surface.replace_generation, before.session.surface.replace_generation + 1);
        assert_eq!(outcome.passes[0].appended.as_ref().unwrap().end_seq, Some(next + 1));
    }
}

#[test]
fn a_bracket_that_can_no_longer_be_closed_is_left_open_and_named() {
    for name in LOGS {
        let (_folder, path, _) = log(name);
        let turn = refold(&path).session.turns.current() + 1;
        let start = refold(&path).session.events;
        let cases: [(&str, Vec<String>, &str); 4] = [
            (
                "turn",
                vec![event("turn/start", start + 1, &format!("{{\"turn\":{turn}}}"))],
                "inside the compaction",
            ),
            ("end-seed", vec![event("session/end-seed", start + 1, "{}")], "voided"),
            ("gap", vec![event("todo/write", start + 7, "{\"todos\":[]}")], "cannot be read"),
            ("rubbish", vec!["{\"type\":".to_owned()], "cannot be read"),
        ];
        for (case, lines, told) in cases {
            let (outcome, before, after) = with_other_writer(name, OPTIONS.choice, |_| lines.clone());
            let reason = outcome.reason.unwrap();
            assert_eq!((outcome.status, reason.code), (Status::Failed, "changed"), "{name} {case}");
            assert!(reason.message.contains(told), "{name} {case}: {}", reason.message);
            let left = format!("compaction/start {start} is left open");
            // One that the other has voided is not.
            let is_left = case != "end-seed";
            assert_eq!(reason.message.contains(&left), is_left, "{name} {case}: {}", reason.message);
            assert_eq!(reason.help.contains("--break-lock"), is_left, "{}", reason.help);
            assert_eq!(seqs(&after), seqs(&before), "{name} {case}");
            assert_eq!(outcome.passes[0].appended.as_ref().unwrap().end_seq, None);
            assert!(!matches!(after.session.lock(), LockState::Free), "{name} {case}");
        }
    }
}

#[test]
fn inside_an_open_turn_the_whole_surface_must_stay() {
    let with_open_turn = || {
        let (folder, path, _) = log(LOGS[0]);
        let (next, turn) = (refold(&path).session.events, refold(&path).session.turns.current() + 1);
        append_foreign(&path, &[event("turn/start", next, &format!("{{\"turn\":{turn}}}"))]);
        (folder, path)
    };
    let (_folder, path) = with_open_turn();
    let todo = |seq| vec![event("todo/write", seq, "{\"todos\":[]}")];
    let (outcome, before, after) = compact_beside(&path, OPTIONS.choice, todo);
    assert!(before.session.turns.open().is_some());
    assert_eq!(outcome.status, Status::Compacted, "{:?}", outcome.reason);
    assert_eq!(after.session.lock(), LockState::Free);
    let (_folder, path) = with_open_turn();
    let (outcome, before, after) =
        compact_beside(&path, OPTIONS.choice, |seq| vec![message(seq, "\"append\"")]);
    let reason = outcome.reason.unwrap();
    assert_eq!((outcome.status, reason.code), (Status::Failed, "changed"));
    assert!(reason.message.contains("inside the open turn"), "{}", reason.message);
    assert_eq!(after.session.lock(), LockState::Free);
    assert_eq!(after.session.surface.nodes().len(), before.session.surface.nodes().len() + 1);
}
