//! Summaries of every poor kind, and sound ones that look a little like them.

use crate::check::testing::{bracket, check_events, codes, user};
use crate::check::{Checked, Severity};
use crate::json::quote;
use crate::summarize::SECTIONS;

/// A text block.
fn text(text: &str) -> String {
    format!(r#"{{"type":"text","text":{}}}"#, quote(text))
}

/// A compaction of the node `shadowed` with a summary of these blocks, and with these in its checkpoint.
fn compaction(seq: u64, shadowed: u64, summary: &str, checkpoint: &str) -> Vec<String> {
    let lines = bracket(seq, "c", "null", shadowed).into_iter();
    lines
        .map(|line| {
            let line = line.replace("\"summary\":[]", &format!("\"summary\":[{summary}]"));
            line.replace("\"content\":[]", &format!("\"content\":[{checkpoint}]"))
        })
        .collect()
}

fn framed(inner: &str) -> String {
    let opening = format!(
        "Earlier messages were condensed. What they established stands below, in short.\n\n{}",
        "<compacted-summary>"
    );
    [text(&opening), inner.to_owned(), text("</compacted-summary>")].join(",")
}

/// The codes of quality that a log has besides those of the task.
fn quality(log: &[String]) -> (Vec<&'static str>, Checked) {
    let checked = check_events(log);
    let mut found = codes(&checked);
    found.retain(|code| code.starts_with("summary-") || *code == "nested-checkpoint");
    (found, checked)
}

fn of_summary(blocks: &str) -> Vec<&'static str> {
    quality(&[vec![user(0, "one")], compaction(1, 0, blocks, &framed(blocks))].concat()).0
}

fn sections(count: usize) -> String {
    SECTIONS.iter().take(count).fold(String::new(), |text, name| text + "## " + name + "\n- (none)\n")
}

#[test]
fn a_summary_must_say_something() {
    let reasoning = r#"{"type":"reasoning","text":"let me think"}"#;
    assert_eq!(of_summary(""), ["summary-empty"]);
    assert_eq!(of_summary(&text(" \n\t")), ["summary-empty"]);
    assert_eq!(of_summary(reasoning), ["summary-reasoning-only"]);
    assert_eq!(of_summary(&format!("{reasoning},{}", text(" "))), ["summary-reasoning-only"]);
    assert_eq!(of_summary(&format!("{reasoning},{}", text("Importer drafted."))), [""; 0]);
    let (_, checked) = quality(&[vec![user(0, "one")], compaction(1, 0, "", "")].concat());
    let finding = checked.findings.iter().find(|finding| finding.code == "summary-empty").unwrap();
    assert_eq!((finding.severity, finding.seq, finding.place.line), (Severity::Warning, Some(2), Some(4)));
}

#[test]
fn a_loop_is_told_from_a_list() {
    assert_eq!(of_summary(&text(&"- Run the tests.\n".repeat(40))), ["summary-repeats-line"]);
    assert_eq!(
        of_summary(&text(&format!("Importer drafted.\n{}", "Next.\n".repeat(5)))),
        ["summary-repeats-line"]
    );
    assert_eq!(of_summary(&text(&"Next.\n".repeat(4))), [""; 0]);
    let list = (0..40).map(|file| format!("- `src/{file}.rs`: rewritten")).collect::<Vec<_>>().join("\n");
    assert_eq!(of_summary(&text(&list)), [""; 0]);
    // The headings of a summary of nothing, fences and marks.
    assert_eq!(of_summary(&text(&sections(8))), [""; 0]);
    assert_eq!(
        of_summary(&text(&"```\nx\n```\n---\n".repeat(9).replace('x', "line"))),
        ["summary-repeats-line"]
    );
    assert_eq!(of_summary(&text(&"```rust\n```\n---\n".repeat(9))), [""; 0]);
}

#[test]
fn sections_are_missed_where_some_are_there() {
    assert_eq!(of_summary(&text(&sections(5))), ["summary-sections-missing"]);
    assert_eq!(of_summary(&text(&sections(1))), [""; 0], "one heading may be anybody's");
    assert_eq!(of_summary(&text("## Goals\n- deploy\n## State\n- done\n")), [""; 0]);
    let numbered = SECTIONS.iter().zip(1..).map(|(name, at)| format!("# {at}. **{name}**:\n- x{at}"));
    let numbered = numbered.collect::<Vec<_>>().join("\n");
    assert_eq!(of_summary(&text(&numbered)), [""; 0]);
    let (_, checked) = quality(&[vec![user(0, "one")], compaction(1, 0, &text(&sections(6)), "")].concat());
    let finding = checked.findings.iter().find(|finding| finding.code == "summary-sections-missing").unwrap();
    assert_eq!(finding.message, "the summary lacks 2 sections: \"Next Step\", \"Critical Context\"");
}

#[test]
fn an_earlier_checkpoint_is_not_copied_in() {
    assert_eq!(of_summary(&text("<compacted-summary>\nImporter drafted.")), ["nested-checkpoint"]);
    assert_eq!(of_summary(&text(&format!("{}{}", sections(8), sections(8)))), ["nested-checkpoint"]);
    let first = "The importer was drafted, its tests were written, and two of them fail on files without a header line.";
    let second = |summary: &str| {
        let first = compaction(1, 0, &text(first), &framed(&text(first)));
        let second = compaction(5, 3, &text(summary), &framed(&text(summary)));
        quality(&[vec![user(0, "one")], first, second].concat()).0
    };
    assert_eq!(second(&format!("Before: {first} Now they pass.")), ["nested-checkpoint"]);
    assert_eq!(second("The importer is done, and all of its tests pass."), [""; 0]);
    let frame = "Earlier messages were condensed. What they established stands below, in short.";
    assert_eq!(second(&format!("{frame} Importer done.")), ["nested-checkpoint"]);
}

#[test]
fn a_checkpoint_of_its_own_is_looked_at_while_it_is_on_the_surface() {
    let said = text("Importer drafted.");
    let poor = compaction(1, 0, &said, &framed(&text(" ")));
    let log = [vec![user(0, "one")], poor].concat();
    let (found, checked) = quality(&log);
    assert_eq!(found, ["summary-empty"]);
    let finding = checked.findings.iter().find(|finding| finding.code == "summary-empty").unwrap();
    assert_eq!(finding.seq, Some(3), "the checkpoint, not the summary");
    let mended = compaction(5, 3, &said, &framed(&said));
    assert_eq!(quality(&[log, mended].concat()).0, [""; 0], "it is hidden");
}
