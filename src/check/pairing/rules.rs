//! The rules of calls and results on the surface.

use crate::check::registry::rule_family;

rule_family! {
    "pairing";
    /// A tool call on the surface has no result.
    ///
    /// **What it means.** An `assistant/message` that the model still sees makes a tool call, and no
    /// `tool/result` on the surface answers it. Pairs are made by id and in order: a result for another call
    /// does not count, though it makes the numbers even. While the turn of the call is open it is a note, for
    /// the result may still come, and so it is where the result may have stood on a line that was lost.
    ///
    /// **Why it matters.** Model providers refuse a history with an unanswered call, so every further turn of
    /// the session fails. dsh compacts only up to boundaries that no open call crosses: of such a surface it
    /// can compact what stands before the call, and nothing behind it.
    ///
    /// **How it comes about.** In an open turn the session was stopped while the tool ran. Behind a finished
    /// turn it is most often a replacement that hid the result and left the call, which the finding then
    /// names; else a tool removed the result, or wrote it under another id.
    ///
    /// **What to do.** Where the turn is open, let dsh open the session: it writes a result which says that
    /// the call was interrupted. Where a replacement parted the pair, a copy of the log that ends before the
    /// replacement has both halves, and `dshc replay --expand SEQ` shows what it hides. Do not append a
    /// result to a turn that is over: format 4 refuses a result outside its step, and so does every upgrade.
    CALL_WITHOUT_RESULT = error("call-without-result");
    /// A `tool/result` on the surface answers no call of the surface.
    ///
    /// **What it means.** No call that stands before the result has its id, or the call with that id has its
    /// result already. A shortened result that has replaced the first one is no second result. Where the call
    /// may have stood on a line that was lost, it is a note.
    ///
    /// **Why it matters.** dsh opens the log, but when it looks for a place to compact it counts more results
    /// than calls, takes the surface for corrupt and stops, every time. Where another call lacks its result,
    /// the count comes out even and dsh sees nothing. Providers refuse the history in both cases.
    ///
    /// **How it comes about.** A replacement hid the message with the call and not all of its results: a
    /// message with several calls at once is easily cut between its answers. The finding names that
    /// replacement. Else two processes answered one call, or a tool copied or renamed results.
    ///
    /// **What to do.** A copy of the log that ends before the replacement has both halves still. To go on
    /// with what came after, `dshc compact --region A..B` with the lone result in the span puts a checkpoint
    /// in its place, and the rest is sound again; the span must be large enough to become smaller, which `-n`
    /// shows before anything is written.
    RESULT_WITHOUT_CALL = error("result-without-call");
    /// Another message stands between a tool call and its result, which strict providers refuse.
    ///
    /// **What it means.** On the surface a node that is no result stands behind the message with the call and
    /// before one of its results. The pair itself is whole. It is told once for each message with calls, at
    /// the first result that is cut off from it.
    ///
    /// **Why it matters.** dsh allows it and opens the log in every format. Some providers want the results
    /// right behind the message with the calls and refuse the request; others take it.
    ///
    /// **How it comes about.** dsh and its plugins may inject context into a running step, and that may come
    /// in while a tool is at work. A tool that adds messages to a log by hand does the same without regard to
    /// calls.
    ///
    /// **What to do.** Nothing need be done while the provider takes it. Where it does not, `dshc compact`
    /// can take in call, message and results as one region; it refuses a region that begins or ends between
    /// them.
    RESULT_NOT_ADJACENT = warning("result-not-adjacent");
    /// One message makes two calls of the same id.
    ///
    /// **What it means.** An assistant message on the surface holds two tool calls whose ids are equal. Ids that come
    /// again in later messages are another matter, and legal.
    ///
    /// **Why it matters.** Results name their call by its id alone, so which result belongs to which of the two is a
    /// guess. Providers refuse such a message, and dsh's newest format does when it loads the log.
    ///
    /// **How it comes about.** A model or an adapter made up the ids, or a tool joined two messages.
    ///
    /// **What to do.** Compact a region that holds the message with all its results, so that the model no longer sees it.
    CALL_ID_TWICE = warning("call-id-twice-in-message");
    /// Several calls on the surface have the same id, as some providers number them.
    ///
    /// **What it means.** Two or more calls that are on the surface at once carry one id. The finding names
    /// each such id and how often it comes. The calls and their results are told apart by their order.
    ///
    /// **Why it matters.** It is legal, and dsh opens the log in every format. It matters to tools that keep
    /// one table of calls by id for the whole log: they drop results, take one for a copy of another, or pair
    /// a call with an answer of an earlier round.
    ///
    /// **How it comes about.** Some providers count calls from the start in every answer, so that `read:0`
    /// comes again in each round. Only a second call with an id whose first call has no result yet is wrong
    /// within one step; that has a rule of its own.
    ///
    /// **What to do.** Nothing. Never remove or join results because their ids are equal.
    REUSED_CALL_ID = note("reused-call-id");
}
