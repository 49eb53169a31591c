//! Properties of the fold and of pairing, over random sequences of appends and replacements.

use super::{Keep, Pairing, Session};
use crate::format::{self, SystemPrompt, ToolResult};
use crate::json;
use crate::log::{Event, Header};
use proptest::prelude::*;
use std::collections::HashMap;

/// One event, by choice: positions are taken modulo what is there.
#[derive(Debug, Clone)]
enum Step {
    Prompt,
    /// An assistant message with calls of these ids.
    Calls(Vec<u8>),
    /// A result for the call of this id.
    Result(u8),
    /// A user message in place of the nodes from one position to another.
    Replace(usize, usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        3 => Just(Step::Prompt),
        3 => prop::collection::vec(0u8..4, 0..4).prop_map(Step::Calls),
        4 => (0u8..4).prop_map(Step::Result),
        2 => (0usize..50, 0usize..50).prop_map(|(a, b)| Step::Replace(a, b)),
    ];
    prop::collection::vec(step, 0..40)
}

/// A session of any format; where the system prompt is a node, it stands first.
fn session(version: u64) -> Session {
    let header = Header {
        version,
        id: "s".into(),
        created_at: 0,
        cwd: None,
        parent_session: None,
        is_seeded: false,
        seed_length: None,
        address: None,
    };
    let mut session = Session::new(header, format::of(version).unwrap(), Keep::Messages);
    if session.format.system_prompt == SystemPrompt::HeadNode {
        let source = match session.format.system_source {
            Some(kind) => format!(r#""kind":"{kind}","plugin":"p""#),
            None => r#""kind":"system-prompt""#.to_owned(),
        };
        let data = format!(
            r#"{{"turn":1,"step":1,"message":{{"id":"s","role":"system","content":[],"source":{{{source}}}}}}}"#
        );
        apply(&mut session, "system/message", &data, "\"append\"", None);
    }
    session
}

fn tool_result(shape: ToolResult, id: u8) -> String {
    let source = format!(r#""source":{{"kind":"tool","callId":"c{id}"}}"#);
    let message = match shape {
        ToolResult::Wrapped => format!(
            r#""role":"user","content":[{{"type":"tool-result","toolCallId":"c{id}","content":[]}}],{source}"#
        ),
        ToolResult::Flat => format!(r#""role":"tool","toolCallId":"c{id}","content":[],{source}"#),
    };
    format!(r#"{{"turn":1,"step":1,"message":{{"id":"m",{message}}}}}"#)
}

fn apply(session: &mut Session, event_type: &str, data: &str, op: &str, sources: Option<&str>) {
    let event = Event {
        event_type: event_type.into(),
        seq: session.events,
        time: 0,
        data: json::leaked(data),
        ignorable: false,
        source_event_seqs: sources.map(|sources| json::leaked(sources)),
        surface_op: Some(json::leaked(op)),
    };
    session.apply(&event).unwrap();
}

fn user(kind: &str) -> String {
    format!(
        r#"{{"id":"m","role":"user","content":[{{"type":"text","text":"x"}}],"source":{{"kind":"{kind}"}}}}"#
    )
}

/// Applies the steps, keeping the surface beside it as the plainest list there can be.
fn run(version: u64, steps: &[Step]) -> (Session, Vec<u64>) {
    let mut session = session(version);
    let mut model: Vec<u64> = (0..session.events).collect();
    let floor = model.len();
    let [start, end] = session.format.replace_members;
    for step in steps {
        let seq = session.events;
        match step {
            Step::Prompt => apply(&mut session, "user/message", &user("user"), "\"append\"", None),
            Step::Calls(ids) => {
                let blocks: Vec<String> = ids
                    .iter()
                    .map(|id| format!(r#"{{"type":"tool-call","id":"c{id}","name":"t","arguments":"{{}}"}}"#))
                    .collect();
                let data = format!(
                    r#"{{"turn":1,"step":1,"message":{{"id":"m","role":"assistant","content":[{}],"source":{{"kind":"model","provider":"p","model":"m"}}}}}}"#,
                    blocks.join(",")
                );
                apply(&mut session, "assistant/message", &data, "\"append\"", None);
            }
            Step::Result(id) => {
                let data = tool_result(session.format.tool_result, *id);
                apply(&mut session, "tool/result", &data, "\"append\"", None);
            }
            Step::Replace(a, b) => {
                let replaceable = model.len() - floor;
                if replaceable == 0 {
                    continue;
                }
                let (a, b) = (floor + a % replaceable, floor + b % replaceable);
                let (first, last) = (a.min(b), a.max(b));
                let op = format!(r#"{{"op":"replace","{start}":{},"{end}":{}}}"#, model[first], model[last]);
                let sources = format!("{:?}", &model[first..=last]);
                apply(&mut session, "user/message", &user("goal"), &op, Some(&sources));
                model.splice(first..=last, [seq]);
                continue;
            }
        }
        model.push(seq);
    }
    (session, model)
}

/// How many calls of each id are open before each position, each result closing the latest one.
fn open_before(session: &Session) -> Vec<usize> {
    let mut open: HashMap<&str, usize> = HashMap::new();
    let mut counts = vec![0];
    for node in session.surface.nodes() {
        for call in &node.calls {
            *open.entry(call).or_default() += 1;
        }
        if let Some(count) = node.answers.as_deref().and_then(|id| open.get_mut(id)) {
            *count = count.saturating_sub(1);
        }
        counts.push(open.values().sum());
    }
    counts
}

proptest! {
    #[test]
    fn the_surface_is_that_of_a_plain_list(version in 0u64..5, steps in steps()) {
        let (session, model) = run(version, &steps);
        let seqs = session.surface.seqs();
        prop_assert_eq!(seqs, &model);
        // Every surface event is on the surface or hidden behind exactly one that is.
        for seq in 0..session.events {
            let shown = *session.surface.chain(seq).last().unwrap();
            prop_assert!(seqs.contains(&shown));
        }
    }

    #[test]
    fn cuts_are_balanced_where_no_call_is_open(version in 0u64..5, steps in steps()) {
        let (session, _) = run(version, &steps);
        let pairing = session.pairing();
        let open = open_before(&session);
        prop_assert_eq!(&pairing.balanced_before, &open.iter().map(|count| *count == 0).collect::<Vec<_>>());
        prop_assert_eq!(pairing.unanswered.len(), *open.last().unwrap());
    }

    #[test]
    fn a_span_that_nothing_bars_parts_no_pair(
        version in 0u64..5, steps in steps(), a in 0usize..50, b in 0usize..50,
    ) {
        let (session, _) = run(version, &steps);
        let nodes = session.surface.nodes();
        prop_assume!(!nodes.is_empty());
        let (a, b) = (a % nodes.len(), b % nodes.len());
        let (first, last) = (a.min(b), a.max(b));
        let before = session.pairing();
        prop_assume!(before.bar(&(first..=last)).is_none());
        let rest: Vec<_> = nodes[..first].iter().chain(&nodes[last + 1..]).cloned().collect();
        let after = Pairing::of(&rest, None);
        // What is left has the same faults as before, but for orphans that went with the span.
        prop_assert_eq!(after.unanswered.len(), before.unanswered.len());
        prop_assert!(after.orphans.len() <= before.orphans.len());
    }
}
