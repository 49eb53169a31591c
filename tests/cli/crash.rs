//! A compaction that is cut off at any byte leaves a log that dsh opens.

use crate::official;
use crate::sandbox::{Sandbox, fixture, text};
use dshc::log::{LogReader, Source};
use dshc::session::{self, Folded, Keep, LockState, Stop};
use std::fs;
use std::io::Write;
use std::path::Path;

fn fold(bytes: &[u8], name: &str) -> Folded {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    let source = Source::of(file, Path::new(name)).unwrap();
    session::fold(&mut LogReader::open(&source).unwrap(), Keep::Figures, Stop::default()).unwrap()
}

/// Where the first append, `compaction/start`, ends.
fn start_end(new: &[u8], old: usize) -> usize {
    let is_zstd = new.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]);
    let is_edge = |at: &usize| {
        if is_zstd { new[*at..].starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) } else { new[at - 1] == b'\n' }
    };
    (old + 1..new.len()).find(is_edge).unwrap()
}

#[test]
fn every_prefix_of_what_is_appended_is_a_sound_log() {
    let sandbox = Sandbox::new();
    let mut samples = Vec::new();
    for name in [
        "demo/session.jsonl",
        "demo-zstd/session.jsonl.zstd",
        "corpus/crashed-zstd/--home-dev-project-0--/gen-15-0/session.jsonl.zstd",
    ] {
        let log = sandbox.copy(fixture(name));
        let old = fs::read(&log).unwrap();
        let run = sandbox.run(&["compact", text(&log), "--retain-tokens", "2500"]);
        assert_eq!(run.code, 0, "{run:?}");
        let new = fs::read(&log).unwrap();
        let (before, after) = (fold(&old, name), fold(&new, name));
        let events = before.session.events;
        let mut orphans = 0;
        // Every byte near an edge of what is appended, and some in between: folding is what takes the time.
        let is_near_edge = |cut: &usize| {
            [old.len(), start_end(&new, old.len()), new.len()].iter().any(|edge| cut.abs_diff(*edge) < 20)
        };
        for cut in (old.len()..=new.len()).filter(|cut| is_near_edge(cut) || cut % 61 == 0) {
            let folded = fold(&new[..cut], name);
            assert!(folded.damage.is_none(), "{name}: cut at {cut}");
            assert!(folded.session.events >= events, "{name}: cut at {cut}");
            let surface = folded.session.surface.seqs();
            let whole = [&before, &after].map(|folded| folded.session.surface.seqs());
            assert!(whole.contains(&surface), "{name}: cut at {cut}");
            let is_whole = cut == old.len() || cut == new.len();
            let is_held = matches!(folded.session.lock(), LockState::Held(_));
            assert!(
                is_whole || folded.torn.is_some() || is_held,
                "{name}: nothing tells of the cut at {cut}"
            );
            orphans += usize::from(is_held);
            if cut % 7 == 0 {
                let suffix = if name.ends_with("zstd") { ".zstd" } else { "" };
                samples.push(sandbox.write(&format!("{cut}/{}.jsonl{suffix}", old.len()), &new[..cut]));
            }
        }
        assert!(orphans > 0, "{name}: the start is on its own for a while");
    }
    for verdict in official::judge(&samples, &[]).unwrap_or_default() {
        assert_eq!(verdict["loads"], true, "{verdict}");
        assert_eq!(verdict["opened"].get("error"), None, "{verdict}");
    }
}
