use super::*;
use crate::log::append::zstd_frame;

fn frame(text: &str) -> Vec<u8> {
    zstd_frame(text.as_bytes()).unwrap()
}

/// The lines, and the names of faults.
fn read(log: &[u8]) -> Vec<String> {
    let mut cutter = Cutter::new(&Source::of_bytes(log), 0).unwrap();
    let mut found = Vec::new();
    while let Some(piece) = cutter.next().unwrap() {
        found.push(match piece {
            Piece::Line(line) => String::from_utf8_lossy(line.bytes).into_owned(),
            Piece::Fault(kind, _) => format!("{kind:?}").split(['(', ' ']).next().unwrap().to_owned(),
        });
    }
    found
}

/// A stored frame of these blocks, each with the two bits of its kind.
fn stored(blocks: &[(u32, &[u8])]) -> Vec<u8> {
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0, 0x58];
    for (at, (kind, bytes)) in blocks.iter().enumerate() {
        let is_last = u32::from(at + 1 == blocks.len());
        let header = (u32::try_from(bytes.len()).unwrap() << 3) | (kind << 1) | is_last;
        frame.extend(&header.to_le_bytes()[..3]);
        frame.extend(*bytes);
    }
    frame
}

#[test]
fn a_frame_that_is_broken_twice_does_not_bring_later_ones_back() {
    let broken = stored(&[(2, b"no compressed block"), (3, b"reserved")]);
    let sound = [frame("a\n"), frame("b\n"), frame("c\n")].concat();
    let log =
        [&frame("{}\n")[..], &broken, &sound, &[0x50, 0x2a, 0x4d, 0x18, 0, 0, 0, 0], &frame("d\n")].concat();
    let found = read(&log);
    assert_eq!(found, ["{}", "FrameData", "FrameStructure", "a", "b", "c", "SkippableFrame", "d"]);
}

#[test]
fn a_search_behind_a_broken_frame_does_not_move_the_reader() {
    let mut broken = frame("broken\n");
    *broken.last_mut().unwrap() ^= 1;
    let lines: Vec<String> = (0..20_000).map(|number| format!("line {}", number * 7919 % 20_011)).collect();
    let frames = lines.iter().flat_map(|line| frame(&format!("{line}\n")));
    let log: Vec<u8> = frame("{}\n").into_iter().chain(broken).chain(frames).collect();
    assert!(log.len() > 1 << 18, "more than a window");
    let found = read(&log);
    assert_eq!(found[..3], ["{}", "broken", "FrameData"]);
    assert_eq!(found[3..], lines);
}

#[test]
fn many_frames_within_one_line_are_not_kept() {
    let mut log = frame("{}\n");
    log.extend(stored(&[(0, b"x")]).repeat(50_000));
    log.extend(stored(&[(0, b"\n")]));
    log.extend(frame(""));
    log.extend(frame("end\n"));
    let mut cutter = Cutter::new(&Source::of_bytes(&log), 0).unwrap();
    let mut places = Vec::new();
    let mut most = 0;
    while let Some(piece) = cutter.next().unwrap() {
        let Piece::Line(line) = piece else { panic!("{piece:?}") };
        places.push((line.bytes.len(), line.place.frame));
        most = most.max(cutter.frames.starts.len());
    }
    assert_eq!(places, [(2, Some(1)), (50_000, Some(2)), (3, Some(50_004))]);
    assert!(most < 10_000, "{most}");
}
