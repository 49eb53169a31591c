//! Lines that hold no record (FORMAT §4, §5.1, §9.1).

use super::Finding;
use super::registry::rule_family;
use crate::log::{Fault, FaultKind, Place};

rule_family! {
    "line";
    /// A line is no JSON value.
    UNPARSABLE_LINE = error("unparsable-line");
    /// A line is empty, which dsh takes for a damaged record.
    BLANK_LINE = error("blank-line");
    /// NUL bytes stand in a line, or are all of it.
    NUL_BLOCK = error("nul-block");
    /// A line holds several records, or a broken one and whole ones, so that dsh reads none of them.
    FUSED_RECORDS = error("fused-records");
    /// A line is longer than any reader takes.
    LINE_TOO_LONG = error("line-too-long");
    /// A record lacks what every event has, or has more.
    INVALID_ENVELOPE = error("invalid-envelope");
    /// A packed row is not of the shape that its type has.
    MALFORMED_ROW = error("malformed-row");
    /// Lines end in a carriage return and a line feed.
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

/// What is to be said of lines that end in CRLF: how many, and the first.
pub(super) fn crlf((count, first): (u64, Place)) -> Finding {
    let line = first.line.unwrap_or_default();
    let message = match count {
        1 => format!("1 line ends in CRLF: line {line}"),
        _ => format!("{count} lines end in CRLF, the first of them line {line}"),
    };
    Finding::new(&CRLF, first, message)
        .with_help("nothing need be done: dsh reads them. What is appended ends in LF alone")
}

/// Says of a line at or behind `line` that it held no record of the log, since the next one goes on with `next_seq`.
pub(super) fn held_nothing(finding: &mut Finding, line: u64, next_seq: u64) {
    let is_here = finding.place.line.is_some_and(|place| place >= line);
    if is_here
        && [&UNPARSABLE_LINE, &INVALID_ENVELOPE, &MALFORMED_ROW].iter().any(|rule| rule.code == finding.code)
    {
        finding.help =
            format!("nothing is lost with it: the next record is seq {next_seq}, which belongs there");
    }
}

/// Whether a finding says that a line of this frame holds no record.
pub(super) fn is_in_frame(finding: &Finding, frame: Option<u64>) -> bool {
    frame.is_some() && finding.place.frame == frame && RULES.iter().any(|rule| rule.code == finding.code)
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
        assert_eq!((one.code, one.severity, one.place.line), ("crlf", Severity::Note, Some(2)));
        let all = only(check_bytes(text.replace('\r', "").replace('\n', "\r\n").as_bytes()));
        assert_eq!(all.message, "3 lines end in CRLF, the first of them line 1");
        // White space alone is a blank line.
        let blank = format!("{HEADER}\n\r\n \t\n{}\n", event(0, "todo/write", "{}"));
        assert_eq!(&codes(&check_bytes(blank.as_bytes()))[..2], ["blank-line", "crlf"]);
    }

    #[test]
    fn nuls_and_fused_records_are_told_apart() {
        let [one, two] = [0, 1].map(|seq| event(seq, "todo/write", "{}"));
        let end = event(2, "turn/end", r#"{"turn":1,"reason":{"kind":"completed"}}"#);
        let found = |line: &str| {
            let checked = check_bytes(format!("{HEADER}\n{line}\n{end}\n").as_bytes());
            assert_eq!(checked.events, 3, "{:#?}", checked.findings);
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
            lost.message
                .contains("1 NUL byte and 9 other bytes; seq 1 belongs here; 1 event is missing here: seq 1"),
            "{}",
            lost.message
        );
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
