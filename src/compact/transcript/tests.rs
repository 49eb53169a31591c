use super::*;
use crate::log::{LogReader, Source};
use crate::session::{self, Keep, Stop};
use std::path::Path;

/// The entries of all of a fixture's surface.
fn entries(log: &Path) -> Vec<Entry> {
    let source = Source::open(log).unwrap();
    let folded =
        session::fold(&mut LogReader::open(&source).unwrap(), Keep::Messages, Stop::default()).unwrap();
    of(folded.session.surface.nodes(), &folded.session).entries
}

fn fixture(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(name)
}

#[test]
fn images_are_told_and_not_shown() {
    let entries = entries(&fixture("formats/native.v4.jsonl"));
    let human = entries.iter().find(|entry| matches!(entry, Entry::Human { .. }));
    let text = "look at this\n\n[image: image/png, 1x1, 69 bytes, no longer shown]".to_owned();
    assert_eq!(human, Some(&Entry::Human { seq: 3, text }));
}

#[test]
fn reasoning_is_left_out() {
    let log = fixture("demo/session.jsonl");
    assert!(
        std::fs::read_to_string(&log)
            .unwrap()
            .contains(r#""type":"reasoning","text":"local_day divides with"#)
    );
    let told = format!("{:?}", entries(&log));
    assert!(!told.contains("local_day divides with") && !told.contains("[reasoning]"), "{told}");
}
