//! Folded logs for the tests of this room.

use crate::log::{LogReader, Source};
use crate::session::{self, Folded, Keep, Stop};
use std::path::{Path, PathBuf};

/// The path of a log below `fixtures/`.
pub(super) fn fixture_path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(name)
}

/// A log below `fixtures/`.
pub(super) fn fixture(name: &str) -> Folded {
    fold(&fixture_path(name)).unwrap()
}

/// The log at `path`, messages kept; `None` where it cannot be read.
pub(super) fn fold(path: &Path) -> Option<Folded> {
    let source = Source::open(path).ok()?;
    let mut reader = LogReader::open(&source).ok()?;
    session::fold(&mut reader, Keep::Messages, Stop::default()).ok()
}

/// A log of nothing but human prompts, numbered from seq 0.
pub(super) fn surface_of(prompts: &[&str]) -> Folded {
    let header = r#"{"type":"session","version":0,"id":"s","createdAt":1,"delegationDepth":0}"#;
    let record = |(seq, prompt): (usize, &&str)| {
        let message = format!(
            r#"{{"id":"m{seq}","role":"user","content":[{{"type":"text","text":"{prompt}"}}],"source":{{"kind":"user"}}}}"#
        );
        format!(r#"{{"type":"user/message","seq":{seq},"time":1,"data":{message},"surfaceOp":"append"}}"#)
    };
    let records = prompts.iter().enumerate().map(record);
    let lines: Vec<_> = std::iter::once(header.to_owned()).chain(records).map(|line| line + "\n").collect();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("session.jsonl");
    std::fs::write(&path, lines.concat()).unwrap();
    fold(&path).unwrap()
}
