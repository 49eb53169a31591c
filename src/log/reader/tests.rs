use super::*;
use crate::log::append::zstd_frame;

const HEADER: &str = r#"{"type":"session","version":0,"id":"s","createdAt":1,"delegationDepth":0}"#;

fn event(seq: u64) -> String {
    format!(r#"{{"type":"todo/write","seq":{seq},"time":{seq},"data":{{"todos":[]}}}}"#)
}

fn frame(text: &str) -> Vec<u8> {
    zstd_frame(text.as_bytes()).unwrap()
}

/// The seqs that a log gives, a text for each fault in its place.
fn read(bytes: &[u8]) -> Vec<String> {
    let mut reader = match LogReader::open(&Source::of_bytes(bytes)) {
        Ok(reader) => reader,
        Err(error) => return vec![error.code().to_owned()],
    };
    let mut out = Vec::new();
    while let Some(text) = reader
        .next(|item| match item {
            Item::Record(record) => record.body.first_seq().to_string(),
            Item::Fault(fault) => {
                let name = format!("{:?}", fault.kind);
                let name = name.split([' ', '(']).next().unwrap().to_owned();
                format!("{name}@{}", fault.place.line.or(fault.place.frame).unwrap_or(0))
            }
        })
        .unwrap()
    {
        out.push(text);
    }
    out
}

fn raw(lines: &[&str]) -> Vec<String> {
    read(lines.join("\n").as_bytes())
}

#[test]
fn raw_logs_give_their_records_and_faults() {
    let [e0, e1, e2, e4] = [0, 1, 2, 4].map(event);
    assert_eq!(raw(&[HEADER, &e0, &e1, ""]), ["0", "1"]);
    assert_eq!(raw(&[HEADER, &e0, &e1]), ["0", "TornTail@3"]);
    assert_eq!(raw(&[HEADER, &e0, "{", &e2, ""]), ["0", "NotJson@3", "2"]);
    assert_eq!(raw(&[HEADER, &e0, "", &e1, ""]), ["0", "BlankLine@3", "1"]);
    assert_eq!(raw(&[HEADER, &e0, &e1, &e2, &e4, ""]), ["0", "1", "2", "SeqGap@5", "4"]);
    assert_eq!(raw(&[HEADER, &e0, &e1, &e1, &e2, ""]), ["0", "1", "SeqRepeat@4", "1", "2"]);
    assert_eq!(raw(&[HEADER, "[]", "{}", &e2, ""]), ["Envelope@2", "Envelope@3", "2"]);
}

#[test]
fn empty_lines_in_a_row_are_one_fault() {
    let [e0, e1] = [0, 1].map(event);
    let many = "\n".repeat(1_000_000);
    assert_eq!(
        read(format!("{HEADER}\n{e0}\n{many}{e1}\n\n").as_bytes()),
        ["0", "BlankLine@3", "1", "BlankLine@1000004"]
    );
    let head = frame(&format!("{HEADER}\n"));
    let log = [head, frame(&many), frame(&format!("\n{e0}\n"))].concat();
    assert_eq!(read(&log), ["BlankLine@2", "BlankLine@1000002", "0"]);
    assert_eq!(read(&frame(&format!("{HEADER}\n\n\n"))), ["BlankLine@2", "HeaderFrame@1"]);
    let log = [frame(&format!("{HEADER}\n")), frame(&format!("{e0}\n\n\n{e1}\n"))].concat();
    assert_eq!(read(&log[..log.len() - 4]), ["0", "BlankLine@3", "1", "TornTail@2"]);
}

#[test]
fn records_beside_something_else_are_given() {
    let [e0, e1, e2] = [0, 1, 2].map(event);
    assert_eq!(raw(&[HEADER, &e0, &format!("{e1}{e2}"), ""]), ["0", "FusedRecords@3", "1", "2"]);
    assert_eq!(raw(&[HEADER, &format!("{}{e0}", &e0[..30]), &e1, ""]), ["FusedRecords@2", "0", "1"]);
    assert_eq!(raw(&[HEADER, &format!("\0\0{e0}"), "\0", &e1, ""]), ["NulBlock@2", "0", "NulBlock@3", "1"]);
    // Their numbers must go on; where something is broken besides, seqs may be missing.
    assert_eq!(raw(&[HEADER, &e0, &format!("{e0}{e1}"), &e2, ""]), ["0", "FusedRecords@3", "2"]);
    assert_eq!(raw(&[HEADER, &e0, &format!("{}{e2}", &e1[..9]), ""]), ["0", "FusedRecords@3", "2"]);
    assert_eq!(raw(&[HEADER, &e0, "\0", &e2, ""]), ["0", "NulBlock@3", "SeqGap@4", "2"]);
    // What is no UTF-8 does not move them.
    let line = [b"\xff\xff{", e0.as_bytes(), e1.as_bytes()].concat();
    assert_eq!(read(&[HEADER.as_bytes(), b"\n", &line, b"\n"].concat()), ["FusedRecords@2", "0", "1"]);
    let log = [frame(&format!("{HEADER}\n")), frame(&format!("{e0}{e1}\n{e2}\n"))].concat();
    assert_eq!(read(&log), ["FusedRecords@2", "0", "1", "2"]);
    assert_eq!(read(&log[..log.len() - 4]), ["FusedRecords@2", "0", "1", "2", "TornTail@2"]);
}

#[test]
fn a_byte_order_mark_stands_before_the_header_alone() {
    let [e0, e1] = [0, 1].map(event);
    assert_eq!(read(format!("\u{feff}{HEADER}\n{e0}\n").as_bytes()), ["Bom@1", "0"]);
    assert_eq!(read(&frame(&format!("\u{feff}{HEADER}\n"))), ["Bom@1"]);
    assert_eq!(raw(&[HEADER, &e0, &format!("\u{feff}{e1}"), ""]), ["0", "FusedRecords@3", "1"]);
}

#[test]
fn numbers_are_those_of_javascript() {
    let spelt = |seq: &str| event(0).replace("\"seq\":0", &format!("\"seq\":{seq}"));
    assert_eq!(
        raw(&[HEADER, &spelt("-0"), &spelt("1.0"), &spelt("2e0"), &spelt("0.3e1"), ""]),
        ["0", "1", "2", "3"]
    );
    for odd in ["1e400", "123456789012345678901234567890", "0.5", "\"0\""] {
        assert_eq!(raw(&[HEADER, &spelt(odd), ""]), ["Envelope@2"], "{odd}");
    }
    let payload = event(0).replace("[]", "[1e400,123456789012345678901234567890,-0]");
    assert_eq!(raw(&[HEADER, &payload, ""]), ["0"]);
}

#[test]
fn a_wrong_envelope_is_taken_where_readers_check_it_last() {
    let [last, first] = [0, 2].map(|version| crate::format::of(version).unwrap());
    assert!(first.checks_with_scan(ScanCheck::Envelope));
    let taken = |line: &str, format: &Format| match parse_line(line, &mut Tape::default(), format, 1) {
        Err(FaultKind::Envelope { is_taken, ends_turn, .. }) => (is_taken, ends_turn),
        other => panic!("{other:?}"),
    };
    for (line, expected) in [
        (r#"{"type":"turn/end","seq":1,"time":1,"data":{},"x":1}"#, (true, true)),
        (r#"{"type":"todo/write","seq":1.0,"data":{}}"#, (true, false)),
        (r#"{"type":"turn/end","seq":2,"time":1}"#, (false, true)),
        ("[]", (false, false)),
        ("null", (true, true)),
    ] {
        assert_eq!(taken(line, last), expected, "{line}");
        assert_eq!(taken(line, first), (false, false), "{line}");
    }
}

#[test]
fn nesting_has_no_limit() {
    for depth in [3_000, 1_000_000] {
        let deep = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert_eq!(raw(&[HEADER, &event(0).replace("[]", &deep), ""]), ["0"]);
        assert_eq!(raw(&[HEADER, &event(0).replace("[]", &deep[1..]), ""]), ["NotJson@2"]);
    }
}

#[test]
fn a_file_that_is_cut_while_it_is_read_is_no_damage() {
    for is_zstd in [false, true] {
        let text = format!("{HEADER}\n{}\n", event(0));
        let packed = [frame(&format!("{HEADER}\n")), frame(&(event(0) + "\n"))].concat();
        let bytes = if is_zstd { packed } else { text.into_bytes() };
        let source = Source::of_bytes(&bytes);
        source.file.set_len(bytes.len() as u64 - 3).unwrap();
        let error = LogReader::open(&source).and_then(|mut reader| {
            while reader.next(|_| ())?.is_some() {}
            Ok(())
        });
        assert_eq!(error.unwrap_err().code(), "io");
    }
}

#[test]
fn logs_without_a_header_are_told_apart() {
    assert_eq!(read(b""), ["empty-file"]);
    assert_eq!(read(b"{"), ["no-header"]);
    assert_eq!(read(b"hello\n"), ["not-a-log"]);
    assert_eq!(read(HEADER.as_bytes()), ["no-header"]);
    assert_eq!(raw(&[&HEADER.replace(":0,", ":77,"), ""]), ["unsupported-format"]);
    assert_eq!(read(&frame(HEADER)), ["not-a-log"]);
    assert_eq!(read(&frame(&format!("{HEADER}\n"))[..20]), ["no-header"]);
    assert!(raw(&[HEADER, ""]).is_empty());
}

#[test]
fn lines_may_span_frames_but_must_end_in_one() {
    let (head, body) = (frame(&format!("{HEADER}\n")), event(0) + "\n");
    let (left, right) = body.split_at(20);
    let log = [head.clone(), frame(left), frame(right)].concat();
    assert_eq!(read(&log), ["0"]);
    let log = [head.clone(), frame(""), frame(&event(0))].concat();
    assert_eq!(read(&log), ["UnfinishedLine@2"]);
    let log = [frame(&format!("{HEADER}\n{body}")), frame(&(event(1) + "\n"))].concat();
    assert_eq!(read(&log), ["0", "HeaderFrame@1", "1"]);
}

#[test]
fn a_torn_frame_gives_its_whole_records() {
    let head = frame(&format!("{HEADER}\n{}", ""));
    let first = frame(&(event(0) + "\n"));
    let second = frame(&format!("{}\n{}\n", event(1), event(2)));
    let whole = [head, first, second].concat();
    for cut in 1..=4 {
        assert_eq!(read(&whole[..whole.len() - cut]), ["0", "1", "2", "TornTail@3"], "cut {cut}");
    }
    assert_eq!(read(&whole[..whole.len() - 30]), ["0", "TornTail@3"]);
    // What does not continue the log is told as in a raw log, and dsh takes nothing of the frame from there on.
    let odd = frame(&format!("{}\n{}\n{}\n", event(3), event(7), event(8)));
    let log = [&whole[..whole.len()], &odd[..odd.len() - 4]].concat();
    assert_eq!(read(&log), ["0", "1", "2", "3", "SeqGap@6", "7", "8", "TornTail@4"]);
    let mut reader = LogReader::open(&Source::of_bytes(&log)).unwrap();
    let mut recovered = None;
    let mut look = |item: Item| {
        if let Item::Fault(Fault { kind: FaultKind::TornTail { recovered: count, .. }, .. }) = item {
            recovered = Some(count);
        }
    };
    while reader.next(&mut look).unwrap().is_some() {}
    assert_eq!(recovered, Some(1));
}

#[test]
fn a_bad_checksum_is_no_torn_tail() {
    let head = frame(&format!("{HEADER}\n"));
    let mut middle = frame(&(event(0) + "\n"));
    *middle.last_mut().unwrap() ^= 1;
    let log = [head, middle, frame(&(event(1) + "\n"))].concat();
    assert_eq!(read(&log), ["0", "FrameData@2", "1"]);
}

#[test]
fn a_broken_frame_does_not_cost_the_next_ones_first_record() {
    // Two blocks, so that the first one is decoded before the second turns out to be broken.
    let filler: String = (0..200_000_u32)
        .map(|n| char::from(b'a' + (n.wrapping_mul(2_654_435_761) >> 27) as u8 % 26))
        .collect();
    let two_blocks = event(0).replace("\"todos\":[]", &format!("\"todos\":[],\"x\":\"{filler}\""));
    let mut broken = frame(&(two_blocks + "\n"));
    let length = broken.len();
    broken[length - 200..length - 20].fill(0xaa);
    let log = [frame(&format!("{HEADER}\n")), broken, frame(&(event(1) + "\n"))].concat();
    assert_eq!(read(&log), ["FrameData@2", "1"]);
}

#[test]
fn lines_behind_a_dropped_one_are_those_of_their_own_frame() {
    // The second frame ends inside a line, with which the third, broken one goes on.
    let half = format!("{{\"a\":\"{}", "a".repeat(300));
    let mut broken = frame(&half);
    *broken.last_mut().unwrap() ^= 1;
    let head = frame(&format!("{HEADER}\n"));
    let bad = frame(&format!("{}\n{{\n", event(0)));
    let start = head.len() + frame(&half).len() + broken.len();
    let log = [head, frame(&half), broken, bad].concat();
    let mut reader = LogReader::open(&Source::of_bytes(&log)).unwrap();
    let mut places = Vec::new();
    while let Some((is_record, place)) = reader
        .next(|item| match item {
            Item::Record(record) => (true, record.place),
            Item::Fault(fault) => (false, fault.place),
        })
        .unwrap()
    {
        places.push((is_record, place.frame, place.byte));
    }
    let place = |is_record| (is_record, Some(4), Some(start as u64));
    assert_eq!(places[1..], [place(true), place(false)], "{places:?}");
    assert_eq!((places.len(), places[0].1), (3, Some(3)));
}

#[test]
fn a_torn_frame_that_is_damaged_too_is_no_mere_torn_tail() {
    // Several blocks of text that hardly compresses, so that the first are decoded before the broken one.
    let mut state = 1_u32;
    let mut filler = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        char::from(b'a' + (state >> 24) as u8 % 26)
    };
    let text: String = (0..6)
        .map(|seq| {
            let words: String = (0..100_000).map(|_| filler()).collect();
            event(seq).replace("[]", &format!("[\"{words}\"]")) + "\n"
        })
        .collect();
    let mut bytes = [frame(&format!("{HEADER}\n")), frame(&text)].concat();
    bytes.truncate(bytes.len() - 10);
    assert_eq!(read(&bytes).last().unwrap(), "TornTail@2");
    // The third block's first bytes say how it is packed; each block header says where the next one is.
    let mut block = frame(&format!("{HEADER}\n")).len() + 6;
    for _ in 0..2 {
        let header = u32::from_le_bytes([bytes[block], bytes[block + 1], bytes[block + 2], 0]);
        block += 3 + (header >> 3) as usize;
    }
    bytes[block + 3..block + 9].fill(0xff);
    let damaged = read(&bytes);
    assert!(damaged.len() > 2 && damaged.last().unwrap() == "BrokenTail@2", "{damaged:?}");
    // Where nothing at all can be read of it, nothing is lost by cutting it off.
    let head = frame(&format!("{HEADER}\n"));
    let bytes = [&head[..], &frame(&text)[..9], &[0; 30]].concat();
    assert_eq!(read(&bytes), ["TornTail@2"]);
}

#[test]
fn a_frame_that_swallows_others_is_damaged_not_torn() {
    let frames = [frame(&format!("{HEADER}\n")), frame(&(event(0) + "\n")), frame(&(event(1) + "\n"))];
    let mut log = frames.concat();
    // The block header behind the second frame's six header bytes: a block of two MiB.
    let header = frames[0].len() + 6;
    log[header + 2] = 0xff;
    assert_eq!(read(&log), ["BrokenTail@2", "1"], "what stands behind it is read all the same");
}

#[test]
fn frames_that_were_appended_behind_a_torn_one_are_read() {
    let body: String = (0..4).map(|seq| event(seq) + "\n").collect();
    let (head, torn) = (frame(&format!("{HEADER}\n")), frame(&body));
    let behind = [frame(&format!("{}\n{}\n", event(4), event(5))), frame(&(event(6) + "\n"))];
    for cut in 1..torn.len() - 9 {
        for tail in [behind.concat(), behind[0].clone()] {
            let found = read(&[&head[..], &torn[..torn.len() - cut], &tail].concat());
            let records: Vec<&str> =
                ["4", "5", "6"][..if tail.len() > behind[0].len() { 3 } else { 2 }].to_vec();
            assert!(
                found.ends_with(&records.iter().map(|seq| (*seq).to_owned()).collect::<Vec<_>>()),
                "{cut}: {found:?}"
            );
            assert!(!found.iter().any(|item| item.starts_with("FrameMagic")), "{cut}: {found:?}");
        }
    }
}

#[test]
fn a_skippable_frame_before_the_header_is_passed_over() {
    let skippable = [&[0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0][..], b"abc"].concat();
    let log = [&skippable[..], &frame(&format!("{HEADER}\n")), &frame(&(event(0) + "\n"))].concat();
    assert_eq!(read(&log), ["SkippableFrame@0", "0"]);
}

#[test]
fn a_broken_frame_is_placed_where_its_text_starts() {
    let mut broken = frame(&(event(0) + "\n"));
    *broken.last_mut().unwrap() ^= 1;
    let log = [frame(&format!("{HEADER}\n")), broken].concat();
    let mut reader = LogReader::open(&Source::of_bytes(&log)).unwrap();
    let mut places = Vec::new();
    let look = |item: Item| match item {
        Item::Record(record) => record.place,
        Item::Fault(fault) => fault.place,
    };
    while let Some(place) = reader.next(look).unwrap() {
        places.push(place.text_byte);
    }
    assert_eq!(places, [Some(HEADER.len() as u64 + 1); 2]);
}

#[test]
fn frames_behind_what_is_no_frame_are_read() {
    let frames = [frame(&format!("{HEADER}\n")), frame(&(event(0) + "\n")), frame(&(event(1) + "\n"))];
    for (odd, fault) in [(&[0; 9][..], "FrameMagic@0"), (b"text\n", "FrameMagic@0")] {
        let log = [&frames[0], &frames[1], odd, &frames[2]].concat();
        assert_eq!(read(&log), ["0", fault, "1"]);
    }
    // A reserved bit in the second frame's descriptor, and the last frame torn.
    let mut log = frames.concat();
    log[frames[0].len() + 4] |= 0x08;
    assert_eq!(read(&log), ["FrameStructure@2", "1"]);
    assert_eq!(read(&log[..log.len() - 4]), ["FrameStructure@2", "1", "TornTail@3"]);
}

#[test]
fn frames_that_all_swallow_the_rest_take_no_quadratic_time() {
    let mut odd = frame(&(event(0) + "\n"));
    odd[8] = 0xff;
    let head = frame(&format!("{HEADER}\n"));
    let log = [head.clone(), odd.repeat(20_000), frame(&(event(1) + "\n"))].concat();
    let found = read(&log);
    assert_eq!(found.last().map(String::as_str), Some("Unread@0"), "the rest is not walked for ever");
    assert!(found.len() < 200, "{}", found.len());
    // Starts of frames that follow each other at once, each refused for its descriptor.
    let log = [head, [0x28, 0xb5, 0x2f, 0xfd, 0x18].repeat(200_000)].concat();
    assert_eq!(read(&log).last().map(String::as_str), Some("Unread@0"));
}

proptest::proptest! {
    #[test]
    fn no_bytes_make_the_reader_panic(
        cut in 0usize..400, flips in proptest::collection::vec((0usize..400, 0u8..=255), 0..6), zstd: bool,
    ) {
        let text = format!("{HEADER}\n{}\n{}\n{}\n", event(0), event(1), event(2));
        let mut log = if zstd {
            [frame(&format!("{HEADER}\n")), frame(&text[HEADER.len() + 1..])].concat()
        } else {
            text.into_bytes()
        };
        for (at, byte) in flips {
            let length = log.len();
            log[at % length] = byte;
        }
        log.truncate(cut);
        read(&log);
    }
}
