//! The rules of the numbering.

use crate::check::registry::rule_family;

rule_family! {
    "sequence";
    /// Seqs are missing between two records.
    ///
    /// **What it means.** The events of a log are numbered from 0 without a gap. Here a record carries a
    /// higher number than is next; the finding says how many are missing. The rest is checked as it stands,
    /// and findings that the missing events may explain are notes.
    ///
    /// **Why it matters.** dsh refuses a compressed log for a gap, and a raw one if a turn ends in or behind
    /// the record. Else it opens the raw log and deletes this record and all that follow. Either way nothing
    /// in the log can bring the missing events back.
    ///
    /// **How it comes about.** Lines were taken out by hand or by a tool that filters logs, or a damaged line
    /// before the gap held them; then that line is told as well. Parts of a log that were joined without the
    /// middle give it too.
    ///
    /// **What to do.** Look for a copy that has the missing events, and copy the file before dsh opens the
    /// session. Do not renumber: references to events all over the log would then point elsewhere.
    SEQ_GAP = error("seq-gap");
    /// Two neighbouring records stand in the wrong order.
    ///
    /// **What it means.** A record carries the seq after the one that is next, and the record behind it has the one that
    /// was left out. So every event is there, and nothing stands twice. The checks go on with the first of the two and
    /// pass over the second.
    ///
    /// **Why it matters.** dsh reads lines in their order, and the first of the two ends its reading. It refuses a
    /// compressed log, and a raw one if a turn ends in or behind the two. Else it deletes both and all behind them.
    ///
    /// **How it comes about.** A tool or a script sorted the lines, as by time, where both records have the same one. Or
    /// somebody moved a line in an editor.
    ///
    /// **What to do.** Copy the file before dsh opens the session, and change the two lines about in the copy. Nothing is
    /// lost. Check that copy again: rules over the second record were not looked at.
    SEQ_ORDER = error("seq-order");
    /// Records stand in the log a second time, equal in all they say.
    ///
    /// **What it means.** From the record that is named on the numbers fall back, but each record says what
    /// the one with its number said before. So there is one history, and the checks pass over the second copy
    /// of it. Where the next record differs, it is told as `seq-fork`, with the copies right before it.
    ///
    /// **Why it matters.** dsh does not compare: the first repeated number ends its reading. It refuses a
    /// compressed log, and a raw one if a turn ends in or behind the record. Else it deletes the copy and
    /// with it all the new events that stand behind it.
    ///
    /// **How it comes about.** An append was tried again after an error, though its bytes had reached the
    /// file. Parts of a log that overlap were joined, or lines were pasted twice.
    ///
    /// **What to do.** Copy the file before dsh opens the session, and take the second of the two out in the
    /// copy. The numbers go on then, and nothing is lost.
    SEQ_REPEAT = error("seq-repeat");
    /// A packed row stands for seqs of which earlier records have some or all.
    ///
    /// **What it means.** A row of packed deltas takes as many numbers as it has members, and counts as a
    /// whole: none of it can be taken alone. The record behind this one goes on with the number that was next
    /// before it, so that the row is the only intruder. The checks go on without it.
    ///
    /// **Why it matters.** dsh refuses the log if a turn ends behind the row, and a compressed one in any
    /// case; else it deletes the row and all behind it. No message is missing without the row, for the text
    /// stands in the `assistant/message` too.
    ///
    /// **How it comes about.** Two writers shared a session, and one of them flushed streamed deltas after
    /// the other had ended the turn and resumed it. Deltas are the last thing to come in from a process that
    /// is being stopped.
    ///
    /// **What to do.** Remove exactly this line in a copy, and check that again. Where the numbers do not go
    /// on without the row, the log holds two histories, and `seq-fork` is told instead.
    SEQ_OVERLAP = error("seq-overlap");
    /// Two histories go on from one seq: the same numbers stand in the log again, with other events.
    ///
    /// **What it means.** From the seq that is named on, the log holds more than one version of what happened. Each is
    /// a branch, with its lines, its seqs and its records. A branch is entirely synthetic where dsh wrote all of it by
    /// itself to close an open turn: results for calls that had none, `step/end`, an interrupted `turn/end`,
    /// `session/end-seed`. Every other branch holds real work. Where all branches end at one seq between turns, what
    /// follows goes on behind each of them; a later fork is a finding of its own. Which branch is true no program can
    /// tell; the surface, pairing, brackets and locks are not checked behind the first fork.
    ///
    /// **Why it matters.** dsh refuses the whole log at the first repeated number, or, if no turn ends behind it, opens
    /// it and deletes the later branch. Readers that go on regardless show a mixture, or lose one branch silently.
    ///
    /// **How it comes about.** Two programs had the session open at once. Most often the first was still at work when
    /// dsh was started again: the second took the turn for interrupted and closed it, while the first wrote its result
    /// under the same numbers. Format 0 has no lock against this.
    ///
    /// **What to do.** Copy the file, and end all programs that have the session. Keep one branch and take out the
    /// lines of the others. Where one alone holds real work, keeping it loses nothing. Where several do, keep the one
    /// that you want to go on with and save the text of the others first.
    SEQ_FORK = error("seq-fork");
}
