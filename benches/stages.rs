//! How long the stages take: `cargo bench`. Throughput is that of the decoded text.

use divan::Bencher;
use divan::counter::BytesCount;
use dshc::check;
use dshc::log::{LogReader, Source};
use dshc::session::{self, Keep, Stop};
use std::path::{Path, PathBuf};

fn main() {
    divan::main();
}

const LOGS: [&str; 5] = [
    "demo/session.jsonl",
    "demo-zstd/session.jsonl.zstd",
    "corpus/bulky-results/--home-dev-project-0--/gen-16-0/session.jsonl.zstd",
    "corpus/upgraded/v3/--home-dev-project-0--/gen-12-0/session.v3.jsonl",
    "corpus/upgraded/v4/--home-dev-project-0--/gen-12-0/session.v4.jsonl",
];

fn log(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(name)
}

/// Opens a log of the benchmark, which is known to be sound.
fn open(path: &Path) -> Option<LogReader> {
    LogReader::open(&Source::open(path).ok()?).ok()
}

fn text_bytes(path: &Path) -> BytesCount {
    let bytes = std::fs::read(path).unwrap_or_default();
    let decoded = if path.extension().is_some_and(|extension| extension == "zstd") {
        zstd::decode_all(bytes.as_slice()).unwrap_or_default().len()
    } else {
        bytes.len()
    };
    BytesCount::new(decoded)
}

/// Containers, lines, envelopes and numbers.
#[divan::bench(args = LOGS)]
fn read(bencher: Bencher, name: &str) {
    let path = log(name);
    bencher.counter(text_bytes(&path)).bench(|| {
        let mut reader = open(&path)?;
        while reader.next(|_| ()).ok()?.is_some() {}
        Some(reader.events())
    });
}

/// The surface with its messages: what `dshc replay` needs.
#[divan::bench(args = LOGS)]
fn fold(bencher: Bencher, name: &str) {
    let path = log(name);
    bencher.counter(text_bytes(&path)).bench(|| {
        let folded = session::fold(&mut open(&path)?, Keep::Messages, Stop::default()).ok()?;
        Some(folded.session.surface.host_tokens())
    });
}

/// All rules: what `dshc verify` does.
#[divan::bench(args = LOGS)]
fn verify(bencher: Bencher, name: &str) {
    let path = log(name);
    bencher
        .counter(text_bytes(&path))
        .bench(|| Some(check::check(&mut open(&path)?, check::Options::default()).ok()?.findings.len()));
}
