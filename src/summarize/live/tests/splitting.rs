//! Where a transcript may be cut, and how much fits.

use super::*;
use crate::tokens::{Tokenizer, TokenizerName};
use proptest::prelude::*;
use std::collections::HashMap;
use std::fs;
use std::ops::RangeInclusive;
use std::path::Path;

fn named(entries: Vec<Entry>) -> Vec<String> {
    units::of(&Transcript { entries }, None).iter().map(ToString::to_string).collect()
}

#[test]
fn a_node_stays_whole_and_so_do_a_call_and_its_result() {
    let entries = vec![
        human(1, ""),
        said(2, ""),
        call(2, "a"),
        call(2, "b"),
        result(3, "b", ""),
        human(4, ""),
        result(5, "a", ""),
        said(6, ""),
        result(7, "a", ""),
        call(8, "a"),
        human(9, ""),
    ];
    assert_eq!(named(entries), ["seq 1", "seqs 2..5", "seq 6", "seq 7", "seq 8", "seq 9"]);
}

#[test]
fn a_checkpoint_stays_with_the_prompt_that_it_may_carry() {
    let checkpoint = || Entry::Checkpoint { seq: 90, summary: String::new() };
    assert_eq!(named(vec![human(2, ""), checkpoint(), said(7, "")]), ["seqs 2..90", "seq 7"]);
    assert_eq!(named(vec![said(2, ""), checkpoint(), human(7, "")]), ["seq 2", "seq 90", "seq 7"]);
}

#[test]
fn what_is_denser_than_prose_is_dearer_than_for_the_host() {
    for (text, tokens) in
        [("", 0), ("a", 1), ("ab c", 1), ("abcde", 2), ("3.14", 3), ("压缩会话", 4), ("é", 1), ("🦀", 2)]
    {
        assert_eq!(estimate(text), tokens, "{text}");
    }
}

#[test]
fn a_text_is_not_taken_for_shorter_than_it_is() {
    let tokenizer = Tokenizer::load(TokenizerName::O200kBase);
    for name in ["fixtures/demo/session.jsonl", "Cargo.lock", "README.md", "fixtures/golden/prompt.txt"] {
        let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).unwrap();
        let (found, exact) = (estimate(&text), tokenizer.count(&text).unwrap());
        assert!((exact..exact * 7 / 5).contains(&found), "{name}: {found} for {exact}");
    }
}

fn entries() -> impl Strategy<Value = Vec<Entry>> {
    let entry = (0..4_u8, 0..3_usize, 0..600_usize, any::<bool>());
    prop::collection::vec(entry, 0..40).prop_map(|choices| {
        let mut seq = 0;
        let made = choices.into_iter().map(|(kind, id, length, is_same_node)| {
            let (id, text) = (["a", "b", "c"][id], "word ".repeat(length / 5));
            if kind == 3 || !is_same_node {
                seq += 1;
            }
            match kind {
                0 => human(seq, &text),
                1 => said(seq, &text),
                2 => call(seq, id),
                _ => result(seq, id, &text),
            }
        });
        made.collect()
    })
}

/// Positions of each result and of the latest open call with its id.
fn pairs(entries: &[Entry]) -> Vec<(usize, usize)> {
    let mut open: HashMap<&str, Vec<usize>> = HashMap::new();
    let mut pairs = Vec::new();
    for (index, entry) in entries.iter().enumerate() {
        match entry {
            Entry::Call { id, .. } => open.entry(id).or_default().push(index),
            Entry::Result { id, .. } => {
                pairs.extend(open.get_mut(id.as_str()).and_then(Vec::pop).map(|call| (call, index)));
            }
            _ => {}
        }
    }
    pairs
}

/// The seqs that a unit is named by.
fn span(unit: &Unit) -> RangeInclusive<u64> {
    let name = unit.to_string();
    let (_, seqs) = name.split_once(' ').unwrap();
    let (first, last) = seqs.split_once("..").unwrap_or((seqs, seqs));
    first.parse().unwrap()..=last.parse().unwrap()
}

proptest! {
    /// Each piece fits, none could take in more, and together they are the whole, in which no pair is parted.
    #[test]
    fn pieces_fit_and_make_up_the_whole(entries in entries(), window in 1_500..6_000_u64) {
        let transcript = Transcript { entries };
        let units = units::of(&transcript, None);
        let whole = units::joined(&units);
        let instructions = prompt::instructions(500, None, true);
        let rooms = Rooms::of(window, 100, &instructions, &instructions, units.len());
        match window::split(&units, &rooms) {
            Ok(pieces) => {
                let texts: Vec<String> = pieces.iter().map(units::joined).collect();
                prop_assert_eq!(texts.concat(), whole);
                for (index, text) in texts.iter().enumerate() {
                    let part = Part { number: index + 1, of: texts.len().max(2) };
                    let so_far = "word ".repeat(80);
                    let so_far = (index > 0).then_some(so_far.as_str());
                    let question = prompt::question(part, so_far, text);
                    prop_assert!(estimate(&instructions) + estimate(&question) + 100 <= window);
                }
                for (index, pair) in pieces.windows(2).enumerate() {
                    let used: u64 = pair[0].iter().map(Unit::tokens).sum();
                    let room = if index == 0 { rooms.first } else { rooms.next };
                    prop_assert!(used + pair[1][0].tokens() > room);
                }
            }
            Err(misfits) => prop_assert!(misfits.iter().all(|unit| unit.tokens() > rooms.next)),
        }
        for (call, result) in pairs(&transcript.entries) {
            let seqs = transcript.entries[call].seq()..=transcript.entries[result].seq();
            let holds = |unit: &Unit| span(unit).contains(seqs.start()) && span(unit).contains(seqs.end());
            prop_assert!(units.iter().any(holds), "{seqs:?}");
        }
    }
}
