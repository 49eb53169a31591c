//! Locks: a `compaction/start` without its end (FORMAT §7.4).

use super::brackets::Open;
use super::finding::Findings;
use super::registry::rule_family;
use super::{Finding, lock_report};
use crate::format::Format;
use crate::session::{Lock, LockState};

rule_family! {
    "compaction";
    /// A compaction was started and never ended, so that dsh refuses every further one.
    ///
    /// **What it means.** The newest `compaction/start` has no `compaction/end`, and no `session/end-seed`
    /// stands behind it. The message tells the compaction's id, the turn that owns it and whether that turn
    /// is open, over, or never was. Where events behind the start were lost, its end may be among them, and
    /// it is a note.
    ///
    /// **Why it matters.** The open start is the lock of compaction. While it stands dsh answers that a
    /// compaction is already in progress, and the context can only grow. Nothing of the history is lost, and
    /// dsh opens formats 0 to 3. Format 4 and every upgrade refuse the log once a turn has begun or ended
    /// behind the start.
    ///
    /// **How it comes about.** The process was killed, or the machine stopped, while the summarizer was at
    /// work. A dsh that is compacting right now shows the same, so look there first.
    ///
    /// **What to do.** Let dsh open the session: it writes `session/end-seed`, and the lock is void. A
    /// `compaction/end` by hand is legal only as the help says, in the turn that owns the start, with no turn
    /// boundary behind it; in a turn that is over it makes the log worse. Where format 4 refuses the log,
    /// only a `session/end-seed` that is appended to it voids the lock.
    ORPHANED_LOCK = error("orphaned-lock");
    /// A bracket that never ended holds a summary that has replaced nothing.
    ///
    /// **What it means.** The open bracket at the end of the log has its `compaction/summary`, but the next
    /// event is no replacing checkpoint. It is told beside `orphaned-lock`, and not where events were lost;
    /// also of a bracket that was open still when another one started.
    ///
    /// **Why it matters.** The summary was made and paid for, but the model does not see it: the surface is
    /// as it was before. Tools that count summaries believe that the session was compacted.
    ///
    /// **How it comes about.** The writer was stopped between the summary and the checkpoint, or a torn tail
    /// took the checkpoint away. A plugin that asks its model for the summary and then writes the checkpoint
    /// some other way leaves it too.
    ///
    /// **What to do.** Do not append the checkpoint now: the surface may have changed, and the checkpoint
    /// must follow right behind its summary. Void the lock as `orphaned-lock` says and compact again. The
    /// text of the summary stays in the log if it is wanted.
    ORPHANED_SUMMARY = error("orphaned-summary");
    /// A compaction never ended, but a later `session/end-seed` has voided its lock.
    ///
    /// **What it means.** A `compaction/start` has no end, and dsh opened the session again before another
    /// compaction started. That open writes `session/end-seed`, and proves that the process which held the
    /// lock is gone. The lock is free.
    ///
    /// **Why it matters.** It is a note and no fault: dsh opens the log in every format, upgrades it, and
    /// compacts as ever. It matters to tools which count starts minus ends, or give this start the end of a
    /// later compaction.
    ///
    /// **How it comes about.** dsh or its machine stopped during a compaction and was started again later. In
    /// a fork the start and the marker may both be inherited from the parent.
    ///
    /// **What to do.** Nothing. Do not append an end for it: behind the marker an end belongs to no bracket.
    EXPIRED_LOCK = note("expired-lock");
}

/// Tells of the lock that is held at the end of the log. Where events were lost behind its start (`in_doubt`), its
/// end may be among them.
pub(super) fn check(
    lock: &LockState,
    open: Option<&Open>,
    format: &Format,
    in_doubt: bool,
    findings: &mut Findings,
) {
    let (LockState::Held(lock), Some(open)) = (lock, open) else { return };
    let message = format!(
        "the compaction that starts here ({}) has no end, and no session/end-seed follows: dsh refuses every further \
         compaction; {}{}",
        lock_report::owner(lock),
        lock_report::situation(lock),
        parts(lock)
    );
    let help = lock_report::repairs(lock, format);
    let finding = Finding::new(&ORPHANED_LOCK, open.place, message).at_seq(open.seq).with_help(help);
    let finding = match lock.crossing_seq {
        Some(crossing) => finding.relating(crossing, "the first turn boundary behind the start"),
        None => finding,
    };
    if in_doubt {
        return findings
            .push(finding.noted().adding("events behind it were lost, perhaps its end among them"));
    }
    findings.push(finding);
    if lock.replacement_seq.is_none() {
        let help =
            "the surface is untouched and nothing is lost; the lock must be voided before another compaction";
        findings.extend(orphaned_summary(open, help));
    }
}

/// The summary of a bracket that another one follows before it has ended.
pub(super) fn left_behind(open: &Open) -> Option<Finding> {
    let help = "the summary changed nothing of the surface; nothing is to be done for it alone";
    orphaned_summary(open, help).filter(|_| open.replacement.is_none())
}

fn orphaned_summary(open: &Open, help: &str) -> Option<Finding> {
    let (seq, place) = open.summary?;
    let message =
        "the summary has replaced nothing: no checkpoint stands behind it, and its compaction never ended";
    let finding = Finding::new(&ORPHANED_SUMMARY, place, message).at_seq(seq).with_help(help);
    Some(finding.relating(open.seq, "the start of its bracket"))
}

/// Tells of a lock that the seed boundary at `end_seed` has voided.
pub(super) fn expired(open: &Open, end_seed: u64) -> Finding {
    let message = format!(
        "the compaction that starts here (id {}) never ended; session/end-seed {end_seed} has voided its lock",
        open.name()
    );
    Finding::new(&EXPIRED_LOCK, open.place, message)
        .at_seq(open.seq)
        .with_help("nothing is to be done")
        .relating(end_seed, "the seed boundary")
}

fn parts(lock: &Lock) -> String {
    match (lock.summary_seq, lock.replacement_seq) {
        (Some(summary), Some(checkpoint)) => {
            format!("; its summary {summary} and checkpoint {checkpoint} stand")
        }
        (Some(summary), None) => format!("; its summary {summary} has replaced nothing"),
        (None, _) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{bracket, check_events, event, only, structural_codes as codes, user};
    use super::super::{Finding, Severity};

    fn start(seq: u64, turn: &str) -> String {
        event(seq, "compaction/start", &format!(r#"{{"compactionId":"l","turn":{turn}}}"#))
    }

    fn lock(events: &[String]) -> Finding {
        let finding = only(check_events(events));
        assert_eq!((finding.code, finding.severity), ("orphaned-lock", Severity::Error));
        finding
    }

    #[test]
    fn a_held_lock_names_its_owner_and_the_way_out() {
        let open = lock(&[event(0, "turn/start", r#"{"turn":1}"#), start(1, "1")]);
        assert_eq!(open.seq, Some(1));
        assert!(open.message.contains("(id \"l\", owner turn 1) has no end"), "{}", open.message);
        assert!(open.message.ends_with("so dsh may be at work in it right now"), "{}", open.message);
        assert!(open.help.contains("and turn 1 is legal too"), "{}", open.help);
        let crossed = lock(&[start(0, "null"), event(1, "turn/start", r#"{"turn":1}"#)]);
        assert!(crossed.help.ends_with("no compaction/end is legal any more"), "{}", crossed.help);
        assert_eq!(crossed.related[0].seq, 1);
    }

    #[test]
    fn a_turn_that_never_was_owns_nothing() {
        let checked = check_events(&[start(0, "7")]);
        assert_eq!(codes(&checked), ["compaction-owner-turn", "orphaned-lock"]);
        assert!(checked.findings[1].message.contains("turn 7 never was"));
    }

    #[test]
    fn a_summary_without_its_checkpoint_is_an_orphan_too() {
        let log = [vec![user(0, "one")], bracket(1, "c", "null", 0)].concat();
        assert_eq!(codes(&check_events(&log[..3])), ["orphaned-lock", "orphaned-summary"]);
        let with_checkpoint = check_events(&log[..4]);
        assert_eq!(codes(&with_checkpoint), ["orphaned-lock"]);
        assert!(with_checkpoint.findings[0].message.ends_with("its summary 2 and checkpoint 3 stand"));
    }

    #[test]
    fn the_summary_of_an_earlier_bracket_is_told_too() {
        let log = [vec![user(0, "one")], bracket(1, "c", "null", 0)].concat();
        let two = check_events(&[&log[..3], &[start(3, "null")]].concat());
        assert_eq!(codes(&two), ["orphaned-summary", "compaction-start-while-open", "orphaned-lock"]);
        let with_checkpoint = check_events(&[&log[..4], &[start(4, "null")]].concat());
        assert_eq!(codes(&with_checkpoint), ["compaction-start-while-open", "orphaned-lock"]);
    }

    #[test]
    fn every_expired_lock_is_a_note() {
        let seed = |seq| event(seq, "session/end-seed", "{}");
        let checked = check_events(&[start(0, "null"), seed(1), start(2, "null"), seed(3), seed(4)]);
        assert_eq!(codes(&checked), ["expired-lock", "expired-lock"]);
        assert!(checked.findings.iter().all(|finding| finding.severity == Severity::Note));
        assert_eq!(checked.findings[1].related[0].seq, 3);
    }
}
