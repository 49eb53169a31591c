use super::*;
use crate::log::Source;
use crate::log::append::zstd_frame;
use proptest::prelude::*;
use std::io::Write as _;

/// All that comes of a log, spelled out.
fn spell(next: impl FnMut() -> Option<String>) -> Vec<String> {
    std::iter::from_fn(next).collect()
}

/// A piece as it is without what was read ahead, which must be what stands in the line.
fn told(piece: Piece) -> String {
    let Piece::Line(line) = piece else { return format!("{piece:?}") };
    let text = std::str::from_utf8(line.bytes);
    assert!(line.read.text.is_none_or(|read| text == Ok(read)));
    if let Values::On(tape, (start, end)) = line.read.values {
        assert_eq!(tape.value(start..end, text.unwrap()).get(), text.unwrap().trim_ascii());
    }
    format!("{:?}", Line { read: Read::default(), ..line })
}

fn plainly(source: &Source) -> Vec<String> {
    let mut cutter = Cutter::new(source, 0).unwrap();
    spell(|| cutter.next().unwrap().map(told))
}

fn ahead(source: &Source, size: usize) -> Vec<String> {
    let mut lines = Ahead::with_blocks_of(size, Cutter::new(source, 0).unwrap()).unwrap();
    spell(|| lines.next().unwrap().map(told))
}

/// A frame as other programs write them: with its size and without a checksum.
fn foreign_frame(text: &[u8]) -> Vec<u8> {
    zstd::bulk::compress(text, 1).unwrap()
}

/// One of many small blocks.
fn flushed_frame(text: &[u8]) -> Vec<u8> {
    let mut encoder = zstd::Encoder::new(Vec::new(), 3).unwrap();
    encoder.include_checksum(true).unwrap();
    for some in text.chunks(50) {
        encoder.write_all(some).unwrap();
        encoder.flush().unwrap();
    }
    encoder.finish().unwrap()
}

/// A log of `text` cut into frames behind each of `cuts`.
fn framed(text: &[u8], cuts: &[usize]) -> Vec<u8> {
    let (mut log, mut start) = (zstd_frame(b"{}\n").unwrap(), 0);
    for (number, cut) in cuts.iter().chain([&text.len()]).enumerate() {
        let end = (start + cut).min(text.len());
        let make = [|text: &[u8]| zstd_frame(text).unwrap(), foreign_frame, flushed_frame][number % 3];
        log.extend(make(&text[start..end]));
        start = end;
    }
    log
}

fn line() -> impl Strategy<Value = Vec<u8>> {
    let lengths = prop_oneof![3 => Just(0), 9 => 1usize..40, 1 => 100usize..400, 1 => Just(70_000)];
    (lengths, b'a'..=b'z', any::<bool>()).prop_map(|(length, byte, is_plain)| {
        let vary = |at: usize| u8::try_from(at * at % 19).unwrap_or_default();
        let mut line: Vec<u8> =
            (0..length).map(|at| if is_plain { byte } else { byte.wrapping_add(vary(at)) }).collect();
        line.push(b'\n');
        line
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn read_ahead_or_not_a_log_gives_the_same(
        lines in proptest::collection::vec(line(), 0..40),
        cuts in proptest::collection::vec(0usize..2000, 0..12),
        flips in proptest::collection::vec((any::<usize>(), any::<u8>()), 0..4),
        cut in prop_oneof![Just(0), 0usize..300],
        size in 1usize..500,
        is_raw: bool,
    ) {
        let text = lines.concat();
        let mut log = if is_raw { [b"{}\n", &text[..]].concat() } else { framed(&text, &cuts) };
        for (at, byte) in flips {
            let length = log.len();
            log[at % length] = byte;
        }
        log.truncate(log.len().saturating_sub(cut).max(1));
        let source = Source::of_bytes(&log);
        prop_assert_eq!(ahead(&source, size), plainly(&source));
    }

    #[test]
    fn however_it_is_cut_into_frames_a_text_has_the_same_lines(
        lines in proptest::collection::vec(line(), 0..40),
        cuts in proptest::collection::vec(0usize..2000, 0..12),
    ) {
        let text = lines.concat();
        let lines_of = |log: &[u8]| {
            let mut cutter = Cutter::new(&Source::of_bytes(log), 0).unwrap();
            let mut lines = Vec::new();
            while let Some(piece) = cutter.next().unwrap() {
                let Piece::Line(line) = piece else { panic!("{piece:?}") };
                lines.push(line.bytes.to_vec());
                lines.extend(vec![Vec::new(); usize::try_from(line.empty_behind).unwrap()]);
            }
            lines
        };
        prop_assert_eq!(lines_of(&framed(&text, &cuts)), lines_of(&[b"{}\n", &text[..]].concat()));
    }
}

#[test]
fn a_long_line_comes_whole_and_what_follows_it_too() {
    let long = [b"x".repeat(3 << 20), b"\n".to_vec()].concat();
    let text = [&long[..], b"a\n", &long, &long, b"b\n"].concat();
    let source = Source::of_bytes(&framed(&text, &[]));
    let mut lines = Ahead::start(Cutter::new(&source, 0).unwrap()).unwrap();
    let mut lengths = Vec::new();
    while let Some(piece) = lines.next().unwrap() {
        let Piece::Line(line) = piece else { panic!("{piece:?}") };
        lengths.push(line.bytes.len());
        assert_eq!(lines.given().len(), *lengths.last().unwrap());
    }
    assert_eq!(lengths, [2, 3 << 20, 1, 3 << 20, 3 << 20, 1]);
}

#[test]
fn the_rest_of_a_torn_line_is_given_with_its_fault() {
    let mut lines = Ahead::start(Cutter::new(&Source::of_bytes(b"{}\n{\"half"), 0).unwrap()).unwrap();
    assert!(matches!(lines.next().unwrap(), Some(Piece::Line(_))));
    assert!(matches!(lines.next().unwrap(), Some(Piece::Fault(FaultKind::TornTail { .. }, _))));
    assert_eq!(lines.given(), b"{\"half");
    assert!(lines.next().unwrap().is_none() && lines.next().unwrap().is_none());
}

#[test]
fn who_stops_early_ends_the_thread() {
    let source = Source::of_bytes(&framed(&b"some line\n".repeat(500_000), &[]));
    let mut lines = Ahead::start(Cutter::new(&source, 0).unwrap()).unwrap();
    assert!(lines.next().unwrap().is_some());
    // Dropping waits for it: a thread that goes on would hang the test.
    drop(lines);
}

#[test]
fn an_error_comes_behind_the_lines_before_it() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let line = b"{\"a\":1}\n";
    std::fs::write(file.path(), line.repeat(100_000)).unwrap();
    let source = Source::open(file.path()).unwrap();
    file.as_file().set_len(400_000).unwrap();
    let mut lines = Ahead::start(Cutter::new(&source, 0).unwrap()).unwrap();
    let mut count = 0;
    let error = loop {
        match lines.next() {
            Ok(piece) => count += usize::from(piece.is_some()),
            Err(error) => break error,
        }
    };
    assert_eq!((count, error.kind()), (50_000, io::ErrorKind::UnexpectedEof));
}
