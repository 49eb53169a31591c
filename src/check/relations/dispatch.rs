//! Nested tool events: calls that a tool makes itself (FORMAT §6.2, §10.2).

use super::here::{Here, named};
use crate::check::registry::rule_family;
use crate::check::wording::quoted;
use crate::json::Digest;
use std::collections::HashMap;

rule_family! {
    "relations";
    /// A nested tool event lacks one of its three ids.
    ///
    /// **What it means.** Calls that a tool makes itself are written with a `subCallId`, the `parentCallId`
    /// from which they come and the `rootCallId` of the model's call, each a text that is not empty. One of
    /// them is not. The event is not looked at further.
    ///
    /// **Why it matters.** Without its ids a nested call hangs nowhere, and its end finds no start. Format 4
    /// refuses the log; an upgrade from an earlier format does too.
    ///
    /// **How it comes about.** A plugin that runs code with tools in it leaves out the parent because it is
    /// the root. For a call of the first level both members carry the same id.
    ///
    /// **What to do.** Write all three in both events, start and end. The model does not see nested events,
    /// so in formats 0 to 3 the session can be worked with as it is.
    ID_INVALID = error("dispatch-id-invalid");
    /// A nested tool event names a parent that is neither its root nor a nested call of that root.
    ///
    /// **What it means.** The `parentCallId` must be the `rootCallId`, or the `subCallId` of a nested call
    /// that came before under the same root. Where events were lost, a parent that is not known is no breach.
    ///
    /// **Why it matters.** The tree of calls falls apart, and what a cancelled call takes with it cannot be
    /// told. Format 4 does not open the log.
    ///
    /// **How it comes about.** The parent's own start was written later than its child's, since the writer
    /// flushes several workers at once. Or the parent is a call of another root.
    ///
    /// **What to do.** Write the start of a call before anything that it starts. Give the child the root of
    /// its parent. Only a copy that ends before this event is sound to format 4.
    PARENT = error("dispatch-parent");
    /// A nested call is named again under another root.
    ///
    /// **What it means.** A `subCallId` has come before with one `rootCallId`, and comes here with another.
    /// The finding names the first. Ids of nested calls hold for the whole log, not for one turn.
    ///
    /// **Why it matters.** The events are about two calls of one name, or about one that was moved; readers
    /// cannot tell. Format 4 refuses the log at the second.
    ///
    /// **How it comes about.** A plugin counts nested calls from 1 for each root without putting the root's
    /// id into theirs. The second root then repeats the first one's ids.
    ///
    /// **What to do.** Make nested ids from the root's id and a number, as in `call-1:ptc:1`. Root ids that a
    /// provider uses again in a later turn need something more to be told apart.
    ROOT_CHANGED = error("dispatch-root-changed");
    /// A nested call starts for the second time.
    ///
    /// **What it means.** A start comes for a `subCallId` that has its start in the log, whether or not that
    /// call has ended since. The first is named.
    ///
    /// **Why it matters.** An id stands for one run; with two, the end that follows belongs to either. Format
    /// 4 refuses the log, and no upgrade takes it.
    ///
    /// **How it comes about.** A plugin restarted a script and ran its calls under their old ids. Or two
    /// scripts under one root count from the same number.
    ///
    /// **What to do.** A new run needs a new id. That the first run was given up is told by an end with an
    /// error.
    STARTED_TWICE = error("dispatch-started-twice");
    /// A nested call ends that has not started.
    ///
    /// **What it means.** The end of a nested call, `tool/ptc-dispatch` from format 3 on, comes for an id
    /// without a start. Where events were lost the start may be among them, and nothing is said.
    ///
    /// **Why it matters.** The start is what holds the name and arguments against which the end is compared.
    /// Format 4 refuses to open the log without it, and so does an upgrade.
    ///
    /// **How it comes about.** A plugin writes nested calls only when they are done and takes the one event
    /// for enough. Or the starts were filtered out of the log to make it shorter.
    ///
    /// **What to do.** Write both events for each call, also when it takes no time. Filter nothing out of a
    /// log: other events count on the numbers.
    NOT_STARTED = error("dispatch-not-started");
    /// A nested call ends for the second time.
    ///
    /// **What it means.** A second end comes for an id that has ended. The finding names where the call came
    /// first.
    ///
    /// **Why it matters.** Which of the results the tool went on with cannot be told. In format 4 dsh refuses
    /// the log at the second end.
    ///
    /// **How it comes about.** A call ran into its time limit, was ended with an error, and its late answer
    /// was written as well. The same end sent by two workers looks alike.
    ///
    /// **What to do.** Drop what comes after the end. Whether the late answer was used is the tool's own
    /// matter and belongs into its result.
    SETTLED_TWICE = error("dispatch-settled-twice");
    /// A nested call ends with another parent, name or other arguments than it started with.
    ///
    /// **What it means.** Start and end of a nested call must agree in `parentCallId`, `name` and
    /// `arguments`. The arguments are compared by value here, so order and spacing do not count; the finding
    /// says which member differs.
    ///
    /// **Why it matters.** The two events would describe two calls. Format 4 refuses the log for it, and so
    /// does each upgrade.
    ///
    /// **How it comes about.** The tool filled in defaults or resolved a path before it ran, and the end was
    /// written with what came of that. Some writers leave the arguments out of the end, since they stand in
    /// the start.
    ///
    /// **What to do.** Keep the start's values and repeat them in the end. What the tool made of them belongs
    /// into `content`.
    DIFFERS = error("dispatch-differs");
}

/// Every nested call so far: their ids may not come twice in a log.
#[derive(Debug, Default)]
pub(super) struct Dispatch {
    calls: HashMap<Vec<u8>, Call>,
}

#[derive(Debug)]
struct Call {
    seq: u64,
    /// The id of the tool call in which it is nested.
    root: Vec<u8>,
    /// What its end must repeat, in the order of [`REPEATED`].
    identity: [Option<Digest>; 3],
    is_settled: bool,
}

const REPEATED: [&str; 3] = ["parentCallId", "name", "arguments"];

impl Dispatch {
    pub(super) fn start(&mut self, here: &mut Here) {
        let Some((id, root)) = self.place(here) else { return };
        if let Some(call) = self.calls.get(&id) {
            let message = format!("nested call {} starts again", named(&id));
            return here.tell_relating(&STARTED_TWICE, message, call.seq, "the first start");
        }
        let call = Call {
            seq: here.event.seq,
            root,
            identity: REPEATED.map(|key| here.meaning(key)),
            is_settled: false,
        };
        self.calls.insert(id, call);
    }

    pub(super) fn settle(&mut self, here: &mut Here) {
        let Some((id, root)) = self.place(here) else { return };
        let identity = REPEATED.map(|key| here.meaning(key));
        let Some(call) = self.calls.get_mut(&id) else {
            if !here.has_gaps {
                here.tell(&NOT_STARTED, format!("nested call {} ends, but has not started", named(&id)));
            }
            self.calls.insert(id, Call { seq: here.event.seq, root, identity, is_settled: true });
            return;
        };
        if call.is_settled {
            let message = format!("nested call {} ends again", named(&id));
            here.tell_relating(&SETTLED_TWICE, message, call.seq, "where it is named first");
        } else if call.root == root && call.identity != identity {
            let pairs = REPEATED.iter().zip(call.identity.iter().zip(&identity));
            let differ: Vec<&str> = pairs.filter(|(_, (a, b))| a != b).map(|(key, _)| *key).collect();
            let message = format!(
                "nested call {} ends with other {} than it started with",
                named(&id),
                differ.join(", ")
            );
            here.tell_relating(&DIFFERS, message, call.seq, "the start");
        }
        call.is_settled = true;
    }

    /// Checks where a nested call hangs. Gives its id and its root's.
    fn place(&mut self, here: &mut Here) -> Option<(Vec<u8>, Vec<u8>)> {
        let ids = ["subCallId", "rootCallId", "parentCallId"].map(|key| here.text(key));
        let [Some(id), Some(root), Some(parent)] = ids else {
            let message = format!(
                "{} must have subCallId, rootCallId and parentCallId that are texts and not empty",
                here.name()
            );
            here.tell(&ID_INVALID, message);
            return None;
        };
        if let Some(call) = self.calls.get(id.as_bytes()).filter(|call| call.root != root.as_bytes()) {
            let message = format!(
                "nested call {} has root {} here, {} before",
                quoted(&id.to_str()),
                quoted(&root.to_str()),
                named(&call.root)
            );
            here.tell_relating(&ROOT_CHANGED, message, call.seq, "where it is named first");
        }
        let is_known = |call: &Call| call.root == root.as_bytes();
        let parent_call = self.calls.get(parent.as_bytes());
        if parent != root && !parent_call.is_some_and(is_known) && !(here.has_gaps && parent_call.is_none()) {
            let message = format!(
                "nested call {} has parent {}, which is neither its root {} nor nested in it",
                quoted(&id.to_str()),
                quoted(&parent.to_str()),
                quoted(&root.to_str())
            );
            here.tell(&PARENT, message);
        }
        Some((id.as_bytes().to_vec(), root.as_bytes().to_vec()))
    }
}

#[cfg(test)]
mod tests {
    use crate::check::relations::testing::{Case, TURN, found};

    const START: &str = "tool/ptc-dispatch-start";
    const END: &str = "tool/ptc-dispatch";

    fn nested(id: &str, parent: &str, more: &str) -> String {
        format!(
            r#"{{"rootCallId":"r","parentCallId":"{parent}","subCallId":"{id}","name":"read","arguments":{{"a":1}}{more}}}"#
        )
    }

    fn judged(events: &[(&str, &str)]) -> Vec<String> {
        found(&[&[("turn/start", TURN)], events].concat())
    }

    #[test]
    fn nested_calls_pair_whatever_their_spelling() {
        let (one, two) = (nested("x", "r", ""), nested("y", "x", ""));
        let same = one.replace(r#"{"a":1}"#, r#"{ "\u0061" : 1.0 }"#);
        let sound = [(START, &*one), (START, &two), (END, &two), (END, &same)];
        assert_eq!(judged(&sound), [""; 0]);
        assert_eq!(found(&[(START, &one)]), ["event-outside-turn@0"]);
    }

    #[test]
    fn each_breach_has_its_code() {
        let one = nested("x", "r", "");
        let orphan = nested("y", "z", "");
        let moved = one.replace(r#""rootCallId":"r""#, r#""rootCallId":"x""#);
        let changed = one.replace("1}", "2}");
        let nameless = one.replace(r#""subCallId":"x","#, "");
        let cases: &[Case] = &[
            (&[(START, &one), (START, &one), (END, &one)], &["dispatch-started-twice@2"]),
            (&[(END, &one), (END, &one)], &["dispatch-not-started@1", "dispatch-settled-twice@2"]),
            (&[(START, &one), (END, &one), (END, &one)], &["dispatch-settled-twice@3"]),
            (&[(START, &one), (END, &changed)], &["dispatch-differs@2"]),
            (&[(START, &orphan), (END, &orphan)], &["dispatch-parent@1", "dispatch-parent@2"]),
            (&[(START, &one), (END, &moved)], &["dispatch-parent@2", "dispatch-root-changed@2"]),
            (&[(START, &nameless)], &["dispatch-id-invalid@1"]),
        ];
        for (events, expected) in cases {
            assert_eq!(judged(events), *expected);
        }
    }
}
