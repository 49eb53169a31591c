//! What damage has cost: how many events are missing, and which, or that none is. The next record's number is the proof.

use super::registry::Rule;
use super::wording::{amount, span};
use super::{Finding, container, line};
use crate::log::Place;
use std::ops::Range;

/// Findings of damage in which records may have stood.
const DAMAGE: [&Rule; 10] = [
    &line::FUSED_RECORDS,
    &container::FRAME_CHECKSUM,
    &container::FRAME_MAGIC,
    &container::FRAME_STRUCTURE,
    &line::INVALID_ENVELOPE,
    &line::LINE_TOO_LONG,
    &line::MALFORMED_ROW,
    &line::NUL_BLOCK,
    &container::UNFINISHED_LINE,
    &line::UNPARSABLE_LINE,
];

/// Says of damage at or behind `since` what it has cost: the seqs `lost`, or nothing, since the next record is `next_seq`.
pub(super) fn tell(finding: &mut Finding, since: Place, lost: Option<&Range<u64>>, next_seq: u64) {
    let is_behind = match (finding.place.line, since.line) {
        (Some(line), Some(since)) => line >= since,
        _ => finding.place.byte >= since.byte,
    };
    if !is_behind || !finding.is_of(&DAMAGE) {
        return;
    }
    let cost = match lost {
        // Its text may be anything.
        None if finding.is_of(&[&container::FRAME_CHECKSUM]) => {
            format!("no number is missing, the next record is seq {next_seq}")
        }
        None => format!("no event is missing, the next record is seq {next_seq}"),
        Some(lost) => {
            let count = lost.end.saturating_sub(lost.start);
            let are = if count == 1 { "is" } else { "are" };
            let seqs = span("seq", lost.start, lost.end.saturating_sub(1));
            format!("{} {are} missing here: {seqs}", amount(count, "event"))
        }
    };
    // What is missing begins with what belongs here: that is said once.
    let belongs = lost.map(|lost| format!("; seq {} belongs here", lost.start));
    let message =
        belongs.and_then(|belongs| finding.message.strip_suffix(&belongs)).unwrap_or(&finding.message);
    finding.message = format!("{message}; {cost}");
}

#[cfg(test)]
mod tests {
    use super::super::testing::{HEADER, check_bytes, event, frame};

    fn todo(seq: u64) -> String {
        event(seq, "todo/write", "{}") + "\n"
    }

    /// The messages of damage in a log of these lines.
    fn raw(damage: &str, next: u64) -> Vec<String> {
        let log = format!("{HEADER}\n{}{damage}{}", todo(0), todo(next));
        let findings = check_bytes(log.as_bytes()).findings;
        findings
            .into_iter()
            .filter(|finding| finding.code != "valid-events-after-damage")
            .map(|finding| finding.message)
            .collect()
    }

    #[test]
    fn damage_between_lines_says_what_it_cost() {
        let record = todo(1);
        for damage in ["{\"type\"\n", "[]\n", "\0\0{\"type\n", &record.replace("\"time\":1,", "")] {
            let (none, one, more) = (raw(damage, 1), raw(damage, 2), raw(damage, 4));
            assert!(none[0].ends_with("; no event is missing, the next record is seq 1"), "{none:?}");
            assert!(one[0].ends_with("; 1 event is missing here: seq 1"), "{one:?}");
            assert!(more[0].ends_with("; 3 events are missing here: seqs 1 to 3"), "{more:?}");
        }
        // Several at one place share what is missing, and those before it have their own.
        let two = raw(&format!("{{\n{}{{\n{{\n", todo(2)), 4);
        assert!(
            two[0].ends_with("missing here: seq 1") && two[1].ends_with("missing here: seq 3"),
            "{two:?}"
        );
        assert!(two[2].ends_with("missing here: seq 3"), "{two:?}");
    }

    #[test]
    fn damaged_frames_say_what_they_cost() {
        let log = |middle: &[u8], next: u64| {
            let [head, one, last] = [format!("{HEADER}\n"), todo(0), todo(next)].map(|text| frame(&text));
            check_bytes(&[&head[..], &one, middle, &last].concat()).findings.swap_remove(0).message
        };
        // The block header of a frame's only block: now of a reserved type.
        let mut reserved = frame(&todo(1));
        reserved[6] |= 0x06;
        assert!(log(&reserved, 2).contains("1 event is missing here: seq 1"), "{}", log(&reserved, 2));
        assert!(log(b"garbage", 1).contains("no event is missing, the next record is seq 1"));
        assert!(log(b"garbage", 3).contains("2 events are missing here: seqs 1 to 2"));
    }
}
