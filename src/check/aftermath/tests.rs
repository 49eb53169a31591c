//! What dsh would make of small damaged logs; the official reader was asked about each kind.

use crate::check::testing::{self, HEADER, check_bytes, check_events, codes, event, frame};
use crate::check::{Checked, Finding};

fn todo(seq: u64) -> String {
    event(seq, "todo/write", "{}")
}

fn end(seq: u64) -> String {
    event(seq, "turn/end", r#"{"turn":1,"reason":{"kind":"completed"}}"#)
}

fn first(checked: &Checked) -> &Finding {
    checked.findings.iter().find(|finding| finding.code != "valid-events-after-damage").unwrap()
}

fn deleted(lines: &[String]) -> Option<String> {
    let checked = check_events(lines);
    let finding = checked.findings.iter().find(|finding| finding.code == "valid-events-after-damage");
    let is_told = first(&checked).help.contains("deletes everything from here on");
    assert_eq!(is_told, finding.is_some() || lines.len() < 3, "{:#?}", checked.findings);
    finding.map(|finding| finding.message.split(": ").next().unwrap().to_owned())
}

#[test]
fn sound_events_that_dsh_would_delete_are_counted() {
    let bad = "{".to_owned();
    let told = deleted(&[todo(0), bad.clone(), todo(2), todo(3), todo(4)]).unwrap();
    assert_eq!(told, "3 sound events (seqs 2 to 4, lines 4 to 6) stand behind the damage in line 3");
    let told = deleted(&[todo(0), bad.clone(), todo(2), bad.clone(), todo(4), todo(5)]).unwrap();
    assert!(told.starts_with("1 sound event (seq 2, line 4)"), "{told}");
    assert!(told.ends_with("and 2 more behind other damage"), "{told}");
    assert!(deleted(&[todo(0), todo(1), todo(1), todo(2)]).unwrap().starts_with("1 sound event (seq 2"));
    assert!(deleted(&[todo(0), todo(7), todo(8)]).unwrap().starts_with("2 sound events (seqs 7 to 8"));
    assert!(deleted(&[todo(0), String::new(), todo(1)]).unwrap().starts_with("1 sound event (seq 1"));
    assert_eq!(deleted(&[todo(0), bad]), None);
}

#[test]
fn the_end_of_a_turn_behind_damage_saves_the_log() {
    let bad = "{".to_owned();
    for lines in [
        vec![todo(0), bad.clone(), todo(2), end(3)],
        vec![todo(0), bad.clone(), r#"{"type":"turn/end"}"#.to_owned(), todo(3)],
        vec![todo(0), end(5), todo(6)],
        vec![todo(0), todo(0), end(1)],
        vec![todo(0), r#"{"type":"turn/end","time":1,"data":{}}"#.to_owned(), todo(2)],
    ] {
        let checked = check_events(&lines);
        assert!(!codes(&checked).contains(&"valid-events-after-damage"));
        let help = &first(&checked).help;
        assert!(
            help.contains("since a turn ends in line") || help.contains("since a turn ends in this line"),
            "{help}"
        );
    }
    // A turn that ended before does not, nor does an end that dsh cannot read.
    assert!(deleted(&[end(0), bad.clone(), todo(2)]).is_some());
    assert!(deleted(&[todo(0), bad, format!("{{{}", end(2)), todo(3)]).is_some());
}

#[test]
fn an_event_that_is_refused_saves_the_log() {
    let taken = todo(1).replace('}', ",\"x\":1}").replacen(",\"x\":1}", "}", 1);
    let checked = check_events(&[todo(0), taken.clone(), todo(2)]);
    assert_eq!(codes(&checked), ["invalid-envelope"]);
    assert!(first(&checked).help.contains("takes the line for an event"), "{:#?}", checked.findings);
    // With another seq it ends the scan.
    assert!(deleted(&[todo(0), taken.replace("\"seq\":1", "\"seq\":9"), todo(2)]).is_some());
    let refused = event(1, "acme/switch", "{}");
    assert_eq!(codes(&check_events(&[todo(0), refused.clone(), "{".into(), todo(3)])).len(), 2);
    assert!(deleted(&[todo(0), "{".into(), event(2, "acme/switch", "{}")]).is_some());
    let null = check_events(&[todo(0), "null".into(), todo(2)]);
    assert_eq!(codes(&null), ["invalid-envelope"]);
}

#[test]
fn a_row_is_no_end_of_its_own() {
    let row = |seq: u64| {
        format!(
            r#"{{"type":"text-chunks","seq0":{seq},"time0":1,"data":{{"turn":1,"step":1,"index":0,"dt":[1],"texts":["a","b"]}}}}"#
        )
    };
    let told = deleted(&[todo(0), todo(1), row(1), todo(2), row(3)]).unwrap();
    assert!(told.starts_with("3 sound events (seqs 2 to 4"), "{told}");
}

#[test]
fn a_damaged_last_frame_that_seems_torn_is_deleted() {
    let frames = [0, 1, 2].map(|seq| frame(&format!("{}\n", todo(seq))));
    let head = frame(&format!("{HEADER}\n"));
    let mut log = [&head[..], &frames.concat()].concat();
    // The block header behind a frame's six header bytes: now a block of two MiB.
    let damaged = head.len() + frames[0].len();
    log[damaged + 8] = 0xff;
    let checked = check_bytes(&log);
    assert_eq!(codes(&checked), ["frame-checksum", "valid-events-after-damage"]);
    let [frame_finding, behind] = &checked.findings[..] else { panic!() };
    let deletes = format!("deletes all from byte {damaged} on");
    assert!(frame_finding.help.ends_with(&deletes), "{}", frame_finding.help);
    let next = damaged + frames[1].len();
    assert!(behind.message.starts_with(&format!("from byte {next} on other frames")), "{}", behind.message);
    assert!(behind.message.contains("with 1 event: dsh opens"), "{}", behind.message);
    // What is wrong behind it does not matter to dsh.
    let mut odd = log.clone();
    odd.extend([0; 40]);
    let checked = check_bytes(&odd);
    assert_eq!(codes(&checked), ["frame-checksum", "valid-events-after-damage", "trailing-garbage"]);
    // With more damage before it dsh refuses the log.
    log[damaged - 1] ^= 1;
    let checked = check_bytes(&log);
    assert_eq!(codes(&checked), ["frame-checksum"; 2]);
    assert!(checked.findings[1].help.ends_with("for more than this"), "{}", checked.findings[1].help);
}

#[test]
fn compressed_logs_are_always_refused() {
    let log = [frame(&format!("{HEADER}\n")), frame(&format!("{}\n{{\n{}\n", todo(0), todo(2)))].concat();
    let finding = testing::only(check_bytes(&log));
    assert!(
        finding.help.ends_with("dsh refuses the log: no line of a whole frame may be bad"),
        "{}",
        finding.help
    );
}

#[test]
fn readers_of_format_3_take_wrong_markers_for_damage() {
    let prompt = |seq: u64, op: &str| {
        let data = r#"{"id":"u","role":"user","content":[],"source":{"kind":"user"}}"#;
        testing::marked(seq, "user/message", data, op, "")
    };
    let log = |more: &[String]| {
        let start = [prompt(0, "\"append\""), prompt(1, "7"), prompt(2, "\"append\"")];
        [&start[..], more].concat()
    };
    let fate = |version, more: &[String]| {
        let checked = testing::check_events_of(version, &log(more));
        let help = &checked.findings.iter().find(|finding| finding.seq == Some(1)).unwrap().help;
        (help.contains("deletes everything"), codes(&checked).contains(&"valid-events-after-damage"))
    };
    for version in [3, 4] {
        assert_eq!(fate(version, &[]), (true, true), "format {version}");
        assert_eq!(fate(version, &[end(3)]), (false, false), "format {version}: a turn ends behind it");
        let retired = event(3, "tool/code-dispatch", "{}");
        assert_eq!(fate(version, &[retired]), (false, false), "format {version}: refused wherever it stands");
    }
    assert_eq!(fate(2, &[]), (false, false), "the log is refused");
}

#[test]
fn the_lines_of_a_torn_frame_are_scanned_like_those_of_a_raw_log() {
    let torn = |lines: &[String]| {
        let mut log = [frame(&format!("{HEADER}\n")), frame(&(lines.join("\n") + "\n"))].concat();
        log.truncate(log.len() - 4);
        check_bytes(&log)
    };
    let bad = "{".to_owned();
    for damaged in [vec![todo(0), bad.clone(), end(2)], vec![todo(0), end(5)], vec![todo(0), todo(0), end(1)]]
    {
        let checked = torn(&damaged);
        let [tail, damage] = &checked.findings[..] else { panic!("{:#?}", checked.findings) };
        assert_eq!(tail.code, "torn-tail");
        assert!(tail.message.contains("1 whole record of it"), "{}", tail.message);
        assert!(!tail.message.contains("the log holds"), "{}", tail.message);
        assert!(tail.help.starts_with("dsh refuses the log"), "{}", tail.help);
        assert!(damage.help.contains("dsh refuses the log, since a turn ends in line"), "{}", damage.help);
    }
    let checked = torn(&[todo(0), bad.clone(), todo(2), todo(3)]);
    assert_eq!(codes(&checked), ["torn-tail", "unparsable-line", "valid-events-after-damage"]);
    assert!(checked.findings[0].help.contains("end at line 3 already"), "{}", checked.findings[0].help);
    assert!(checked.findings[1].help.contains("deletes everything from here on"));
    assert_eq!(codes(&torn(&[todo(0), bad])), ["torn-tail", "unparsable-line"]);
    assert_eq!(codes(&torn(&[todo(0), end(1)])), ["torn-tail"]);
}

#[test]
fn a_torn_line_is_told_by_what_dsh_makes_of_the_log() {
    let tail = |lines: &[String]| {
        let log = format!("{HEADER}\n{}\n{{\"type", lines.join("\n"));
        let findings = check_bytes(log.as_bytes()).findings;
        findings.into_iter().find(|finding| finding.code == "torn-tail").unwrap()
    };
    let bad = "{".to_owned();
    let sound = tail(&[todo(0)]);
    assert!(
        sound.message.contains("the log holds 1 event") && sound.help.contains("cuts the torn bytes off")
    );
    let dropped = tail(&[todo(0), bad.clone(), todo(2)]);
    assert!(!dropped.message.contains("the log holds"), "{}", dropped.message);
    assert!(dropped.help.contains("end at line 3 already"), "{}", dropped.help);
    let refused = tail(&[todo(0), bad, end(2)]);
    assert!(refused.help.starts_with("dsh refuses the log"), "{}", refused.help);
}

#[test]
fn damage_before_the_boundary_of_a_fork_makes_dsh_refuse_it() {
    let log = |version: u64, lines: &[String]| {
        let header = format!(
            r#"{{"type":"session","version":{version},"id":"s","createdAt":1,"isSeeded":true,"delegationDepth":0}}"#
        );
        check_bytes(format!("{header}\n{}\n", lines.join("\n")).as_bytes())
    };
    let marker = event(1, "session/end-seed", r#"{"inherited":true}"#);
    let bad = "{".to_owned();
    for version in [2, 3, 4] {
        for lines in [[bad.clone(), marker.clone(), todo(2)], [todo(0), marker.replace('}', ""), todo(2)]] {
            let checked = log(version, &lines);
            assert!(!codes(&checked).contains(&"valid-events-after-damage"), "format {version}");
            let help = &first(&checked).help;
            assert!(help.contains("dsh refuses the log: what stands before this"), "{help}");
        }
        let behind = log(version, &[todo(0), marker.clone(), bad.clone(), todo(3)]);
        assert!(codes(&behind).contains(&"valid-events-after-damage"), "format {version}");
    }
}

#[test]
fn what_is_no_sound_event_is_not_counted_as_one() {
    let told = deleted(&[todo(0), todo(1), todo(0), todo(1), todo(2), todo(3)]).unwrap();
    assert!(told.starts_with("2 sound events (seqs 2 to 3, lines 6 to 7)"), "{told}");
    let prompt = |seq: u64, op: &str| {
        let data = r#"{"id":"u","role":"user","content":[],"source":{"kind":"user"}}"#;
        testing::marked(seq, "user/message", data, op, "")
    };
    let log = [prompt(0, "\"append\""), prompt(1, "7"), prompt(2, "\"append\""), prompt(3, "7")];
    let checked = testing::check_events_of(3, &log);
    let counted =
        checked.findings.iter().find(|finding| finding.code == "valid-events-after-damage").unwrap();
    assert!(counted.message.starts_with("1 sound event (seq 2,"), "{}", counted.message);
}

#[test]
fn why_a_log_is_refused_is_told_once() {
    let broken_end = event(2, "turn/end", "{}");
    let checked = check_events(&[todo(0), broken_end]);
    let helps: Vec<(&str, usize)> = checked
        .findings
        .iter()
        .map(|finding| (finding.code, finding.help.matches("dsh refuses").count()))
        .collect();
    assert!(!helps.is_empty() && helps.iter().all(|(_, times)| *times == 1), "{:#?}", checked.findings);
    let gap = checked.findings.iter().find(|finding| finding.code == "seq-gap").unwrap();
    assert!(gap.help.ends_with("dsh refuses the log, since a turn ends in this line"), "{}", gap.help);
}
