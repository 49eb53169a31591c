//! The container: raw bytes or Zstandard frames (FORMAT §2).

use super::Finding;
use super::registry::rule_family;
use super::wording::amount;
use crate::log::{Fault, FaultKind, trailing_nuls};
use crate::session::Session;

rule_family! {
    "container";
    /// The file ends inside its last line or frame.
    ///
    /// **What it means.** A raw log ends without a line feed, or a compressed one in the middle of a frame.
    /// The finding says where the torn part begins, how many bytes it has, how many whole records could be
    /// read from a torn frame, and what stands: the number of events, and the turn that is open. Whatever is
    /// before it is whole.
    ///
    /// **Why it matters.** dsh opens the log: it keeps what is whole, cuts the torn bytes off and ends the
    /// open turn as interrupted. From a torn line it recovers nothing, even where only the line feed is
    /// missing. Another program that appends behind the torn bytes spoils what it appends: dsh then refuses
    /// the log, or cuts that off too.
    ///
    /// **How it comes about.** The process or the machine stopped in the middle of an append, the disk was
    /// full, or the file was copied while dsh was writing. In the last case the next copy is whole.
    ///
    /// **What to do.** If dsh is at work, wait and look again. Otherwise nothing need be done but to let dsh
    /// open the session; `dshc replay` shows what stands. Do not append to the file, and do not add the
    /// missing line feed by hand unless the last line is a whole event.
    TORN_TAIL = warning("torn-tail");
    /// The last line is a whole record and lacks nothing but its line feed, so that dsh drops it.
    ///
    /// **What it means.** A raw log ends behind a record that goes on with the numbering, and the line feed that
    /// must end each line is not there.
    ///
    /// **Why it matters.** dsh takes such a line for a torn tail, however whole it looks: it opens the session
    /// without this event, and cuts it off the file when it works in it. Whoever appends to the file as it is
    /// makes one broken line of two records.
    ///
    /// **How it comes about.** The writer was stopped right before the last byte. Or an editor or a script saved
    /// the file without a final line feed, as many do.
    ///
    /// **What to do.** With dsh not at work in the session, append one line feed to a copy, check it here, and
    /// put it in the place of the log before dsh opens it. If the event does not matter, let dsh drop it.
    NO_FINAL_NEWLINE = warning("no-final-newline");
    /// Standard tools read the log, but dsh refuses the whole of it.
    ///
    /// **What it means.** The log holds something that is legal for its container and that common tools pass over: a
    /// byte order mark before the header (the message begins with "bom"), or a skippable Zstandard frame. No event is
    /// lost or changed by it, and dshc reads all of them.
    ///
    /// **Why it matters.** dsh stops at these bytes. It does not open the session, and a byte order mark makes its list
    /// of sessions leave the session out without a word. So a log that looks sound in an editor, in `zstd -dc` or in a
    /// script is lost to the user of dsh.
    ///
    /// **How it comes about.** Editors, above all on Windows, put a byte order mark before a text that they save.
    /// Tools that split, index or sign compressed files store their own data in skippable frames. dsh writes neither.
    ///
    /// **What to do.** Remove exactly the bytes that the finding names, with dsh not at work in the session, and check
    /// the log again. Do not recompress or reformat it: dsh needs the header in a frame of its own.
    OFFICIAL_READER_REFUSES = error("official-reader-refuses");
    /// Something that is no Zstandard frame stands where one must, and frames stand behind it.
    ///
    /// **What it means.** Each frame begins with the bytes `28 b5 2f fd`. At this place others stand; the
    /// finding shows them, or counts them where they are NULs, and says how many events come before. Reading
    /// goes on at the next frame that can be found, and a gap in the numbers shows what was lost between
    /// them.
    ///
    /// **Why it matters.** dsh looks at all frames before it reads any, so it refuses the whole log, and the
    /// sound parts with it. It does not cut off or delete anything here.
    ///
    /// **How it comes about.** A stretch of the file was overwritten, or a copying tool left a hole in it. Or
    /// text was appended to the compressed file, and dsh then went on behind it.
    ///
    /// **What to do.** Look for a copy. Where only foreign bytes stand between two frames whose events go on
    /// without a gap, taking out exactly those bytes makes the log whole; do that in a copy and check it
    /// here.
    FRAME_MAGIC = error("frame-magic");
    /// Bytes that are no Zstandard frame follow the last whole frame, up to the end of the file.
    ///
    /// **What it means.** Every frame before these bytes is whole, and no frame starts in or behind them. The finding
    /// says how many bytes they are, whether they are NULs, and how many events stand before them. Where they are NUL
    /// bytes alone, the content is complete.
    ///
    /// **Why it matters.** dsh takes them for a damaged frame, and refuses the whole log. They are no torn tail: that is
    /// the beginning of a frame, which dsh cuts off by itself. Whoever appends a frame behind them makes it unreadable.
    ///
    /// **How it comes about.** After a crash of the machine some file systems fill the end of a file with NUL bytes,
    /// and some copying tools pad files to a block. Other bytes come from a program that appended something of its own,
    /// or are a last frame whose first bytes were damaged.
    ///
    /// **What to do.** Copy the file. Where the bytes are NULs, cut the copy at the byte that the finding names: nothing
    /// is lost. Where they are others, look for an older copy that holds more events before cutting them off.
    TRAILING_GARBAGE = error("trailing-garbage");
    /// A Zstandard frame uses what is reserved.
    ///
    /// **What it means.** The header of the frame, or of one of its blocks, has bits set that the format
    /// keeps for later use. So neither its length nor its content can be known; reading goes on at the next
    /// frame that can be found.
    ///
    /// **Why it matters.** dsh refuses the whole log for it, before it decodes anything. It deletes nothing:
    /// only a frame that the file's end cuts off counts as a torn tail.
    ///
    /// **How it comes about.** No writer makes such frames. A bit was flipped by a disk, memory or transfer,
    /// or the bytes are none of a frame at all and only begin like one.
    ///
    /// **What to do.** Restore the file from a copy. Where one disk or cable made this, look at other files
    /// from there as well.
    FRAME_STRUCTURE = error("frame-structure");
    /// A whole Zstandard frame cannot be decoded, or its checksum is wrong.
    ///
    /// **What it means.** The frame has its proper length, but its data is not what was written. Lines that
    /// could be read from it all the same are counted, and not trusted. If it is the last frame and seems to
    /// end behind the file because of the damage, the finding tells that too: dsh then takes it for a torn
    /// tail.
    ///
    /// **Why it matters.** A damaged frame with others behind it makes dsh refuse the whole log. A damaged
    /// last frame that looks cut does not: dsh opens the log and deletes that frame and whatever it swallows;
    /// then `valid-events-after-damage` stands beside this.
    ///
    /// **How it comes about.** A bit flipped on the disk, in memory or on the way, or a part of the file was
    /// overwritten. A frame that was merely cut is a torn tail, and gives no such finding.
    ///
    /// **What to do.** Copy the file before dsh touches it, and restore it from an older copy that has the
    /// frame. Do not decompress it with checks turned off and go on with the result: what stands in the frame
    /// may be anything.
    FRAME_CHECKSUM = error("frame-checksum");
    /// So many frames are damaged that the rest of the file is not looked at.
    ///
    /// **What it means.** Behind each damaged frame the next sound one is searched for, and that may cost the
    /// whole rest of the file each time. There is a limit to it, which this log has used up; the finding says
    /// how many bytes are left.
    ///
    /// **Why it matters.** Nothing is known of what stands there: neither that it is damaged nor that it is
    /// not. dsh has refused the log at the first damaged frame already.
    ///
    /// **How it comes about.** The file is no log of dsh for the greater part, such as a disk image in which
    /// a header was found. Or it was encrypted or overwritten as a whole.
    ///
    /// **What to do.** Restore the file from a copy. The findings before this one tell how far the log can be
    /// read.
    UNREAD = error("unread-rest");
    /// The first Zstandard frame holds something else than the header line.
    ///
    /// **What it means.** In a compressed log the first frame decodes to the header line with its line feed,
    /// and nothing more. Here it holds events as well, or only a part of the line. dshc reads on, and no
    /// event is lost.
    ///
    /// **Why it matters.** dsh reads the header from the first frame alone and refuses the log if more stands
    /// in it. Standard tools such as `zstd -dc` see nothing wrong.
    ///
    /// **How it comes about.** The log was unpacked and compressed again in one piece, to save space, to
    /// change the level, or by a backup that does so. Tools that join frames do it too.
    ///
    /// **What to do.** In a copy, compress the first line alone and then the rest, each as frames with a
    /// checksum, and put them behind each other: the text must stay the same byte for byte. Or go back to the
    /// file as dsh wrote it.
    HEADER_FRAME = error("header-frame");
    /// Whole Zstandard frames end inside a line.
    ///
    /// **What it means.** Every frame is sound, but the text of them all does not end with a line feed: the
    /// last record is cut. Since the frames are whole, it is no torn tail.
    ///
    /// **Why it matters.** dsh cuts off torn frames, not torn lines within whole ones: it refuses the log.
    /// What stands before the line is whole.
    ///
    /// **How it comes about.** The last frame or frames were lost in a copy, at a place where a record was
    /// spread over two frames, which dsh itself never does. Or a raw log with a torn tail was compressed.
    ///
    /// **What to do.** Look for a longer copy. If there is none, compress the text up to the last line feed
    /// anew in a copy, with the header in a frame of its own: the torn record is lost then, and everything
    /// else stays.
    UNFINISHED_LINE = error("unfinished-line");
}

/// What is to be said of a flaw of the container; `None` if it is none. `session` stands where the flaw was met,
/// if the log can be followed up to there; `is_whole` tells that nothing before it was lost.
pub(super) fn finding(fault: &Fault, session: Option<&Session>, is_whole: bool) -> Option<Finding> {
    let rule = match fault.kind {
        FaultKind::TornTail { bytes, nuls, frame, recovered } => {
            return Some(torn_tail(fault, bytes, nuls, frame, recovered, session));
        }
        FaultKind::FrameMagic { nuls, rest, .. } => return Some(frame_magic(fault, nuls, rest, is_whole)),
        FaultKind::Bom => {
            let message = format!("bom: {}", fault.kind);
            let finding = Finding::new(&OFFICIAL_READER_REFUSES, fault.place, message);
            return Some(finding.with_help(fault.kind.help()));
        }
        FaultKind::SkippableFrame { .. } => &OFFICIAL_READER_REFUSES,
        FaultKind::FrameStructure(_) => &FRAME_STRUCTURE,
        FaultKind::FrameData(_) | FaultKind::BrokenTail { .. } => &FRAME_CHECKSUM,
        FaultKind::Unread { .. } => &UNREAD,
        FaultKind::HeaderFrame => &HEADER_FRAME,
        FaultKind::UnfinishedLine { .. } => &UNFINISHED_LINE,
        _ => return None,
    };
    Some(Finding::new(rule, fault.place, fault.kind.to_string()).with_help(fault.kind.help()))
}

fn torn_tail(
    fault: &Fault,
    bytes: u64,
    nuls: u64,
    frame: bool,
    recovered: u64,
    session: Option<&Session>,
) -> Finding {
    let part = if frame { "frame" } else { "line" };
    let number = if frame { fault.place.frame } else { fault.place.line };
    let number = number.map_or_else(String::new, |number| format!(" ({number})"));
    let start = fault.place.byte.map_or_else(String::new, |byte| format!(", which starts at byte {byte}"));
    let size = amount(bytes, "byte");
    let inside = format!("the file ends inside its last {part}{number}{start}, {size} long");
    let mut message = match (frame, recovered) {
        (true, 0) => format!("{inside}: no whole record could be read from it"),
        (true, n) => {
            format!(
                "{inside}: {} of it could be read and count, the rest is left out",
                amount(n, "whole record")
            )
        }
        (false, 0) => format!("{inside}: it is left out{}", trailing_nuls(bytes, nuls)),
        (false, _) => format!(
            "the last line{number}{start}, is a whole record, seq {}, without its line feed: it is left out",
            fault.seq
        ),
    };
    if let Some(session) = session {
        let events = match session.events {
            0 => "the log holds no event".to_owned(),
            n => format!("the log holds {} (to seq {})", amount(n, "event"), n - 1),
        };
        let turn = match session.turns.open() {
            Some(turn) => format!("turn {turn} is open, which dsh then ends as interrupted"),
            None => "no turn is open".to_owned(),
        };
        message = format!("{message}; {events}, and {turn}");
    }
    if !frame && recovered > 0 {
        let help = "dsh drops the event and cuts it off the file. To keep it, append one line feed in a copy, and use that \
                    instead before dsh opens the session";
        return Finding::new(&NO_FINAL_NEWLINE, fault.place, message).at_seq(fault.seq).with_help(help);
    }
    Finding::new(&TORN_TAIL, fault.place, message).with_help(fault.kind.help())
}

/// Bytes that are no frame, `nuls` of them NULs; `rest` of them where no frame stands behind them.
fn frame_magic(fault: &Fault, nuls: u64, rest: Option<u64>, is_whole: bool) -> Finding {
    let byte = fault.place.byte.map_or_else(String::new, |byte| format!(" at byte {byte}"));
    let before = amount(fault.seq, "event");
    let content = if is_whole { "content complete, " } else { "before them " };
    let (rule, message) = match (rest, nuls) {
        (Some(rest), nuls) if nuls == rest => (
            &TRAILING_GARBAGE,
            format!("{nuls} NUL bytes{byte}, up to the end of the file; {content}{before}"),
        ),
        (Some(rest), nuls) => {
            let found = if nuls < 4 { String::new() } else { format!(", the first {nuls} of them NULs") };
            let message = format!(
                "{}{byte}, up to the end of the file, are no Zstandard frame{found}; {before} before them",
                amount(rest, "byte")
            );
            (&TRAILING_GARBAGE, message)
        }
        (None, 4..) => {
            (&FRAME_MAGIC, format!("{nuls} NUL bytes{byte}, and others behind them; {before} before them"))
        }
        (None, _) => (&FRAME_MAGIC, format!("{}; {before} before it", fault.kind)),
    };
    Finding::new(rule, fault.place, message).with_help(fault.kind.help())
}

#[cfg(test)]
mod tests {
    use super::super::testing::{self, HEADER, codes, event, frame};

    fn message(bytes: &[u8]) -> String {
        let checked = testing::check_bytes(bytes);
        assert_eq!(checked.findings.len(), 1, "{:?}", checked.findings);
        checked.findings[0].message.clone()
    }

    #[test]
    fn a_torn_line_is_told_with_what_stands() {
        let log = format!("{HEADER}\n{}\n{{\"type\"", event(0, "turn/start", r#"{"turn":1}"#));
        assert_eq!(codes(&testing::check_bytes(log.as_bytes())), ["torn-tail"]);
        let message = message(log.as_bytes());
        assert!(
            message.contains("7 bytes long: it is left out; the log holds 1 event (to seq 0)"),
            "{message}"
        );
        assert!(message.contains("and turn 1 is open"), "{message}");
    }

    #[test]
    fn a_last_line_that_lacks_its_line_feed_alone_is_told_as_that() {
        let log = |last: &str| format!("{HEADER}\n{}\n{last}", event(0, "turn/start", r#"{"turn":1}"#));
        let finding = testing::only(testing::check_bytes(log(&event(1, "todo/write", "{}")).as_bytes()));
        assert_eq!((finding.code, finding.seq, finding.place.line), ("no-final-newline", Some(1), Some(3)));
        assert!(
            finding.message.contains("is a whole record, seq 1, without its line feed"),
            "{}",
            finding.message
        );
        for other in
            [event(2, "todo/write", "{}"), event(0, "todo/write", "{}"), "{}".to_owned(), " ".to_owned()]
        {
            assert_eq!(codes(&testing::check_bytes(log(&other).as_bytes())), ["torn-tail"], "{other}");
        }
    }

    #[test]
    fn a_torn_frame_tells_what_was_recovered() {
        let events =
            [event(0, "turn/start", r#"{"turn":1}"#), event(1, "todo/write", "{}")].join("\n") + "\n";
        let log = [frame(&format!("{HEADER}\n")), frame(&events)].concat();
        let message = message(&log[..log.len() - 4]);
        assert!(message.contains("last frame (2)") && message.contains("2 whole records of it"), "{message}");
    }

    #[test]
    fn foreign_frames_are_errors() {
        let head = frame(&format!("{HEADER}\n"));
        let nuls = [head.clone(), vec![0; 9]].concat();
        assert_eq!(codes(&testing::check_bytes(&nuls)), ["trailing-garbage"]);
        let at = head.len();
        for (bytes, told) in [
            (
                vec![0; 9],
                format!("9 NUL bytes at byte {at}, up to the end of the file; content complete, 0 events"),
            ),
            (
                b"garbage".to_vec(),
                format!(
                    "7 bytes at byte {at}, up to the end of the file, are no Zstandard frame; 0 events before them"
                ),
            ),
            (
                [&[0; 5][..], b"x"].concat(),
                format!(
                    "6 bytes at byte {at}, up to the end of the file, are no Zstandard frame, the first 5 of them NULs; 0 events before them"
                ),
            ),
        ] {
            assert_eq!(message(&[&head[..], &bytes].concat()), told);
        }
        let todo = frame(&(event(0, "todo/write", "{}") + "\n"));
        let inside = testing::check_bytes(&[&head[..], b"garbage", &todo].concat());
        assert_eq!((codes(&inside), inside.ending.events), (vec!["frame-magic"], 1));
        let skippable = [head, vec![0x50, 0x2a, 0x4d, 0x18, 1, 0, 0, 0, 7]].concat();
        assert_eq!(codes(&testing::check_bytes(&skippable)), ["official-reader-refuses"]);
        let fused = frame(&format!("{HEADER}\n{}\n", event(0, "todo/write", "{}")));
        assert_eq!(codes(&testing::check_bytes(&fused)), ["header-frame"]);
        let cut = [frame(&format!("{HEADER}\n")), frame("{\"type\"")].concat();
        assert_eq!(codes(&testing::check_bytes(&cut)), ["unfinished-line"]);
    }

    #[test]
    fn what_frames_reserve_is_an_error() {
        let [head, body] =
            [format!("{HEADER}\n"), event(0, "todo/write", "{}") + "\n"].map(|text| frame(&text));
        // The descriptor follows the magic number; the block header stands behind it and a size of one byte.
        for (at, bits, what) in [(4, 0x08, "a reserved header bit set"), (6, 0x06, "a reserved block type")] {
            let mut log = [&head[..], &body].concat();
            log[head.len() + at] |= bits;
            let checked = testing::check_bytes(&log);
            assert_eq!(codes(&checked), ["frame-structure"]);
            let finding = &checked.findings[0];
            assert_eq!((finding.place.frame, finding.place.byte), (Some(2), Some(head.len() as u64)));
            assert!(finding.message.contains(what), "{}", finding.message);
        }
    }

    #[test]
    fn a_wrong_checksum_is_an_error() {
        let mut log = [frame(&format!("{HEADER}\n")), frame(&(event(0, "todo/write", "{}") + "\n"))].concat();
        *log.last_mut().unwrap() ^= 1;
        assert_eq!(codes(&testing::check_bytes(&log)), ["frame-checksum"]);
    }

    #[test]
    fn what_stands_in_an_untrusted_frame_is_not_judged() {
        let bad = event(0, "user/message", r#"{"id":"u"}"#) + "\n";
        let mut broken = frame(&bad);
        *broken.last_mut().unwrap() ^= 1;
        let log =
            [frame(&format!("{HEADER}\n")), broken, frame(&(event(1, "todo/write", "{}") + "\n"))].concat();
        let message = message(&log);
        assert!(message.contains("1 finding in its text left out"), "{message}");
        assert!(message.ends_with("no number is missing, the next record is seq 1"), "{message}");
    }
}
