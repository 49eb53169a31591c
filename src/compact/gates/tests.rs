//! The gates together, on the summaries of real logs and on made ones.

use super::*;
use crate::compact::testing;
use crate::compact::transcript;
use crate::session::Folded;
use crate::summarize::{Mentions, Request, SECTIONS, Stub, Summarizer, Unwatched, identifiers};
use proptest::prelude::*;
use std::path::PathBuf;

const NO_OPTIONS: GateOptions = GateOptions { min_recall: None, complete_identifiers: false };
const COMPLETE: GateOptions = GateOptions { min_recall: None, complete_identifiers: true };

/// Every log below `fixtures/` that can be read.
fn logs() -> Vec<(PathBuf, Folded)> {
    let files = walkdir::WalkDir::new(testing::fixture_path("")).sort_by_file_name();
    let paths = files.into_iter().filter_map(Result::ok).map(walkdir::DirEntry::into_path);
    let is_log =
        |path: &PathBuf| path.extension().is_some_and(|ending| ending == "jsonl" || ending == "zstd");
    paths.filter(is_log).filter_map(|path| Some((path.clone(), testing::fold(&path)?))).collect()
}

fn stub(transcript: &Transcript, budget: u64) -> String {
    let request =
        Request { transcript, hidden: &[], carried: None, budget, objection: &|_| None, watch: &Unwatched };
    Stub.summarize(&request).unwrap().text
}

fn region(entries: &[Entry]) -> Transcript {
    Transcript { entries: entries.to_vec() }
}

fn human(text: &str) -> Entry {
    Entry::Human { seq: 3, text: text.to_owned() }
}

/// A summary in eight sections, the given lines in the last one.
fn summary(last: &str) -> String {
    let sections = SECTIONS.map(|name| format!("## {name}\n- about {name}"));
    sections.join("\n\n").replace("- about Critical Context", last)
}

fn objection(text: &str, entries: &[Entry], options: GateOptions) -> Option<Objection> {
    Gates::of(&region(entries), None, true, options).admit(text, 10_000).err()
}

#[test]
fn the_stubs_summaries_of_all_fixtures_pass() {
    let mut judged = 0;
    for (path, folded) in logs() {
        let transcript = transcript::of(folded.session.surface.nodes(), &folded.session);
        for budget in [120, 600, 4_000] {
            let text = stub(&transcript, budget);
            let is_empty =
                text.lines().all(|line| line.is_empty() || line.starts_with('#') || line == "(none)");
            assert_eq!(text::judge(&text).is_err(), is_empty, "{}: {text}", path.display());
            assert_eq!(sections::judge(&text), Ok(()), "{}: {text}", path.display());
            assert_eq!(repetition::judge(&text, &transcript), Ok(()), "{}: {text}", path.display());
            judged += usize::from(!is_empty);
        }
    }
    assert!(judged > 100, "{judged}");
}

#[test]
fn completing_names_all_that_the_fixtures_name() {
    let mut completed = 0;
    for (path, folded) in logs() {
        let transcript = transcript::of(folded.session.surface.nodes(), &folded.session);
        let gates = Gates::of(&transcript, None, false, COMPLETE);
        let before = stub(&transcript, 600);
        let admitted = gates.admit(&before, u64::MAX).unwrap();
        assert_eq!(
            admitted.recall.found,
            admitted.recall.of,
            "{}: {:?}",
            path.display(),
            admitted.recall.missing
        );
        assert_eq!(sections::judge(&admitted.text), Ok(()), "{}", path.display());
        completed += usize::from(admitted.text != before);
    }
    assert!(completed > 10, "{completed}");
}

#[test]
fn each_gate_refuses_a_models_text() {
    let good = summary("- port 8443");
    assert_eq!(objection(&good, &[], NO_OPTIONS), None);
    let earlier = Entry::Checkpoint { seq: 1, summary: good.clone() };
    for (text, entries, words) in [
        (String::new(), vec![], "says nothing"),
        (format!("```\n{good}\n```"), vec![], "code fence"),
        (good.replace("## Next Step", "Next:"), vec![], "missing: \"Next Step\""),
        (good.replace("- port", &format!("{}- port", "- Read it.\n".repeat(8))), vec![], "repeats itself"),
        (good.clone(), vec![earlier], "come back word for word"),
    ] {
        let objection = objection(&text, &entries, NO_OPTIONS).unwrap();
        assert!(objection.message.contains(words), "{objection:?}");
        assert_eq!(objection.code, "summary");
        assert!(!objection.help.is_empty());
    }
}

#[test]
fn the_form_of_a_free_text_is_not_judged() {
    let nothing = region(&[]);
    let gates = Gates::of(&nothing, None, false, NO_OPTIONS);
    assert_eq!(gates.admit("12 messages were dropped.", 100).unwrap().text, "12 messages were dropped.");
    assert_eq!(gates.admit(" \n", 100).unwrap_err().message, "the summary is empty");
}

#[test]
fn recall_is_told_and_may_be_a_gate() {
    let entries = [human("Move src/a.rs and src/b.rs to 8443"), human("See src/b.rs at 3fa9c1d")];
    let transcript = region(&entries);
    let text = summary("- src/a.rs");
    let recall = Gates::of(&transcript, None, true, NO_OPTIONS).admit(&text, 0).unwrap().recall;
    let missing = ["src/b.rs", "8443", "3fa9c1d"].map(str::to_owned).to_vec();
    assert_eq!(recall, Recall { found: 1, of: 4, missing });
    assert!((recall.share() - 0.25).abs() < 1e-9);
    let at_least = |least| objection(&text, &entries, GateOptions { min_recall: Some(least), ..NO_OPTIONS });
    assert_eq!(at_least(0.25), None);
    let refused = at_least(0.5).unwrap();
    assert_eq!(refused.code, "recall");
    assert_eq!(
        refused.message,
        "the summary names 1 of 4 paths, commands, error strings, hashes and numbers, a share of 0.25 where 0.5 is \
         wanted; missing, the most frequent first: `src/b.rs`, `8443`, `3fa9c1d`"
    );
    let completed = GateOptions { min_recall: Some(1.0), ..COMPLETE };
    assert_eq!(objection(&text, &entries, completed), None, "the completed text is judged");
}

#[test]
fn a_region_that_names_nothing_is_recalled_whole() {
    let transcript = region(&[human("Hello there")]);
    let recall = Gates::of(&transcript, None, true, NO_OPTIONS).admit(&summary("- x"), 0).unwrap().recall;
    assert_eq!((recall.found, recall.of), (0, 0));
    assert!((recall.share() - 1.0).abs() < f64::EPSILON);
}

#[test]
fn what_the_carried_task_names_counts_as_found() {
    let transcript = region(&[human("Fix src/a.rs on 8443")]);
    let recall =
        |carried| Gates::of(&transcript, carried, true, COMPLETE).admit(&summary("(none)"), 9_000).unwrap();
    assert_eq!(recall(None).text, summary("- Paths: `src/a.rs`\n- Numbers: `8443`"));
    assert_eq!((recall(Some(3)).text, recall(Some(3)).recall.found), (summary("(none)"), 2));
}

#[test]
fn what_is_missing_is_cut_in_reports() {
    let many: Vec<String> = (1000..1200).map(|number| format!("{number}")).collect();
    let error = format!("error: {}", "日志 ".repeat(70));
    let result = Entry::Result { seq: 4, id: String::new(), is_error: true, text: error };
    let transcript = region(&[result, human(&many.join(" "))]);
    let recall = Gates::of(&transcript, None, true, NO_OPTIONS).admit(&summary("- x"), 0).unwrap().recall;
    assert_eq!((recall.found, recall.of, recall.missing.len()), (0, 201, 50));
    assert_eq!(recall.missing[0].chars().count(), 121);
    assert_eq!(recall.missing[1], "1000");
}

#[test]
fn the_most_frequent_are_added_first_and_no_more_than_there_is_room_for() {
    let entries: Vec<Entry> = (0..20)
        .flat_map(|file| (0..=file).map(move |_| human(&format!("see src/file{file:02}.rs"))))
        .collect();
    let transcript = region(&entries);
    let gates = Gates::of(&transcript, None, true, COMPLETE);
    let text = summary("- x");
    let price = |text: &str| crate::tokens::host::text(text.encode_utf16().count() as u64);
    for room in 0..300 {
        let admitted = gates.admit(&text, room).unwrap();
        assert!(admitted.text == text || price(&admitted.text) <= room, "{room}");
        let added = admitted.recall.found;
        let rarest = (20 - added..20).all(|file| admitted.text.contains(&format!("src/file{file:02}.rs")));
        assert!(rarest, "{room}: {}", admitted.text);
    }
    assert_eq!(gates.admit(&text, 300).unwrap().recall.found, 20);
}

#[test]
fn a_text_that_does_not_end_in_the_last_section_stays_as_it_is() {
    let transcript = region(&[human("Fix src/a.rs")]);
    let gates = Gates::of(&transcript, None, false, COMPLETE);
    let turned = "## Critical Context\n- x\n## Next Step\n- y";
    for text in ["A note.", turned] {
        assert_eq!(gates.admit(text, 9_000).unwrap().text, text);
    }
    let sub = "## Critical Context:\n### Ports\n- 80\n";
    let expected = "## Critical Context:\n### Ports\n- 80\n- Paths: `src/a.rs`";
    assert_eq!(gates.admit(sub, 9_000).unwrap().text, expected);
}

fn words() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        "[a-z]{1,6}",
        "(src|lib)/[a-z]{1,4}\\.(rs|py)",
        "[0-9]{1,6}",
        "[0-9a-f]{7,12}",
        "E0[0-9]{3}",
        Just("`cargo test --all`".to_owned()),
        Just("日志".to_owned()),
        "[ -~]{1,12}",
    ];
    proptest::collection::vec(word, 0..12).prop_map(|words| words.join(" "))
}

fn entry() -> impl Strategy<Value = Entry> {
    prop_oneof![
        words().prop_map(|text| human(&text)),
        words().prop_map(|text| Entry::Result { seq: 5, id: String::new(), is_error: true, text }),
        words().prop_map(|text| {
            let arguments = format!("{{\"command\":{}}}", crate::json::quote(&text));
            Entry::Call { seq: 4, id: String::new(), tool: "bash".into(), arguments }
        }),
    ]
}

proptest! {
    #[test]
    fn a_text_that_lists_everything_recalls_everything(entries in proptest::collection::vec(entry(), 0..12)) {
        let transcript = region(&entries);
        let all = identifiers(&transcript);
        let listed: Vec<_> = all.iter().map(|identifier| format!("- `{}`", identifier.text)).collect();
        let listed = listed.join("\n");
        let mentions = Mentions::of(&[&listed]);
        for identifier in &all {
            prop_assert!(mentions.name(&identifier.text), "{identifier:?} in {listed}");
        }
    }

    #[test]
    fn completing_keeps_the_sections_and_never_lowers_recall(
        entries in proptest::collection::vec(entry(), 0..12),
        last in words(),
        room in 0_u64..400,
    ) {
        let transcript = region(&entries);
        let text = summary(&format!("- {last}"));
        let before = Gates::of(&transcript, None, false, NO_OPTIONS).admit(&text, room).unwrap();
        let gates = Gates::of(&transcript, None, false, COMPLETE);
        let after = gates.admit(&text, room).unwrap();
        prop_assert_eq!(sections::judge(&after.text), Ok(()));
        prop_assert!(after.recall.found >= before.recall.found);
        prop_assert!(after.text.starts_with(text.trim_end()) || last.is_empty());
        let all = gates.admit(&text, u64::MAX).unwrap();
        prop_assert_eq!(all.recall.found, all.recall.of, "{:?}", all.recall.missing);
        prop_assert_eq!(sections::judge(&all.text), Ok(()));
    }
}
