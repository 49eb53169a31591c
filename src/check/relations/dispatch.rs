//! Nested tool events: calls that a tool makes itself (FORMAT §6.2, §10.2).

use super::here::{Here, named};
use crate::check::registry::rule_family;
use crate::check::wording::quoted;
use crate::json::Digest;
use std::collections::HashMap;

rule_family! {
    "relations";
    /// A nested tool event lacks one of its three ids.
    ID_INVALID = error("dispatch-id-invalid");
    /// A nested tool event names a parent that is neither its root nor a nested call of that root.
    PARENT = error("dispatch-parent");
    /// A nested call is named again under another root.
    ROOT_CHANGED = error("dispatch-root-changed");
    /// A nested call starts for the second time.
    STARTED_TWICE = error("dispatch-started-twice");
    /// A nested call ends that has not started.
    NOT_STARTED = error("dispatch-not-started");
    /// A nested call ends for the second time.
    SETTLED_TWICE = error("dispatch-settled-twice");
    /// A nested call ends with another parent, name or other arguments than it started with.
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
