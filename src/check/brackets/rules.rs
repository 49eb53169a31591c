//! The rules of compaction brackets.

use crate::check::registry::rule_family;

rule_family! {
    "compaction";
    /// A compaction starts while another one has not ended.
    ///
    /// **What it means.** A second `compaction/start` stands behind one that has neither a `compaction/end`
    /// nor a `session/end-seed` behind it. From there on the newer bracket is taken for the open one, so that
    /// the rest of the log is judged by it. Where events were lost in between, an end may be among them, and
    /// nothing is said.
    ///
    /// **Why it matters.** The open start is dsh's lock: two of them mean that two writers compacted at once,
    /// or that one did not look. Format 4 refuses to open such a log. dsh for formats 0 to 3 opens it, but
    /// its invariant checks, where they are loaded, and every upgrade refuse it.
    ///
    /// **How it comes about.** A tool started its own compaction without looking for an open start, most
    /// often to get around one that a crash had left behind. The legal way around that is a
    /// `session/end-seed` in between, which dsh writes whenever it opens a session.
    ///
    /// **What to do.** Nothing that is appended mends a start behind a start. Take a copy that ends before
    /// the second start, let dsh open it once so that the old lock is void, and compact then. `dshc compact`
    /// refuses a log with an open lock.
    START_WHILE_OPEN = error("compaction-start-while-open");
    /// A `compactionId` is missing or empty, or a `sourceCommandId` is there and empty.
    ///
    /// **What it means.** Start, summary and end of a compaction and the source of its checkpoint must each
    /// carry a `compactionId` that is a text and not empty; a `sourceCommandId` may be left out, but not be
    /// empty. In format 0 an absent `compactionId` is a note: development builds wrote none.
    ///
    /// **Why it matters.** The id is all that ties the four events together. dsh's invariant checks, where
    /// they are loaded, and every upgrade refuse an event without it. An absent one in format 0 is filled in
    /// by the upgrade, so that only a session at work is refused for it.
    ///
    /// **How it comes about.** A plugin builds the events itself and leaves out a value that it does not
    /// have; a JSON writer then drops the member. The empty text comes from a default that nobody filled.
    ///
    /// **What to do.** Mend the writer: make one id when the compaction starts and copy it into all four
    /// events. A log that is to be upgraded must go on from a copy that ends before that compaction. For the
    /// note nothing is to be done.
    ID_INVALID = error("compaction-id-invalid");
    /// A summary, checkpoint or end carries another id than the start of its bracket.
    ///
    /// **What it means.** Between a `compaction/start` and its end stands an event whose `compactionId` or
    /// `sourceCommandId` is not the start's. A `sourceCommandId` must be the same or be absent in all of
    /// them: one that only the end has does not match either. What is no text at all is told by
    /// `compaction-id-invalid`.
    ///
    /// **Why it matters.** The event belongs to another compaction than the one in which it stands, so nobody
    /// can say what the bracket did. Format 4 refuses the log; dsh's invariant checks and every upgrade
    /// refuse it in formats 0 to 3, which open it otherwise.
    ///
    /// **How it comes about.** A tool closed a bracket that was left open with the end of another compaction,
    /// or wrote the end with a fresh id. Two compactions that ran at once leave the same trace, then with a
    /// start inside the bracket.
    ///
    /// **What to do.** Do not close an orphan under another id. A bracket whose owner is gone is voided by
    /// `session/end-seed`, which dsh writes on its next open, and a new one gets a start of its own. For a
    /// log that is wrong already, go back to a copy that ends before the event that the finding names.
    ID_MISMATCH = error("compaction-id-mismatch");
    /// A bracket's turn is not the open one, or its end names another turn than its start.
    ///
    /// **What it means.** The `turn` of `compaction/start` must be the number of the turn that is open there,
    /// or null between turns; summary and end must still stand in that turn, and the end must repeat the
    /// number. It is told once a bracket. After events that may have held a turn boundary nothing is said
    /// until the next boundary.
    ///
    /// **Why it matters.** The turn says how long a compaction may last: one with a turn ends within it, one
    /// without ends before the next turn begins. Format 4 does not open a log in which owner and open turn
    /// differ; dsh's invariant checks and every upgrade refuse it too.
    ///
    /// **How it comes about.** A tool compacts from outside and copies the turn from an older bracket, or
    /// writes null while a turn is still open because the session was killed in it. Leaving the member out
    /// counts as wrong too: null must be written.
    ///
    /// **What to do.** A tool writes the number of the turn that is open at the end of the log, and null
    /// where none is, as `dshc compact` does. An event that stands is in the log for good: only a copy that
    /// ends before it upgrades.
    OWNER_TURN = error("compaction-owner-turn");
    /// A summary stands outside any bracket.
    ///
    /// **What it means.** A `compaction/summary` comes where no `compaction/start` is open: none has come, or
    /// its bracket has ended, or a `session/end-seed` has voided it. Where events were lost before it, the
    /// start may be among them, and nothing is said.
    ///
    /// **Why it matters.** Without the start there was no lock while the summary was made, so the surface may
    /// have changed under it. dsh opens formats 0 to 3 with it; its invariant checks and every upgrade refuse
    /// the log, and format 4 does on opening.
    ///
    /// **How it comes about.** A plugin writes the summary and the checkpoint alone, to save two events. Or a
    /// slow summarizer came back after dsh had been restarted: the restart voids the bracket, and the late
    /// summary stands behind it.
    ///
    /// **What to do.** A writer must look whether its start is still the open one before it appends the
    /// summary, and give up otherwise. If a checkpoint follows the summary, its text and what it hides can be
    /// seen with `dshc replay --expand`; to upgrade the log, go on from a copy that ends before it.
    SUMMARY_WITHOUT_START = error("compaction-summary-without-start");
    /// A bracket holds a second summary.
    ///
    /// **What it means.** A second `compaction/summary` stands between one start and its end. The finding
    /// names the first. Whether one of them, both or none was followed by a checkpoint does not matter.
    ///
    /// **Why it matters.** One bracket stands for one replacement. With two summaries it is open which of
    /// them the checkpoint carries, and figures of tokens saved are counted twice. Format 4 refuses the log,
    /// and so do dsh's invariant checks and every upgrade.
    ///
    /// **How it comes about.** A writer tried again after a summary that was not good enough and kept the
    /// bracket open. dsh ends the bracket with an error instead, and each new attempt has a start of its own.
    ///
    /// **What to do.** Change the writer so that it rejects a bad summary before it appends it, or closes the
    /// bracket with an `error`. In the log as it is nothing can be taken back by appending: use a copy that
    /// ends before the second summary where an upgrade or format 4 matters.
    SUMMARY_REPEATED = error("compaction-summary-repeated");
    /// An end stands outside any bracket.
    ///
    /// **What it means.** A `compaction/end` comes where no `compaction/start` is open. Behind lost events,
    /// where the start may have stood, it is not told. Its `error`, if it has one, is still counted among the
    /// failed compactions.
    ///
    /// **Why it matters.** It blocks nothing, for dsh looks from the back for the newest start or end; but a
    /// tool that counts starts minus ends goes wrong by one. Format 4 refuses the log; dsh's invariant checks
    /// and every upgrade do so too.
    ///
    /// **How it comes about.** Two processes ended the same compaction, or one of them ended it after a
    /// restart of dsh had voided the bracket with `session/end-seed`. Tools that "unlock" a session by
    /// appending an end without looking leave it as well.
    ///
    /// **What to do.** Look with `dshc verify` whether a lock is held before anything is appended: an end is
    /// right only for the start that is open, in the turn that owns it. The surface is the same with the
    /// stray end and without it, so in formats 0 to 3 the session can go on.
    END_WITHOUT_START = error("compaction-end-without-start");
    /// A bracket ends without an error and without a summary.
    ///
    /// **What it means.** A `compaction/end` that has no `error` says that the compaction worked, yet no
    /// `compaction/summary` stands in its bracket. An end with an `error` needs none. That a checkpoint must
    /// follow the summary is no part of this rule.
    ///
    /// **Why it matters.** Readers take the end for a success and look for what it brought. Format 4 refuses
    /// to open the log; dsh's invariant checks and every upgrade refuse it in the earlier formats.
    ///
    /// **How it comes about.** A tool released a lock by appending a bare end. Some plugins also write the
    /// checkpoint straight behind the start and leave the summary out, because it seems to say the same
    /// again.
    ///
    /// **What to do.** An end for a compaction that came to nothing must carry `error`, a text that says why.
    /// The surface is not affected by the bare end, so the session can be read and worked with in formats 0
    /// to 3; before an upgrade, take a copy that ends before it.
    END_WITHOUT_SUMMARY = error("compaction-end-without-summary");
    /// A replacing checkpoint stands outside any bracket.
    ///
    /// **What it means.** A `user/message` replaces part of the surface and names compaction as its source,
    /// but no bracket is open there. Only the source counts, not the text. A message that is appended with
    /// that source is not judged, nor is a replacement with a source of another kind.
    ///
    /// **Why it matters.** The surface is as the replacement made it, and dsh opens formats 0 to 3 with it.
    /// Format 4 refuses the log; dsh's invariant checks and every upgrade do so as well. Nobody can tell what
    /// the message is a summary of, for that stands in the bracket.
    ///
    /// **How it comes about.** A tool writes checkpoints as dsh writes them, but not the start, summary and
    /// end around them. Or the bracket was closed or voided before the checkpoint was appended.
    ///
    /// **What to do.** A tool that replaces a span by a note of its own needs no bracket if it gives the
    /// message a source of its own: a plugin source that names the tool in formats 0 to 3, a kind of its own
    /// in format 4. With dsh's source it must write the whole bracket, as `dshc compact` does.
    CHECKPOINT_WITHOUT_START = error("compaction-checkpoint-without-start");
    /// A bracket ended without an error and holds a summary, but no checkpoint took the summary's place on the surface.
    ///
    /// **What it means.** Start, summary and end stand there and agree, and no replacing checkpoint stands between the
    /// summary and the end. The surface is as it was before.
    ///
    /// **Why it matters.** dsh's checks let it pass, and whoever looks at the end alone takes the compaction for done. But
    /// the model still sees all of the region, and the tokens for the summary were spent for nothing.
    ///
    /// **How it comes about.** The program was stopped between its appends and another one closed the bracket, or a tool
    /// left the replacement out.
    ///
    /// **What to do.** Nothing is lost. Compact the region again.
    SUMMARY_WITHOUT_REPLACEMENT = warning("summary-without-replacement");
    /// A checkpoint replaces nodes inside a bracket that holds no summary before it.
    ///
    /// **What it means.** The replacing checkpoint stands in its bracket, but the `compaction/summary` that it is made
    /// from does not stand before it.
    ///
    /// **Why it matters.** The history was replaced, and the log does not say by which summary, what it cost, or which
    /// model wrote it. dsh's running estimate does not take off what was hidden, and stays too high.
    ///
    /// **How it comes about.** Another tool wrote the records in another order, or left the summary out. Where the
    /// bracket then ended with an error, the history was replaced by a compaction that says that it failed.
    ///
    /// **What to do.** The hidden messages are still in the log. Where nothing stands behind the compaction, take it
    /// out in a copy and compact again.
    CHECKPOINT_WITHOUT_SUMMARY = warning("replacement-without-summary");
    /// A turn starts or ends inside a bracket.
    ///
    /// **What it means.** A `turn/start` or `turn/end` stands between a `compaction/start` and its end, or
    /// between it and the start of another compaction. It is told for the first boundary, and only when the
    /// bracket is closed: an open bracket that a `session/end-seed` voids is no breach.
    ///
    /// **Why it matters.** A bracket lies within its turn or between two turns. Where a turn boundary crosses
    /// it, format 4 refuses the log, and dsh's invariant checks and every upgrade refuse it in the other
    /// formats, though the surface folds well.
    ///
    /// **How it comes about.** A crash or a lost worker left a start without its end, the session went on,
    /// and a tool then closed the old bracket: with an end for a turn that was over, or by letting the next
    /// compaction's end stand for both. A published plugin mends locks in just this way.
    ///
    /// **What to do.** Never append an end to a bracket that has a turn boundary behind its start. Let dsh
    /// open the session: it writes `session/end-seed`, which voids the start, and a new bracket may follow.
    /// Where the wrong end is written already, go back to the copy that ends before it.
    CROSSES_TURN = error("compaction-bracket-crosses-turn");
}
