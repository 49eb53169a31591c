//! Which tools the request headers of a log offer: a `developer/message` that adds one says where it stands
//! (FORMAT §6.2, §7.2).

use super::MessageView;
use crate::json::{self, Kind, Object, Raw};
use std::collections::HashMap;
use std::rc::Rc;

/// The tools of every request header so far.
#[derive(Debug, Default)]
pub(super) struct Tools {
    /// By seq, in rising order. Headers that follow each other mostly offer the same tools, which are kept once.
    headers: Vec<(u64, Rc<Offer>)>,
}

#[derive(Debug)]
struct Offer {
    digest: Option<json::Digest>,
    /// How many tools have the name, and whether they are described as a tool must be.
    by_name: HashMap<String, (u64, bool)>,
}

impl Tools {
    /// A request header stands at `seq` and offers `tools`.
    pub(super) fn offered(&mut self, seq: u64, tools: Option<Raw>) {
        let digest = tools.map(json::digest);
        let same = self.headers.last().filter(|(_, offer)| offer.digest == digest);
        let offer = match same {
            Some((_, offer)) => Rc::clone(offer),
            None => Rc::new(Offer { digest, by_name: by_name(tools) }),
        };
        self.headers.push((seq, offer));
    }

    /// What is wrong with the `headerSeq` of a developer message.
    pub(super) fn problem(&self, message: &MessageView) -> Option<String> {
        let seq = message.payload.as_ref()?.count("headerSeq")?;
        let Ok(found) = self.headers.binary_search_by_key(&seq, |(seq, _)| *seq) else {
            return Some(format!("has a headerSeq of {seq}, which is no earlier request/header"));
        };
        let offer = &self.headers.get(found)?.1;
        let is_offered = |name: &str| offer.by_name.get(name) == Some(&(1, true));
        let added = message.added_tools().map(|name| name.into_str().into_owned());
        let missing = added.into_iter().find(|name| !is_offered(name))?;
        let name = json::quote(&missing);
        Some(format!("adds the tool {name}, which the request/header {seq} does not offer exactly once"))
    }
}

fn by_name(tools: Option<Raw>) -> HashMap<String, (u64, bool)> {
    let mut by_name = HashMap::new();
    for tool in tools.and_then(json::array).unwrap_or_default() {
        let Some(tool) = Object::of(tool) else { continue };
        let Some(name) = tool.text("name") else { continue };
        let is_object = |key| tool.get(key).is_some_and(|raw| json::kind(raw) == Kind::Object);
        let is_whole = tool.text("description").is_some() && is_object("parameters");
        let entry = by_name.entry(name.into_str().into_owned()).or_insert((0, true));
        *entry = (entry.0 + 1, entry.1 && is_whole);
    }
    by_name
}
