use super::*;
use crate::log::append::zstd_frame;

fn frame(text: &str) -> Vec<u8> {
    zstd_frame(text.as_bytes()).unwrap()
}

/// The offsets of whole frames, and the last step that is no frame.
fn steps(bytes: &[u8]) -> (Vec<(u64, u64)>, String) {
    let mut cursor = FrameCursor::new(bytes, 0);
    let (mut frames, mut start, mut last) = (Vec::new(), 0, String::new());
    loop {
        let used = match cursor.step().unwrap() {
            Step::Bytes(some) => some.len().min(7),
            Step::FrameStart(at) => {
                start = at;
                0
            }
            Step::FrameEnd => {
                frames.push((start, cursor.offset));
                0
            }
            Step::End => return (frames, last),
            other => {
                last = format!("{other:?}");
                0
            }
        };
        cursor.consume(used);
    }
}

#[test]
fn frames_are_found_whatever_the_step_size() {
    let (one, two) = (frame("header\n"), frame(&"event\n".repeat(100_000)));
    let log = [one.clone(), frame(""), two].concat();
    let (frames, last) = steps(&log);
    assert_eq!(frames.len(), 3);
    assert_eq!(frames[0], (0, one.len() as u64));
    assert_eq!(frames[2].1, log.len() as u64);
    assert_eq!(last, "");
}

#[test]
fn every_cut_is_a_torn_frame_or_a_whole_one() {
    let (one, two) = (frame("header\n"), frame("event\nevent\n"));
    let log = [one.clone(), two].concat();
    for cut in 0..log.len() {
        let torn = walk(&log[..cut], 0).unwrap().torn;
        let expected = match cut {
            0 => None,
            cut if cut < one.len() => Some(0),
            cut if cut == one.len() => None,
            _ => Some(one.len() as u64),
        };
        assert_eq!(torn, expected, "cut at {cut}");
    }
}

#[test]
fn other_bytes_are_named_with_their_place() {
    let one = frame("header\n");
    let (frames, last) = steps(&[one.clone(), vec![0; 512]].concat());
    assert_eq!(frames.len(), 1);
    assert_eq!(
        last,
        format!(
            "Fault(FrameMagic {{ found: [0, 0, 0, 0], nuls: 512, is_end: true, rest: None }}, {})",
            one.len()
        )
    );

    let (_, last) = steps(&[&one[..], &[0; 9], &one[..]].concat());
    assert!(last.contains("nuls: 9, is_end: false"), "{last}");
    let (_, last) = steps(&[&one[..], &[0; 4]].concat());
    assert!(last.contains("nuls: 4, is_end: true"), "{last}");

    let skippable = [&[0x50, 0x2a, 0x4d, 0x18, 4, 0, 0, 0][..], b"abcd"].concat();
    let (frames, last) = steps(&[one.clone(), skippable.clone(), one.clone()].concat());
    assert_eq!(frames.len(), 2);
    assert_eq!(last, format!("Fault(SkippableFrame {{ bytes: 12 }}, {})", one.len()));

    // One that the file's end cuts is no torn tail: dsh looks at the magic alone.
    for cut in [4, 7, 10] {
        let (_, last) = steps(&[&one[..], &skippable[..cut]].concat());
        assert_eq!(last, format!("Fault(SkippableFrame {{ bytes: {cut} }}, {})", one.len()));
    }
}
