//! Whether the model still sees what it was asked to do (FORMAT §6.1, §7.4).

use super::Finding;
use super::gist::Gist;
use super::places::Places;
use super::registry::rule_family;
use super::wording::{amount, owned, quoted};
use crate::format::MessageKind;
use crate::json::{Object, Raw};
use crate::session::{Node, OPENING_TAG, Session, Task, TaskVisibility};

rule_family! {
    "checkpoint";
    /// The first human prompt is neither on the surface nor carried by the checkpoint that hides it.
    ///
    /// **What it means.** The first `user/message` of a human is the task of the session. A replacement has hidden it,
    /// perhaps through others, and the one that stands on the surface does not hold the prompt's blocks word for word.
    /// The finding shows the chain of replacements, and how the prompt begins; the log itself still holds it.
    ///
    /// **Why it matters.** From there on the model knows the task from a summary alone, and after the next compaction
    /// from a summary of a summary. Limits, names and figures of the task are the first to go, and the model then works
    /// on something else than what was asked.
    ///
    /// **How it comes about.** dsh's own compactions take the task with the rest of the region, and its checkpoints hold
    /// the summary alone. So each session that dsh has compacted gives this finding: a note where the checkpoint uses at
    /// least half of the prompt's longer words, so that it still speaks of the task, else a warning.
    ///
    /// **What to do.** Compact the session with `dshc compact`: its checkpoint carries the task, taken from the log,
    /// whenever its region holds a replacement that hides it. Or repeat the task in your next prompt; the finding says
    /// at which seq it stands.
    TASK_LOST = warning("task-lost");
    /// No message of a human is on the surface, though the log holds one.
    ///
    /// **What it means.** Every appended `user/message` whose source is a human is hidden by a replacement, and the task
    /// is not carried either. What the model sees are summaries, its own messages and those of tools.
    ///
    /// **Why it matters.** Nothing on the surface says in a person's own words what is wanted. What a summary gets wrong
    /// about it, nothing corrects. Where the checkpoint still speaks of the task (see `task-lost`), this is a note.
    ///
    /// **How it comes about.** A compaction took all prompts up to the end of the surface, or a second one took the
    /// first one's checkpoint with the prompts behind it.
    ///
    /// **What to do.** Write a prompt that says again what is wanted, or compact with `dshc compact`, which carries the
    /// task word for word. The prompts themselves are still in the log, at the seqs that the finding names.
    NO_HUMAN_PROMPT = warning("no-human-prompt-on-surface");
}

/// What the node that hides the task still says of it.
#[derive(Debug, Default)]
pub(super) struct Remains(Option<(u64, Gist)>);

impl Remains {
    /// A replacement with this message has just been taken by `session`.
    pub(super) fn replaced(&mut self, session: &Session, seq: u64, message: &Object) {
        let Some(task) = session.task.as_ref().filter(|task| task.shown() == seq) else { return };
        let prompt = texts(task.content.iter().map(|block| block.raw()));
        self.0 = Some((seq, Gist::of(&prompt, &texts(message.array("content").into_iter().flatten()))));
    }

    /// What is to be said of the task at the end of a log.
    pub(super) fn findings(&self, session: &Session, places: &Places) -> Vec<Finding> {
        let lost = session.task.as_ref().filter(|task| task.visibility() == TaskVisibility::Lost);
        let Some(task) = lost else { return Vec::new() };
        let (seq, shown, text) = (task.seq, task.shown(), quoted(&beginning(task)));
        let gist = self.0.filter(|(by, _)| *by == shown).map(|(_, gist)| gist);
        let hidden = format!("is hidden by {}", chain(task));
        let words = gist.filter(|gist| gist.of > 0).map_or_else(String::new, |gist| {
            let words = amount(gist.of as u64, "longer word");
            format!(" (of the prompt's {words} it has {})", gist.found)
        });
        let finding = |rule, message| {
            let finding = relating(Finding::new(rule, places.of(shown), message), task, &text).at_seq(shown);
            let finding = finding.with_help(
                "`dshc compact` carries the task word for word in the checkpoint that it writes next",
            );
            if gist.is_some_and(Gist::is_kept) { finding.noted() } else { finding }
        };
        let lost = format!(
            "the task, the human prompt of seq {seq}, {hidden}, and seq {shown} does not carry it{words}; it begins {text}"
        );
        let mut findings = vec![finding(&TASK_LOST, lost)];
        if !session.surface.nodes().iter().any(is_human_prompt) {
            let message = format!(
                "no message of a human is on the surface; the first one, seq {seq}, {hidden}; it begins {text}"
            );
            findings.push(finding(&NO_HUMAN_PROMPT, message));
        }
        findings
    }
}

/// The texts of blocks, but for the frame of a checkpoint.
fn texts<'a>(blocks: impl Iterator<Item = Raw<'a>>) -> String {
    let text = |block| Object::of(block).and_then(|block| block.text("text").map(owned));
    let texts: Vec<String> = blocks.filter_map(text).filter(|text| !text.ends_with(OPENING_TAG)).collect();
    texts.join("\n")
}

/// Whether a node is what a human said, and no replacement of it.
fn is_human_prompt(node: &Node) -> bool {
    node.kind == MessageKind::User && node.source_kind == "user" && node.replaces.is_empty()
}

/// How much of a long chain of replacements is told.
const MOST_OF_A_CHAIN: usize = 8;

fn relating(finding: Finding, task: &Task, text: &str) -> Finding {
    let mut finding = finding.relating(task.seq, format!("the task: {text}"));
    let mut before = task.seq;
    let last = task.hidden_by.len().saturating_sub(1);
    for (index, (seq, carries)) in task.hidden_by.iter().enumerate() {
        if (MOST_OF_A_CHAIN..last).contains(&index) {
            before = *seq;
            continue;
        }
        let carried = if *carries { "and carries the task" } else { "and does not carry the task" };
        finding = finding.relating(*seq, format!("hides seq {before} {carried}"));
        before = *seq;
    }
    finding
}

/// `seq 16`, or `seqs 9 -> 16`, where each hides the one before; of a long chain its beginning and its end.
fn chain(task: &Task) -> String {
    let chain: Vec<String> = task.hidden_by.iter().map(|(seq, _)| seq.to_string()).collect();
    match chain.as_slice() {
        [one] => format!("seq {one}"),
        [first @ .., last] if chain.len() > MOST_OF_A_CHAIN => {
            let left_out = chain.len() - MOST_OF_A_CHAIN;
            let first = first.get(..MOST_OF_A_CHAIN - 1).unwrap_or_default();
            format!("seqs {} -> ({left_out} more) -> {last}", first.join(" -> "))
        }
        all => format!("seqs {}", all.join(" -> ")),
    }
}

/// The first words of the task.
fn beginning(task: &Task) -> String {
    let text = |block| Object::of(block).and_then(|block| block.text("text").map(owned));
    task.content.iter().find_map(|block| text(block.raw())).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::testing::{bracket, check_events, codes, marked, user};
    use super::super::{Checked, Severity};

    /// A replacement that is no checkpoint, of `start` to `end`, with these blocks.
    fn replacement(seq: u64, start: u64, end: u64, blocks: &str) -> String {
        let data = format!(
            r#"{{"id":"m{seq}","role":"user","content":[{blocks}],"source":{{"kind":"plugin","plugin":"p"}}}}"#
        );
        let op = format!(r#"{{"op":"replace","start":{start},"end":{end}}}"#);
        let sources = if start == end { format!("[{start}]") } else { format!("[{start},{end}]") };
        marked(seq, "user/message", &data, &op, &format!(r#","sourceEventSeqs":{sources}"#))
    }

    fn told(log: &[String]) -> (Vec<&'static str>, Checked) {
        let checked = check_events(log);
        (codes(&checked), checked)
    }

    const TASK: &str = r#"{"type":"text","text":"fix"}"#;

    #[test]
    fn a_task_that_nothing_carries_is_lost() {
        let log = [user(0, "fix"), user(1, "more"), replacement(2, 0, 0, TASK), replacement(3, 2, 2, "")];
        assert_eq!(told(&log[..2]).0, [""; 0]);
        assert_eq!(told(&log[..3]).0, [""; 0], "it is carried");
        let (codes, checked) = told(&log);
        assert_eq!(codes, ["task-lost"]);
        let finding = &checked.findings[0];
        assert_eq!(
            (finding.severity, finding.seq, finding.place.line),
            (Severity::Warning, Some(3), Some(5))
        );
        assert!(
            finding.message.contains("hidden by seqs 2 -> 3, and seq 3 does not carry it"),
            "{}",
            finding.message
        );
        assert!(finding.message.ends_with("it begins \"fix\""), "{}", finding.message);
        let chain: Vec<_> = finding.related.iter().map(|related| (related.seq, &*related.message)).collect();
        let expected = [
            (0, "the task: \"fix\""),
            (2, "hides seq 0 and carries the task"),
            (3, "hides seq 2 and does not carry the task"),
        ];
        assert_eq!(chain, expected);
        // Carried again, by whoever takes it from the log.
        assert_eq!(told(&[&log[..], &[replacement(4, 3, 3, TASK)]].concat()).0, [""; 0]);
    }

    #[test]
    fn a_surface_without_a_human_is_warned_of() {
        let log = [user(0, "fix"), user(1, "more"), replacement(2, 0, 1, "")];
        let (codes, checked) = told(&log);
        assert_eq!(codes, ["no-human-prompt-on-surface", "task-lost"]);
        assert!(checked.findings.iter().all(|finding| finding.severity == Severity::Warning));
        assert_eq!(told(&[&log[..], &[user(3, "go on")]].concat()).0, ["task-lost"]);
        assert_eq!(told(&[user(0, "fix"), replacement(1, 0, 0, TASK)]).0, [""; 0], "the task is carried");
        // A checkpoint that speaks of the task in its own words is a note.
        let importer = r#"{"type":"text","text":"Importer drafted."}"#;
        let (codes, checked) = told(&[user(0, "Build the importer."), replacement(1, 0, 0, importer)]);
        assert_eq!(codes, ["no-human-prompt-on-surface", "task-lost"]);
        assert!(checked.findings.iter().all(|finding| finding.severity == Severity::Note));
        assert!(checked.findings[1].message.contains("(of the prompt's 2 longer words it has 1)"));
        // What no human said is no task.
        let machine = user(0, "fix").replace(r#""kind":"user""#, r#""kind":"webhook""#);
        assert_eq!(told(&[machine, replacement(1, 0, 0, "")]).0, [""; 0]);
    }

    #[test]
    fn a_long_chain_is_cut_in_the_middle() {
        let log: Vec<String> = [user(0, "fix")]
            .into_iter()
            .chain((1..=20).map(|seq| replacement(seq, seq - 1, seq - 1, "")))
            .collect();
        let (_, checked) = told(&log);
        let message = &checked.findings[0].message;
        assert!(
            message.contains("hidden by seqs 1 -> 2 -> 3 -> 4 -> 5 -> 6 -> 7 -> (12 more) -> 20"),
            "{message}"
        );
        let related: Vec<u64> = checked.findings[0].related.iter().map(|related| related.seq).collect();
        assert_eq!(related, [0, 1, 2, 3, 4, 5, 6, 7, 8, 20]);
        let bracket = bracket(1, "c", "null", 0);
        let (codes, _) = told(&[&[user(0, "fix")], &bracket[..]].concat());
        assert!(codes.contains(&"task-lost"), "{codes:?}");
    }
}
