//! How long the stages take: `cargo bench --bench stages`. Throughput is that of the decoded text.
//!
//! Each stage does what the one before it does and more, so that their differences tell what each costs.

mod generator;

use divan::Bencher;
use divan::counter::BytesCount;
use dshc::check;
use dshc::json::Tape;
use dshc::log::{LogReader, Source};
use dshc::session::{self, Keep, Stop};
use generator::{Frames, Goal, Packing, Plan, Shape, Surface};
use std::hint::black_box;
use std::io::Read;
use std::path::PathBuf;
use std::{env, fs, process};

/// What is read: shape, format, packing.
const LOGS: [(Shape, u64, Packing); 8] = [
    (Shape::Dsh, 0, Packing::Raw),
    (Shape::Dsh, 0, Packing::Zstd(Frames::Dsh)),
    (Shape::Dsh, 0, Packing::Zstd(Frames::One)),
    (Shape::Dsh, 4, Packing::Zstd(Frames::Dsh)),
    (Shape::TinyFrames, 0, Packing::Zstd(Frames::Tiny)),
    (Shape::Chunks, 0, Packing::Zstd(Frames::Dsh)),
    (Shape::Tools, 0, Packing::Zstd(Frames::Dsh)),
    (Shape::Cjk, 0, Packing::Zstd(Frames::Dsh)),
];
const TEXT_BYTES: u64 = 4 << 20;

fn main() {
    divan::main();
    // What is left over is small, and the next run writes the same.
    let _ = fs::remove_dir_all(folder());
}

fn folder() -> PathBuf {
    env::temp_dir().join(format!("dshc-stages-{}", process::id()))
}

fn names() -> impl Iterator<Item = String> {
    LOGS.iter().map(|(shape, version, packing)| format!("{shape:?} v{version} {packing:?}"))
}

/// A log of the list, written where it is not there yet.
fn log(name: &str) -> Option<PathBuf> {
    let at = names().position(|known| known == name)?;
    let &(shape, version, packing) = LOGS.get(at)?;
    let format = dshc::format::of(version)?;
    let plan =
        Plan { shape, goal: Goal::Bytes(TEXT_BYTES), format, packing, surface: Surface::Small, seed: 1 };
    let folder = folder().join(at.to_string());
    fs::create_dir_all(&folder).ok()?;
    let path = folder.join(plan.file_name());
    if !path.exists() {
        plan.write_file(&path).ok()?;
    }
    Some(path)
}

fn text(name: &str) -> Option<Vec<u8>> {
    let path = log(name)?;
    let bytes = fs::read(&path).ok()?;
    if path.extension().is_some_and(|extension| extension == "zstd") {
        zstd::decode_all(bytes.as_slice()).ok()
    } else {
        Some(bytes)
    }
}

fn open(name: &str) -> Option<LogReader> {
    LogReader::open(&Source::open(&log(name)?).ok()?).ok()
}

fn count(name: &str) -> BytesCount {
    BytesCount::new(text(name).map_or(0, |text| text.len()))
}

/// What any program must do: read the file, and decode it.
#[divan::bench(args = names())]
fn decode(bencher: Bencher, name: &str) {
    let path = log(name).unwrap_or_default();
    bencher.counter(count(name)).bench(|| {
        let file = fs::File::open(&path).ok()?;
        let mut slice = vec![0; 1 << 17];
        let mut decoder: Box<dyn Read> = if path.extension().is_some_and(|extension| extension == "zstd") {
            Box::new(zstd::Decoder::new(file).ok()?)
        } else {
            Box::new(file)
        };
        let mut bytes = 0;
        loop {
            let read = decoder.read(&mut slice).ok()?;
            if read == 0 {
                return Some(bytes);
            }
            bytes += read;
        }
    });
}

/// Where lines end.
#[divan::bench(args = names())]
fn lines(bencher: Bencher, name: &str) {
    let text = text(name).unwrap_or_default();
    bencher
        .counter(BytesCount::new(text.len()))
        .bench(|| memchr::memchr_iter(b'\n', black_box(&text)).count());
}

/// The JSON of each line.
#[divan::bench(args = names())]
fn json(bencher: Bencher, name: &str) {
    let text = String::from_utf8(text(name).unwrap_or_default()).unwrap_or_default();
    let mut tape = Tape::default();
    bencher
        .counter(BytesCount::new(text.len()))
        .bench_local(|| text.lines().filter(|line| tape.read(line).is_ok()).count());
}

/// Containers, lines, envelopes and numbers.
#[divan::bench(args = names())]
fn read(bencher: Bencher, name: &str) {
    bencher.counter(count(name)).bench(|| {
        let mut reader = open(name)?;
        while reader.next(|_| ()).ok()?.is_some() {}
        Some(reader.events())
    });
}

/// The surface with its host tokens, without its messages.
#[divan::bench(args = names())]
fn fold(bencher: Bencher, name: &str) {
    folded(bencher, name, Keep::Figures);
}

/// The surface with its messages: what `dshc replay` needs.
#[divan::bench(args = names())]
fn fold_with_messages(bencher: Bencher, name: &str) {
    folded(bencher, name, Keep::Messages);
}

fn folded(bencher: Bencher, name: &str, keep: Keep) {
    bencher.counter(count(name)).bench(|| {
        let folded = session::fold(&mut open(name)?, keep, Stop::default()).ok()?;
        Some(folded.session.surface.host_tokens())
    });
}

/// The host tokens of every line, taken as a block: the longest way that the estimate knows.
#[divan::bench(args = names())]
fn host_tokens(bencher: Bencher, name: &str) {
    let text = String::from_utf8(text(name).unwrap_or_default()).unwrap_or_default();
    let mut tape = Tape::default();
    bencher.counter(BytesCount::new(text.len())).bench_local(|| {
        let mut sum = 0_u64;
        for line in text.lines() {
            sum += tape.read(line).map_or(0, |raw| dshc::tokens::host::block(raw, &[]));
        }
        sum
    });
}

/// All rules: what `dshc verify` does.
#[divan::bench(args = names())]
fn verify(bencher: Bencher, name: &str) {
    bencher
        .counter(count(name))
        .bench(|| Some(check::check(&mut open(name)?, check::Options::default()).ok()?.findings.len()));
}
