//! The rules of turns and steps.

use crate::check::registry::rule_family;

rule_family! {
    "relations";
    /// A turn starts while another one has not ended.
    ///
    /// **What it means.** A `turn/start` comes though no `turn/end` has closed the turn before it. The
    /// finding names where that one began. From here on the new turn is taken for the open one.
    ///
    /// **Why it matters.** Turns do not nest: the calls and steps of the old turn would hang in the air.
    /// Format 4 does not open such a log. An upgrade to format 2 or 4 ends the old turn as interrupted only
    /// where no step is open and a message had just been queued for the next turn; else it refuses.
    ///
    /// **How it comes about.** dsh was killed in a turn, and another program went on with a new turn without
    /// the ending that dsh writes for the interrupted one. Two processes on one session leave it, too.
    ///
    /// **What to do.** A tool that appends behind an open turn writes its ending first: results for the calls
    /// that have none, `step/end` if a step is open, `turn/end` with the reason `interrupted`. In a log that
    /// is so already, only a copy that ends before the second start helps.
    TURN_WHILE_OPEN = error("turn-start-while-open");
    /// A turn does not carry the next number.
    ///
    /// **What it means.** Turns are numbered 1, 2, 3 without a gap over the whole log, inherited turns
    /// included. This `turn/start` carries another number than is next. The rules then count on from the
    /// number that it has.
    ///
    /// **Why it matters.** Steps, calls, compactions and retries name their turn by number, and format 4
    /// refuses the log for a gap or a repeat. The earlier formats open it; dsh's invariant checks and every
    /// upgrade do not take it.
    ///
    /// **How it comes about.** A fork was made by hand and began to count at 1 again. Or a turn was cut out
    /// of the log and the events behind it were renumbered by seq, but not by turn.
    ///
    /// **What to do.** A writer takes the last `turn/start` of the log and adds one. To mend a log by
    /// renumbering turns, every event that names them would have to follow, so rather go back to the copy.
    TURN_NUMBER = error("turn-number");
    /// A turn ends that is not the open one.
    ///
    /// **What it means.** A `turn/end` names a turn other than the one that is open, or none is open. Where
    /// it names an earlier turn, the open one stays open; otherwise it is taken as ended too.
    ///
    /// **Why it matters.** Whether the session is at work depends on this event, and what stands behind it
    /// belongs nowhere. Format 4 refuses the log; upgrades to it and to the formats between do so, too.
    ///
    /// **How it comes about.** Two writers ended the same turn: dsh as interrupted when it opened the session
    /// again, and the old process when it was done. Tools that close turns by a fixed number do it in longer
    /// sessions.
    ///
    /// **What to do.** Only the process that holds the session may end its turn; in format 4 `session.lock`
    /// sees to that, if all use it. The second end cannot be taken back by appending: use a copy that ends
    /// before it.
    TURN_END_UNMATCHED = error("turn-end-unmatched");
    /// A turn ends while a step of it has not ended.
    ///
    /// **What it means.** The `turn/end` names the open turn, but a `step/start` in it has no `step/end`. The
    /// finding names the start. Step and turn both count as ended behind it.
    ///
    /// **Why it matters.** A step that does not end leaves open which calls belong to it. Format 4 does not
    /// open the log, and no upgrade takes it.
    ///
    /// **How it comes about.** A writer stopped a turn at once, as when the user cancels, and left the step's
    /// end out. dsh writes results for open calls, then the step's end, then the turn's.
    ///
    /// **What to do.** Mend the writer's order. If the turn's end is the last event of a raw log, a copy
    /// without that line can be given to dsh, which then closes step and turn itself.
    TURN_END_IN_STEP = error("turn-end-in-step");
    /// A step starts in a turn that is not open.
    ///
    /// **What it means.** A `step/start` names a turn that has ended, has not begun, or is not the one that
    /// is open. Events of the same step that follow are not told again.
    ///
    /// **Why it matters.** A step is one request to the model within a turn; outside of it readers cannot
    /// place its messages. Format 4 refuses the log at this event.
    ///
    /// **How it comes about.** A writer went on with its step after another process had ended the turn, or
    /// kept the turn's number from before a restart. Where a tool leaves turns out because it has but one,
    /// each of its steps gives this.
    ///
    /// **What to do.** Start a turn before the step, with the number that is next. The events of the stray
    /// step cannot be brought into a turn where they stand.
    STEP_OUTSIDE_TURN = error("step-outside-turn");
    /// A step starts while another one has not ended.
    ///
    /// **What it means.** In the open turn a second `step/start` comes before the `step/end` of the first.
    /// The finding names where the first began. Calls of the first step may still be answered in the second
    /// without a further finding.
    ///
    /// **Why it matters.** Steps follow each other: each is one answer of the model and the results of its
    /// calls. Format 4 refuses the log, and so does an upgrade.
    ///
    /// **How it comes about.** A writer tried a request again and opened a new step for it. dsh stays in the
    /// step and writes the failed try as `assistant/attempt` and `llm/retry`.
    ///
    /// **What to do.** Write `step/end` when the last result of the step is there, then the next
    /// `step/start`. What format 4 takes of a log with this ends before the second start.
    STEP_WHILE_OPEN = error("step-start-while-open");
    /// A step does not carry the next number of its turn.
    ///
    /// **What it means.** Steps are numbered from 1 in each turn, without a gap. No other step is open, and
    /// this one has another number than is next.
    ///
    /// **Why it matters.** Messages, calls and results name turn and step, and two steps of one number could
    /// not be told apart. Format 4 refuses the log for it; the earlier formats open it and do not upgrade it.
    ///
    /// **How it comes about.** A writer counts steps through the whole session, or from 0. After a restart
    /// within a turn some begin at 1 again.
    ///
    /// **What to do.** Take the last `step/start` of the open turn and add one; a new turn begins at 1. What
    /// stands in the log stays as it is: go back to a copy that ends before the step if it is to be opened in
    /// format 4.
    STEP_NUMBER = error("step-number");
    /// A step ends that is not the open one.
    ///
    /// **What it means.** A `step/end` names a turn and step which are not both the open ones, or no step is
    /// open. The end of an earlier step leaves the open one open.
    ///
    /// **Why it matters.** Behind the end of a step all its calls must have results, so an end in the wrong
    /// place makes results come too late. Format 4 refuses the log at this event, and every upgrade and dsh's
    /// invariant checks do.
    ///
    /// **How it comes about.** The ending that dsh writes for an interrupted step came first, and the process
    /// that was thought dead wrote its own. Or the event names the next step already, because the writer
    /// counted up too early.
    ///
    /// **What to do.** Let one process at a time work in a session. A copy that ends before the surplus end
    /// is sound, and whole where that end was the very last event.
    STEP_END_UNMATCHED = error("step-end-unmatched");
    /// An event names a turn and a step that are not the open ones.
    ///
    /// **What it means.** What happens between the model and its tools names its turn and step:
    /// `assistant/message`, `assistant/attempt`, `tool/call`, an appended `tool/result`, `system/message`,
    /// `developer/message`, and in formats 0 and 1 each delta or row of them. Both must be open at that
    /// moment. Events that go on naming the same two numbers are told once.
    ///
    /// **Why it matters.** The event cannot be placed: a result that comes behind the end of its step answers
    /// nothing any more. Format 4 refuses the log; the earlier formats open it and refuse the upgrade.
    ///
    /// **How it comes about.** A tool appends a message or a late result to a finished session, where no step
    /// is open. A writer that was cut off goes on in the step that dsh has closed in the meantime.
    ///
    /// **What to do.** A message that belongs to no step is a `user/message`, which may stand anywhere. For a
    /// whole exchange open a turn and a step around it and close them. What is in the log already needs a
    /// copy that ends before it.
    OUTSIDE_STEP = error("event-outside-step");
    /// An event that belongs into a turn stands outside any.
    ///
    /// **What it means.** A `request/header`, a `request/context` or a `tool/result` that replaces another
    /// needs an open turn, though not a step. In format 0 `todo/write` does too, in the later formats the
    /// events of nested tool calls. None is open here.
    ///
    /// **Why it matters.** Format 4 refuses to open the log for it. It strikes pruners above all: the formats
    /// before open a log in which a result was shortened between turns, and then refuse to upgrade it. A
    /// stray `todo/write` troubles only dsh's invariant checks, where they are loaded.
    ///
    /// **How it comes about.** A plugin prunes results between turns. Others announce a model or new tools as
    /// soon as the user chooses them, and not when the next turn begins.
    ///
    /// **What to do.** Do it inside a turn. An outside tool that must shorten results in an idle session
    /// opens a turn without steps around the prune and ends it as `completed`. In the log as it is, nothing
    /// can be put around an event afterwards.
    OUTSIDE_TURN = error("event-outside-turn");
}
