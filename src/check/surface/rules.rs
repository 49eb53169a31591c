//! The rules of the surface, of payloads and of event types.

use crate::check::registry::rule_family;

rule_family! {
    "surface";
    /// A message carries no `surfaceOp`.
    ///
    /// **What it means.** Every event that puts a message before the model must say how: `surfaceOp` is
    /// `"append"`, or an object that replaces a span. This one says nothing. Which types that holds for
    /// depends on the format; `system/message` is one from format 3 on, `developer/message` in format 4.
    ///
    /// **Why it matters.** dsh does not guess: it refuses the log. In formats 3 and 4 it takes the line for
    /// damaged instead, and in a raw log without a later `turn/end` it drops the line and all that stands
    /// behind it.
    ///
    /// **How it comes about.** A tool appended a prompt or a result as it found them described for a chat
    /// API, without the marker. A log of a later format that was renumbered by hand to an earlier one may
    /// show it too.
    ///
    /// **What to do.** Mend the tool, and have it write `"append"` for what comes last. For the log, go back
    /// to a copy that ends before the event; work that dsh has done behind it cannot be kept by appending
    /// anything.
    MARKER_MISSING = error("surface-marker-missing");
    /// An event that puts nothing on the surface carries `surfaceOp` or `sourceEventSeqs`.
    ///
    /// **What it means.** Only the types that hold a message may carry the two markers. Of the rest, only an
    /// event of an unknown type that is marked `ignorable` may, from format 1 on: readers do not look at them
    /// there.
    ///
    /// **Why it matters.** dsh refuses the whole log for it, though the event changes nothing that the model
    /// sees. In formats 3 and 4 it counts as a damaged line, so that a raw log without a later `turn/end` is
    /// cut off there.
    ///
    /// **How it comes about.** A plugin adds provenance to its own events, such as a `todo/write` that names
    /// the message it came from. In format 0 even an ignorable event of the plugin's own may not.
    ///
    /// **What to do.** Put such references into `data`. The event that stands makes the log unreadable to
    /// dsh: open a copy that ends before it, or read what is there with `dshc replay --partial`.
    MARKER_FORBIDDEN = error("surface-marker-forbidden");
    /// A `surfaceOp` is neither `"append"` nor a replacement.
    ///
    /// **What it means.** The marker is null, another word than `"append"`, a number, a truth value or a
    /// list. Only that word and an object with the members of a replacement are known to any format. Objects
    /// of a wrong shape are told by `surface-op-dialect`.
    ///
    /// **Why it matters.** The message has no place on the surface, and dsh refuses the log. In formats 3 and
    /// 4 it takes the line for damaged and may drop it with all that follows.
    ///
    /// **How it comes about.** A tool writes `"insert"`, `"delete"` or `"replace"` as a word, which no format
    /// has. Others write null where they mean to leave the place to dsh.
    ///
    /// **What to do.** There are two operations only: to leave something out, replace it by a message that
    /// stands for it. Correct the tool and start from the log as it was before this event.
    MARKER_INVALID = error("surface-marker-invalid");
    /// A replacement is not spelt with exactly the members that the log's format takes.
    ///
    /// **What it means.** A replacing `surfaceOp` has exactly three members: `op`, and the first and last
    /// node by seq. Formats 0 to 2 call these `start` and `end`, formats 3 and 4 `startSeq` and `endSeq`. The
    /// finding names what was found, what the format of the header takes, and which member is missing.
    ///
    /// **Why it matters.** The wrong spelling does not merely undo the compaction: dsh refuses the session.
    /// In formats 3 and 4 the line counts as damaged, so a raw log may lose it with everything behind it.
    /// Members of both spellings at once are refused as well.
    ///
    /// **How it comes about.** A compactor was written against another release of dsh than the one whose log
    /// it was given. A missing member is most often a value that was undefined when it was written: JSON
    /// writers drop those without a word.
    ///
    /// **What to do.** A tool must choose the names by the `version` in the header. No event can be taken
    /// back, but nothing before it was changed either: a copy that holds the lines up to this event, or the
    /// frames of a compressed log, is the log as it was. `dshc replay --partial` shows what stands in it.
    /// `shadowedRange` is spelt with `start` and `end` in every format, so do not change that.
    OP_DIALECT = error("surface-op-dialect");
    /// A `sourceEventSeqs` is no list of distinct earlier events.
    ///
    /// **What it means.** The list must hold numbers of earlier events, each once, and not be empty; runs may
    /// be written as pairs of first and last, and then all of it must rise. An `assistant/message` of formats
    /// 0 and 1 may have an empty list. From format 2 on it may have none, since it carries its stream itself.
    ///
    /// **Why it matters.** dsh refuses the log of format 0 for it. From format 1 on the list is decoded with
    /// the line: the line counts as damaged, and in a raw log without a later `turn/end` dsh drops it and
    /// what stands behind it. An assistant message with a list makes dsh refuse the log in format 2, and is a
    /// damaged line from format 3 on.
    ///
    /// **How it comes about.** A tool lists the same node twice, counts seqs that it is only about to write,
    /// or sorts nothing and uses pairs. Tools that copy events between logs take over numbers of the other
    /// log.
    ///
    /// **What to do.** Build the list from events that are in this log already. A checkpoint's list begins
    /// with its start and summary and so does not rise: write it without pairs. The log itself needs a copy
    /// that ends before the event.
    SOURCES_INVALID = error("surface-sources-invalid");
    /// A replacement does not cite every node that it hides.
    ///
    /// **What it means.** The `sourceEventSeqs` of a replacement must name every node of the surface that it
    /// takes away; further earlier events may stand in it. The finding lists what is left out. A list that is
    /// absent leaves out all of them.
    ///
    /// **Why it matters.** The list is how dsh can go back from a replacement to what it stands for. dsh
    /// refuses the log in every format, and so does every upgrade.
    ///
    /// **How it comes about.** The list was made from the events that the summary quotes, not from the nodes
    /// of the span. Or a message was injected while the summarizer worked, came to stand within the span, and
    /// was not added.
    ///
    /// **What to do.** Take the list from the surface at the moment of writing: all nodes from the first to
    /// the last, in their order. Nothing mends the event in place; go on from a copy that ends before it.
    SOURCES_INCOMPLETE = error("surface-sources-incomplete");
    /// A replacement names an edge that is not on the surface.
    ///
    /// **What it means.** The first and the last node of the span must stand on the surface at that moment.
    /// This one is an event that holds no message, a node that was replaced before, or one that does not
    /// exist yet; where a replacement hides it, the finding names that one. An event that was itself left out
    /// as damaged is no node either.
    ///
    /// **Why it matters.** dsh cannot tell what to take away and refuses the log. In formats 3 and 4 an edge
    /// that is not earlier than the replacement makes the line count as damaged, with the danger that it and
    /// all behind it are dropped.
    ///
    /// **How it comes about.** A compactor thinks in numbers: it takes a range of seqs, though after an
    /// earlier compaction the surface holds a checkpoint in their place. Two compactions that ran at the same
    /// time and took the same span give it as well: the second finds its nodes gone.
    ///
    /// **What to do.** Name nodes as `dshc replay` lists them: the checkpoint's own seq stands for all that
    /// it hides. Where another finding on this log says that the edge was damaged, look at that first, for
    /// this one follows from it.
    RANGE_UNKNOWN = error("surface-range-unknown");
    /// A replacement names a start that stands behind its end on the surface.
    ///
    /// **What it means.** Both edges are on the surface, but the start has the greater position. Positions
    /// decide, not numbers: after a compaction a checkpoint with a high seq stands before older messages, so
    /// that a start above its end is quite legal.
    ///
    /// **Why it matters.** dsh refuses the log, in each format. It is checked once the whole log was read, so
    /// nothing is dropped for it.
    ///
    /// **How it comes about.** A tool sorted the two seqs, so that the smaller came first, on a surface whose
    /// order is not that of the numbers. That is wrong exactly where an earlier replacement takes part in the
    /// span.
    ///
    /// **What to do.** Do not sort edges: take them in the order in which `dshc replay` shows the surface.
    /// The log needs a copy that ends before this event.
    RANGE_REVERSED = error("surface-range-reversed");
    /// A replacement hides the system prompt that stands first on the surface.
    ///
    /// **What it means.** From format 3 on the system prompt is a node: where the first one is a
    /// `system/message`, only another `system/message` over exactly that node may replace it. This
    /// replacement begins with it and is of another type or goes further. Later system nodes are not
    /// protected.
    ///
    /// **Why it matters.** Without its head the session has no system prompt, so dsh refuses the log. No
    /// upgrade takes it either.
    ///
    /// **How it comes about.** A compactor for formats 0 to 2, in which the prompt stands in the request
    /// header, takes everything from position 0 on. Even one that picks a boundary well goes wrong if its
    /// region begins there.
    ///
    /// **What to do.** Begin regions behind the head, as `dshc compact` does by itself. To go on with the
    /// session, take the log as it was before this event: its own lines up to there.
    SYSTEM_HEAD = error("protected-system-head");
    /// A `tool/result` replaces more than the inner content of one `tool/result`.
    ///
    /// **What it means.** A result may replace another in order to be shorter, and for nothing else: exactly
    /// one node, itself a `tool/result`, and equal to it in message id, turn, step, call, error, `isError`
    /// and `meta`. The finding says which of this is not so.
    ///
    /// **Why it matters.** The rewrite must still be the answer to the same call. dsh refuses the log where
    /// it is not, and so does every upgrade.
    ///
    /// **How it comes about.** A pruner made a new message with a new id, left `meta` or `error` out to save
    /// room, or replaced several results by one. Some take the turn that is open now for the one in which the
    /// tool ran.
    ///
    /// **What to do.** Copy the old result and change the text inside alone; in formats 0 to 3 that is the
    /// content of its `tool-result` block, in format 4 the message's content. A span of several messages is
    /// replaced by a `user/message`. The log itself needs a copy that ends before the event.
    TOOL_RESULT_REWRITE = error("tool-result-rewrite");
    /// A message is not of the shape that its event type has.
    ///
    /// **What it means.** A message has an `id`, the `role` of its type, a list of content blocks and a
    /// `source` with a kind; and some types ask for more, such as a model source with provider and model, or
    /// one call id in all places of a result. The finding names what is amiss. Block types that nobody knows
    /// are no breach.
    ///
    /// **Why it matters.** dsh cannot show such a message to a model and refuses the log. In formats 3 and 4
    /// error details on a result that is no error make the line count as damaged, which may cost what stands
    /// behind it; a system or developer message of the wrong build, and in format 4 a result, makes dsh
    /// refuse the log wherever it stands.
    ///
    /// **How it comes about.** A plugin or an importer builds messages after another format: results wrapped
    /// in a `tool-result` block in format 4, sources of kind `plugin` there, or bare text in place of blocks.
    /// Messages of development builds in format 0 are converted and not told here.
    ///
    /// **What to do.** Compare with the same event type elsewhere in the log, written by dsh, and mend the
    /// tool. The log opens again only as a copy that ends before this event; `dshc replay --partial` shows
    /// what stands there.
    MESSAGE_SHAPE = error("message-shape");
    /// A payload without a message lacks what every reader asks of its event type.
    ///
    /// **What it means.** Of events that hold no message readers look at a few when they open a log: a
    /// `request/header` needs a config with provider and model, the boundaries of turns and steps an object,
    /// `turn/end` in format 0 a turn and a known reason, `image/offload` images that are there. Format 4 asks
    /// for an object in every known event. Other members are not this rule's matter.
    ///
    /// **Why it matters.** dsh refuses the log. In formats 3 and 4 a system prompt inside the request header,
    /// and what else an earlier format had, is refused wherever it stands; empty `tools` or `adapterDefaults`
    /// make the line count as damaged, and what stands behind it may be dropped.
    ///
    /// **How it comes about.** A tool writes the events of an older format into a newer log, or fills a
    /// payload with null where it has nothing to say. An edit by hand easily removes a member.
    ///
    /// **What to do.** Compare with an event of that type which dsh wrote in the same format, and mend the
    /// tool. Nothing that is appended mends the event; go on from a copy that ends before it.
    PAYLOAD_SHAPE = error("payload-shape");
    /// An event type is unknown in the log's format, and nothing says that readers may pass it by.
    ///
    /// **What it means.** The type is not in the vocabulary of the format that the header names, and the
    /// event is not marked `"ignorable": true`. The log is sound all the same. Where the type belongs to
    /// another format, or its name tells which plugin wrote it, the help says so.
    ///
    /// **Why it matters.** A reader that does not know the event cannot know what it changes, so dsh refuses
    /// the session, in every format, and upgrades refuse it too. dsh reports the first such event alone; the
    /// findings here are all of them.
    ///
    /// **How it comes about.** A plugin wrote events of its own and did not mark them, or a newer dsh or a
    /// private fork wrote the log under an old number. From format 3 on `tool/code-dispatch` is such a type,
    /// too: it was renamed.
    ///
    /// **What to do.** Open the log with the program that wrote it. To read it here, `dshc replay
    /// --allow-unknown=TYPE` shows what can be understood without these events. Do not set `ignorable` by
    /// hand unless you are the plugin's author and know that nothing depends on the event; plugins should set
    /// it from the start.
    UNKNOWN_REQUIRED_EVENT = error("unknown-required-event");
    /// An event type was used by development builds only, and every reader refuses it.
    ///
    /// **What it means.** The type, `mode/set` or `request/header-delta`, was given up before the first
    /// release. Every format knows it by name and refuses it, even where it is marked `ignorable`.
    ///
    /// **Why it matters.** dsh does not open the log, and no upgrade takes it. What these events changed, the
    /// mode of the session or parts of the request header, has no equal in released formats.
    ///
    /// **How it comes about.** A build from before the first release wrote the log. A tool that was made
    /// after notes from that time may write them still.
    ///
    /// **What to do.** Only that build reads the log as it is meant. `dshc replay --partial` shows what
    /// stands before the event. Nothing is damaged, so keep the file as it is.
    RETIRED_EVENT = error("retired-event");
}
