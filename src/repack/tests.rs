use super::*;
use crate::log::append::{RealDisk, zstd_frame};
use crate::log::failing_disk::{FailingDisk, LateDisk};
use crate::log::{FrameHeader, Source};
use crate::summarize::Unwatched;
use proptest::prelude::*;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

const SERVICES: Services = Services { disk: &RealDisk, watch: &Unwatched };

/// A fast level, and no question whether the fixture rests.
const OPTIONS: Options = Options { level: Some(3), frame_text: FRAME_TEXT, is_idle: true };

fn demo() -> Vec<u8> {
    fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/demo-zstd/session.jsonl.zstd")).unwrap()
}

fn log(bytes: &[u8]) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("session.jsonl.zstd");
    fs::write(&path, bytes).unwrap();
    (folder, path)
}

fn text(bytes: &[u8]) -> Vec<u8> {
    zstd::decode_all(bytes).unwrap()
}

fn names(folder: &Path) -> usize {
    fs::read_dir(folder).unwrap().count()
}

fn in_place(path: &Path, options: &Options, disk: &dyn Disk) -> Outcome {
    repack(path, Target::InPlace, options, &Services { disk, ..SERVICES })
}

/// The text of each frame, cut by the sizes that they tell.
fn sizes(path: &Path) -> Vec<u64> {
    let source = Source::open(path).unwrap();
    let mut bytes = fs::read(path).unwrap();
    let mut start = 0;
    let mut sizes = Vec::new();
    while !bytes.is_empty() {
        let header = FrameHeader::at(&source, start).unwrap().unwrap();
        assert!(header.has_checksum && header.window <= 8 << 20, "{header:?}");
        sizes.push(header.content_size.unwrap_or_default());
        let length = zstd::zstd_safe::find_frame_compressed_size(&bytes).unwrap();
        bytes.drain(..length);
        start += length as u64;
    }
    sizes
}

#[test]
fn a_log_becomes_smaller_and_keeps_its_text_and_its_header_frame() {
    let old = demo();
    let (folder, path) = log(&old);
    let outcome = in_place(&path, &OPTIONS, &RealDisk);
    let new = fs::read(&path).unwrap();
    assert_eq!((outcome.status, outcome.exit()), (Status::Repacked, crate::exit::Exit::Done));
    assert_eq!(outcome.bytes, (old.len() as u64, Some(new.len() as u64)));
    assert!(new.len() < old.len() * 3 / 4, "{} of {}", new.len(), old.len());
    assert_eq!((outcome.frames, outcome.text_bytes), (Some((25, Some(2))), Some(text(&old).len() as u64)));
    assert_eq!(text(&new), text(&old));
    let head = zstd::zstd_safe::find_frame_compressed_size(&old).unwrap();
    assert_eq!(new[..head], old[..head]);
    let header_text = text(&old[..head]).len();
    assert_eq!(sizes(&path), [0, (text(&old).len() - header_text) as u64], "dsh's own frames tell no size");
    assert_eq!(names(folder.path()), 1);
    // Who names no level has nothing more to do; who names one may try.
    let unnamed = Options { level: None, ..OPTIONS };
    for (options, why) in [(unnamed, "large already"), (OPTIONS, "not become smaller")] {
        let again = in_place(&path, &options, &RealDisk);
        assert_eq!((again.status, &again.digest), (Status::NothingToDo, &outcome.digest));
        assert!(again.notes[0].contains(why), "{:?}", again.notes);
        assert_eq!((fs::read(&path).unwrap(), names(folder.path())), (new.clone(), 1));
    }
    let harder = in_place(&path, &Options { level: Some(22), ..OPTIONS }, &RealDisk);
    assert_eq!(harder.status, Status::Repacked);
    assert!(harder.bytes.1 < outcome.bytes.1);
    sizes(&path);
}

#[test]
fn a_dry_run_tells_the_very_figures() {
    let (folder, path) = log(&demo());
    let planned = repack(&path, Target::Nowhere, &OPTIONS, &SERVICES);
    assert_eq!((planned.status, fs::read(&path).unwrap()), (Status::Planned, demo()));
    assert_eq!(names(folder.path()), 1);
    let done = in_place(&path, &OPTIONS, &RealDisk);
    assert_eq!(done, Outcome { status: Status::Repacked, ..planned });
}

#[test]
fn a_new_file_is_the_same_as_in_place() {
    let (folder, path) = log(&demo());
    let output = folder.path().join("new/session.jsonl.zstd");
    let done = repack(&path, Target::File(&output), &OPTIONS, &SERVICES);
    assert_eq!((done.status, done.output.as_deref()), (Status::Repacked, Some(output.as_path())));
    assert_eq!(fs::read(&path).unwrap(), demo());
    let [old, new] = [&path, &output].map(|path| fs::metadata(path).unwrap());
    assert_eq!(new.modified().unwrap(), old.modified().unwrap());
    assert_eq!(new.permissions(), old.permissions());
    in_place(&path, &OPTIONS, &RealDisk);
    assert_eq!(fs::read(&path).unwrap(), fs::read(&output).unwrap());
    // Nothing is written for what would not become smaller, and over nothing.
    let other = folder.path().join("other/session.jsonl.zstd");
    assert_eq!(repack(&path, Target::File(&other), &OPTIONS, &SERVICES).status, Status::NothingToDo);
    assert!(!folder.path().join("other").exists());
    fs::write(&path, demo()).unwrap();
    let refused = repack(&path, Target::File(&output), &OPTIONS, &SERVICES);
    assert_eq!((refused.status, refused.reason.unwrap().code), (Status::Failed, "persistence"));
    assert_eq!(names(folder.path()), 2);
}

#[test]
fn a_failure_leaves_the_log_as_it_was_or_repacked() {
    let mut ends = Vec::new();
    for (at, is_dead_after) in (0..5).flat_map(|at| [(at, false), (at, true)]) {
        let (folder, path) = log(&demo());
        let outcome = in_place(&path, &OPTIONS, &FailingDisk::at(at, is_dead_after));
        let now = fs::read(&path).unwrap();
        let case = format!("call {at}: {outcome:?}");
        assert_eq!(names(folder.path()), 1, "{case}");
        if outcome.status == Status::Repacked {
            assert!(now.len() < demo().len() && text(&now) == text(&demo()), "{case}");
            assert_eq!(outcome.notes.iter().any(|note| note.contains("old file back")), at == 3, "{case}");
        } else {
            assert_eq!((now, outcome.bytes.1), (demo(), None), "{case}");
            assert_eq!((outcome.status, outcome.reason.unwrap().code), (Status::Failed, "persistence"));
        }
        ends.push(outcome.status == Status::Repacked);
        let output = folder.path().join("below/new.jsonl.zstd");
        let beside = repack(
            &path,
            Target::File(&output),
            &OPTIONS,
            &Services { disk: &FailingDisk::at(at, is_dead_after), ..SERVICES },
        );
        let is_written = beside.status == Status::Repacked;
        assert_eq!(output.exists(), is_written, "call {at}: {beside:?}");
        assert_eq!(names(folder.path()), 1 + usize::from(is_written), "call {at}");
    }
    // Write, sync, replace; the folder's sync is only told.
    assert_eq!(ends, [[false; 6].as_slice(), &[true; 4]].concat());
}

#[test]
fn what_another_writer_appends_at_that_moment_is_kept() {
    let late =
        zstd_frame(b"{\"type\":\"todo/write\",\"seq\":559,\"time\":1,\"data\":{\"todos\":[]}}\n").unwrap();
    let (folder, path) = log(&demo());
    let disk = LateDisk::new(&path, &late, None);
    let outcome = in_place(&path, &OPTIONS, &disk);
    assert_eq!((outcome.status, outcome.reason.unwrap().code), (Status::Failed, "changed"));
    assert_eq!(fs::read(&path).unwrap(), [demo(), late].concat());
    assert_eq!(names(folder.path()), 1);
}

/// Says at its nth question that the user wants the run to end.
struct Impatient(AtomicUsize);

impl Watch for Impatient {
    fn stage(&self, _stage: &str) {}

    fn received(&self, _tokens: u64) {}

    fn is_cancelled(&self) -> bool {
        let left = self.0.load(Ordering::Relaxed);
        self.0.store(left.saturating_sub(1), Ordering::Relaxed);
        left == 0
    }
}

#[test]
fn an_interrupt_leaves_the_log_as_it_was() {
    let mut ends = Vec::new();
    for questions in 0..64 {
        let (folder, path) = log(&demo());
        let watch = Impatient(AtomicUsize::new(questions));
        let outcome = repack(&path, Target::InPlace, &OPTIONS, &Services { watch: &watch, ..SERVICES });
        assert_eq!(names(folder.path()), 1);
        if outcome.status == Status::Repacked {
            assert!(ends.len() > 2, "{ends:?}");
            return;
        }
        assert_eq!((outcome.exit(), fs::read(&path).unwrap()), (crate::exit::Exit::Interrupted, demo()));
        ends.push(outcome.status);
    }
    panic!("it is never done: {ends:?}");
}

#[test]
fn a_wrong_new_file_is_found_out() {
    let old = demo();
    let (_folder, path) = log(&old);
    let source = Source::open(&path).unwrap();
    let layout = layout::Layout::of(&source, FRAME_TEXT).unwrap();
    let reading = proof::Reading::of(&source).unwrap();
    let prove = |new: &[u8], frame_text| {
        let (_folder, path) = log(new);
        proof::prove((&source, &layout, &reading), &Source::open(&path).unwrap(), frame_text)
    };
    let mut good = Vec::new();
    assert!(pack::pack(&source, &layout, 3, &mut good, &Unwatched).is_ok());
    assert_eq!(prove(&good, FRAME_TEXT), Ok(2));
    let body = usize::try_from(layout.body_start).unwrap();
    let all = text(&old);
    let head = text(&old[..body]);
    let mut flipped = good.clone();
    flipped[good.len() - 9] ^= 1;
    let less = zstd_frame(&all[head.len()..all.len() - 1]).unwrap();
    for (new, told) in [
        (old.clone(), "cut at other places"),
        ([&zstd::bulk::compress(&head, 3).unwrap(), &good[body..]].concat(), "header frame"),
        ([&old[..body], &less].concat(), "its text is another"),
        (flipped, "cannot be decoded"),
        (good[..good.len() - 2].to_owned(), "torn"),
    ] {
        let problem = prove(&new, FRAME_TEXT).unwrap_err();
        assert!(problem.contains(told), "{problem}");
    }
    assert!(prove(&good, 1000).unwrap_err().contains("cut at other places"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// However a log is cut into frames, empty ones and ones that end inside a line among them.
    #[test]
    fn any_cut_into_frames_gives_the_same_text_and_surface(
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..40),
        frame_text in prop_oneof![Just(1_u64), 100..20_000_u64, Just(FRAME_TEXT)],
    ) {
        let all = text(&demo());
        let header = all.iter().position(|byte| *byte == b'\n').unwrap() + 1;
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| header + cut.index(all.len() - header + 1)).collect();
        cuts.extend([0, header, all.len()]);
        cuts.sort_unstable();
        let frames: Vec<Vec<u8>> = cuts.windows(2).map(|cut| zstd_frame(&all[cut[0]..cut[1]]).unwrap()).collect();
        let old = frames.concat();
        let (_folder, path) = log(&old);
        let options = Options { frame_text, ..OPTIONS };
        let outcome = in_place(&path, &options, &RealDisk);
        let new = fs::read(&path).unwrap();
        prop_assert_eq!(text(&new), all);
        prop_assert!(new.len() <= old.len());
        prop_assert_eq!(outcome.digest.as_ref().unwrap(), &proof::Reading::of(&Source::open(&path).unwrap()).unwrap().digest);
        if outcome.status == Status::Repacked {
            let sizes = sizes(&path);
            prop_assert_eq!(outcome.frames.unwrap().1, Some(sizes.len() as u64));
            // All but the header's and the last are full.
            prop_assert!(sizes[1..sizes.len() - 1].iter().all(|size| *size >= frame_text));
        } else {
            prop_assert_eq!((outcome.status, new), (Status::NothingToDo, old));
        }
    }
}
