//! Lines that hold no record (FORMAT §4, §5.1, §9.1).

use super::Finding;
use super::registry::Rule;
use crate::log::{Fault, FaultKind};

static UNPARSABLE_LINE: Rule = Rule::error("unparsable-line", "A line is no JSON value.");
static BLANK_LINE: Rule = Rule::error("blank-line", "A line is empty, which dsh takes for a damaged record.");
static LINE_TOO_LONG: Rule = Rule::error("line-too-long", "A line is longer than any reader takes.");
static INVALID_ENVELOPE: Rule =
    Rule::error("invalid-envelope", "A record lacks what every event has, or has more.");
static MALFORMED_ROW: Rule =
    Rule::error("malformed-row", "A packed row is not of the shape that its type has.");

pub(super) const RULES: &[&Rule] =
    &[&UNPARSABLE_LINE, &BLANK_LINE, &LINE_TOO_LONG, &INVALID_ENVELOPE, &MALFORMED_ROW];

/// What is to be said of a line without a record; `None` if the fault is of another kind.
pub(super) fn finding(fault: &Fault) -> Option<Finding> {
    let rule = match fault.kind {
        FaultKind::NotJson(_) => &UNPARSABLE_LINE,
        FaultKind::BlankLine => &BLANK_LINE,
        FaultKind::LineTooLong { .. } => &LINE_TOO_LONG,
        FaultKind::Envelope(_) => &INVALID_ENVELOPE,
        FaultKind::Row { .. } => &MALFORMED_ROW,
        _ => return None,
    };
    let found = match &fault.kind {
        // The parser was given one line, and so calls every line the first.
        FaultKind::NotJson(error) => {
            format!("line is not JSON: {}", error.replace(" at line 1 column ", " at column "))
        }
        kind => kind.to_string(),
    };
    let finding = if fault.kind == FaultKind::BlankLine {
        Finding::new(rule, fault.place, "blank line where a record must stand")
    } else {
        Finding::new(rule, fault.place, format!("{found}; seq {} belongs here", fault.seq)).at_seq(fault.seq)
    };
    Some(finding.with_help(fault.kind.help()))
}

/// Whether a finding says that a line of this frame holds no record.
pub(super) fn is_in_frame(finding: &Finding, frame: Option<u64>) -> bool {
    frame.is_some() && finding.place.frame == frame && RULES.iter().any(|rule| rule.code == finding.code)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{HEADER, check_bytes, codes, event};

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
