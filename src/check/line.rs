//! Lines that hold no record (FORMAT §4, §5.1, §9.1).

use super::Finding;
use super::registry::rule_family;
use crate::log::{Fault, FaultKind, PackedRow, Place};
use crate::wording::grouped;

rule_family! {
    "line";
    /// A line is no JSON value.
    ///
    /// **What it means.** Every line after the header is one JSON object. This line is none, and holds
    /// neither NUL bytes nor a whole record within it. Where the record behind it has the seq that belongs
    /// here, the line held nothing of the log; otherwise its event is lost.
    ///
    /// **Why it matters.** In a compressed log one such line makes dsh refuse the log. In a raw log dsh
    /// refuses it if a turn ends in a later line; without that it takes the line for the torn end of the log,
    /// opens it, and deletes the line and everything behind it. The help of the first damaged line says which
    /// of these holds.
    ///
    /// **How it comes about.** A writer was killed in the middle of a line and another one went on behind it.
    /// Or a disk or a copying tool lost bytes, or somebody edited the file.
    ///
    /// **What to do.** Copy the file before dsh opens the session. Put the line right from another copy, or,
    /// where nothing is lost with it, remove exactly this line. Do not let dsh load a log with
    /// `valid-events-after-damage` before that.
    UNPARSABLE_LINE = error("unparsable-line");
    /// A line is empty, which dsh takes for a damaged record.
    ///
    /// **What it means.** One or more lines in a row hold nothing, or white space alone. All events around
    /// them are there: the seqs go on.
    ///
    /// **Why it matters.** dsh is not indifferent to them. It refuses a compressed log, and a raw one if a
    /// turn ends behind them; else it opens the raw log and deletes all from the first blank line on.
    ///
    /// **How it comes about.** An editor or a script that joins files adds an empty line, most often at the
    /// end. A carriage return alone on a line comes of changing line ends twice.
    ///
    /// **What to do.** Remove exactly the empty lines, in a copy; no other byte changes. `dshc replay` shows
    /// the session as it is, and dshc counts no event as missing for them.
    BLANK_LINE = error("blank-line");
    /// NUL bytes stand in a line, or are all of it.
    ///
    /// **What it means.** Bytes of value zero stand outside any record. The finding tells how many, whether
    /// whole records stand in the same line, and whether the numbers go on. A line of NULs alone holds no
    /// event; a gap behind it shows whether it took any away.
    ///
    /// **Why it matters.** NULs are no JSON, so the line counts as damaged: dsh refuses a compressed log, and
    /// a raw one with a later `turn/end`. Else it opens it and deletes what stands from there on.
    ///
    /// **How it comes about.** The machine crashed or lost power: the file had been made longer, but its data
    /// had not reached the disk. Some copying and syncing tools fill holes with zeros.
    ///
    /// **What to do.** Where the finding says that nothing is lost, remove the NULs in a copy and give each
    /// whole record its own line. Otherwise look for a copy from before the crash first. dsh writes its log
    /// through to the disk, so little is lost, as a rule the last append.
    NUL_BLOCK = error("nul-block");
    /// A line holds several records, or a broken one and whole ones, so that dsh reads none of them.
    ///
    /// **What it means.** Within the line whole records were found; the finding names the column and seq of
    /// each, and how many bytes of a broken record stand beside them. A stub that is the beginning of the
    /// record behind it is that record written twice: nothing is lost then.
    ///
    /// **Why it matters.** dsh parses lines, so one line feed too few costs it all records of the line. It
    /// refuses a compressed log, and a raw one with a later `turn/end`; else it deletes the line and all
    /// behind it when it loads the session.
    ///
    /// **How it comes about.** A writer was killed in the middle of a record and left no line feed; the next
    /// append went on in the same line. Tools that append without looking at the last byte do it to sound
    /// logs.
    ///
    /// **What to do.** Cut the line apart in a copy: keep each whole record and its line feed, drop the stub.
    /// The events are then in order again. Never drop the whole line, for that loses what is whole in it.
    FUSED_RECORDS = error("fused-records");
    /// A line is longer than any reader takes.
    ///
    /// **What it means.** The line has more than 512 MiB. It is passed over without being kept in memory, and
    /// its event counts as lost.
    ///
    /// **Why it matters.** dsh runs on a JavaScript engine, whose texts end at about that length, so do not
    /// count on it to read the log. What stands behind the line was read here and checked.
    ///
    /// **How it comes about.** A tool result or an attachment was written into the log as text without any
    /// limit. A damaged file in which no line feed is left looks like this too.
    ///
    /// **What to do.** Look at the beginning of the line for the event's type, which tells who wrote it, and
    /// limit that tool's output. To go on with the session, take the log as it was before this line from a
    /// copy.
    LINE_TOO_LONG = error("line-too-long");
    /// A record lacks what every event has, or has more.
    ///
    /// **What it means.** An event has `type`, `seq`, `time` and `data`, may have `ignorable`, which is true,
    /// `sourceEventSeqs` and `surfaceOp`, and nothing else. This line is JSON, and is not such an object; the
    /// finding names the member. There is no `meta` beside `data`.
    ///
    /// **Why it matters.** How dsh takes it depends on format and member. From format 2 on the line counts as
    /// damaged. In formats 0 and 1 a record whose seq is right is taken for an event first, and then the log
    /// is refused. A raw log may thus be refused or be cut off; the help says which.
    ///
    /// **How it comes about.** A plugin adds a member of its own to the event, or leaves `data` out where it
    /// has nothing to say. JSON that is no record at all, such as a number or a list, comes of joining files.
    ///
    /// **What to do.** Put everything of your own into `data`. In a copy, a foreign member can be taken out
    /// of the line without harm to the rest; restore missing ones from a copy only.
    INVALID_ENVELOPE = error("invalid-envelope");
    /// A packed row is not of the shape that its type has.
    ///
    /// **What it means.** In formats 0 and 1 a run of streamed deltas is packed into one row: `text-chunks`,
    /// `reasoning-chunks` or `tool-call-chunks`, with as many gaps of time in `dt` as there are texts but
    /// one. This row has other members or another number of them. Later formats have no such rows, and there
    /// each of them is wrong.
    ///
    /// **Why it matters.** A row stands for several events, so the numbers behind it are off by all of them.
    /// dsh takes the line for damaged: it refuses the log, or drops what stands there and behind.
    ///
    /// **How it comes about.** A tool dropped or shortened deltas in the row without adjusting `dt`. Or it
    /// copied rows into a log of format 2 or later, where they belong into the `stream` of the message.
    ///
    /// **What to do.** The deltas only tell how an answer came in; the message itself stands behind them. But
    /// a row may not simply be removed, since its seqs would be missing: restore it from a copy.
    MALFORMED_ROW = error("malformed-row");
    /// A packed row holds a value that only the loader of the format takes.
    ///
    /// **What it means.** A packed row stands for a run of streamed deltas. The loader of format 0 takes any number as
    /// turn, step and index, an empty id of a call, and -0 as a gap of times; the strict reader of the format wants counts,
    /// an id, and 0.
    ///
    /// **Why it matters.** dsh opens the log in this format. What reads it strictly, and every upgrade, refuses it.
    ///
    /// **How it comes about.** dsh writes counts alone, so another tool wrote the row.
    ///
    /// **What to do.** The row holds deltas only, and the message behind it stands for itself. Use the log in format 0
    /// as it is, or go on from a copy that ends before the row.
    LOOSE_ROW = error("loose-row");
    /// Lines end in a carriage return and a line feed.
    ///
    /// **What it means.** The finding counts such lines and names the first. The carriage return is white
    /// space to a JSON parser, so that every record is read as it is.
    ///
    /// **Why it matters.** dsh opens the log, in each format. It writes line feeds alone, so the file becomes
    /// mixed; that is harmless too. Byte offsets and checksums differ from those of the original.
    ///
    /// **How it comes about.** The file was edited or transferred as text on Windows, or a version control
    /// system changed its line ends. Some programs change the whole file, others only the lines that they
    /// touch.
    ///
    /// **What to do.** Nothing need be done. `dshc compact` appends to such a log, in line feeds alone, and
    /// changes none of the existing bytes.
    CRLF = note("crlf");
}

/// What is to be said of a line without a record; `None` if the fault is of another kind.
pub(super) fn finding(fault: &Fault) -> Option<Finding> {
    let rule = match fault.kind {
        FaultKind::NotJson(_) => &UNPARSABLE_LINE,
        FaultKind::BlankLine { .. } => &BLANK_LINE,
        FaultKind::LineTooLong => &LINE_TOO_LONG,
        FaultKind::NulBlock(_) => &NUL_BLOCK,
        FaultKind::FusedRecords(_) => &FUSED_RECORDS,
        FaultKind::Envelope { .. } => &INVALID_ENVELOPE,
        FaultKind::Row { .. } => &MALFORMED_ROW,
        _ => return None,
    };
    let found = fault.kind.to_string();
    let finding = match &fault.kind {
        FaultKind::BlankLine { lines: 1 } => {
            Finding::new(rule, fault.place, "blank line where a record must stand")
        }
        FaultKind::BlankLine { .. } => {
            Finding::new(rule, fault.place, format!("{found} where records must stand"))
        }
        FaultKind::NulBlock(debris) if debris.count == 0 && debris.stub == 0 => {
            Finding::new(rule, fault.place, found)
        }
        kind if kind.loses_nothing() => Finding::new(rule, fault.place, found).at_seq(fault.seq),
        _ => Finding::new(rule, fault.place, format!("{found}; seq {} belongs here", fault.seq))
            .at_seq(fault.seq),
    };
    Some(finding.with_help(fault.kind.help()))
}

/// A packed row that strict readers do not take, though the loader does.
pub(super) fn loose_row(row: &PackedRow, place: Place) -> Finding {
    let message = "turn, step and index of a packed row must be counts, the id of its call not empty, and no gap of its times -0";
    let help =
        "dsh opens the session in this format, but its strict reader refuses it; another tool wrote the row";
    Finding::new(&LOOSE_ROW, place, message).at_seq(row.first_seq).with_help(help)
}

/// What is to be said of lines that end in CRLF: how many, and the first.
pub(super) fn crlf((count, first): (u64, Place)) -> Finding {
    let line = first.line.unwrap_or_default();
    let message = match count {
        1 => format!("1 line ends in CRLF: line {line}"),
        _ => format!("{} lines end in CRLF, the first of them line {line}", grouped(count)),
    };
    Finding::new(&CRLF, first, message)
        .with_help("nothing need be done: CRLF itself is no fault to dsh. What is appended ends in LF alone")
}

/// Says of a line at or behind `line` that it held no record of the log, since the next one goes on with `next_seq`.
pub(super) fn held_nothing(finding: &mut Finding, line: u64, next_seq: u64) {
    let is_here = finding.place.line.is_some_and(|place| place >= line);
    if is_here && finding.is_of(&[&UNPARSABLE_LINE, &INVALID_ENVELOPE, &MALFORMED_ROW]) {
        finding.help =
            format!("nothing is lost with it: the next record is seq {next_seq}, which belongs there");
    }
}

/// Whether a finding says that a line of this frame holds no record.
pub(super) fn is_in_frame(finding: &Finding, frame: Option<u64>) -> bool {
    frame.is_some() && finding.place.frame == frame && finding.is_of(RULES)
}

#[cfg(test)]
mod tests {
    use super::super::Severity;
    use super::super::testing::{HEADER, check_bytes, codes, event, only};

    #[test]
    fn lines_that_end_in_crlf_are_one_note() {
        let text =
            format!("{HEADER}\n{}\r\n{}\n", event(0, "todo/write", "{}"), event(1, "todo/write", "{}"));
        let one = only(check_bytes(text.as_bytes()));
        // Of the same lines others may be said, for which dsh reads none of them.
        assert!(!one.help.contains("reads"), "{}", one.help);
        assert_eq!((one.code, one.severity, one.place.line), ("crlf", Severity::Note, Some(2)));
        let all = only(check_bytes(text.replace('\r', "").replace('\n', "\r\n").as_bytes()));
        assert_eq!(all.message, "3 lines end in CRLF, the first of them line 1");
        // White space alone is a blank line.
        let blank = format!("{HEADER}\n\r\n \t\n{}\n", event(0, "todo/write", "{}"));
        assert_eq!(&codes(&check_bytes(blank.as_bytes()))[..2], ["blank-line", "crlf"]);
    }

    #[test]
    fn a_row_that_only_the_loader_takes_is_an_error() {
        let row = r#"{"type":"text-chunks","seq0":0,"time0":1,"data":{"turn":1,"step":1,"index":0,"dt":[],"texts":["a"]}}"#;
        let found = |row: &str| codes(&check_bytes(format!("{HEADER}\n{row}\n").as_bytes()));
        assert_eq!(found(row), [""; 0]);
        assert_eq!(found(&row.replace("\"index\":0", "\"index\":-1")), ["loose-row"]);
        assert_eq!(found(&row.replace("\"index\":0", "\"index\":\"0\"")), ["malformed-row"]);
    }

    #[test]
    fn nuls_and_fused_records_are_told_apart() {
        let [one, two] = [0, 1].map(|seq| event(seq, "todo/write", "{}"));
        let end = event(2, "turn/end", r#"{"turn":1,"reason":{"kind":"completed"}}"#);
        let found = |line: &str| {
            let checked = check_bytes(format!("{HEADER}\n{line}\n{end}\n").as_bytes());
            assert_eq!(checked.ending.events, 3, "{:#?}", checked.findings);
            only(checked)
        };
        for (line, code, seq) in [
            (format!("{one}\n\0\0\n{two}"), "nul-block", None),
            (format!("{one}\n\0\0{two}"), "nul-block", Some(1)),
            (format!("{one}\n{two}\0\0"), "nul-block", Some(1)),
            (format!("{one}{two}"), "fused-records", Some(0)),
            (format!("{one}\n{}{two}", &two[..9]), "fused-records", Some(1)),
            (format!("{one}\n\0{}\0{two}", &two[..9]), "fused-records", Some(1)),
        ] {
            let finding = found(&line);
            assert_eq!((finding.code, finding.seq), (code, seq), "{line}");
        }
        let lost = check_bytes(format!("{HEADER}\n{one}\n{}\0\n{end}\n", &two[..9]).as_bytes());
        let lost = lost.findings.iter().find(|finding| finding.code == "nul-block").unwrap();
        assert!(
            lost.message.contains("1 NUL byte and 9 other bytes; 1 event is missing here: seq 1"),
            "{}",
            lost.message
        );
    }

    #[test]
    fn what_can_be_read_of_a_bad_line_is_not_called_lost() {
        let help = |line: &str| {
            let text = format!("{HEADER}\n{}\n{line}\n", event(0, "todo/write", "{}"));
            check_bytes(text.as_bytes()).findings.swap_remove(0)
        };
        let one = event(1, "todo/write", "{}");
        for line in [one.replacen('{', "{\"x\":1,", 1), one.replacen('{', "{\"ignorable\":false,", 1)] {
            let finding = help(&line);
            assert!(finding.help.starts_with("all of the event can be read"), "{finding:?}");
        }
        let header = help(HEADER);
        assert!(header.message.starts_with("not an event: it is a header line"), "{header:?}");
        assert!(header.help.starts_with("lines were copied, or two logs joined"), "{header:?}");
        assert!(help(&one.replace("\"time\":1,", "")).help.starts_with("the record is lost"));
    }

    #[test]
    fn a_line_that_held_nothing_is_told_so() {
        let lines = |second: u64| {
            let (first, second) = (event(0, "todo/write", "{}"), event(second, "todo/write", "{}"));
            check_bytes(format!("{HEADER}\n{first}\n{{\"type\"\n{second}\n").as_bytes())
        };
        assert!(lines(1).findings[0].help.starts_with("nothing is lost with it: the next record is seq 1"));
        assert!(lines(2).findings[0].help.starts_with("the record is lost"), "{:#?}", lines(2).findings);
    }

    #[test]
    fn every_bad_line_has_its_place() {
        let row = r#"{"type":"text-chunks","seq0":1,"time0":1,"data":{}}"#;
        let lines = [HEADER, &event(0, "todo/write", "{}"), "{\"a\":", "", "[]", row];
        let checked = check_bytes((lines.join("\n") + "\n").as_bytes());
        assert_eq!(codes(&checked), ["unparsable-line", "blank-line", "invalid-envelope", "malformed-row"]);
        let lines: Vec<_> = checked.findings.iter().map(|finding| finding.place.line.unwrap()).collect();
        assert_eq!(lines, [3, 4, 5, 6]);
        let [json, blank, ..] = &checked.findings[..] else { panic!() };
        assert_eq!((json.seq, blank.seq), (Some(1), None));
        assert!(json.message.contains("at column 5; seq 1 belongs here"), "{}", json.message);
    }
}
