//! Tools that a developer message adds: it must name an earlier request header that holds them (FORMAT §6.2).

use super::here::{Here, shown};
use crate::check::registry::Rule;
use crate::check::wording::quoted;
use crate::json::{self, Digest, Kind, Object};
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

static HEADER: Rule = Rule::error(
    "tool-change-header",
    "A developer message adds tools, but names no earlier request header; or names one and adds none.",
);
static TOOL: Rule = Rule::error(
    "tool-change-tool",
    "A developer message adds a tool that its request header does not hold exactly once and in full.",
);

pub(in crate::check) const RULES: &[&Rule] = &[&HEADER, &TOOL];

/// Which tools each request header holds.
#[derive(Debug, Default)]
pub(super) struct ToolChanges {
    /// By seq; headers of one tool list share one table.
    headers: BTreeMap<u64, Rc<Tools>>,
    last: Option<(Digest, Rc<Tools>)>,
}

/// For each name how many tools have it, and whether the last of them is complete.
type Tools = HashMap<Vec<u8>, (u64, bool)>;

impl ToolChanges {
    pub(super) fn header(&mut self, here: &Here) {
        let header = here.data.object("header");
        let tools = header.as_ref().and_then(|header| header.get("tools"));
        let Some(raw) = tools.filter(|raw| json::kind(raw) == Kind::Array) else {
            self.headers.insert(here.event.seq, Rc::default());
            return;
        };
        let digest = *blake3::hash(raw.get().as_bytes()).as_bytes();
        let same = self.last.take().filter(|(last, _)| *last == digest).map(|(_, tools)| tools);
        let tools = same.unwrap_or_else(|| Rc::new(table(raw)));
        self.headers.insert(here.event.seq, Rc::clone(&tools));
        self.last = Some((digest, tools));
    }

    pub(super) fn change(&self, here: &mut Here) {
        let content = here.data.object("message").and_then(|message| message.array("content"));
        let blocks = content.unwrap_or_default().into_iter().filter_map(Object::of);
        let added: Vec<_> = blocks
            .filter(|block| block.text("type").is_some_and(|kind| kind == *"tool-addition"))
            .map(|block| block.text("toolName").unwrap_or_default())
            .collect();
        let named = here.data.get("headerSeq");
        let Some(header) = here.data.count("headerSeq") else {
            if named.is_some() || !added.is_empty() {
                let message =
                    format!("the message must name its request/header, found headerSeq {}", shown(named));
                here.tell(&HEADER, message);
            }
            return;
        };
        if added.is_empty() {
            return here.tell(&HEADER, "the message names a request/header, but adds no tool".to_owned());
        }
        let Some(tools) = self.headers.get(&header) else {
            if !here.losses.contains(header) {
                let message = format!("headerSeq {header} is no earlier request/header");
                here.tell(&HEADER, message);
            }
            return;
        };
        for name in added {
            let problem = match tools.get(name.as_bytes()) {
                None => "does not hold it",
                Some((1, true)) => continue,
                Some((1, false)) => "holds it without a description or parameters",
                Some(_) => "holds it more than once",
            };
            let message =
                format!("the message adds tool {}, but the header {problem}", quoted(&name.to_str()));
            here.tell_relating(&TOOL, message, header, "the request header");
        }
    }
}

fn table(raw: &json::Raw) -> Tools {
    let mut table = Tools::new();
    for tool in json::array(raw).unwrap_or_default().into_iter().filter_map(Object::of) {
        let Some(name) = tool.text("name") else { continue };
        let is_complete = tool.text("description").is_some()
            && tool.get("parameters").is_some_and(|raw| json::kind(raw) == Kind::Object);
        let entry = table.entry(name.as_bytes().to_vec()).or_default();
        *entry = (entry.0 + 1, is_complete);
    }
    table
}

#[cfg(test)]
mod tests {

    use crate::check::relations::testing::{STEP, TURN, found};

    fn header(tools: &str) -> String {
        format!(r#"{{"header":{{"config":{{}},"tools":{tools}}}}}"#)
    }

    fn change(more: &str, blocks: &str) -> String {
        format!(r#"{{"turn":1,"step":1{more},"message":{{"content":[{blocks}]}}}}"#)
    }

    const TOOL: &str = r#"{"name":"grep","description":"d","parameters":{}}"#;
    const ADD: &str = r#"{"type":"tool-addition","toolName":"grep"}"#;

    #[test]
    fn added_tools_stand_in_the_header_named() {
        let one = format!("[{TOOL}]");
        let two = format!("[{TOOL},{TOOL}]");
        let bare = r#"[{"name":"grep","description":"d"}]"#;
        let named = r#","headerSeq":2"#;
        for (tools, more, blocks, expected) in [
            (&*one, named, ADD, vec![]),
            (&one, "", "", vec![]),
            (&one, "", r#"{"type":"tool-removal","toolName":"grep"}"#, vec![]),
            (&one, "", ADD, vec!["tool-change-header@3"]),
            (&one, named, "", vec!["tool-change-header@3"]),
            (&one, r#","headerSeq":1"#, ADD, vec!["tool-change-header@3"]),
            (&one, r#","headerSeq":3"#, ADD, vec!["tool-change-header@3"]),
            ("[]", named, ADD, vec!["tool-change-tool@3"]),
            ("1", named, ADD, vec!["tool-change-tool@3"]),
            (&two, named, ADD, vec!["tool-change-tool@3"]),
            (bare, named, ADD, vec!["tool-change-tool@3"]),
        ] {
            let (header, change) = (header(tools), change(more, blocks));
            let log = [
                ("turn/start", TURN),
                ("step/start", STEP),
                ("request/header", &*header),
                ("developer/message", &change),
            ];
            assert_eq!(found(&log), expected, "{tools} {more} {blocks}");
        }
    }
}
